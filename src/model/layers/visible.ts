// Sorted order, open parents and filter to the rows that are shown, with their places among
// siblings as screen readers say them.
import { at } from '../../base/assert';
import type { ILayerTree } from '../../wire';

/** The rows shown, in order. `place` and `siblings` are per row of `rows`, counted from 1. */
export interface IVisibleRows {
  readonly rows: Int32Array;
  readonly place: Int32Array;
  readonly siblings: Int32Array;
}

/**
 * Returns the rows of `order` (a tree in pre-order) whose parents are all open; those with 0 in
 * `isShown` and everything beneath them are left out.
 */
export function visibleInTree(
  tree: ILayerTree,
  order: Int32Array,
  isOpen: Uint8Array,
  isShown?: Uint8Array
): IVisibleRows {
  const rows = new Int32Array(order.length);
  let count = 0;
  for (let index = 0; index < order.length;) {
    const row = at(order, index);
    const isLeftOut = isShown !== undefined && at(isShown, row) === 0;
    if (!isLeftOut) {
      rows[count++] = row;
    }
    index += !isLeftOut && at(isOpen, row) > 0 ? 1 : at(tree.subtree, row);
  }
  return withPlaces(rows.slice(0, count), row => at(tree.parent, row), tree.length);
}

/** Returns the rows of `order` that match, all of them where there is no filter, as one list. */
export function visibleInList(order: Int32Array, isMatch?: Uint8Array): IVisibleRows {
  const rows = isMatch === undefined ? order : order.filter(row => at(isMatch, row) > 0);
  return withPlaces(rows, () => -1, 0);
}

function withPlaces(
  rows: Int32Array,
  parentOf: (row: number) => number,
  layers: number
): IVisibleRows {
  const seen = new Int32Array(layers + 1);
  const place = rows.map(row => (seen[parentOf(row) + 1] = at(seen, parentOf(row) + 1) + 1));
  return { rows, place, siblings: rows.map(row => at(seen, parentOf(row) + 1)) };
}
