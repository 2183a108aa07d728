// What grid, header and cells of the layer table share: the rows and what is shown of them.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import type { ILayerColumn, LayerRows, LayerSelection } from '../../model/layers';

/** A line of the table: a row of the layer tree, or one of the sums below. */
export type Line = number;

/** What belongs to no layer. */
export const OUTSIDE_LINE: Line = -2;
/** All layers and what is outside. */
export const TOTAL_LINE: Line = -3;

const SUMS: readonly Line[] = [OUTSIDE_LINE, TOTAL_LINE];

/** The state that is drawn. */
export interface ITable {
  readonly rows: LayerRows;
  readonly selection: LayerSelection;
  /** The columns shown, the one of names excluded. */
  readonly columns: readonly ILayerColumn[];
  /** The layer that ran at the peak, -1 for none. */
  readonly peakLayer: number;
  /** Returns what is said of another path of a layer. */
  readonly aliasText: (path: string) => string;
  readonly trans: TranslationBundle;
}

/** Lines of the table, the sums included. */
export function lineCount(table: ITable): number {
  return table.rows.shown.rows.length + SUMS.length;
}

/** The line at `position`, counted from 0. */
export function lineAt(table: ITable, position: number): Line {
  const { rows } = table.rows.shown;
  return position < rows.length ? at(rows, position) : at(SUMS, position - rows.length);
}

/** The position of `line`, -1 where it is not shown. */
export function positionOf(table: ITable, line: Line): number {
  return line >= 0
    ? table.rows.positionOf(line)
    : table.rows.shown.rows.length + SUMS.indexOf(line);
}
