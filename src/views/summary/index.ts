// The allocator's own statistics at a moment, or the difference of two: the table that people know
// from `torch.cuda.memory_summary()`.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { at } from '../../base/assert';
import { formatBytes, formatChange } from '../../base/bytes';
import type { IMoments, ISummaryGroup } from '../../model/summary';
import { summaryTable } from '../../model/summary';
import { summaryText } from '../../model/summarytext';
import type { ISummary, IView } from '../../wire';
import { readingId } from '../../wire';
import { copyText } from '../clipboard';
import { button, element } from '../dom';
import { Folds } from '../folds';
import { columnTitles, countersOf, momentTitle, rowName, summaryWords } from './words';

const SAID_MS = 2000;

/** Shows the readings of one device. */
export class SummaryView extends Widget {
  private readonly _folds = new Folds();
  private readonly _first: HTMLSelectElement;
  private readonly _second: HTMLSelectElement;
  private readonly _copy: HTMLButtonElement;
  private readonly _said = element('span', { class: 'memtrack-Summary-said', role: 'status' });
  private readonly _facts = element('p', { class: 'memtrack-Summary-facts' });
  private readonly _table = element('table', {
    class: 'memtrack-Table memtrack-Summary-table memtrack-mod-folds'
  });
  private _view: IView | undefined;
  private _timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly _trans: TranslationBundle) {
    super();
    this.addClass('memtrack-Summary');
    const trans = _trans;
    this._first = element('select', {});
    this._second = element('select', {});
    this._first.addEventListener('change', () => this._draw());
    this._second.addEventListener('change', () => this._draw());
    this._copy = button(
      { class: 'memtrack-Button', title: trans.__('Copy the whole table as PyTorch prints it') },
      () => void this._copyText(),
      trans.__('Copy as text')
    );
    this.node.append(
      element(
        'div',
        { class: 'memtrack-Toolbar', role: 'group', 'aria-label': trans.__('Summary') },
        element('label', {}, trans.__('Moment'), ' ', this._first),
        element('label', {}, trans.__('Compare with'), ' ', this._second),
        this._copy,
        this._said
      ),
      this._facts,
      element('div', { class: 'memtrack-Summary-box' }, this._table)
    );
  }

  /** Show the readings of `view`; moments that are still there stay chosen. */
  setView(view: IView): void {
    this._view = view;
    const { summary } = view;
    if (summary === undefined || summary.length === 0) {
      this._table.replaceChildren();
      return;
    }
    const titles = Array.from({ length: summary.length }, (_, row) =>
      momentTitle(summary, row, this._trans)
    );
    fill(this._first, titles, titles[defaultReading(summary)] ?? '');
    fill(this._second, [this._trans.__('no other'), ...titles], this._trans.__('no other'));
    this._draw();
  }

  override dispose(): void {
    clearTimeout(this._timer);
    super.dispose();
  }

  /** The chosen readings; of two the earlier comes first. */
  private get _moments(): IMoments {
    const first = this._first.selectedIndex;
    const other = this._second.selectedIndex - 1;
    return other < 0 || other === first
      ? { first, second: undefined }
      : { first: Math.min(first, other), second: Math.max(first, other) };
  }

  private _draw(): void {
    const summary = this._view?.summary;
    if (summary === undefined) {
      return;
    }
    const trans = this._trans;
    const moments = this._moments;
    const number = 'memtrack-mod-number';
    const heads = columnTitles(moments, trans);
    const isKept = (group: ISummaryGroup): boolean =>
      group.rows.some(row => row.figures.some(figure => figure !== undefined));
    this._facts.textContent = [
      ...(moments.second === undefined ? [] : [momentsText(summary, moments, trans)]),
      ...countersOf(summary, moments, trans)
    ].join(' · ');
    this._table.replaceChildren(
      element('caption', { class: 'memtrack-mod-heard' }, momentsText(summary, moments, trans)),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, trans.__('Metric')),
          ...heads.map(head => element('th', { scope: 'col', class: number }, head))
        )
      ),
      ...summaryTable(summary, moments)
        .filter(isKept)
        .map(group => this._group(group, moments.second !== undefined))
    );
  }

  private _group(group: ISummaryGroup, isCompared: boolean): HTMLElement {
    const rows = group.rows.map((row, index) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, rowName(group, index, this._trans)),
        ...row.figures.map((figure, column) => figureCell(figure, group, isCompared && column >= 2))
      )
    );
    const [head, ...pools] = rows;
    return element(
      'tbody',
      {},
      ...(head === undefined ? [] : this._folds.rows(group.metric, head, pools))
    );
  }

  private async _copyText(): Promise<void> {
    const view = this._view;
    if (view?.summary === undefined) {
      return;
    }
    const { summary, device } = view;
    const moments = this._moments;
    const words = summaryWords(summary, moments, device, this._trans);
    const isCopied = await copyText(summaryText(summaryTable(summary, moments), words));
    if (this.isDisposed) {
      return;
    }
    this._said.textContent = isCopied
      ? this._trans.__('Copied')
      : this._trans.__('The browser does not allow copying');
    clearTimeout(this._timer);
    this._timer = setTimeout(() => (this._said.textContent = ''), SAID_MS);
  }
}

function momentsText(
  summary: ISummary,
  { first, second }: IMoments,
  trans: TranslationBundle
): string {
  const title = momentTitle(summary, first, trans);
  return second === undefined
    ? title
    : trans.__('First: %1; second: %2', title, momentTitle(summary, second, trans));
}

function figureCell(
  figure: number | undefined,
  { isBytes }: ISummaryGroup,
  isChange: boolean
): HTMLElement {
  if (figure === undefined) {
    return element('td', { class: 'memtrack-mod-number' }, '–');
  }
  const count = figure.toLocaleString();
  const signed = figure > 0 ? `+${count}` : count;
  const text = isBytes
    ? (isChange ? formatChange : formatBytes)(figure)
    : isChange
      ? signed
      : count;
  const isZero = figure === 0 ? ' memtrack-mod-zero' : '';
  return element(
    'td',
    {
      class: `memtrack-mod-number${isZero}`,
      title: isBytes ? `${isChange ? signed : count} B` : undefined
    },
    figure === 0 ? '0' : text
  );
}

/** Fills a select; what was chosen stays chosen, else `otherwise` is. */
function fill(select: HTMLSelectElement, titles: readonly string[], otherwise: string): void {
  const chosen = select.value;
  select.replaceChildren(...titles.map(title => element('option', { value: title }, title)));
  select.selectedIndex = titles.indexOf(titles.includes(chosen) ? chosen : otherwise);
}

/** The end of the run, else the latest reading. */
function defaultReading(summary: ISummary): number {
  for (let reading = summary.length - 1; reading >= 0; reading--) {
    if (readingId(at(summary.kind, reading)) === 'end') {
      return reading;
    }
  }
  return summary.length - 1;
}
