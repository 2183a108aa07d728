// The table of runs: a row a run, which stays the same element while its run changes.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { RunChange } from '../../model/history/live';
import type { IRun } from '../../wire/runs';
import { button, element } from '../dom';
import { RunRow } from './row';

/** What the table tells. */
export interface IRunTableHost {
  /** Other runs are ticked. */
  chosen(): void;
  change(run: IRun, change: RunChange): void;
  /** The next page is wanted. */
  more(): void;
}

/** Runs can be compared two at a time. */
const MOST_CHOSEN = 2;

/** The runs as a table. */
export class RunTable {
  readonly node: HTMLElement;
  private readonly _body = element('tbody');
  private readonly _more: HTMLButtonElement;
  private readonly _empty: HTMLElement;
  private _rows = new Map<number, RunRow>();
  /** In the order they were ticked. */
  private _ticked: readonly number[] = [];

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _language: string,
    private readonly _host: IRunTableHost
  ) {
    const trans = _trans;
    const head = (text: string, kind?: string): HTMLElement =>
      element('th', { scope: 'col', class: kind }, text);
    const number = 'memtrack-mod-number';
    const table = element(
      'table',
      {
        class: 'memtrack-Table memtrack-History-table memtrack-mod-lined',
        'aria-label': trans.__('Kept runs')
      },
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          head(trans.__('Run')),
          head(trans.__('When')),
          head(trans.__('Peak'), number),
          head(trans.__('Memory over the run')),
          head(trans.__('Step'), number),
          head(trans.__('Parameters'), number),
          head(trans.__('Code')),
          head(trans.__('Manage'))
        )
      ),
      this._body
    );
    this._more = button({ class: 'memtrack-Button' }, () => _host.more(), trans.__('Show more'));
    this._empty = element('p', { class: 'memtrack-History-note' }, trans.__('No run is here.'));
    const scroll = element(
      'div',
      {
        class: 'memtrack-History-scroll',
        tabindex: '0',
        role: 'group',
        'aria-label': trans.__('Kept runs')
      },
      table
    );
    this.node = element('div', {}, scroll, this._empty, this._more);
  }

  /** The ticked runs among `runs`, in their order: the newer first. */
  chosen(runs: readonly IRun[]): readonly IRun[] {
    return runs.filter(({ id }) => this._ticked.includes(id));
  }

  show(
    runs: readonly IRun[],
    state: { readonly isWritable: boolean; readonly isMore: boolean }
  ): void {
    const rows = new Map<number, RunRow>();
    for (const run of runs) {
      const row = this._rows.get(run.id) ?? this._makeRow();
      row.show(run, state.isWritable, this._ticked.includes(run.id));
      rows.set(run.id, row);
    }
    this._place([...rows.values()].flatMap(row => row.nodes));
    this._rows = rows;
    this._empty.hidden = runs.length > 0;
    // Outside of a repository there is no commit to show.
    const hasCode = runs.some(({ commit }) => commit !== '');
    this._body.parentElement?.classList.toggle('memtrack-mod-codeless', !hasCode);
    this._more.hidden = !state.isMore;
  }

  /** Leaves alone what is in its place already: an element that moves would lose the focus. */
  private _place(nodes: readonly HTMLElement[]): void {
    const wanted = new Set<Node>(nodes);
    [...this._body.children].filter(node => !wanted.has(node)).forEach(node => node.remove());
    nodes.forEach((node, index) => {
      const there = this._body.children[index];
      if (there !== node) {
        this._body.insertBefore(node, there ?? null);
      }
    });
  }

  private _makeRow(): RunRow {
    return new RunRow(this._trans, this._language, {
      tick: (run, isTicked) => this._tick(run, isTicked),
      change: (run, change) => this._host.change(run, change)
    });
  }

  /** A third one takes the place of the first. */
  private _tick({ id }: IRun, isTicked: boolean): void {
    const others = this._ticked.filter(each => each !== id);
    this._ticked = isTicked ? [...others, id].slice(-MOST_CHOSEN) : others;
    this._host.chosen();
  }
}
