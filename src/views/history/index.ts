// The kept runs: peak and speed over time, a row a run, and two of them compared. What changes a run goes
// to the kernel; a saved output has none and is for reading.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Panel, Widget } from '@lumino/widgets';

import { formatBytes } from '../../base/bytes';
import { buildRunChart } from '../../draw/runchart';
import type { ILiveHistory, RunChange } from '../../model/history/live';
import type { IRunList } from '../../model/history/runs';
import { foundIn, withPage, withRuns } from '../../model/history/runs';
import type { IHistory, IRun } from '../../wire/runs';
import { Chart } from '../chart';
import { ComparisonWidget } from '../comparison';
import { element } from '../dom';
import { isPlainKey, keepOwnKeys } from '../ownkeys';
import { Lasting } from './lasting';
import { RunTable } from './table';
import { HistoryToolbar } from './toolbar';
import { failureSentence, runName } from './words';

const CHART_PX = 170;

/** Shows one history. */
export class HistoryWidget extends Panel {
  private readonly _trans: TranslationBundle;
  private readonly _toolbar: HistoryToolbar;
  private readonly _table: RunTable;
  private readonly _chart: Chart;
  private readonly _legend: Widget;
  private readonly _status: Lasting;
  private readonly _compared = new Panel();
  private readonly _keys: IDisposable;
  private _list: IRunList;
  private _live: ILiveHistory | undefined;
  private _job = 0;

  constructor(
    private readonly _history: IHistory,
    private readonly _options: HistoryWidget.IOptions
  ) {
    super();
    const trans = (this._trans = _options.trans);
    this._list = withPage(undefined, _history);
    this.addClass('memtrack-Report');
    this.addClass('memtrack-History');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Kept runs'));
    this._keys = keepOwnKeys(this.node, isPlainKey);
    this._status = new Lasting();
    this._toolbar = new HistoryToolbar(
      _history,
      trans,
      {
        search: text => void this._search(text, this._list.deleted),
        showDeleted: deleted => void this._search(this._list.search, deleted),
        compare: () => void this._compare()
      },
      this._status.node
    );
    this._table = new RunTable(trans, _options.language, {
      chosen: () => this._show(),
      change: (run, change) => void this._change(run, change),
      more: () => void this._more()
    });
    this._chart = new Chart({
      heightPx: CHART_PX,
      failed: trans.__('The chart could not be loaded.'),
      figure: canvas =>
        buildRunChart({
          ...canvas,
          runs: this._shown,
          words: {
            bytes: formatBytes,
            rate: rate => trans.__('%1/s', String(+rate.toPrecision(3)))
          }
        })
    });
    const key = (kind: string, text: string): HTMLElement =>
      element('span', { class: `memtrack-History-key memtrack-mod-${kind}` }, text);
    this._legend = new Widget({
      node: element(
        'div',
        { class: 'memtrack-Keys' },
        key('peak', trans.__('peak')),
        key('speed', trans.__('steps a second, on the right'))
      )
    });
    this._chart.description = trans.__('Peak and steps a second of the runs below, oldest first');
    this.addWidget(new Widget({ node: this._toolbar.node }));
    this.addWidget(this._legend);
    this.addWidget(this._chart);
    this.addWidget(new Widget({ node: this._table.node }));
    this.addWidget(this._compared);
    this._show();
  }

  /** The widget model that the history is of, empty for none. */
  get modelId(): string {
    return this._history.modelId;
  }

  /** What answers for the history; undefined for nobody. */
  set live(live: ILiveHistory | undefined) {
    this._live?.closed.disconnect(this._onClosed, this);
    this._live = live?.isClosed === true ? undefined : live;
    this._live?.closed.connect(this._onClosed, this);
    this._show();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._live?.closed.disconnect(this._onClosed, this);
      this._keys.dispose();
      this._toolbar.dispose();
      super.dispose();
    }
  }

  private get _isWritable(): boolean {
    return this._live !== undefined && this._history.writable;
  }

  /** The runs in sight: a kernel has searched already, a saved list is searched here. */
  private get _shown(): readonly IRun[] {
    const { runs, search } = this._list;
    return this._live === undefined ? foundIn(runs, search) : runs;
  }

  private _show(): void {
    const shown = this._shown;
    this._toolbar.show({
      list: this._list,
      shown: shown.length,
      isLive: this._live !== undefined,
      isWritable: this._isWritable,
      chosen: this._table.chosen(shown).length
    });
    const isMore = this._live !== undefined && this._list.runs.length < this._list.total;
    this._table.show(shown, { isWritable: this._isWritable, isMore });
    this._legend.setHidden(shown.length < 2);
    this._chart.setHidden(shown.length < 2);
    this._chart.redraw();
  }

  private _onClosed(): void {
    this.live = undefined;
  }

  private async _search(search: string, deleted: boolean): Promise<void> {
    if (this._live === undefined) {
      this._list = { ...this._list, search };
      this._show();
      return;
    }
    await this._load({ search, deleted, offset: 0 });
  }

  private async _more(): Promise<void> {
    const { search, deleted, runs } = this._list;
    await this._load({ search, deleted, offset: runs.length });
  }

  private async _load(query: Parameters<ILiveHistory['list']>[0]): Promise<void> {
    const job = ++this._job;
    await this._ask(async live => {
      const page = await live.list(query);
      // The latest search wins.
      if (job === this._job) {
        this._list = withPage(this._list, page);
      }
    });
  }

  private async _change(run: IRun, change: RunChange): Promise<void> {
    const isDone = await this._ask(async live => {
      this._list = withRuns(this._list, await live.change(run.id, change));
    });
    if (isDone && change.type === 'delete') {
      const name = runName(run, this._trans);
      this._status.say(this._trans.__('%1 was deleted.', name), {
        label: this._trans.__('Undo'),
        run: () => void this._change(run, { type: 'restore' })
      });
    } else if (isDone && change.type === 'restore') {
      this._status.say(this._trans.__('%1 is back.', runName(run, this._trans)));
    }
  }

  /** The older of the two first: what changed is the newer. */
  private async _compare(): Promise<void> {
    const chosen = this._table.chosen(this._shown);
    const [after, before] = chosen.map(({ id }) => id);
    if (before === undefined || after === undefined) {
      return;
    }
    await this._ask(async live => {
      const comparison = await live.compare(before, after);
      [...this._compared.widgets].forEach(widget => widget.dispose());
      const view = new ComparisonWidget(comparison, this._options);
      this._compared.addWidget(view);
      view.node.scrollIntoView?.({ block: 'nearest' });
    });
  }

  /** Whether it went well; what went wrong is said, and loses nothing. */
  private async _ask(action: (live: ILiveHistory) => Promise<void>): Promise<boolean> {
    const live = this._live;
    if (live === undefined) {
      return false;
    }
    try {
      await action(live);
      if (!this.isDisposed) {
        this._status.clear();
        this._show();
      }
      return !this.isDisposed;
    } catch (error) {
      if (!this.isDisposed) {
        this._status.say(failureSentence(error, this._options.language, this._trans));
      }
      return false;
    }
  }
}

/** A namespace for `HistoryWidget` statics. */
export namespace HistoryWidget {
  /** The options of a history. */
  export interface IOptions {
    readonly trans: TranslationBundle;
    /** The reader's language, such as `zh_CN`. */
    readonly language: string;
  }
}
