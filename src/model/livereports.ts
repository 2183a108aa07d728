// The registry of live reports: widget models put themselves in, renderers of outputs look for them.
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ILiveReport, ILiveReports } from './live';

/** The live reports of one page. */
export class LiveReports implements ILiveReports {
  private readonly _byId = new Map<string, ILiveReport>();
  private readonly _changed = new Signal<this, string>(this);

  get changed(): ISignal<this, string> {
    return this._changed;
  }

  get(id: string): ILiveReport | undefined {
    return this._byId.get(id);
  }

  add(live: ILiveReport): IDisposable {
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
