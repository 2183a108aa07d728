// Filtering: which rows a text finds, and which ancestors stay to show where those are.
import { at } from '../../base/assert';
import type { ILayerTree, IStrings } from '../../wire';

/** What a text finds. Arrays have 0 or 1 a row. */
export interface IMatches {
  readonly count: number;
  /** The text is in its path, an alias or its type. */
  readonly isMatch: Uint8Array;
  /** It matches, or a row beneath it does. */
  readonly isShown: Uint8Array;
  /** A row beneath it matches by its own name or type, not only because its parent's path does. */
  readonly isOnTheWay: Uint8Array;
}

/** Returns what `text` finds, letter case ignored, among the rows that are 1 in `only`. */
export function findMatches(tree: ILayerTree, text: string, only?: Uint8Array): IMatches {
  const wanted = text.toLowerCase();
  const byPath = holding(tree.path, wanted);
  const byItself = either(
    holding(tree.name, wanted),
    either(holding(tree.type, wanted), holding(tree.aliases, wanted))
  );
  const found = either(byPath, byItself);
  const isMatch = only === undefined ? found : found.map((bit, row) => bit & at(only, row));
  const isShown = isMatch.slice();
  const isOnTheWay = new Uint8Array(tree.length);
  // Children come after their parents: from the end, each row knows of all beneath it.
  for (let row = tree.length - 1; row >= 0; row--) {
    const parent = at(tree.parent, row);
    if (parent < 0) {
      continue;
    }
    // A text such as `h.0` may lie across two names: then the path has it and the parent's has not.
    const isFresh =
      at(isMatch, row) === 1 && (at(byItself, row) === 1 || at(byPath, row) > at(byPath, parent));
    isOnTheWay[parent] = Number(isFresh) | at(isOnTheWay, row) | at(isOnTheWay, parent);
    isShown[parent] = at(isShown, row) | at(isShown, parent);
  }
  return { count: isMatch.reduce((sum, bit) => sum + bit, 0), isMatch, isShown, isOnTheWay };
}

function holding(strings: IStrings, wanted: string): Uint8Array {
  const holds = strings.values.map(value => Number(value.toLowerCase().includes(wanted)));
  return Uint8Array.from(strings.codes, code => (code < 0 ? 0 : at(holds, code)));
}

function either(left: Uint8Array, right: Uint8Array): Uint8Array {
  return left.map((bit, row) => bit | at(right, row));
}
