// The layers of two runs as a layer table reads them: of every figure before, after and the change.
import { at } from '../../base/assert';
import type { ILayerColumns, ILayerTree, INumbers, IStrings } from '../../wire';
import type { IColumnPair, IComparison, IMergedLayers, IParts } from '../../wire/comparison';
import { LayerData, childrenOf } from '../layers';
import { SUMS, SINGLES, STATUS_COLUMN } from './columns';

/** Returns the merged layers with a column each for before, after and change; `status` says a row's. */
export function mergedData(
  { layers, parts }: IComparison,
  status: (row: number) => string
): LayerData {
  const tree = treeOf(layers);
  const numbers = new Map<string, INumbers>();
  const outside = new Map<string, number>();
  for (const id of SUMS) {
    const pair = layers.columns.get(`total_${id}`);
    if (pair !== undefined) {
      addPair(numbers, `total_${id}`, pair);
      addPair(numbers, id, { before: ownOf(tree, pair.before), after: ownOf(tree, pair.after) });
    }
  }
  for (const id of SINGLES) {
    const pair = layers.columns.get(id);
    if (pair !== undefined) {
      addPair(numbers, id, pair);
    }
  }
  const [before, after] = outsideOf(parts);
  outside.set('at_peak.before', before).set('at_peak.after', after);
  outside.set('at_peak.change', after - before);
  const texts = new Map([[STATUS_COLUMN, stringsOf(tree.length, status)]]);
  const columns: ILayerColumns = { numbers, texts, outside };
  return new LayerData(tree, columns);
}

/** Returns 1 for each row that is new, gone, renamed or has a figure that is not the same. */
export function changedRows(layers: IMergedLayers): Uint8Array {
  const changed = Uint8Array.from(layers.status, code => Number(code !== 0));
  for (const [id, { before, after }] of layers.columns) {
    // Times differ from run to run: they are shown, but alone they make no change.
    if (!id.endsWith('_ns')) {
      changed.forEach((bit, row) => (changed[row] = bit | Number(before[row] !== after[row])));
    }
  }
  return changed;
}

function treeOf(layers: IMergedLayers): ILayerTree {
  const { length, parent, depth, subtree, name, path, type, formerPath } = layers;
  // What a layer was called is said, and found, where it is not what it is called now.
  const same = path.values;
  const codes = Int32Array.from({ length }, (_, row) => {
    const code = at(formerPath.codes, row);
    const now = at(path.codes, row);
    const isSame = code >= 0 && now >= 0 && at(formerPath.values, code) === at(same, now);
    return isSame ? -1 : code;
  });
  const aliases: IStrings = { length, values: formerPath.values, codes };
  return {
    length,
    parent,
    depth,
    subtree,
    tied: new Uint8Array(length),
    name,
    path,
    type,
    aliases
  };
}

function addPair(
  numbers: Map<string, INumbers>,
  key: string,
  { before, after }: IColumnPair
): void {
  numbers.set(`${key}.before`, before);
  numbers.set(`${key}.after`, after);
  // What is not there has nothing: its whole is the change.
  const change = Float64Array.from(before, (value, row) => known(at(after, row)) - known(value));
  numbers.set(`${key}.change`, change);
}

/** A row's total less those of its children; -1 stays -1. */
function ownOf(tree: ILayerTree, totals: INumbers): INumbers {
  return Float64Array.from({ length: tree.length }, (_, row) => {
    const total = at(totals, row);
    let own = total;
    for (const child of total < 0 ? [] : childrenOf(tree, row)) {
      own -= known(at(totals, child));
    }
    return own;
  });
}

function known(value: number): number {
  return Math.max(0, value);
}

/** What lies in no layer at both peaks. */
function outsideOf(parts: IParts): readonly [number, number] {
  let [before, after] = [0, 0];
  for (let part = 0; part < parts.length; part++) {
    if (at(parts.row, part) < 0) {
      before += at(parts.before, part);
      after += at(parts.after, part);
    }
  }
  return [before, after];
}

function stringsOf(length: number, text: (row: number) => string): IStrings {
  const values: string[] = [];
  const known = new Map<string, number>();
  const codes = Int32Array.from({ length }, (_, row) => {
    const value = text(row);
    if (value === '') {
      return -1;
    }
    const code = known.get(value) ?? values.push(value) - 1;
    known.set(value, code);
    return code;
  });
  return { length, values, codes };
}
