// The state of the layer table, without pixels: sort, filter, what is open, what is shown.
import { at } from '../../base/assert';
import { rememberLast } from '../../base/memo';
import type { ILayerTree } from '../../wire';
import type { ILayerColumn } from './columns';
import type { Extent, LayerData } from './data';
import { firstExpansion } from './expansion';
import type { IMatches } from './filter';
import { findMatches } from './filter';
import type { ISort } from './order';
import { orderOf } from './order';
import type { IVisibleRows } from './visible';
import { visibleInList, visibleInTree } from './visible';
import { ancestorsOf, childrenOf, sameLayers } from './walk';

/** The rows of the layer table; whoever changes it reads `shown` afresh. */
export class LayerRows {
  private _data: LayerData;
  private _sort: ISort | undefined;
  private _isFlat = false;
  private _filter = '';
  private _only: Uint8Array | undefined;
  /** Of each row: whether the reader wants it open; and the same for as long as a filter lasts. */
  private _isOpen: Uint8Array;
  private _isOpenFiltered: Uint8Array;
  private _matches: IMatches | undefined;
  private _shown: IVisibleRows | undefined;
  private _positions: Int32Array | undefined;
  private readonly _order = rememberLast(orderOf);

  /** `_main` is by what layers are ranked before a reader asks, and what the first look opens them by. */
  constructor(
    data: LayerData,
    private readonly _columns: readonly ILayerColumn[],
    private readonly _main = 'at_peak'
  ) {
    this._data = data;
    this._sort = { column: _main, direction: 'descending' };
    this._isOpen = this._firstExpansion();
    this._isOpenFiltered = this._isOpen;
  }

  get data(): LayerData {
    return this._data;
  }

  get tree(): ILayerTree {
    return this._data.tree;
  }

  get sort(): ISort | undefined {
    return this._sort;
  }

  set sort(sort: ISort | undefined) {
    this._sort = sort;
    this._changed();
  }

  /** Whether all layers are ranked by their own figures, regardless of the tree. */
  get isFlat(): boolean {
    return this._isFlat;
  }

  set isFlat(isFlat: boolean) {
    this._isFlat = isFlat;
    this._changed();
  }

  /** The text that the rows shown have in path, alias or type; "" for any. */
  get filter(): string {
    return this._filter;
  }

  set filter(text: string) {
    this._filter = text;
    this._match();
  }

  /** Rows that are shown at all, 1 each, with the parents of those; undefined for every row. */
  set only(rows: Uint8Array | undefined) {
    this._only = rows;
    this._match();
  }

  /** Whether a parent's figures are those of its subtree or its own. */
  get extent(): Extent {
    return this._isFlat ? 'own' : 'subtree';
  }

  /** Whether some rows are left out, by the filter or because only others are wanted. */
  get isNarrowed(): boolean {
    return this._matches !== undefined;
  }

  /** Layers that the filter finds; all where there is none. */
  get matchCount(): number {
    return this._matches?.count ?? this.tree.length;
  }

  get shown(): IVisibleRows {
    this._shown ??= this._visible();
    return this._shown;
  }

  /** The place of `row` among the rows shown, -1 where it is not shown. */
  positionOf(row: number): number {
    if (this._positions === undefined) {
      const positions = new Int32Array(this.tree.length).fill(-1);
      this.shown.rows.forEach((shown, position) => (positions[shown] = position));
      this._positions = positions;
    }
    return this._positions[row] ?? -1;
  }

  /** Whether `row` itself is what the filter finds, not only on the way there. */
  isMatch(row: number): boolean {
    return this._matches === undefined || at(this._matches.isMatch, row) > 0;
  }

  /** Whether `row` has rows beneath it that can be shown. */
  isParent(row: number): boolean {
    if (this._isFlat || at(this.tree.subtree, row) === 1) {
      return false;
    }
    const isShown = this._matches?.isShown;
    return (
      isShown === undefined || someOf(childrenOf(this.tree, row), child => at(isShown, child) > 0)
    );
  }

  isOpen(row: number): boolean {
    return this.isParent(row) && at(this._open, row) > 0;
  }

  setOpen(rows: Iterable<number>, isOpen: boolean): void {
    for (const row of rows) {
      this._open[row] = Number(isOpen);
    }
    this._changed();
  }

  /** Opens the parents of `row`, and drops a filter that hides it, so that it is shown. */
  reveal(row: number): void {
    const isHidden = this._isFlat
      ? !this.isMatch(row)
      : this._matches !== undefined && at(this._matches.isShown, row) === 0;
    if (isHidden) {
      this.filter = '';
    }
    if (!this._isFlat) {
      this.setOpen(ancestorsOf(this.tree, row), true);
    }
  }

  /**
   * Shows other figures or layers; what is open stays so, by path. Returns where each row went,
   * undefined where none moved.
   */
  setData(data: LayerData): Int32Array | undefined {
    const moves = sameLayers(this.tree, data.tree);
    const wasEmpty = this.tree.length === 0;
    this._data = data;
    if (moves === undefined) {
      this._changed();
      return undefined;
    }
    const [isOpen, isOpenFiltered] = [this._isOpen, this._isOpenFiltered];
    this._isOpen = wasEmpty ? this._firstExpansion() : new Uint8Array(data.tree.length);
    carry(isOpen, this._isOpen, moves);
    this._match();
    if (this._matches !== undefined) {
      carry(isOpenFiltered, this._isOpenFiltered, moves);
    }
    return moves;
  }

  private get _open(): Uint8Array {
    return this._matches === undefined ? this._isOpen : this._isOpenFiltered;
  }

  private _match(): void {
    this._matches =
      this._filter === '' && this._only === undefined
        ? undefined
        : findMatches(this.tree, this._filter, this._only);
    // Only what was typed opens parents: of what has changed there may be thousands.
    const isOnTheWay = this._filter === '' ? undefined : this._matches?.isOnTheWay;
    this._isOpenFiltered = this._isOpen.map((bit, row) => bit | (isOnTheWay?.[row] ?? 0));
    this._changed();
  }

  private _changed(): void {
    this._shown = undefined;
    this._positions = undefined;
  }

  private _visible(): IVisibleRows {
    const column = this._columns.find(candidate => candidate.id === this._sort?.column);
    const order = this._order(this._data, this._sort, column, this._isFlat);
    return this._isFlat
      ? visibleInList(order, this._matches?.isMatch)
      : visibleInTree(this.tree, order, this._open, this._matches?.isShown);
  }

  private _firstExpansion(): Uint8Array {
    const column = this._columns.find(candidate => candidate.id === this._main);
    return firstExpansion(this.tree, row =>
      column === undefined ? 0 : Math.abs(this._data.number(column, row, 'subtree') ?? 0)
    );
  }
}

function carry(from: Uint8Array, to: Uint8Array, moves: Int32Array): void {
  moves.forEach((row, before) => {
    if (row >= 0) {
      to[row] = at(from, before);
    }
  });
}

function someOf(rows: Iterable<number>, holds: (row: number) => boolean): boolean {
  for (const row of rows) {
    if (holds(row)) {
      return true;
    }
  }
  return false;
}
