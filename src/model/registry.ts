// What a page has alive, by the id of its widget model: models put themselves in, renderers look here.
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

/** What is alive on this page, by the id of its widget model. */
export interface IRegistry<T> {
  get(id: string): T | undefined;
  /** Make `live` known; it is forgotten when the result is disposed. */
  add(live: T): IDisposable;
  /** Says the id of what came or went. */
  readonly changed: ISignal<IRegistry<T>, string>;
}

/** What is alive on one page. */
export class Registry<T extends { readonly id: string }> implements IRegistry<T> {
  private readonly _byId = new Map<string, T>();
  private readonly _changed = new Signal<this, string>(this);

  get changed(): ISignal<this, string> {
    return this._changed;
  }

  get(id: string): T | undefined {
    return this._byId.get(id);
  }

  add(live: T): IDisposable {
    this._byId.set(live.id, live);
    this._changed.emit(live.id);
    return new DisposableDelegate(() => {
      // A kernel that was restored may have put a newer one in its place.
      if (this._byId.get(live.id) === live) {
        this._byId.delete(live.id);
        this._changed.emit(live.id);
      }
    });
  }
}
