// The table as text for other programs: figures are raw integers (bytes, nanoseconds), unrounded.
import type { ILayerTree } from '../../wire';
import { textAt } from '../../wire';
import type { ILayerColumn } from './columns';
import type { Extent, LayerData } from './data';

/** One line of a table that leaves the program. */
type Line = readonly (string | number)[];

/** What a table's texts are called, translated. */
export interface IExportWords {
  readonly layer: string;
  readonly type: string;
  readonly outside: string;
  readonly total: string;
  /** `Saved` to `Saved (bytes)`. */
  readonly withUnit: (column: ILayerColumn) => string;
}

/** Returns `rows` as they are shown, for the clipboard; `withSums` adds what the footer says. */
export function toTsv(
  data: LayerData,
  rows: Iterable<number>,
  columns: readonly ILayerColumn[],
  extent: Extent,
  words: IExportWords,
  withSums: boolean
): string {
  const lines: Line[] = [[words.layer, words.type, ...columns.map(words.withUnit)]];
  for (const row of rows) {
    const values = columns.map(column => valueOf(data, column, row, extent));
    lines.push([textAt(data.tree.path, row), textAt(data.tree.type, row), ...values]);
  }
  if (withSums) {
    const sums = (sum: (column: ILayerColumn) => number): Line =>
      columns.map(column => (column.isAdditive ? sum(column) : ''));
    lines.push([words.outside, '', ...sums(column => data.outside(column))]);
    lines.push([words.total, '', ...sums(column => data.whole(column))]);
  }
  return lines.map(line => line.map(value => quoted(value, '\t')).join('\t')).join('\n') + '\n';
}

/**
 * Returns all layers and all columns for a file, in the order of the model, columns named by id:
 * `saved` is the layer's own, `total_saved` with its subtree. The last line is what belongs to no
 * layer, so that a column of own figures sums to the whole.
 */
export function toCsv(data: LayerData, columns: readonly ILayerColumn[]): string {
  const { tree } = data;
  const present = columns.filter(column => data.has(column));
  const ids = present.flatMap(column =>
    column.isAdditive ? [column.id, `total_${column.id}`] : [column.id]
  );
  const lines: Line[] = [['path', 'type', 'aliases', 'tied', ...ids]];
  for (let row = 0; row < tree.length; row++) {
    lines.push([
      ...identityOf(tree, row),
      ...present.flatMap<string | number>(column => bothOf(data, column, row))
    ]);
  }
  const outside = present.flatMap<string | number>(column =>
    column.isAdditive ? [data.outside(column), data.outside(column)] : ['']
  );
  lines.push(['', '', '', '', ...outside]);
  return lines.map(line => line.map(value => quoted(value, ',')).join(',')).join('\r\n') + '\r\n';
}

function identityOf(tree: ILayerTree, row: number): Line {
  const texts = [tree.path, tree.type, tree.aliases].map(strings => textAt(strings, row));
  return [...texts, tree.tied[row] ?? 0];
}

function bothOf(data: LayerData, column: ILayerColumn, row: number): Line {
  const own = valueOf(data, column, row, 'own');
  return column.isAdditive ? [own, valueOf(data, column, row, 'subtree')] : [own];
}

function valueOf(
  data: LayerData,
  column: ILayerColumn,
  row: number,
  extent: Extent
): string | number {
  return column.kind === 'text' ? data.text(column, row) : (data.number(column, row, extent) ?? '');
}

/**
 * Quotes what would break a line. A text that a spreadsheet would run as a formula is led by an
 * apostrophe: a report may come from a stranger's notebook.
 */
function quoted(value: string | number, separator: string): string {
  if (typeof value === 'number') {
    return String(value);
  }
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return safe.includes(separator) || /["\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
