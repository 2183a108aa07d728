// A whole report: head, tabs and, while its kernel records, the live strip. It knows no kernel and
// no JupyterLab: what is live comes in as an `ILiveReport`.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Panel } from '@lumino/widgets';

import { formatBytes } from '../../base/bytes';
import { FrameTask } from '../../draw/frame';
import { watchSight } from '../../draw/sight';
import type { ILiveReport } from '../../model/live';
import { Selection } from '../../model/selection';
import type { IReport } from '../../wire';
import { element } from '../dom';
import { deviceName } from '../ledger';
import { isPlainKey, keepOwnKeys } from '../ownkeys';
import { ReportHeader } from './header';
import { LiveStrip } from './livestrip';
import type { IPreferences, IReportTraces, Preferences } from '../../model/preferences';
import { ReportTabs } from './reporttabs';

/** Shows one report, at rest or live. */
export class ReportWidget extends Panel {
  private readonly _trans: TranslationBundle;
  private readonly _preferences: Preferences;
  private readonly _header: ReportHeader;
  private readonly _strip: LiveStrip;
  private readonly _tabs: ReportTabs;
  private readonly _chooser: HTMLSelectElement;
  private readonly _keys: IDisposable;
  private readonly _task = new FrameTask(() => this._draw());
  private _report: IReport | undefined;
  private _live: ILiveReport | undefined;
  private _traces: IReportTraces = {};
  private _settings: IPreferences;
  private _viewIndex = 0;
  private _shownReport: IReport | undefined;
  private _shownView = -1;
  private _sight: IDisposable | undefined;
  private _isInSight = true;
  private _isAdviceFirst = false;

  constructor(options: ReportWidget.IOptions) {
    super();
    const { trans } = options;
    this._trans = trans;
    this._preferences = options.preferences;
    this._settings = options.preferences.values;
    this.addClass('memtrack-Report');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Memory report'));
    // Before those of the tabs, which may keep more.
    this._keys = keepOwnKeys(this.node, isPlainKey);
    this._chooser = element('select', { 'aria-label': trans.__('Device') });
    this._chooser.addEventListener('change', () => this._chooseView());
    this._header = new ReportHeader(trans, options.language, {
      fold: () => this._toggleFold(),
      showLayer: row => this._tabs.showLayer(row)
    });
    this._strip = new LiveStrip(trans);
    this._strip.hide();
    const selection = new Selection();
    this._tabs = new ReportTabs({ ...options, selection, chooser: this._chooser });
    this._tabs.currentChanged.connect((_, tab) => {
      this._traces.tab = tab;
      this._isAdviceFirst = false;
    });
    this.addWidget(this._header);
    this.addWidget(this._strip);
    this.addWidget(this._tabs);
    this._applyPreferences();
    this._preferences.changed.connect(this._onPreferences, this);
  }

  /** Show `report`; of the same run everything the reader did stays. */
  setReport(report: IReport): void {
    if (report.identifier !== this._report?.identifier) {
      this._traces = this._preferences.tracesOf(report.identifier);
      this._viewIndex = 0;
      this._applyPreferences();
    }
    // Who asked for advice is shown advice, wherever this run was left before.
    if (report.advice !== undefined && this._report?.advice === undefined) {
      this._isAdviceFirst = true;
      this._tabs.current = 'advice';
    }
    this._report = report;
    this._viewIndex = Math.min(this._viewIndex, Math.max(0, report.views.length - 1));
    this._task.request();
  }

  /** The live report to follow; undefined for none. */
  get live(): ILiveReport | undefined {
    return this._live;
  }

  set live(live: ILiveReport | undefined) {
    const previous = this._live;
    if (live === previous) {
      return;
    }
    previous?.reportChanged.disconnect(this._onLiveReport, this);
    previous?.ticked.disconnect(this._task.request, this._task);
    previous?.closed.disconnect(this._task.request, this._task);
    this._live = live;
    this._tabs.requestWindow =
      live && ((view, window, buckets) => live.requestWindow(view, window, buckets));
    this._tabs.requestAdvice = live && (() => live.requestAdvice());
    if (live !== undefined) {
      live.reportChanged.connect(this._onLiveReport, this);
      live.ticked.connect(this._task.request, this._task);
      live.closed.connect(this._task.request, this._task);
      this._onLiveReport();
      this._greet();
    }
    this._task.request();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.live = undefined;
      this._preferences.changed.disconnect(this._onPreferences, this);
      this._keys.dispose();
      this._task.dispose();
      super.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._sight = watchSight(this.node, isInSight => this._setInSight(isInSight));
    this._setInSight(true);
  }

  protected override onBeforeDetach(message: Message): void {
    this._sight?.dispose();
    super.onBeforeDetach(message);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._setInSight(this._isInSight);
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._setInSight(this._isInSight);
  }

  private get _isFolded(): boolean {
    return this._traces.isFolded ?? this._preferences.values.isFolded;
  }

  private get _hasViews(): boolean {
    return this._report !== undefined && this._report.views.length > 0;
  }

  private _setInSight(isInSight: boolean): void {
    this._isInSight = isInSight;
    const isShown = isInSight && this.isVisible;
    this._task.isShown = isShown;
    this._tabs.isShown = isShown;
    this._greet();
  }

  /** A kernel stops ticking when nobody looks: tell it that somebody does. */
  private _greet(): void {
    if (this._task.isShown && this._live?.isClosed === false) {
      this._live.seen(this._live.tick?.number ?? 0);
    }
  }

  private _onLiveReport(): void {
    const report = this._live?.report;
    if (report !== undefined) {
      this.setReport(report);
    }
  }

  /** What was changed in the settings just now is the reader's latest word; the rest stays. */
  private _onPreferences(_: Preferences, values: IPreferences): void {
    if (values.defaultTab !== this._settings.defaultTab) {
      delete this._traces.tab;
    }
    if (values.isFolded !== this._settings.isFolded) {
      delete this._traces.isFolded;
    }
    this._tabs.applyPreferences(values, this._settings);
    this._settings = values;
    this._applyPreferences();
  }

  private _applyPreferences(): void {
    const isFolded = this._isFolded;
    this._header.isFolded = isFolded;
    this.toggleClass('memtrack-mod-folded', isFolded);
    this._tabs.setHidden(isFolded || !this._hasViews);
    this._tabs.current = this._isAdviceFirst
      ? 'advice'
      : (this._traces.tab ?? this._preferences.values.defaultTab);
  }

  private _toggleFold(): void {
    this._traces.isFolded = !this._isFolded;
    this._applyPreferences();
  }

  private _chooseView(): void {
    this._viewIndex = this._chooser.selectedIndex;
    this._task.request();
  }

  private _draw(): void {
    const report = this._report;
    const isLive = this._live?.isClosed === false;
    const tick = isLive ? this._live?.tick : undefined;
    const isRunning = tick !== undefined && (report === undefined || report.state === 'recording');
    this._strip.setHidden(!isRunning);
    if (isRunning) {
      this._strip.draw(tick);
    }
    this._header.present({
      report,
      view: report?.views[this._viewIndex],
      liveHeadline: isRunning
        ? this._trans.__('Peak %1 so far', formatBytes(tick.peak))
        : undefined,
      isLive
    });
    if (report !== undefined) {
      this._drawView(report);
    }
    if (tick !== undefined) {
      this._live?.seen(tick.number);
    }
  }

  private _drawView(report: IReport): void {
    if (report === this._shownReport && this._viewIndex === this._shownView) {
      return;
    }
    this._shownReport = report;
    this._shownView = this._viewIndex;
    this._chooser.hidden = report.views.length < 2;
    this._chooser.replaceChildren(
      ...report.views.map(view => element('option', {}, deviceName(view)))
    );
    this._chooser.selectedIndex = this._viewIndex;
    this._tabs.setHidden(this._isFolded || !this._hasViews);
    if (this._hasViews) {
      this._tabs.setView(report, this._viewIndex);
    }
  }
}

/** A namespace for `ReportWidget` statics. */
export namespace ReportWidget {
  /** The options of a report. */
  export interface IOptions {
    readonly trans: TranslationBundle;
    /** The reader's language, such as `zh_CN`. */
    readonly language: string;
    readonly preferences: Preferences;
  }
}
