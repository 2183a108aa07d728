// Sentences of the layer table: what is announced, and how exported columns are called.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IExportWords, ILayerColumn, LayerRows } from '../../model/layers';
import { NAME_COLUMN } from '../../model/layers';
import type { ITable } from './table';

/** Returns what a screen reader is told after the filter changed. */
export function foundText(rows: LayerRows, trans: TranslationBundle): string {
  const { matchCount } = rows;
  return trans._n('%1 layer found', '%1 layers found', matchCount);
}

/** Returns what a screen reader is told after the order changed. */
export function orderText(table: ITable): string {
  const { rows, columns, trans } = table;
  const { sort } = rows;
  if (sort === undefined) {
    return trans.__('In the order of the model');
  }
  const column = columns.find(candidate => candidate.id === sort.column)?.label;
  const label = sort.column === NAME_COLUMN ? trans.__('Layer') : (column ?? sort.column);
  return sort.direction === 'ascending'
    ? trans.__('Sorted by %1, ascending', label)
    : trans.__('Sorted by %1, descending', label);
}

/** Returns what a screen reader is told after the tree became a list or a tree again. */
export function rankText(rows: LayerRows, trans: TranslationBundle): string {
  return rows.isFlat
    ? trans.__('All layers in one list, with their own figures')
    : trans.__('Layers as a tree, with the figures of what is in them');
}

/** Returns how a copied table is labelled. */
export function exportWords(trans: TranslationBundle): IExportWords {
  return {
    layer: trans.__('Layer'),
    type: trans.__('Type'),
    outside: trans.__('Outside the layers'),
    total: trans.__('Total'),
    withUnit: column => withUnit(column, trans)
  };
}

function withUnit({ kind, label }: ILayerColumn, trans: TranslationBundle): string {
  switch (kind) {
    case 'bytes':
      return trans.__('%1 (bytes)', label);
    case 'time':
      return trans.__('%1 (ns)', label);
    default:
      return label;
  }
}
