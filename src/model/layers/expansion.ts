// Which parents are open: at first to where the bytes are, later as the reader left them.
import { at } from '../../base/assert';
import type { ILayerTree } from '../../wire';
import { textAt } from '../../wire';
import { childrenOf } from './walk';

/** Rows that are shown before the first look stops opening parents. */
const ENOUGH_ROWS = 8;
/** No parent is opened that would make it more than these, unless next to nothing is shown. */
const MANY_ROWS = 16;
const FEW_ROWS = 4;
/** From this many on, alike siblings are a run (`h.0` … `h.23`), of which none is opened. */
const RUN = 3;

/**
 * Returns the parents to open at first, 1 each: always the one with the most bytes, until enough
 * rows are shown. `bytesOf` gives a row's bytes with its subtree.
 */
export function firstExpansion(tree: ILayerTree, bytesOf: (row: number) => number): Uint8Array {
  const isOpen = new Uint8Array(tree.length);
  let candidates = openable(tree, -1);
  let shown = [...childrenOf(tree, -1)].length;
  while (shown < ENOUGH_ROWS) {
    const fitting = candidates.filter(
      row => shown < FEW_ROWS || shown + [...childrenOf(tree, row)].length <= MANY_ROWS
    );
    const [first, ...others] = fitting;
    if (first === undefined) {
      break;
    }
    const largest = others.reduce((a, b) => (bytesOf(b) > bytesOf(a) ? b : a), first);
    isOpen[largest] = 1;
    shown += [...childrenOf(tree, largest)].length;
    candidates = [...candidates.filter(row => row !== largest), ...openable(tree, largest)];
  }
  return isOpen;
}

/** Returns the children of `parent` that have children, those in a run of alike layers left out. */
function openable(tree: ILayerTree, parent: number): readonly number[] {
  const parents = outsideRuns(tree, [...childrenOf(tree, parent)]);
  return parents.filter(row => at(tree.subtree, row) > 1);
}

function outsideRuns(tree: ILayerTree, siblings: readonly number[]): readonly number[] {
  const alike = new Map<string, number>();
  const kindOf = (row: number): string => `${textAt(tree.type, row)} ${at(tree.subtree, row)}`;
  for (const row of siblings) {
    alike.set(kindOf(row), (alike.get(kindOf(row)) ?? 0) + 1);
  }
  return siblings.filter(row => (alike.get(kindOf(row)) ?? 0) < RUN);
}
