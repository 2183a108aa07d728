// The chosen layer of one report: one object that table and timeline share.
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

/** A row of the layer tree, -1 for none. */
export class Selection {
  private _row = -1;
  private readonly _changed = new Signal<this, number>(this);

  get row(): number {
    return this._row;
  }

  set row(row: number) {
    if (row !== this._row) {
      this._row = row;
      this._changed.emit(row);
    }
  }

  /** Says the new row. */
  get changed(): ISignal<this, number> {
    return this._changed;
  }
}
