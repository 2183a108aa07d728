// An explanation in the place of the devices.
import type { TranslationBundle } from '@jupyterlab/translation';

import { button, element } from '../dom';
import type { Copying } from '../diagnosis/copying';
import type { IExplanation } from './empty';

/** The text in the place of the devices, made anew only when it is another. */
export class ExplanationView {
  readonly node = element('div', { class: 'memtrack-Gpus-empty' });
  private _shown = '';

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _copying: Copying,
    private readonly _retry: () => void
  ) {}

  update(explanation: IExplanation | undefined): void {
    const shown = JSON.stringify(explanation ?? '');
    this.node.hidden = explanation === undefined;
    if (shown === this._shown || explanation === undefined) {
      return;
    }
    this._shown = shown;
    const { id, title, advice, command, detail } = explanation;
    this.node.dataset.state = id;
    const isAsking = id === 'asking';
    const again = button({ class: 'memtrack-Button' }, this._retry, this._trans.__('Try again'));
    this.node.replaceChildren(
      element(isAsking ? 'p' : 'h3', {}, title),
      ...(advice === '' ? [] : [element('p', {}, advice)]),
      ...(command === '' ? [] : [this._copying.block(command, command)]),
      ...(detail === '' ? [] : [element('p', { class: 'memtrack-Gpu-note', dir: 'ltr' }, detail)]),
      ...(isAsking ? [] : [again])
    );
  }
}
