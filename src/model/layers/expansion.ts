// Which parents are open: at first to where the bytes are, later as the reader left them.
import { at } from '../../base/assert';
import type { ILayerTree } from '../../wire';
import { textAt } from '../../wire';
import { childrenOf } from './walk';

/** Rows that are shown before the first look stops opening parents. */
const ENOUGH_ROWS = 8;
/** From this many on, alike siblings are a run (`h.0` … `h.23`), of which none is opened. */
const RUN = 3;

/**
 * Returns the parents to open at first, 1 each: always the one with the most bytes, until enough
 * rows are shown. `bytesOf` gives a row's bytes with its subtree.
 */
export function firstExpansion(tree: ILayerTree, bytesOf: (row: number) => number): Uint8Array {
  const isOpen = new Uint8Array(tree.length);
  let candidates: readonly number[] = [...childrenOf(tree, -1)];
  let shown = candidates.length;
  while (shown < ENOUGH_ROWS) {
    const parents = candidates.filter(row => at(tree.subtree, row) > 1);
    const [first, ...others] = parents;
    if (first === undefined) {
      break;
    }
    const largest = others.reduce((a, b) => (bytesOf(b) > bytesOf(a) ? b : a), first);
    const children = [...childrenOf(tree, largest)];
    isOpen[largest] = 1;
    shown += children.length;
    candidates = [...parents.filter(row => row !== largest), ...outsideRuns(tree, children)];
  }
  return isOpen;
}

function outsideRuns(tree: ILayerTree, siblings: readonly number[]): readonly number[] {
  const alike = new Map<string, number>();
  const kindOf = (row: number): string => `${textAt(tree.type, row)} ${at(tree.subtree, row)}`;
  for (const row of siblings) {
    alike.set(kindOf(row), (alike.get(kindOf(row)) ?? 0) + 1);
  }
  return siblings.filter(row => (alike.get(kindOf(row)) ?? 0) < RUN);
}
