// The head of a report: the answer in one line, its evidence in the next, the device as a bar, and
// what the reader should know of the recording.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { formatDuration } from '../../base/bytes';
import type { IGrowth, IReport, IView, Text } from '../../wire';
import { textIn } from '../../wire';
import { button, element } from '../dom';
import { DeviceBar } from '../ledger/devicebar';

/** What the head shows. */
export interface IHead {
  /** Undefined before the first one of a live recording. */
  readonly report: IReport | undefined;
  readonly view: IView | undefined;
  /** In place of the headline while the recording runs. */
  readonly liveHeadline: string | undefined;
  /** Whether the kernel is there that would go on. */
  readonly isLive: boolean;
}

/** What the head can be asked for. */
export interface IHeadActions {
  readonly fold: () => void;
  readonly showLayer: (row: number) => void;
}

const NO_GROWTH: readonly IGrowth[] = [];

/** The head, with the button that folds the report to its first two lines. */
export class ReportHeader extends Widget {
  private readonly _fold: HTMLButtonElement;
  private readonly _headline = element('span', {
    class: 'memtrack-Report-headline',
    role: 'heading',
    'aria-level': '3'
  });
  private readonly _badges = element('span', { class: 'memtrack-Report-badges' });
  private readonly _facts = element('span', { class: 'memtrack-Report-facts' });
  private readonly _details = element('ul', { class: 'memtrack-Report-details' });
  private readonly _growth: HTMLElement;
  private _found: readonly IGrowth[] | undefined;
  private readonly _notices = element('ul', { class: 'memtrack-Report-notices' });
  private readonly _bar: DeviceBar;
  private readonly _body: HTMLElement;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _language: string,
    private readonly _actions: IHeadActions
  ) {
    super();
    this.addClass('memtrack-Report-header');
    this._bar = new DeviceBar(_trans, 'fitting');
    this._growth = element('ul', {
      class: 'memtrack-Report-growth',
      'aria-label': _trans.__('Growth from step to step')
    });
    this._body = element(
      'div',
      { class: 'memtrack-Report-body' },
      this._growth,
      this._bar.node,
      this._notices
    );
    this._fold = button({ class: 'memtrack-Report-fold' }, () => _actions.fold());
    this.node.append(
      element(
        'div',
        { class: 'memtrack-Report-first' },
        this._fold,
        element('div', { class: 'memtrack-Report-line' }, this._headline, this._badges, this._facts)
      ),
      this._details,
      this._body
    );
  }

  set isFolded(isFolded: boolean) {
    const trans = this._trans;
    this._fold.setAttribute('aria-expanded', String(!isFolded));
    this._fold.title = isFolded ? trans.__('Show the whole report') : trans.__('Fold the report');
    this._fold.setAttribute('aria-label', trans.__('Memory report'));
    this._body.hidden = isFolded;
  }

  /** Show a head; text that is the same is left alone, so that nothing flickers or is read twice. */
  present({ report, view, liveHeadline, isLive }: IHead): void {
    const say = (text: Text): string => textIn(text, this._language);
    const nothing =
      isLive && (report === undefined || report.state === 'recording')
        ? this._trans.__('Watching. The report comes here as soon as the model runs.')
        : this._trans.__('Nothing was recorded.');
    const headline = liveHeadline ?? (view === undefined ? nothing : say(view.headline));
    setText(this._headline, headline);
    showLines(this._details, view?.details.map(say) ?? []);
    this._showGrowth(view?.growth ?? NO_GROWTH);
    showLines(this._notices, report?.notices.map(say) ?? []);
    this._fold.hidden = report === undefined;
    const isRunning = liveHeadline !== undefined || (isLive && report?.state === 'recording');
    this._badges.replaceChildren(...badgesOf(report, isRunning, this._trans));
    if (report !== undefined) {
      setText(this._facts, this._factsOf(report));
      this._facts.title = startedText(report.started, this._language);
    }
    this._bar.node.hidden = view === undefined;
    if (view !== undefined) {
      this._bar.ledger = view.ledger;
    }
  }

  override dispose(): void {
    this._bar.dispose();
    super.dispose();
  }

  /** Only what is new is shown anew: a link that comes again would lose the focus. */
  private _showGrowth(growth: readonly IGrowth[]): void {
    if (growth !== this._found) {
      this._found = growth;
      this._growth.replaceChildren(...growth.map(found => this._finding(found)));
      this._growth.hidden = growth.length === 0;
    }
  }

  /** What each step keeps, with the way to the layer that makes it. */
  private _finding({ sentence, layer }: IGrowth): HTMLElement {
    const text = element('span', {}, textIn(sentence, this._language));
    const link = button(
      { class: 'memtrack-Link' },
      () => this._actions.showLayer(layer),
      this._trans.__('Show the layer')
    );
    return element('li', {}, text, ...(layer < 0 ? [] : [' ', link]));
  }

  private _factsOf({ label, steps, stepNs }: IReport): string {
    const trans = this._trans;
    return [
      label,
      steps > 0 ? trans._n('%1 step', '%1 steps', steps) : '',
      stepNs === undefined ? '' : trans.__('%1 a step', formatDuration(stepNs))
    ]
      .filter(Boolean)
      .join(' · ');
  }
}

/** Returns the mark of figures that were not measured, for where the head is not in sight. */
export function predictedBadge(trans: TranslationBundle): HTMLElement {
  return element(
    'span',
    {
      class: 'memtrack-Badge memtrack-mod-predicted',
      title: trans.__('Computed without running on a GPU')
    },
    trans.__('predicted')
  );
}

function badgesOf(
  report: IReport | undefined,
  isRunning: boolean,
  trans: TranslationBundle
): readonly HTMLElement[] {
  const badge = (kind: string, text: string, title: string): HTMLElement =>
    element('span', { class: `memtrack-Badge memtrack-mod-${kind}`, title }, text);
  if (isRunning) {
    return [badge('recording', trans.__('recording'), trans.__('Still going on'))];
  }
  const known: Readonly<Record<string, () => HTMLElement>> = {
    measured: () => badge('measured', trans.__('measured'), trans.__('Recorded while it happened')),
    predicted: () => predictedBadge(trans),
    opened: () => badge('opened', trans.__('opened'), trans.__('Read from a file')),
    recording: () =>
      badge('unfinished', trans.__('unfinished'), trans.__('Saved while it was going on')),
    interrupted: () =>
      badge('interrupted', trans.__('interrupted'), trans.__('Ended before its last step')),
    failed: () => badge('failed', trans.__('failed'), trans.__('Ended with an error'))
  };
  return [report?.evidence, report?.state].flatMap(id => {
    const make = id === undefined ? undefined : known[id];
    return make ? [make()] : [];
  });
}

function startedText(started: string, language: string): string {
  const date = new Date(started);
  return Number.isNaN(date.getTime()) ? started : date.toLocaleString(language.replace('_', '-'));
}

function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

function showLines(list: HTMLElement, lines: readonly string[]): void {
  list.replaceChildren(...lines.map(line => element('li', {}, line)));
  list.hidden = lines.length === 0;
}
