// The layer tree of a payload, checked to be a tree in pre-order: the views walk it unguarded.
import { at } from '../base/assert';
import type { ColumnDecoder } from './columns';
import { malformed } from './errors';
import type { Fields } from './fields';
import type { ILayerTree } from './report';

/** Rows of a tree: `parent` -1 for a root, `subtree` counts the row itself. */
export type ITreeShape = Pick<ILayerTree, 'length' | 'parent' | 'depth' | 'subtree'>;

/** Decodes the layer tree; throws `WireError` where the columns are no tree in pre-order. */
export function decodeLayerTree(decoder: ColumnDecoder, fields: Fields): ILayerTree {
  const parent = decoder.numbers(fields, 'parent');
  const { length } = parent;
  const tree = {
    length,
    parent,
    depth: decoder.numbers(fields, 'depth', length),
    subtree: decoder.numbers(fields, 'subtree', length),
    tied: decoder.numbers(fields, 'tied', length),
    name: decoder.strings(fields, 'name', length),
    path: decoder.strings(fields, 'path', length),
    type: decoder.strings(fields, 'type', length),
    aliases: decoder.strings(fields, 'aliases', length)
  };
  checkPreOrder(tree, fields.where);
  return tree;
}

/**
 * Each row lies within its parent's rows, and those rows are as many as it has descendants: then
 * the rows of a subtree are exactly its descendants.
 */
export function checkPreOrder(tree: ITreeShape, where: string): void {
  const sizes = new Int32Array(tree.length).fill(1);
  for (let row = tree.length - 1; row >= 0; row--) {
    const parent = at(tree.parent, row);
    const end = row + at(tree.subtree, row);
    const outer = parent < 0 ? tree.length : parent + at(tree.subtree, Math.min(parent, row));
    const depth = parent < 0 ? 0 : at(tree.depth, Math.min(parent, row)) + 1;
    const isFine =
      Number.isInteger(parent) &&
      parent >= -1 &&
      parent < row &&
      end <= outer &&
      at(tree.subtree, row) === at(sizes, row) &&
      at(tree.depth, row) === depth;
    if (!isFine) {
      throw malformed(where, `row ${row} is not in the pre-order of a tree`);
    }
    if (parent >= 0) {
      sizes[parent] = at(sizes, parent) + at(sizes, row);
    }
  }
}
