// What a cell says: figures as text, as the length of a bar, and in full.
import type { TranslationBundle } from '@jupyterlab/translation';

import { assertUnreachable } from '../../base/assert';
import { formatBytes, formatCount, formatDuration, withSign } from '../../base/bytes';
import type { Extent, ILayerColumn, LayerData } from '../../model/layers';
import { textAt } from '../../wire';
import type { ITable, Line } from './table';
import { OUTSIDE_LINE, TOTAL_LINE } from './table';

/** The content of one cell. */
export interface ICell {
  readonly text: string;
  /** Length of its bar, 0 to 1. */
  readonly share: number;
  /** A zero, which is written but should not draw the eye. */
  readonly isQuiet: boolean;
}

const EMPTY: ICell = { text: '', share: 0, isQuiet: false };

/** Whether the cells of `column` have bars. */
export function hasBar(column: ILayerColumn): boolean {
  return (column.kind === 'bytes' && !column.isSigned) || column.id === 'parameter_count';
}

/** Returns what the cell of `line` in `column` says. */
export function cellOf(table: ITable, column: ILayerColumn, line: Line): ICell {
  const { rows, trans } = table;
  const { data, extent } = rows;
  if (column.kind === 'text') {
    return line < 0 ? EMPTY : { text: data.text(column, line), share: 0, isQuiet: false };
  }
  const value = valueOf(data, column, line, extent);
  if (value === undefined) {
    return EMPTY;
  }
  if (value === 0 && column.id === 'parameters' && line >= 0 && data.tree.tied[line] === 1) {
    return { text: trans.__('tied'), share: 0, isQuiet: true };
  }
  const largest = hasBar(column) && line !== TOTAL_LINE ? data.largest(column, extent) : 0;
  return {
    text: value === 0 && column.kind !== 'flag' ? '0' : signed(column, value, trans),
    share: largest > 0 ? Math.min(1, Math.max(0, value / largest)) : 0,
    isQuiet: value === 0
  };
}

/** Returns the exact figure of a cell in words, "" where the cell says it all. */
export function exactly(table: ITable, column: ILayerColumn, line: Line): string {
  const { rows, trans } = table;
  const { data, extent } = rows;
  const value = valueOf(data, column, line, extent);
  if (value === undefined || column.kind === 'flag' || column.kind === 'text') {
    return '';
  }
  const whole = value.toLocaleString();
  if (column.kind === 'time') {
    return trans.__('%1 ns', whole);
  }
  const own = line >= 0 ? valueOf(data, column, line, 'own') : undefined;
  const isSum = column.isAdditive && own !== undefined && own !== value;
  const ownText = (own ?? 0).toLocaleString();
  if (column.kind === 'count') {
    return isSum ? trans.__('%1, of which %2 its own', whole, ownText) : whole;
  }
  return isSum
    ? trans.__('%1 bytes, of which %2 its own', whole, ownText)
    : trans.__('%1 bytes', whole);
}

/** Returns where a layer is, what it is and what else it is called. */
export function describeLayer(table: ITable, row: number): string {
  const { tree } = table.rows;
  const { trans } = table;
  const aliases = textAt(tree.aliases, row);
  const lines = [
    textAt(tree.path, row),
    textAt(tree.type, row),
    ...(aliases ? [table.aliasText(aliases)] : []),
    ...(tree.tied[row] === 1 ? [trans.__('Shares a parameter that an earlier layer owns')] : []),
    ...(table.peakLayer === row ? [trans.__('The peak of the run is in this layer')] : [])
  ];
  return lines.join('\n');
}

function valueOf(
  data: LayerData,
  column: ILayerColumn,
  line: Line,
  extent: Extent
): number | undefined {
  if (line >= 0) {
    return data.number(column, line, extent);
  }
  if (!column.isAdditive) {
    return undefined;
  }
  return line === OUTSIDE_LINE ? data.outside(column) : data.whole(column);
}

function signed(column: ILayerColumn, value: number, trans: TranslationBundle): string {
  const write = (size: number): string => figure(column, size, trans);
  return column.isSigned ? withSign(value, write) : write(value);
}

function figure(column: ILayerColumn, value: number, trans: TranslationBundle): string {
  switch (column.kind) {
    case 'bytes':
      return formatBytes(value);
    case 'count':
      return formatCount(value);
    case 'time':
      return formatDuration(value);
    case 'flag':
      return value > 0 ? trans.__('yes') : trans.__('no');
    case 'text':
      return '';
    default:
      return assertUnreachable(column.kind);
  }
}
