// Which layers are chosen: one, a range from the last one chosen, or several one by one.
import { at } from '../../base/assert';

/** No row. */
export const NO_ROW = -1;

/** The chosen rows; `current` is the one chosen last, which other views show. */
export class LayerSelection {
  private _rows = new Set<number>();
  private _current = NO_ROW;
  private _anchor = NO_ROW;

  get current(): number {
    return this._current;
  }

  get size(): number {
    return this._rows.size;
  }

  has(row: number): boolean {
    return this._rows.has(row);
  }

  /** Chooses `row` alone; `NO_ROW` for none. */
  choose(row: number): void {
    this._rows = new Set(row === NO_ROW ? [] : [row]);
    this._current = this._anchor = row;
  }

  /** Adds `row`, or takes it away if it is chosen. */
  toggle(row: number): void {
    if (this._rows.delete(row)) {
      this._current = [...this._rows].pop() ?? NO_ROW;
    } else {
      this._rows.add(row);
      this._current = row;
    }
    this._anchor = this._current;
  }

  /** Chooses all of `shown` from where the selection began to `row`. */
  extend(row: number, shown: Int32Array): void {
    const [anchor, end] = [shown.indexOf(this._anchor), shown.indexOf(row)];
    if (anchor < 0 || end < 0) {
      this.choose(row);
      return;
    }
    this._rows = new Set(shown.subarray(Math.min(anchor, end), Math.max(anchor, end) + 1));
    this._current = row;
  }

  /** Chooses all of `shown`; the current row stays. */
  all(shown: Int32Array): void {
    this._rows = new Set(shown);
    if (!this._rows.has(this._current)) {
      this._current = this._anchor = shown[0] ?? NO_ROW;
    }
  }

  /** Follows rows to where they went. */
  move(moves: Int32Array): void {
    const moved = (row: number): number => (row === NO_ROW ? NO_ROW : at(moves, row));
    this._rows = new Set([...this._rows].map(moved).filter(row => row !== NO_ROW));
    this._current = moved(this._current);
    this._anchor = moved(this._anchor);
  }
}
