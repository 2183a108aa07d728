// Rows of a table that unfold under the row they are part of.
import { button } from './dom';

/** Which rows of one table are unfolded: it outlives the rows, which come anew with the figures. */
export class Folds {
  private readonly _open = new Set<string>();

  /** Makes a button of the row header of `head` that shows `details`; returns all rows. */
  rows(key: string, head: HTMLElement, details: readonly HTMLElement[]): readonly HTMLElement[] {
    const cell = head.firstElementChild;
    if (cell === null || details.length === 0) {
      cell?.classList.add('memtrack-mod-plain');
      return [head];
    }
    const toggle = button(
      { class: 'memtrack-Fold' },
      () => {
        if (!this._open.delete(key)) {
          this._open.add(key);
        }
        this._apply(key, toggle, details);
      },
      ...cell.childNodes
    );
    cell.append(toggle);
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
