// The menu in which the reader chooses columns: check boxes, in the top layer of the page so that
// the edge of an output does not cut it off.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import type { ILayerColumn } from '../../model/layers';
import { button, element } from '../dom';

/** A button that opens the menu, and the menu. */
export class ColumnMenu implements IDisposable {
  readonly node: HTMLElement;
  private readonly _button: HTMLButtonElement;
  private readonly _menu: HTMLElement;
  private readonly _list = element('div', { class: 'memtrack-ColumnMenu-list' });
  private _boxes: readonly HTMLInputElement[] = [];
  private _isDisposed = false;
  private readonly _pressedOutside = (event: Event): void => {
    if (event.target instanceof Node && !this.node.contains(event.target)) {
      this.close();
    }
  };
  private readonly _scrolled = (event: Event): void => {
    if (event.target instanceof Node && event.target.contains(this._button)) {
      this.close();
    }
  };

  constructor(
    trans: TranslationBundle,
    defaults: readonly string[],
    private readonly _chosen: (ids: readonly string[]) => void
  ) {
    const reset = button(
      { class: 'memtrack-ColumnMenu-reset' },
      () => this._chosen(defaults),
      trans.__('Reset to default')
    );
    this._menu = element(
      'div',
      {
        class: 'memtrack-ColumnMenu-menu',
        role: 'group',
        'aria-label': trans.__('Columns'),
        popover: 'manual',
        hidden: ''
      },
      this._list,
      reset
    );
    this._button = button(
      { class: 'memtrack-Button memtrack-mod-menu', 'aria-expanded': 'false' },
      () => (this.isOpen ? this.close() : this._open()),
      trans.__('Columns')
    );
    this.node = element('div', { class: 'memtrack-ColumnMenu' }, this._button, this._menu);
    this.node.addEventListener('keydown', event => this._keydown(event));
    this.node.addEventListener('focusout', event => this._focusout(event));
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get isOpen(): boolean {
    return this._button.getAttribute('aria-expanded') === 'true';
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.close();
    }
  }

  /** Offers `available`, of which `shown` are checked. */
  show(available: readonly ILayerColumn[], shown: readonly string[]): void {
    const offered = this._boxes.map(box => box.value).join();
    if (offered !== available.map(({ id }) => id).join()) {
      this._list.replaceChildren(...available.map(column => this._choice(column)));
      this._boxes = [...this._list.querySelectorAll('input')];
    }
    for (const box of this._boxes) {
      box.checked = shown.includes(box.value);
    }
  }

  close(): void {
    if (!this.isOpen) {
      return;
    }
    this._button.setAttribute('aria-expanded', 'false');
    if (this._menu.contains(document.activeElement)) {
      this._button.focus({ preventScroll: true });
    }
    this._menu.hidePopover?.();
    this._menu.hidden = true;
    document.removeEventListener('pointerdown', this._pressedOutside, true);
    document.removeEventListener('scroll', this._scrolled, true);
  }

  private _open(): void {
    this._button.setAttribute('aria-expanded', 'true');
    this._menu.hidden = false;
    this._menu.showPopover?.();
    this._place();
    document.addEventListener('pointerdown', this._pressedOutside, true);
    document.addEventListener('scroll', this._scrolled, true);
    this._boxes[0]?.focus({ preventScroll: true });
  }

  /** Under the button, or over it where there is more room, and never beyond the page. */
  private _place(): void {
    const edge = 4;
    const { top, bottom, right } = this._button.getBoundingClientRect();
    const { innerWidth, innerHeight } = window;
    const isBelow = innerHeight - bottom >= top;
    const room = (isBelow ? innerHeight - bottom : top) - 2 * edge;
    this._menu.style.maxHeight = `${Math.max(96, room)}px`;
    this._menu.style.top = isBelow ? `${bottom + edge}px` : 'auto';
    this._menu.style.bottom = isBelow ? 'auto' : `${innerHeight - top + edge}px`;
    const left = Math.min(
      right - this._menu.offsetWidth,
      innerWidth - this._menu.offsetWidth - edge
    );
    this._menu.style.left = `${Math.max(edge, left)}px`;
  }

  private _choice(column: ILayerColumn): HTMLElement {
    const box = element('input', { type: 'checkbox', value: column.id });
    box.addEventListener('change', () => {
      const ids = this._boxes.filter(({ checked }) => checked).map(({ value }) => value);
      this._chosen(ids);
    });
    return element(
      'label',
      { class: 'memtrack-ColumnMenu-choice' },
      box,
      element('span', { class: 'memtrack-ColumnMenu-label' }, column.label),
      element('span', { class: 'memtrack-ColumnMenu-hint' }, column.hint)
    );
  }

  private _keydown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape' && this.isOpen) {
      this.close();
    } else if (step !== undefined && this.isOpen) {
      const index = this._boxes.findIndex(box => box === document.activeElement);
      this._boxes[(index + step + this._boxes.length) % this._boxes.length]?.focus();
    } else if (event.key === 'ArrowDown') {
      this._open();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private _focusout(event: FocusEvent): void {
    if (event.relatedTarget instanceof Node && !this.node.contains(event.relatedTarget)) {
      this.close();
    }
  }
}
