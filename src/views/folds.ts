// Rows of a table that unfold under the row they are part of.
import type { TranslationBundle } from '@jupyterlab/translation';

import { button } from './dom';

/** Which rows of one table are unfolded: it outlives the rows, which come anew with the figures. */
export class Folds {
  private readonly _open = new Set<string>();

  constructor(private readonly _trans: TranslationBundle) {}

  /** Whether the row of `key` is unfolded. */
  isOpen(key: string): boolean {
    return this._open.has(key);
  }

  /** Adds to `head` (a row header called `name`) the button that shows `details`; returns all rows. */
  rows(
    key: string,
    name: string,
    head: HTMLElement,
    details: readonly HTMLElement[]
  ): readonly HTMLElement[] {
    const cell = head.firstElementChild;
    if (details.length === 0) {
      cell?.classList.add('memtrack-mod-plain');
      return [head];
    }
    const toggle = button(
      { class: 'memtrack-Fold', 'aria-label': this._trans.__('What %1 is made of', name) },
      () => {
        if (!this._open.delete(key)) {
          this._open.add(key);
        }
        this._apply(key, toggle, details);
      }
    );
    cell?.prepend(toggle);
    details.forEach(detail => detail.classList.add('memtrack-mod-detail'));
    this._apply(key, toggle, details);
    return [head, ...details];
  }

  private _apply(key: string, toggle: HTMLElement, details: readonly HTMLElement[]): void {
    const isOpen = this._open.has(key);
    toggle.setAttribute('aria-expanded', String(isOpen));
    details.forEach(detail => (detail.hidden = !isOpen));
  }
}
