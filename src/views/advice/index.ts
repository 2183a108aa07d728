// The tab of what helps: the answer, the remedies against the run as it is, and sets of them.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import type { AdviceOrder } from '../../model/advice';
import { ADVICE_ORDERS, groupsOf } from '../../model/advice';
import type { IAdvice, IReport, IView, Text } from '../../wire';
import { textIn } from '../../wire';
import { Copying } from '../diagnosis/copying';
import { element } from '../dom';
import { Folds } from '../folds';
import { remedyTable } from './table';
import { reasonsSection, titlesOf, togetherSection } from './together';
import { evidenceSentence, fitsAsItIs, headlineOf } from './words';

/** Shows the advice of a report. */
export class AdviceView extends Widget {
  private readonly _trans: TranslationBundle;
  private readonly _say: (text: Text) => string;
  private readonly _order: HTMLSelectElement;
  private _copying: Copying;
  private _folds = new Folds();
  private _advice: IAdvice | undefined;

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

  /** Show the advice of `report`; the same again leaves alone what is unfolded. */
  setView(_: IView, { advice }: IReport): void {
    if (advice !== this._advice) {
      this._advice = advice;
      this._folds = new Folds();
      this._draw();
    }
  }

  override dispose(): void {
    this._copying.dispose();
    super.dispose();
  }

  private _draw(): void {
    const advice = this._advice;
    if (advice === undefined) {
      this.node.replaceChildren();
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
    this.node.replaceChildren(
      this._head(advice, helping.length),
      ...sections,
      this._copying.status
    );
    if (hasFocus) {
      this._order.focus();
    }
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
