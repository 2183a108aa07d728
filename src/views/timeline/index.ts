// The timeline: chart, legend, strip of the whole run, and what is alive at the moment pointed at.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import { FrameTask } from '../../draw/frame';
import type { IScene, IWords } from '../../draw/scene';
import { watchWidth } from '../../draw/sight';
import { readTheme, watchTheme } from '../../draw/theme';
import type { Axis } from '../../model/scale';
import { pointAt } from '../../model/timeline';
import type { Selection } from '../../model/selection';
import type { IReport } from '../../wire';
import { element } from '../dom';
import { AliveList } from './alive';
import { handleChartKey } from './keys';
import { Legend } from './legend';
import { momentText } from './moment';
import { peaksTable } from './peaks';
import { Plot } from './plot';
import { SceneMaker } from './scene';
import type { RequestWindow, TimelineChange } from './state';
import { TimelineState } from './state';
import { Strip } from './strip';
import { TimelineToolbar } from './toolbar';
import { timelineWords } from './words';

/** Shows the timeline of one device of a report. */
export class TimelineView extends Widget {
  private readonly _trans: TranslationBundle;
  private readonly _selection: Selection;
  private readonly _words: IWords;
  private readonly _scenes: SceneMaker;
  private readonly _plot: Plot;
  private readonly _toolbar: TimelineToolbar;
  private readonly _legend: Legend;
  private readonly _strip: Strip;
  private readonly _alive: AliveList;
  private readonly _momentTask = new FrameTask(() => this._showMoment());
  private readonly _moment = element('p', { class: 'memtrack-Timeline-moment', role: 'status' });
  private readonly _chart: HTMLElement;
  private readonly _peaks = element('div', {});
  private _axis: Axis;
  private _state: TimelineState | undefined;
  private _requestWindow: RequestWindow | undefined;
  private _watches: IDisposable | undefined;

  constructor(options: TimelineView.IOptions) {
    super();
    const { trans } = options;
    this._trans = trans;
    this._selection = options.selection;
    this._axis = options.axis;
    this._words = timelineWords(trans, options.language);
    this._scenes = new SceneMaker(trans, this._words);
    const state = (): TimelineState | undefined => this._state;
    this._plot = new Plot({
      scene: (width, height) => this._scene(width, height),
      state,
      chosen: () => this._chooseRunning(),
      failed: () => trans.__('The chart could not be loaded. Reload the page to try again.')
    });
    this._toolbar = new TimelineToolbar(trans, state, () => void this._save());
    this._legend = new Legend(this._words);
    this._strip = new Strip(trans, state);
    this._alive = new AliveList(trans, `${this.id}-block`, row => (this._selection.row = row));
    this._chart = this._makeChart();
    this.addClass('memtrack-Timeline');
    this.node.append(
      this._toolbar.node,
      element(
        'div',
        { class: 'memtrack-Timeline-columns' },
        element(
          'div',
          { class: 'memtrack-Timeline-main' },
          this._chart,
          this._strip.node,
          this._legend.node
        ),
        element('div', { class: 'memtrack-Timeline-side' }, this._moment, this._alive.node)
      ),
      this._peaks
    );
    this._selection.changed.connect(this._onSelection, this);
  }

  /** Show the device in row `viewIndex` of `report`; the same run keeps its window and moment. */
  setView(report: IReport, viewIndex: number): void {
    const previous = this._state;
    const state = new TimelineState(report, viewIndex, this._axis);
    state.requestWindow = this._requestWindow;
    const isSame =
      previous?.report.identifier === report.identifier &&
      previous.viewIndex === viewIndex &&
      previous.whole.cuts === state.whole.cuts;
    if (isSame) {
      state.window = previous.window;
      state.pin(previous.cut);
    }
    previous?.dispose();
    this._state = state;
    state.changed.connect(this._onChange, this);
    const hasPeaks = report.steps > 0 || state.view.markPeaks !== undefined;
    this._peaks.replaceChildren(...(hasPeaks ? [peaksTable(state, this._trans)] : []));
    this._describe(state);
    this._onChange(state, 'picture');
    this._onChange(state, 'moment');
  }

  /** Where finer data comes from; undefined while there is no kernel. */
  set requestWindow(request: RequestWindow | undefined) {
    this._requestWindow = request;
    if (this._state !== undefined) {
      this._state.requestWindow = request;
    }
  }

  get axis(): Axis {
    return this._state?.axis ?? this._axis;
  }

  set axis(axis: Axis) {
    this._axis = axis;
    if (this._state !== undefined) {
      this._state.axis = axis;
    }
  }

  /** Whether anybody can see it: nothing is drawn meanwhile. */
  set isShown(isShown: boolean) {
    this._plot.task.isShown = isShown;
    this._momentTask.isShown = isShown;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._selection.changed.disconnect(this._onSelection, this);
      this._state?.dispose();
      this._momentTask.dispose();
      this._plot.dispose();
      super.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    const watches = new DisposableSet();
    watches.add(watchWidth(this._chart, width => (this._plot.width = width)));
    watches.add(watchTheme(() => this._plot.task.request()));
    this._watches = watches;
    this._plot.width = this._chart.clientWidth;
  }

  protected override onBeforeDetach(message: Message): void {
    this._watches?.dispose();
    super.onBeforeDetach(message);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._plot.width = this._chart.clientWidth;
  }

  private _makeChart(): HTMLElement {
    const chart = element(
      'div',
      { class: 'memtrack-Timeline-chart', role: 'application', tabindex: '0' },
      this._plot.node
    );
    chart.addEventListener('keydown', event => {
      const state = this._state;
      if (state !== undefined && handleChartKey(event, state, () => this._chooseRunning())) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    return chart;
  }

  private _onChange(state: TimelineState, change: TimelineChange): void {
    if (state !== this._state) {
      return;
    }
    if (change === 'picture') {
      this._plot.task.request();
      this._toolbar.update(state);
      this._strip.update(this._positionText(state));
    }
    this._momentTask.request();
  }

  private _onSelection(): void {
    this._plot.task.request();
    this._momentTask.request();
  }

  private _showMoment(): void {
    const state = this._state;
    if (state === undefined) {
      return;
    }
    this._plot.moveCursor(formatBytes);
    this._legend.update(state);
    this._moment.textContent = momentText(state, this._words, this._trans);
    this._alive.show(state.shown, state.report.layers, state.cut, this._selection.row);
  }

  /** Choose the layer that runs at the pinned moment. */
  private _chooseRunning(): void {
    const state = this._state;
    if (state !== undefined && state.shown.points.length > 0) {
      const layer = at(state.shown.points.layer, pointAt(state.shown, state.cut));
      if (layer >= 0) {
        this._selection.row = layer;
      }
    }
  }

  private async _save(): Promise<void> {
    await this._plot.save(`memtrack ${this._state?.report.label ?? ''}`.trim());
  }

  private _positionText(state: TimelineState): (position: number) => string {
    return position =>
      state.axis === 'events'
        ? this._trans.__('event %1', this._words.count(Math.round(position)))
        : this._words.duration(position);
  }

  private _describe(state: TimelineState): void {
    const { peak } = state.view;
    const trans = this._trans;
    this._chart.setAttribute(
      'aria-label',
      trans.__(
        'Memory over the run by category; the peak is %1, in %2. Left and right move the moment that is listed, plus and minus zoom, Home shows all, P goes to the peak, Enter chooses the layer that runs.',
        formatBytes(peak.bytes),
        this._words.phase(peak.phase)
      )
    );
  }

  private _scene(width: number, height: number): IScene | undefined {
    const state = this._state;
    if (state === undefined || !this.isVisible || state.whole.points.length === 0) {
      return undefined;
    }
    const theme = readTheme(this._chart);
    return this._scenes.make(state, this._selection.row, { width, height }, theme);
  }
}

/** A namespace for `TimelineView` statics. */
export namespace TimelineView {
  /** The options of a timeline. */
  export interface IOptions {
    readonly trans: TranslationBundle;
    /** BCP 47, such as `zh-CN`. */
    readonly language: string;
    readonly selection: Selection;
    readonly axis: Axis;
  }
}
