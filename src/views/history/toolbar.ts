// Above the runs: how many there are and where, the search, the deleted ones, and comparing two.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import type { IRunList } from '../../model/history/runs';
import type { IHistory } from '../../wire/runs';
import { button, element } from '../dom';

/** Letters typed in a row are one search: the pause after which it is made. */
const PAUSE_MS = 250;

/** What the toolbar shows. */
export interface IHistoryState {
  readonly list: IRunList;
  readonly shown: number;
  readonly isLive: boolean;
  readonly isWritable: boolean;
  /** How many runs are chosen to be compared. */
  readonly chosen: number;
}

/** What the toolbar can ask for. */
export interface IHistoryActions {
  search(text: string): void;
  showDeleted(deleted: boolean): void;
  compare(): void;
}

/** The head of a history. */
export class HistoryToolbar implements IDisposable {
  readonly node: HTMLElement;
  private readonly _headline = element('div', {
    class: 'memtrack-Report-headline',
    role: 'heading',
    'aria-level': '3'
  });
  private readonly _note = element('p', { class: 'memtrack-History-note' });
  private readonly _search: HTMLInputElement;
  private readonly _deleted: HTMLButtonElement;
  private readonly _compare: HTMLButtonElement;
  private _timer: number | undefined;
  private _isDisposed = false;

  constructor(
    private readonly _history: IHistory,
    private readonly _trans: TranslationBundle,
    private readonly _actions: IHistoryActions,
    status: HTMLElement
  ) {
    const trans = _trans;
    this._search = element('input', {
      type: 'search',
      class: 'memtrack-History-search',
      placeholder: trans.__('Search runs'),
      'aria-label': trans.__('Search runs by name, tag, note, model, notebook or commit'),
      autocomplete: 'off',
      spellcheck: 'false'
    });
    this._search.value = _history.search;
    this._search.addEventListener('input', () => this._typed());
    this._deleted = button(
      { class: 'memtrack-Button', 'aria-pressed': 'false' },
      () => _actions.showDeleted(this._deleted.getAttribute('aria-pressed') !== 'true'),
      trans.__('Deleted runs')
    );
    this._compare = button(
      { class: 'memtrack-Button', title: trans.__('Tick two runs to see what changed') },
      () => _actions.compare(),
      trans.__('Compare two runs')
    );
    this.node = element(
      'div',
      { class: 'memtrack-History-head' },
      this._headline,
      element(
        'div',
        { class: 'memtrack-History-toolbar', role: 'group', 'aria-label': trans.__('Kept runs') },
        this._search,
        this._deleted,
        this._compare,
        // Where there is room: nothing under it moves for it.
        status
      ),
      this._note
    );
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    window.clearTimeout(this._timer);
  }

  show({ list, shown, isLive, isWritable, chosen }: IHistoryState): void {
    const trans = this._trans;
    const { folder, writable } = this._history;
    const count = isLive ? list.total : shown;
    this._headline.textContent = list.deleted
      ? trans._n('%1 deleted run in %2', '%1 deleted runs in %2', count, folder)
      : list.search === ''
        ? trans._n('%1 run in %2', '%1 runs in %2', list.total, folder)
        : trans._n('%1 run found in %2', '%1 runs found in %2', count, folder);
    this._deleted.hidden = this._compare.hidden = !isLive;
    this._deleted.setAttribute('aria-pressed', String(list.deleted));
    this._compare.disabled = chosen !== 2;
    this._note.hidden = isWritable;
    this._note.textContent = isLive
      ? writable
        ? ''
        : trans.__('This folder cannot be written to: runs can be compared, not changed.')
      : trans.__(
          'Saved with the notebook. Run the cell again to search all runs, compare, name or delete them.'
        );
  }

  private _typed(): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(
      () => this._actions.search(this._search.value.trim()),
      PAUSE_MS
    );
  }
}
