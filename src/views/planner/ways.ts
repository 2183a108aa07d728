// The ways to load, side by side: the computer's memory and the GPU's.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, together } from '../../base/bytes';
import type { ILoadingWay } from '../../model/planner/loading';
import { element } from '../dom';
import { paint } from '../swatch';
import { wayName } from './words';

/** A table of ways whose rows are made anew, as their order changes. */
export class WaysTable {
  readonly node: HTMLElement;
  private readonly _body = element('tbody', {});

  constructor(private readonly _trans: TranslationBundle) {
    const head = (text: string, title?: string): HTMLElement =>
      element('th', { scope: 'col', title }, text);
    this.node = element(
      'div',
      {},
      element(
        'table',
        {
          class: 'memtrack-Table memtrack-Planner-ways memtrack-mod-lined',
          'aria-label': _trans.__('Ways to load')
        },
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            head(_trans.__('Way')),
            head(_trans.__("Computer's memory")),
            head(_trans.__('GPU'))
          )
        ),
        this._body
      ),
      element(
        'p',
        { class: 'memtrack-Planner-note' },
        _trans.__(
          'Hatched: pages of the file, which the system drops when memory runs short; they need not fit.'
        )
      )
    );
  }

  show(ways: readonly ILoadingWay[]): void {
    const most = Math.max(1, ...ways.map(way => Math.max(way.host + way.mapped, way.device)));
    this._body.replaceChildren(...ways.map(way => this._row(way, most)));
  }

  private _row(way: ILoadingWay, most: number): HTMLElement {
    const bar = (...parts: readonly (readonly [number, string])[]): HTMLElement =>
      element(
        'span',
        { class: 'memtrack-Planner-track', 'aria-hidden': 'true' },
        ...parts.map(([bytes, kind]) => {
          const fill = element('span', { class: `memtrack-Planner-fill memtrack-mod-${kind}` });
          fill.style.width = `${(100 * bytes) / most}%`;
          return paint(fill, kind === 'device' ? 'parameter' : 'activation');
        })
      );
    const host =
      way.mapped === 0
        ? formatBytes(way.host)
        : together(this._trans.__('%1, mapped %2', formatBytes(way.host), formatBytes(way.mapped)));
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, wayName(way.id, this._trans)),
      element('td', {}, bar([way.host, 'host'], [way.mapped, 'mapped']), element('span', {}, host)),
      element('td', {}, bar([way.device, 'device']), element('span', {}, formatBytes(way.device)))
    );
  }
}
