// The planner: sliders and choices, and what they make of memory. Everything is computed here, by the
// formulas that Python has: it needs no kernel.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import { together } from '../../base/bytes';
import type { IPlannerInputs } from '../../model/planner/defaults';
import { inputsOf } from '../../model/planner/defaults';
import { kvParts, largestBatch, longestSequence } from '../../model/planner/generation';
import { ledgerParts } from '../../model/planner/ledger';
import { loadingWays } from '../../model/planner/loading';
import { totalOf, verdictOf } from '../../model/planner/parts';
import type { IPlan } from '../../wire/plan';
import { button, element } from '../dom';
import { isPlainKey, keepOwnKeys } from '../ownkeys';
import { kvFormula, ledgerFormula } from './formulas';
import type { IGpuChoice } from './gpuchoice';
import { gpuChoice } from './gpuchoice';
import { kvForm } from './kvform';
import { ledgerForm } from './ledgerform';
import { loadingForm } from './loadingform';
import { PartsPicture } from './result';
import { WaysTable } from './ways';
import type { PlanKind } from './words';
import { kindName, planPartName, totalText, verdictText } from './words';

const KINDS: readonly PlanKind[] = ['ledger', 'kv', 'loading'];
// Longer than between two steps of a slider held by a key, so that only where it stops is said.
const SAID_AFTER_MS = 600;

/** Shows a plan, and lets its reader change it. */
export class PlannerWidget extends Widget {
  private readonly _trans: TranslationBundle;
  private readonly _keys: IDisposable;
  private readonly _status = element('span', { role: 'status', class: 'memtrack-mod-heard' });
  private readonly _headline = element('div', {
    class: 'memtrack-Planner-headline',
    role: 'heading',
    'aria-level': '3'
  });
  private readonly _verdict = element('p', { class: 'memtrack-Planner-verdict' });
  private readonly _more = element('p', { class: 'memtrack-Planner-more' });
  private readonly _form = element('div', { class: 'memtrack-Planner-controls' });
  private readonly _picture = element('div', { class: 'memtrack-Planner-answer' });
  private readonly _pictures: Readonly<Record<'ledger' | 'kv', PartsPicture>>;
  private readonly _ways: WaysTable;
  private readonly _kinds: ReadonlyMap<PlanKind, HTMLButtonElement>;
  private _inputs: IPlannerInputs | undefined;
  private _kind: PlanKind = 'ledger';
  private _gpu: IGpuChoice | undefined;
  private _timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ trans }: PlannerWidget.IOptions) {
    super();
    this._trans = trans;
    this._pictures = { ledger: new PartsPicture(trans), kv: new PartsPicture(trans) };
    this._ways = new WaysTable(trans);
    // The small parts that views share are styled as those of a report.
    this.addClass('memtrack-Report');
    this.addClass('memtrack-Planner');
    // Not a landmark: a notebook may have many.
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', trans.__('Memory planner'));
    this._kinds = new Map(
      KINDS.map(kind => [
        kind,
        button({ class: 'memtrack-Button' }, () => this._choose(kind), kindName(kind, trans))
      ])
    );
    this._keys = keepOwnKeys(this.node, isPlainKey);
  }

  /** Show `plan` in place of what was shown. */
  setPlan(plan: IPlan): void {
    this._inputs = inputsOf(plan);
    this._gpu = gpuChoice(plan.gpus, plan.gpu, () => this._show(), this._trans);
    this.node.replaceChildren(
      element(
        'div',
        { class: 'memtrack-Planner-top' },
        element(
          'div',
          {
            class: 'memtrack-Buttons',
            role: 'group',
            'aria-label': this._trans.__('What is planned')
          },
          ...this._kinds.values()
        ),
        this._gpu.node
      ),
      element('div', { class: 'memtrack-Planner-body' }, this._form, this._answer()),
      this._status
    );
    this._choose(plan.kind);
    this._status.textContent = '';
  }

  override dispose(): void {
    if (!this.isDisposed) {
      clearTimeout(this._timer);
      this._keys.dispose();
      super.dispose();
    }
  }

  private _answer(): HTMLElement {
    return element(
      'div',
      { class: 'memtrack-Planner-result' },
      this._headline,
      this._verdict,
      this._picture,
      this._more
    );
  }

  private _choose(kind: PlanKind): void {
    this._kind = kind;
    this._kinds.forEach((node, each) => node.setAttribute('aria-pressed', String(each === kind)));
    this._form.replaceChildren(this._makeForm(kind));
    this._picture.replaceChildren(kind === 'loading' ? this._ways.node : this._pictures[kind].node);
    this._show();
  }

  private _makeForm(kind: PlanKind): HTMLElement {
    const inputs = this._inputs;
    if (inputs === undefined) {
      throw new Error('A plan is set first.');
    }
    const put = (changes: Partial<IPlannerInputs>): void => {
      this._inputs = { ...(this._inputs ?? inputs), ...changes };
      this._show();
    };
    const trans = this._trans;
    switch (kind) {
      case 'ledger':
        return ledgerForm(inputs.ledger, trans, ledger => put({ ledger }));
      case 'kv':
        return kvForm(inputs.kv, trans, kv => put({ kv }));
      case 'loading':
        return loadingForm(inputs.loading, trans, loading => put({ loading }));
    }
  }

  private _show(): void {
    const [inputs, kind, trans, gpu] = [this._inputs, this._kind, this._trans, this._gpu?.gpu];
    if (inputs === undefined) {
      return;
    }
    const total = this._draw(inputs, kind);
    const { parameters } = inputs[kind];
    this._headline.textContent = together(totalText(kind, total, parameters, trans));
    const verdict = gpu === undefined ? undefined : verdictOf(total, gpu.usable);
    const sentence =
      gpu === undefined || verdict === undefined ? '' : verdictText(verdict, total, gpu, trans);
    this._verdict.textContent = together(sentence);
    this._verdict.dataset['verdict'] = verdict ?? 'none';
    this._more.textContent = this._moreText(inputs, kind);
    clearTimeout(this._timer);
    this._timer = setTimeout(
      () => (this._status.textContent = `${this._headline.textContent ?? ''}. ${sentence}`),
      SAID_AFTER_MS
    );
  }

  /** Draws the picture of the kind; returns the total. */
  private _draw(inputs: IPlannerInputs, kind: PlanKind): number {
    if (kind === 'loading') {
      const ways = loadingWays(inputs.loading);
      this._ways.show(ways);
      return Math.min(...ways.map(({ device }) => device));
    }
    const { ledger, kv } = inputs;
    const isTraining = kind === 'ledger';
    const parts = isTraining ? ledgerParts(ledger) : kvParts(kv);
    const total = totalOf(parts);
    const trans = this._trans;
    this._pictures[kind].show(parts, total, this._gpu?.gpu, {
      name: id => planPartName(id, isTraining ? ledger : undefined, trans),
      formula: part =>
        isTraining ? ledgerFormula(part, ledger, trans) : kvFormula(part, kv, trans)
    });
    return total;
  }

  private _moreText({ ledger, kv }: IPlannerInputs, kind: PlanKind): string {
    const trans = this._trans;
    const gpu = this._gpu?.gpu;
    switch (kind) {
      case 'kv':
        return gpu === undefined
          ? trans.__('Choose a GPU to see how long and how many sequences fit.')
          : trans.__(
              'At most %1 tokens a sequence at this batch, or a batch of %2 at this length.',
              longestSequence(kv, gpu.usable).toLocaleString(),
              largestBatch(kv, gpu.usable).toLocaleString()
            );
      case 'ledger':
        return ledger.sequence > 0 || ledger.optimizer === 'none'
          ? trans.__("Without the CUDA context, the allocator's cache and fragmentation.")
          : trans.__('Activations come on top: choose the length of a sequence.');
      case 'loading':
        return '';
    }
  }
}

/** A namespace for `PlannerWidget` statics. */
export namespace PlannerWidget {
  /** The options of a planner. */
  export interface IOptions {
    readonly trans: TranslationBundle;
  }
}
