// Ways through a layer tree, and from one tree to another.
import { at } from '../../base/assert';
import type { ILayerTree } from '../../wire';
import { textAt } from '../../wire';

/** Yields the rows whose parent is `parent`, -1 for the roots. */
export function* childrenOf(tree: ILayerTree, parent: number): Generator<number> {
  const end = parent < 0 ? tree.length : parent + at(tree.subtree, parent);
  for (let row = parent + 1; row < end; row += at(tree.subtree, row)) {
    yield row;
  }
}

/**
 * Returns, for each row of `before`, the row with the same path in `after`, -1 where it is gone;
 * undefined when the trees are the same row for row.
 */
export function sameLayers(before: ILayerTree, after: ILayerTree): Int32Array | undefined {
  let isSame = before.length === after.length;
  for (let row = 0; isSame && row < before.length; row++) {
    isSame = textAt(before.path, row) === textAt(after.path, row);
  }
  if (isSame) {
    return undefined;
  }
  const byPath = new Map<string, number>();
  for (let row = 0; row < after.length; row++) {
    byPath.set(textAt(after.path, row), row);
  }
  return Int32Array.from(
    { length: before.length },
    (_, row) => byPath.get(textAt(before.path, row)) ?? -1
  );
}

/** Yields the parent of `row`, its parent, and so on to the root. */
export function* ancestorsOf(tree: ILayerTree, row: number): Generator<number> {
  for (let above = at(tree.parent, row); above >= 0; above = at(tree.parent, above)) {
    yield above;
  }
}

/** Returns the row among `shown` whose name or path begins with `prefix`, from `start` around. */
export function findByPrefix(
  tree: ILayerTree,
  shown: Int32Array,
  start: number,
  prefix: string
): number | undefined {
  const wanted = prefix.toLowerCase();
  const begins = (text: string): boolean => text.toLowerCase().startsWith(wanted);
  for (let step = 0; step < shown.length; step++) {
    const row = at(shown, (start + step) % shown.length);
    if (begins(textAt(tree.name, row)) || begins(textAt(tree.path, row))) {
      return row;
    }
  }
  return undefined;
}
