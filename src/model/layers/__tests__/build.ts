// Layer tables from sample layers, for tests.
import { nullTranslator } from '@jupyterlab/translation';

import type { IReport } from '../../../wire';
import { decodeReport } from '../../../wire';
import type { ISampleLayer } from '../../../wire/__tests__/sample';
import { samplePayload } from '../../../wire/__tests__/sample';
import type { ILayerColumn } from '..';
import { LayerData, LayerRows, layerColumns } from '..';

export const COLUMNS = layerColumns(nullTranslator.load('memtrack'));

export function columnOf(id: string): ILayerColumn {
  const found = COLUMNS.find(column => column.id === id);
  if (found === undefined) {
    throw new Error(`no column ${id}`);
  }
  return found;
}

export function reportOf(
  layers: readonly ISampleLayer[],
  outside: Readonly<Record<string, number>> = {}
): IReport {
  const { json, buffers } = samplePayload(layers, outside);
  return decodeReport(json, buffers);
}

export function dataOf(report: IReport, view = 0): LayerData {
  const found = report.views[view];
  if (found === undefined) {
    throw new Error(`no view ${view}`);
  }
  return new LayerData(report.layers, found.layers);
}

export function rowsOf(layers: readonly ISampleLayer[]): LayerRows {
  return new LayerRows(dataOf(reportOf(layers)), COLUMNS);
}
