// The figures of one device's layer table, by column: own and subtree values, outside, whole.
import { at } from '../../base/assert';
import type { ILayerColumns, ILayerTree, INumbers, IStrings } from '../../wire';
import { textAt } from '../../wire';
import type { ILayerColumn } from './columns';

/** Whether a value stands for the layer alone or for its whole subtree. */
export type Extent = 'own' | 'subtree';

/** Reads the columns of one view; -1, NaN and uncalled layers have no value, which is `undefined`. */
export class LayerData {
  private readonly _largest = new Map<string, number>();

  constructor(
    readonly tree: ILayerTree,
    private readonly _columns: ILayerColumns
  ) {}

  /** Whether the payload has this column. */
  has(column: ILayerColumn): boolean {
    return column.kind === 'text'
      ? this._columns.texts.has(column.id)
      : this._numbers(column, 'own') !== undefined &&
          this._numbers(column, 'subtree') !== undefined;
  }

  /** The text of a row; "" where it has none. */
  text(column: ILayerColumn, row: number): string {
    const strings = this._columns.texts.get(column.id);
    return strings === undefined ? '' : textAt(strings, row);
  }

  /** The strings of a text column. */
  strings(column: ILayerColumn): IStrings | undefined {
    return this._columns.texts.get(column.id);
  }

  /** The figure of a row; undefined where there is none to give. */
  number(column: ILayerColumn, row: number, extent: Extent): number | undefined {
    const values = this._numbers(column, extent);
    if (values === undefined || (column.needsCall && !this._wasCalled(row))) {
      return undefined;
    }
    const value = at(values, row);
    return value < 0 && !column.isSigned ? undefined : value;
  }

  /** What belongs to no layer, of an additive column. */
  outside(column: ILayerColumn): number {
    return this._columns.outside.get(column.id) ?? 0;
  }

  /** All layers and what is outside them, of an additive column. */
  whole(column: ILayerColumn): number {
    let sum = this.outside(column);
    for (const root of this.roots()) {
      sum += this.number(column, root, 'subtree') ?? 0;
    }
    return sum;
  }

  /** The largest value any bar of the column has to show: of the roots, or of all layers' own. */
  largest(column: ILayerColumn, extent: Extent): number {
    const key = `${extent} ${column.id}`;
    const known = this._largest.get(key) ?? this._largestOfScale(column, extent);
    this._largest.set(key, known);
    return known;
  }

  /** The rows without a parent. */
  *roots(): Generator<number> {
    for (let row = 0; row < this.tree.length; row += at(this.tree.subtree, row)) {
      yield row;
    }
  }

  private _largestOfScale(column: ILayerColumn, extent: Extent): number {
    const others = column.scaledWith.map(id => this._findLargest({ ...column, id }, extent));
    return Math.max(this._findLargest(column, extent), ...others);
  }

  private _findLargest(column: ILayerColumn, extent: Extent): number {
    const isOfRoots = column.isAdditive && extent === 'subtree';
    let largest = 0;
    for (const row of isOfRoots ? this.roots() : rows(this.tree)) {
      largest = Math.max(largest, this.number(column, row, extent) ?? 0);
    }
    return largest;
  }

  private _numbers(column: ILayerColumn, extent: Extent): INumbers | undefined {
    const isSum = column.isAdditive && extent === 'subtree';
    return this._columns.numbers.get(isSum ? `total_${column.id}` : column.id);
  }

  private _wasCalled(row: number): boolean {
    const calls = this._columns.numbers.get('calls');
    return calls === undefined || at(calls, row) > 0;
  }
}

function* rows(tree: ILayerTree): Generator<number> {
  for (let row = 0; row < tree.length; row++) {
    yield row;
  }
}
