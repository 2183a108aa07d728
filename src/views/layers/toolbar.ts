// Above the grid: the filter, how many layers there are, and what can be done with all of them.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { button, element } from '../dom';
import { ColumnMenu } from './columnmenu';
import type { ITable } from './table';

/** Letters typed in a row are one filter: the pause after which it is applied. */
const PAUSE_MS = 120;

/** What the toolbar asks of the table it is part of. */
export interface IToolbarHost {
  filter(text: string): void;
  rank(isFlat: boolean): void;
  chooseColumns(ids: readonly string[]): void;
  copy(): void;
  save(): void;
  /** Gives the focus to the lines. */
  focus(): void;
}

/** What differs from table to table. */
export interface IToolbarOptions {
  readonly trans: TranslationBundle;
  /** Ids of the columns shown before the reader chooses. */
  readonly defaults: readonly string[];
  /** Stands before what all tables have. */
  readonly controls: readonly HTMLElement[];
}

/** The toolbar of the layer table. */
export class Toolbar implements IDisposable {
  readonly node: HTMLElement;
  readonly columns: ColumnMenu;
  private readonly _filter: HTMLInputElement;
  private readonly _flat: HTMLButtonElement;
  private readonly _count = element('span', { class: 'memtrack-LayerTable-count' });
  private _timer: number | undefined;

  private readonly _trans: TranslationBundle;

  constructor(
    options: IToolbarOptions,
    private readonly _host: IToolbarHost
  ) {
    const { trans } = options;
    this._trans = trans;
    this._filter = element('input', {
      type: 'search',
      class: 'memtrack-LayerTable-filter',
      placeholder: trans.__('Filter layers'),
      'aria-label': trans.__('Filter layers by path or type'),
      autocomplete: 'off',
      spellcheck: 'false'
    });
    this._filter.addEventListener('input', () => this._typed());
    this._filter.addEventListener('keydown', event => this._keydown(event));
    this._flat = button(
      {
        class: 'memtrack-Button',
        'aria-pressed': 'false',
        title: trans.__('Rank all layers by their own figures, regardless of the tree')
      },
      () => _host.rank(this._flat.getAttribute('aria-pressed') !== 'true'),
      trans.__('Flat')
    );
    this.columns = new ColumnMenu(trans, options.defaults, ids => _host.chooseColumns(ids));
    this.node = this._assemble(options.controls);
  }

  get isDisposed(): boolean {
    return this.columns.isDisposed;
  }

  dispose(): void {
    window.clearTimeout(this._timer);
    this.columns.dispose();
  }

  show(table: ITable): void {
    const { rows } = table;
    if (this._timer === undefined && this._filter.value !== rows.filter) {
      this._filter.value = rows.filter;
    }
    this._flat.setAttribute('aria-pressed', String(rows.isFlat));
    const all = rows.tree.length;
    this._count.textContent = rows.isNarrowed
      ? this._trans.__('%1 of %2 layers', rows.matchCount.toLocaleString(), all.toLocaleString())
      : this._trans._n('%1 layer', '%1 layers', all);
  }

  private _assemble(controls: readonly HTMLElement[]): HTMLElement {
    const trans = this._trans;
    const copy = button(
      {
        class: 'memtrack-Button',
        title: trans.__('Copy the chosen rows, or all that are shown, for a spreadsheet (Ctrl+C)')
      },
      () => this._host.copy(),
      trans.__('Copy')
    );
    const save = button(
      {
        class: 'memtrack-Button',
        title: trans.__('Save all layers and columns as a CSV file, in bytes')
      },
      () => this._host.save(),
      trans.__('Save CSV')
    );
    return element(
      'div',
      {
        class: 'memtrack-LayerTable-toolbar',
        role: 'group',
        'aria-label': trans.__('Layer table')
      },
      this._filter,
      this._count,
      element('span', { class: 'memtrack-LayerTable-space' }),
      ...controls,
      this._flat,
      this.columns.node,
      copy,
      save
    );
  }

  private _typed(): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => this._apply(), PAUSE_MS);
  }

  private _apply(): void {
    window.clearTimeout(this._timer);
    this._timer = undefined;
    this._host.filter(this._filter.value.trim());
  }

  private _keydown(event: KeyboardEvent): void {
    if (event.key === 'Escape' && this._filter.value !== '') {
      this._filter.value = '';
      this._apply();
    } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
      this._apply();
      this._host.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
