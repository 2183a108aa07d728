// All that the panel shows, and that it has changed. It knows neither the network nor the page.
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { IGpuDevice, IGpuState, IUsage } from '../../wire/gpus';
import { History } from './history';
import type { ICurrentKernel } from './parts';
import type { IProcessSort } from './rows';
import { DEFAULT_SORT } from './rows';
import type { IGpuSettings } from './settings';
import { DEFAULT_GPU_SETTINGS } from './settings';

/**
 * Why there is nothing, or nothing new, from the server: its half of the extension is `missing` or
 * `old` (it has no devices to tell of) or of another `version`; this user is `forbidden` to ask; it
 * is `unreachable`, or `slow`: its latest word is old; it says what cannot be `understood`. `detail`
 * is in its own words.
 */
export interface IServerProblem {
  readonly id: 'missing' | 'old' | 'version' | 'forbidden' | 'unreachable' | 'slow' | 'understood';
  readonly detail: string;
}

/** The notebook in front, as far as there is one. */
export interface ICurrentNotebook {
  readonly kernelId: string;
  readonly path: string;
}

/** What outlives a reload of the page. */
export interface IPanelTraces {
  readonly sort: IProcessSort;
  /** UUIDs of devices that are folded. */
  readonly folded: readonly string[];
}

// Colours of other notebooks; one that comes later than these shares one.
const COLOURS = 6;

/** The state of the panel. `changed` comes after every change, once. */
export class GpuModel {
  private _state: IGpuState | undefined;
  private _problem: IServerProblem | undefined;
  private _notebook: ICurrentNotebook | undefined;
  private _usage: IUsage | undefined;
  private _settings = DEFAULT_GPU_SETTINGS;
  private _sort = DEFAULT_SORT;
  private readonly _folded = new Set<string>();
  private readonly _histories = new Map<string, History>();
  private readonly _colours = new Map<string, number>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _tracesChanged = new Signal<this, IPanelTraces>(this);

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What should outlive a reload has changed by the reader's hand. */
  get tracesChanged(): ISignal<this, IPanelTraces> {
    return this._tracesChanged;
  }

  /** The latest; undefined before the first. */
  get state(): IGpuState | undefined {
    return this._state;
  }

  /** Undefined while all is well; with a `state`, that is the last one there was. */
  get problem(): IServerProblem | undefined {
    return this._problem;
  }

  get notebook(): ICurrentNotebook | undefined {
    return this._notebook;
  }

  set notebook(notebook: ICurrentNotebook | undefined) {
    if (notebook?.kernelId !== this._notebook?.kernelId) {
      this._usage = undefined;
    }
    this._notebook = notebook;
    this._changed.emit();
  }

  /** What the kernel of the notebook in front says of its memory. */
  get usage(): IUsage | undefined {
    return this._usage;
  }

  set usage(usage: IUsage | undefined) {
    this._usage = usage;
    this._changed.emit();
  }

  get current(): ICurrentKernel | undefined {
    return this._notebook && { id: this._notebook.kernelId, usage: this._usage };
  }

  get settings(): IGpuSettings {
    return this._settings;
  }

  set settings(settings: IGpuSettings) {
    this._settings = settings;
    this._histories.forEach(history => (history.spanMs = 60_000 * settings.historyMinutes));
    this._changed.emit();
  }

  get sort(): IProcessSort {
    return this._sort;
  }

  set sort(sort: IProcessSort) {
    this._sort = sort;
    this._changed.emit();
    this._tracesChanged.emit(this.traces);
  }

  /** The devices that the reader wants to see; all of them where none of the wanted is there. */
  get devices(): readonly IGpuDevice[] {
    const devices = this._state?.devices ?? [];
    const wanted = this._settings.devices.map(text => text.toLowerCase());
    const chosen = devices.filter(device => wanted.some(text => isMeant(device, text)));
    return chosen.length > 0 ? chosen : devices;
  }

  receive(state: IGpuState): void {
    this._state = state;
    this._problem = undefined;
    const known = new Set(state.devices.map(({ uuid }) => uuid));
    for (const { uuid, used, utilisation, status } of state.devices) {
      // A device that does not answer has its last figures, which are not those of now.
      if (status === undefined) {
        this.historyOf(uuid).push(state.time, used, utilisation);
      }
    }
    for (const uuid of this._histories.keys()) {
      if (!known.has(uuid)) {
        this._histories.delete(uuid);
      }
    }
    this._changed.emit();
  }

  fail(problem: IServerProblem): void {
    this._problem = problem;
    this._changed.emit();
  }

  get traces(): IPanelTraces {
    return { sort: this._sort, folded: [...this._folded] };
  }

  /** Brings back what was left, as before a reload. */
  restore({ sort, folded }: IPanelTraces): void {
    this._sort = sort;
    this._folded.clear();
    folded.forEach(uuid => this._folded.add(uuid));
    this._changed.emit();
  }

  isFolded(uuid: string): boolean {
    return this._folded.has(uuid);
  }

  fold(uuid: string, isFolded: boolean): void {
    this._folded[isFolded ? 'add' : 'delete'](uuid);
    this._changed.emit();
    this._tracesChanged.emit(this.traces);
  }

  historyOf(uuid: string): History {
    const found = this._histories.get(uuid) ?? new History(60_000 * this._settings.historyMinutes);
    this._histories.set(uuid, found);
    return found;
  }

  /** Returns the colour of a kernel, 1 to 6: the same as long as the page lives. */
  colourOf(kernelId: string): number {
    const colour = this._colours.get(kernelId) ?? (this._colours.size % COLOURS) + 1;
    this._colours.set(kernelId, colour);
    return colour;
  }
}

function isMeant({ uuid, index, name }: IGpuDevice, text: string): boolean {
  return (
    text === `${index}` || (!/^\d+$/.test(text) && `${uuid} ${name}`.toLowerCase().includes(text))
  );
}
