// The tabs of a report, and what they share: the device shown, the chosen layer, the settings.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import { at } from '../../base/assert';
import { DEFAULT_COLUMNS } from '../../model/layers';
import type { IPreferences, Preferences, TabId } from '../../model/preferences';
import type { Selection } from '../../model/selection';
import type { IReport, IView } from '../../wire';
import type { RequestAdvice } from '../advice';
import { AdviceView } from '../advice';
import { element } from '../dom';
import { LayerTable } from '../layers';
import { LedgerView } from '../ledger';
import { LinesView } from '../lines';
import { SummaryView } from '../summary';
import { TimelineView } from '../timeline';
import type { RequestWindow } from '../timeline/state';
import { predictedBadge } from './header';
import { Tabs } from './tabs';

/** What the tabs are made from. */
export interface IReportTabsOptions {
  readonly trans: TranslationBundle;
  readonly language: string;
  readonly preferences: Preferences;
  readonly selection: Selection;
  /** Chooses the device, at the end of the row of tabs. */
  readonly chooser: HTMLElement;
}

/** Layers, source lines, timeline, ledger and summary of the chosen device, where there are any. */
export class ReportTabs extends Tabs<TabId> {
  private readonly _options: IReportTabsOptions;
  private _layers: LayerTable | undefined;
  private _timeline: TimelineView | undefined;
  private _lines: LinesView | undefined;
  private _ledger: LedgerView | undefined;
  private _advice: AdviceView | undefined;
  private _summary: SummaryView | undefined;
  private _shown: { readonly report: IReport; readonly viewIndex: number } | undefined;
  private _requestWindow: RequestWindow | undefined;
  private _requestAdvice: RequestAdvice | undefined;
  private _isShown = true;
  private readonly _evidence: HTMLElement;

  constructor(options: IReportTabsOptions) {
    const { trans } = options;
    const evidence = predictedBadge(trans);
    evidence.hidden = true;
    super(
      [
        { id: 'layers', label: trans.__('Layers'), create: () => this._makeLayers() },
        { id: 'lines', label: trans.__('Source lines'), create: () => this._makeLines() },
        { id: 'timeline', label: trans.__('Timeline'), create: () => this._makeTimeline() },
        { id: 'ledger', label: trans.__('Ledger'), create: () => this._makeLedger() },
        { id: 'advice', label: trans.__('Advice'), create: () => this._makeAdvice() },
        { id: 'summary', label: trans.__('Summary'), create: () => this._makeSummary() }
      ],
      trans.__('Memory report'),
      element(
        'div',
        { class: 'memtrack-Report-aside' },
        evidence,
        element('label', { class: 'memtrack-Report-device' }, options.chooser)
      )
    );
    this._options = options;
    this._evidence = evidence;
    options.selection.changed.connect(this._onSelection, this);
  }

  /** Show the device in row `viewIndex` of `report` in every tab. */
  setView(report: IReport, viewIndex: number): void {
    const { selection } = this._options;
    this._shown = { report, viewIndex };
    this._evidence.hidden = report.evidence !== 'predicted';
    // The table finds the chosen layer again by its path; without one, its row is all that is known.
    this._layers?.setView(report, viewIndex);
    if (selection.row >= report.layers.length) {
      selection.row = -1;
    }
    this._timeline?.setView(report, viewIndex);
    const view = at(report.views, viewIndex);
    this._lines?.setView(view);
    this._ledger?.setView(view, report);
    this._advice?.setView(view, report);
    this._summary?.setView(view);
    this._setAbsent();
  }

  /** Choose a layer and show it in the table. */
  showLayer(row: number): void {
    this._options.selection.row = row;
    this.choose('layers');
  }

  /** Where finer timelines come from; undefined while there is no kernel. */
  set requestWindow(request: RequestWindow | undefined) {
    this._requestWindow = request;
    if (this._timeline !== undefined) {
      this._timeline.requestWindow = request;
    }
  }

  /** Where advice comes from that the report does not have; undefined where no kernel ever was. */
  set requestAdvice(request: RequestAdvice | undefined) {
    this._requestAdvice = request;
    if (this._advice !== undefined) {
      this._advice.request = request;
    }
    this._setAbsent();
  }

  /** Whether anybody can see them. */
  set isShown(isShown: boolean) {
    this._isShown = isShown;
    if (this._timeline !== undefined) {
      this._timeline.isShown = isShown;
    }
  }

  /** Apply what differs from the settings before: the rest may be as the reader made it here. */
  applyPreferences(values: IPreferences, before: IPreferences): void {
    if (this._layers !== undefined && values.layerColumns !== before.layerColumns) {
      this._layers.columns = columnsOf(values) ?? DEFAULT_COLUMNS;
    }
    if (this._timeline !== undefined && values.timelineAxis !== before.timelineAxis) {
      this._timeline.axis = values.timelineAxis;
    }
  }

  private _setAbsent(): void {
    if (this._shown !== undefined) {
      const { report, viewIndex } = this._shown;
      this.absent = absentTabs(report, at(report.views, viewIndex), this._requestAdvice);
    }
  }

  private _onSelection(_: Selection, row: number): void {
    if (this._layers !== undefined && this._layers.selected !== row) {
      this._layers.select(row);
    }
  }

  private _makeLayers(): LayerTable {
    const { trans, selection, preferences } = this._options;
    const layers = new LayerTable({
      trans,
      columns: columnsOf(preferences.values),
      onColumnsChanged: ids => preferences.chooseLayerColumns(ids)
    });
    this._layers = layers;
    if (this._shown !== undefined) {
      layers.setView(this._shown.report, this._shown.viewIndex);
      layers.select(selection.row);
    }
    layers.selectionChanged.connect((_, row) => (selection.row = row));
    return layers;
  }

  private _makeTimeline(): TimelineView {
    const { trans, language, selection, preferences } = this._options;
    const axis = preferences.values.timelineAxis;
    const timeline = new TimelineView({
      trans,
      language: language.replace('_', '-'),
      selection,
      axis
    });
    timeline.requestWindow = this._requestWindow;
    timeline.isShown = this._isShown;
    this._timeline = timeline;
    if (this._shown !== undefined) {
      timeline.setView(this._shown.report, this._shown.viewIndex);
    }
    return timeline;
  }

  private _makeLines(): LinesView {
    this._lines = new LinesView(this._options.trans);
    return this._shownIn(this._lines);
  }

  private _makeLedger(): LedgerView {
    this._ledger = new LedgerView(this._options.trans, this._options.selection);
    return this._shownIn(this._ledger);
  }

  private _makeAdvice(): AdviceView {
    this._advice = new AdviceView(this._options);
    this._advice.request = this._requestAdvice;
    return this._shownIn(this._advice);
  }

  private _makeSummary(): SummaryView {
    this._summary = new SummaryView(this._options.trans);
    return this._shownIn(this._summary);
  }

  private _shownIn<V extends Widget & { setView(view: IView, report: IReport): void }>(
    widget: V
  ): V {
    if (this._shown !== undefined) {
      const { report, viewIndex } = this._shown;
      widget.setView(at(report.views, viewIndex), report);
    }
    return widget;
  }
}

/** Tabs that would be empty. */
function absentTabs(
  report: IReport,
  view: IView,
  requestAdvice: RequestAdvice | undefined
): readonly TabId[] {
  const hasAdvice = report.advice !== undefined || requestAdvice !== undefined;
  return [
    ...(report.layers.length === 0 && view.lines !== undefined ? (['layers'] as const) : []),
    ...(view.lines === undefined ? (['lines'] as const) : []),
    ...(hasAdvice ? [] : (['advice'] as const)),
    ...(view.summary === undefined || view.summary.length === 0 ? (['summary'] as const) : [])
  ];
}

function columnsOf({ layerColumns }: IPreferences): readonly string[] | undefined {
  return layerColumns.length > 0 ? layerColumns : undefined;
}
