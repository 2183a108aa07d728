// The tab of what helps: the answer, the remedies against the run as it is, and sets of them.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import type { AdviceOrder } from '../../model/advice';
import { ADVICE_ORDERS, groupsOf } from '../../model/advice';
import type { IAdvice, IAdviceAnswer, IReport, IView, Text } from '../../wire';
import { textIn } from '../../wire';
import { Copying } from '../diagnosis/copying';
import { button, element } from '../dom';
import { Folds } from '../folds';
import { remedyTable } from './table';
import { reasonsSection, titlesOf, togetherSection } from './together';
import { evidenceSentence, fitsAsItIs, headlineOf } from './words';

/** Asks the kernel for advice; undefined once it is gone. */
export type RequestAdvice = () => Promise<IAdviceAnswer | undefined>;

/** What the reader waits for, or why there is nothing to wait for. */
type Asking = 'nothing' | 'asked' | 'gone' | Text;

/** Shows the advice of a report; of a report without any it asks the kernel that is live. */
export class AdviceView extends Widget {
  private readonly _trans: TranslationBundle;
  private readonly _say: (text: Text) => string;
  private readonly _order: HTMLSelectElement;
  private _copying: Copying;
  private _folds = new Folds();
  private _advice: IAdvice | undefined;
  private _report: IReport | undefined;
  private _advised: IReport | undefined;
  private _request: RequestAdvice | undefined;
  private _asking: Asking = 'nothing';

  constructor({ trans, language }: AdviceView.IOptions) {
    super();
    this.addClass('memtrack-Advice');
    this._trans = trans;
    this._say = text => textIn(text, language);
    this._copying = new Copying(trans);
    const names: Readonly<Record<AdviceOrder, string>> = {
      saving: trans.__('what it saves'),
      harm: trans.__('least harm')
    };
    this._order = element(
      'select',
      {},
      ...ADVICE_ORDERS.map(order => element('option', { value: order }, names[order]))
    );
    this._order.addEventListener('change', () => this._draw());
  }

  /** Who is asked where the report has no advice. */
  set request(request: RequestAdvice | undefined) {
    this._request = request;
    if (this._report !== undefined) {
      this.setView(undefined, this._report);
    }
  }

  /**
   * Show the advice of `report`; the same again leaves alone what is unfolded. A finished recording is
   * asked for at once, one that goes on when the reader wants it.
   */
  setView(_: IView | undefined, report: IReport): void {
    const isNew = report !== this._report;
    this._report = report;
    if (report.advice !== undefined) {
      this._show(report.advice, report);
    } else if (report.state !== 'recording' && this._advised !== report) {
      this._ask();
    } else if (isNew) {
      this._draw();
    }
  }

  private _show(advice: IAdvice, report: IReport): void {
    if (advice !== this._advice) {
      this._advice = advice;
      this._folds = new Folds();
      this._advised = report;
      this._draw();
    }
  }

  private _ask(): void {
    const [request, report] = [this._request, this._report];
    if (request === undefined || report === undefined || this._asking === 'asked') {
      return;
    }
    this._asking = 'asked';
    this._advised = report;
    this._draw();
    void request().then(answer => {
      if (this.isDisposed) {
        return;
      }
      this._asking = answer === undefined ? 'gone' : (answer.problem ?? 'nothing');
      if (answer?.advice === undefined) {
        this._draw();
      } else {
        this._show(answer.advice, report);
      }
      if (this._report !== report && this._report !== undefined) {
        this.setView(undefined, this._report);
      }
    });
  }

  override dispose(): void {
    this._copying.dispose();
    super.dispose();
  }

  private _draw(): void {
    const advice = this._advice;
    if (advice === undefined) {
      this.node.replaceChildren(this._waiting());
      return;
    }
    const [trans, say] = [this._trans, this._say];
    const hasFocus = this.node.contains(document.activeElement);
    this._copying.dispose();
    this._copying = new Copying(trans);
    const order = ADVICE_ORDERS.find(each => each === this._order.value) ?? 'saving';
    const { helping, unknown, refused } = groupsOf(advice, order);
    const tools = { trans, say, copying: this._copying, folds: this._folds };
    const sections = [
      helping.length === 0 ? undefined : remedyTable(advice, helping, tools),
      this._note(helping),
      togetherSection(advice, say, trans),
      reasonsSection(trans.__('Cannot be told from this run (%1)', unknown.length), unknown, say),
      reasonsSection(trans.__('Does not help here (%1)', refused.length), refused, say)
    ].filter(section => section !== undefined);
    const isOld = this._advised !== this._report || this._asking !== 'nothing';
    this.node.replaceChildren(
      ...(isOld ? [this._waiting()] : []),
      this._head(advice, helping.length),
      ...sections,
      this._copying.status
    );
    if (hasFocus) {
      this._order.focus();
    }
  }

  /** What stands in the place of advice, or above one that is of an earlier moment. */
  private _waiting(): HTMLElement {
    const trans = this._trans;
    if (this._asking === 'asked') {
      return this._line(trans.__('Weighing remedies… A busy kernel answers after its cell.'));
    }
    if (this._asking === 'gone') {
      return this._line(trans.__('The kernel is gone, and nobody else has the recording.'));
    }
    if (this._asking !== 'nothing') {
      return this._line(this._say(this._asking), this._button());
    }
    return this._line(
      this._advice === undefined
        ? trans.__('The recording goes on. Remedies can be weighed on what was recorded so far.')
        : trans.__('This advice is on an earlier moment of the recording.'),
      this._button()
    );
  }

  private _button(): HTMLElement {
    return button(
      { class: 'memtrack-Button' },
      () => this._ask(),
      this._trans.__('Weigh remedies')
    );
  }

  private _line(sentence: string, ...more: readonly HTMLElement[]): HTMLElement {
    return element(
      'div',
      { class: 'memtrack-Advice-waiting', role: 'status' },
      element('span', {}, sentence),
      ...more
    );
  }

  private _head(advice: IAdvice, count: number): HTMLElement {
    const chosen = this._chosen(advice);
    return element(
      'div',
      { class: 'memtrack-Advice-head' },
      element(
        'div',
        { class: 'memtrack-Advice-answer' },
        element(
          'div',
          { class: 'memtrack-Advice-headline', role: 'heading', 'aria-level': '4' },
          headlineOf(advice, this._trans)
        ),
        ...(chosen === undefined ? [] : [element('p', { dir: 'auto' }, chosen)])
      ),
      ...(count < 2
        ? []
        : [
            element(
              'label',
              { class: 'memtrack-Advice-order' },
              this._trans.__('Sort by'),
              ' ',
              this._order
            )
          ])
    );
  }

  /** The mildest set that fits the budget, in a sentence; undefined without a budget to meet. */
  private _chosen(advice: IAdvice): string | undefined {
    const [best] = advice.combinations;
    if (advice.budget === undefined || fitsAsItIs(advice)) {
      return undefined;
    }
    if (best === undefined || best.ids.length === 0) {
      return this._trans.__('Nothing that was weighed helps here.');
    }
    const titles = titlesOf(best, advice, this._say);
    return best.fits
      ? this._trans.__('The mildest that fits: %1', titles)
      : this._trans.__('Nothing that was weighed fits; least memory with: %1', titles);
  }

  private _note(helping: IAdvice['remedies']): HTMLElement | undefined {
    const [first] = helping;
    if (first === undefined) {
      return undefined;
    }
    const isOne = helping.every(({ evidence }) => evidence === first.evidence);
    const sums = this._trans.__('Each figure is that of one remedy alone: they do not add up.');
    const told = isOne ? [evidenceSentence(first.evidence, this._trans)] : [];
    return element('p', { class: 'memtrack-Advice-note' }, [...told, sums].join(' '));
  }
}

/** A namespace for `AdviceView` statics. */
export namespace AdviceView {
  /** The options of a view of advice. */
  export interface IOptions {
    readonly trans: TranslationBundle;
    /** The reader's language, such as `zh_CN`. */
    readonly language: string;
  }
}
