// The categories with their bytes at the listed moment: legend and readout in one.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import { pointAt, shownCategories } from '../../model/timeline';
import { element } from '../dom';
import { categoryName } from '../names';
import { swatch } from '../swatch';
import type { TimelineState } from './state';

/** The legend of one timeline; the entries stay where they are while the figures change. */
export class Legend {
  readonly node = element('ul', { class: 'memtrack-Legend' });
  private _figures = new Map<string, HTMLElement>();

  constructor(private readonly _trans: TranslationBundle) {}

  /** Bring the figures to the listed moment of `state`. */
  update(state: TimelineState): void {
    const ids = shownCategories(state.whole);
    if (ids.join() !== [...this._figures.keys()].join()) {
      this._rebuild(ids);
    }
    const point = pointAt(state.shown, state.cut);
    for (const [id, figure] of this._figures) {
      const column = state.shown.categories.get(id);
      const bytes = column === undefined || column.length === 0 ? 0 : at(column, point);
      figure.textContent = formatBytes(bytes);
    }
  }

  private _rebuild(ids: readonly string[]): void {
    this._figures = new Map(
      ids.map(id => [id, element('span', { class: 'memtrack-Legend-bytes' })])
    );
    this.node.replaceChildren(
      ...[...this._figures].map(([id, figure]) =>
        element('li', {}, swatch(id), categoryName(id, this._trans), ' ', figure)
      )
    );
  }
}
