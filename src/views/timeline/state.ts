// What one timeline shows: which run, which part of it, which moment. No DOM; the parts of the view
// follow its one signal.
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { at } from '../../base/assert';
import { Levels } from '../../model/levels';
import type { Axis } from '../../model/scale';
import { Scale } from '../../model/scale';
import { highest, pointAt } from '../../model/timeline';
import type { IWindow } from '../../model/window';
import { between, including, panned, wholeOf, zoomed } from '../../model/window';
import type { IReport, ITimeline, IView } from '../../wire';

/** Asks a kernel for a finer timeline; undefined when there is none to be had. */
export type RequestWindow = (
  view: number,
  window: IWindow,
  buckets: number
) => Promise<ITimeline | undefined>;

/** What changed: `picture` needs a new drawing, `moment` only the cursor and its list. */
export type TimelineChange = 'picture' | 'moment';

// While a window is dragged only where it comes to rest is worth asking for.
const REST_MS = 150;
const BUCKETS = 1000;
// A busy kernel answers when it can: so long it is worth saying that an answer is on its way.
const PATIENCE_MS = 5000;

/** The state of a timeline of one device of one report. */
export class TimelineState implements IDisposable {
  /** Asks for finer data; undefined while there is no kernel. */
  requestWindow: RequestWindow | undefined;

  readonly mostBytes: number;
  private readonly _levels: Levels;
  private readonly _changed = new Signal<this, TimelineChange>(this);
  private _window: IWindow;
  private _pinned: number;
  private _pointed: number | undefined;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _request = 0;
  private _isRefining = false;
  private _isDisposed = false;

  constructor(
    readonly report: IReport,
    readonly viewIndex: number,
    private _axis: Axis
  ) {
    this._levels = new Levels(this.view.timeline);
    this._window = wholeOf(this.whole);
    this._pinned = this.view.peak.cut;
    this.mostBytes = highest(this.whole);
  }

  get view(): IView {
    return at(this.report.views, this.viewIndex);
  }

  /** The timeline of the whole run. */
  get whole(): ITimeline {
    return this.view.timeline;
  }

  /** The finest known timeline of the window. */
  get shown(): ITimeline {
    return this._levels.best(this._window);
  }

  get window(): IWindow {
    return this._window;
  }

  set window(window: IWindow) {
    if (window.start !== this._window.start || window.end !== this._window.end) {
      this._window = window;
      this._changed.emit('picture');
      this._refineSoon();
    }
  }

  /** A prediction has no durations: how long it took to compute is none of the run's. */
  get hasTimes(): boolean {
    return this.report.evidence !== 'predicted';
  }

  get axis(): Axis {
    return this.hasTimes ? this._axis : 'events';
  }

  set axis(axis: Axis) {
    if (axis !== this._axis) {
      this._axis = axis;
      this._changed.emit('picture');
    }
  }

  /** The horizontal axis of the shown timeline. */
  get scale(): Scale {
    return new Scale(this.shown, this.axis);
  }

  /** The moment whose memory is listed: the one pointed at, else the pinned one. */
  get cut(): number {
    return this._pointed ?? this._pinned;
  }

  /** Whether a finer timeline is on its way. */
  get isRefining(): boolean {
    return this._isRefining;
  }

  get changed(): ISignal<this, TimelineChange> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    Signal.clearData(this);
  }

  showWhole(): void {
    this.window = wholeOf(this.whole);
  }

  /** Show the cuts between two, in any order. */
  show(one: number, other: number): void {
    this.window = between(one, other, this.whole.cuts);
  }

  /** Move the window by `share` of its width. */
  pan(share: number): void {
    this.window = panned(this._window, share, this.whole.cuts);
  }

  /** Move the window so that it begins at `cut`. */
  moveTo(cut: number): void {
    const { start, end } = this._window;
    this.pan((cut - start) / Math.max(1, end - start));
  }

  /** Make the window `factor` times as wide around `centre`, else around the moment in sight. */
  zoom(factor: number, centre = this._centre()): void {
    this.window = zoomed(this._window, factor, centre, this.whole.cuts);
  }

  /** Pin the peak of the run and bring it into sight. */
  goToPeak(): void {
    this.pin(this.view.peak.cut);
  }

  /** Pin the moment at `cut` and bring it into sight. */
  pin(cut: number): void {
    this._pinned = cut;
    this._pointed = undefined;
    this.window = including(this._window, cut, this.whole.cuts);
    this._changed.emit('moment');
  }

  /** List the moment at `cut` while the pointer is there; undefined returns to the pinned one. */
  point(cut: number | undefined): void {
    if (cut !== this._pointed) {
      this._pointed = cut;
      this._changed.emit('moment');
    }
  }

  /** Pin the moment `points` points after the one that is listed. */
  step(points: number): void {
    const { cut, length } = this.shown.points;
    if (length > 0) {
      const row = pointAt(this.shown, this.cut) + points;
      this.pin(at(cut, Math.min(Math.max(0, row), length - 1)));
    }
  }

  private _centre(): number {
    const { start, end } = this._window;
    return this._pinned >= start && this._pinned <= end ? this._pinned : (start + end) / 2;
  }

  private _refineSoon(): void {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => void this._refine(), REST_MS);
  }

  private async _refine(): Promise<void> {
    const wanted = this._levels.wanted(this._window);
    if (wanted === undefined || this.requestWindow === undefined) {
      return;
    }
    const request = ++this._request;
    this._setRefining(true);
    const patience = setTimeout(() => this._setRefining(false), PATIENCE_MS);
    const finer = await this.requestWindow(this.viewIndex, wanted, BUCKETS);
    clearTimeout(patience);
    if (this._isDisposed || request !== this._request) {
      return;
    }
    if (finer !== undefined) {
      this._levels.add(finer);
    }
    this._setRefining(false);
  }

  private _setRefining(isRefining: boolean): void {
    if (this._isDisposed) {
      return;
    }
    this._isRefining = isRefining;
    this._changed.emit('picture');
  }
}
