// Buttons that copy code, and the code they copy.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { copyText } from '../clipboard';
import { button, element } from '../dom';

const SAID_MS = 2500;
const STATES = ['idle', 'copied', 'failed'] as const;

type CopyState = (typeof STATES)[number];

/** Makes the copy buttons of one view; what they did is said in `status`. */
export class Copying implements IDisposable {
  readonly status = element('span', { role: 'status', class: 'memtrack-mod-heard' });
  private readonly _timers = new Map<HTMLElement, ReturnType<typeof setTimeout>>();
  private _isDisposed = false;

  constructor(private readonly _trans: TranslationBundle) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._timers.forEach(timer => clearTimeout(timer));
    this._timers.clear();
  }

  /** Returns a button that copies `code`; `what` tells buttons apart for those who hear them. */
  button(code: string, what: string): HTMLButtonElement {
    const trans = this._trans;
    const faces: Readonly<Record<CopyState, string>> = {
      idle: trans.__('Copy'),
      copied: trans.__('Copied'),
      failed: trans.__('Failed')
    };
    // All faces lie in one place, so that the button is as wide as the widest and nothing moves.
    const spans = STATES.map(state =>
      element('span', { class: `memtrack-Copy-face memtrack-mod-${state}` }, faces[state])
    );
    const node = button(
      {
        class: 'memtrack-Button memtrack-Copy',
        'aria-label': trans.__('Copy: %1', what),
        'data-state': 'idle'
      },
      () => void this._copy(node, code),
      ...spans
    );
    return node;
  }

  /** Returns `code` as it is, with a button that copies it. */
  block(code: string, what: string): HTMLElement {
    return element('div', { class: 'memtrack-Code' }, codeText(code), this.button(code, what));
  }

  private async _copy(node: HTMLElement, code: string): Promise<void> {
    const isCopied = await copyText(code);
    if (this._isDisposed) {
      return;
    }
    this._say(
      isCopied ? this._trans.__('Copied') : this._trans.__('The browser does not allow copying')
    );
    node.setAttribute('data-state', isCopied ? 'copied' : 'failed');
    clearTimeout(this._timers.get(node));
    const rest = (): void => {
      node.setAttribute('data-state', 'idle');
      this._timers.delete(node);
      if (this._timers.size === 0) {
        this.status.textContent = '';
      }
    };
    this._timers.set(node, setTimeout(rest, SAID_MS));
  }

  /** The same words a second time are said again only when they come anew. */
  private _say(text: string): void {
    this.status.replaceChildren(element('span', {}, text));
  }
}

/** Returns `code` as it is: from left to right in every language. */
export function codeText(code: string): HTMLElement {
  return element('pre', { class: 'memtrack-Code-text', dir: 'ltr' }, element('code', {}, code));
}
