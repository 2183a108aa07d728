// Sorting: every row in the order it would be shown if all were open. O(n log n) in one pass over
// typed arrays; siblings are sorted among themselves, so the tree stays a tree.
import { at } from '../../base/assert';
import type { ILayerTree, IStrings } from '../../wire';
import type { ILayerColumn } from './columns';
import { NAME_COLUMN } from './columns';
import type { Extent, LayerData } from './data';

export type Direction = 'ascending' | 'descending';

/** By which column and which way; undefined is the order of the model. */
export interface ISort {
  readonly column: string;
  readonly direction: Direction;
}

/** Keys by which rows are compared, smaller first; NaN, for no value, comes last either way. */
export type SortKeys = Float64Array;

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Returns all rows in the order of `sort`: as a tree in pre-order, or flat as one list. */
export function orderOf(
  data: LayerData,
  sort: ISort | undefined,
  column: ILayerColumn | undefined,
  isFlat: boolean
): Int32Array {
  const keys = sort === undefined ? undefined : keysOf(data, sort, column, isFlat);
  if (sort === undefined || keys === undefined) {
    return modelOrder(data.tree);
  }
  return isFlat ? flatOrder(keys, sort.direction) : treeOrder(data.tree, keys, sort.direction);
}

function keysOf(
  data: LayerData,
  sort: ISort,
  column: ILayerColumn | undefined,
  isFlat: boolean
): SortKeys | undefined {
  if (sort.column === NAME_COLUMN) {
    return textKeys(isFlat ? data.tree.path : data.tree.name);
  }
  return column && columnKeys(data, column, isFlat ? 'own' : 'subtree');
}

function columnKeys(data: LayerData, column: ILayerColumn, extent: Extent): SortKeys {
  const strings = data.strings(column);
  if (strings !== undefined) {
    return textKeys(strings);
  }
  const keys = new Float64Array(data.tree.length);
  for (let row = 0; row < keys.length; row++) {
    keys[row] = data.number(column, row, extent) ?? NaN;
  }
  return keys;
}

/** Returns the keys of strings: `h.2` before `h.10`, the empty last. */
function textKeys(strings: IStrings): SortKeys {
  const byText = strings.values.map((_, code) => code);
  byText.sort((a, b) => collator.compare(at(strings.values, a), at(strings.values, b)));
  const ranks = new Float64Array(strings.values.length);
  byText.forEach((code, rank) => (ranks[code] = rank));
  return Float64Array.from(strings.codes, code => (code < 0 ? NaN : at(ranks, code)));
}

/** Returns all rows sorted by `keys` regardless of the tree, ties in the order of the model. */
function flatOrder(keys: SortKeys, direction: Direction): Int32Array {
  const sign = direction === 'ascending' ? 1 : -1;
  return Int32Array.from(keys, (_, row) => row).sort((a, b) => {
    const [left, right] = [at(keys, a), at(keys, b)];
    if (left === right) {
      return a - b;
    }
    const missing = Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    return missing || sign * (left - right) || a - b;
  });
}

/** Returns all rows as a tree in pre-order, with the children of each parent sorted by `keys`. */
function treeOrder(tree: ILayerTree, keys: SortKeys, direction: Direction): Int32Array {
  const ranked = flatOrder(keys, direction);
  // Where the next child of a parent goes. A parent has its place before its children are placed,
  // as rows of less depth are placed first; slot 0 is for the roots.
  const nextPlace = new Int32Array(tree.length + 1);
  const order = new Int32Array(tree.length);
  for (const rows of byDepth(tree, ranked)) {
    for (const row of rows) {
      const parent = at(tree.parent, row) + 1;
      const place = at(nextPlace, parent);
      order[place] = row;
      nextPlace[parent] = place + at(tree.subtree, row);
      nextPlace[row + 1] = place + 1;
    }
  }
  return order;
}

/** Returns all rows in the order of the model. */
function modelOrder(tree: ILayerTree): Int32Array {
  return Int32Array.from({ length: tree.length }, (_, row) => row);
}

/** Whether a column is first sorted from large to small: figures are, texts are not. */
export function firstDirection(column: string, columns: readonly ILayerColumn[]): Direction {
  const found = columns.find(candidate => candidate.id === column);
  return column === NAME_COLUMN || found?.kind === 'text' ? 'ascending' : 'descending';
}

function byDepth(tree: ILayerTree, rows: Int32Array): readonly number[][] {
  const levels: number[][] = [];
  for (const row of rows) {
    (levels[at(tree.depth, row)] ??= []).push(row);
  }
  return levels;
}
