// What is alive at the peak by source line: where to look first when layers are not known.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { at } from '../../base/assert';
import { formatBytes, formatPercent } from '../../base/bytes';
import { groupOf } from '../../model/areas';
import type { ILines, IView } from '../../wire';
import { categoryId, textAt } from '../../wire';
import { element } from '../dom';
import { deviceName } from '../ledger';
import { categoryName } from '../names';
import { cutInside, splitSite } from '../pathparts';
import { paint, swatch } from '../swatch';

/** Shows the source lines of one device. */
export class LinesView extends Widget {
  private readonly _table = element('table', { class: 'memtrack-Table memtrack-Lines-table' });
  private readonly _rest = element('p', { class: 'memtrack-Ledger-note' });

  constructor(private readonly _trans: TranslationBundle) {
    super();
    this.addClass('memtrack-Lines');
    this.node.append(element('div', { class: 'memtrack-Lines-box' }, this._table), this._rest);
  }

  /** Show the lines of `view`. */
  setView(view: IView): void {
    const { lines } = view;
    const trans = this._trans;
    if (lines === undefined) {
      this._table.replaceChildren();
      this._rest.textContent = '';
      return;
    }
    // Where nothing has a category, the column would say the same of every line.
    const hasCategories = [...lines.category].some(code => categoryId(code) !== 'unknown');
    this._table.replaceChildren(
      element('caption', {}, trans.__('Alive at the peak by source line, %1', deviceName(view))),
      headOf(hasCategories, trans),
      element(
        'tbody',
        {},
        ...Array.from({ length: lines.length }, (_, row) =>
          rowOf(view, lines, row, hasCategories, trans)
        )
      )
    );
    this._rest.textContent =
      lines.omitted > 0
        ? trans._n(
            'and %1 more line, %2',
            'and %1 more lines, %2 in all',
            lines.omitted,
            formatBytes(lines.omittedBytes)
          )
        : '';
  }
}

function headOf(hasCategories: boolean, trans: TranslationBundle): HTMLElement {
  const number = 'memtrack-mod-number';
  const heads = [
    element('th', { scope: 'col' }, trans.__('Source line')),
    element('th', { scope: 'col', class: number }, trans.__('Memory')),
    element('th', { scope: 'col', class: number }, trans.__('Share')),
    element('th', { scope: 'col', class: number }, trans.__('Blocks')),
    ...(hasCategories ? [element('th', { scope: 'col' }, trans.__('Mostly'))] : [])
  ];
  return element('thead', {}, element('tr', {}, ...heads));
}

function rowOf(
  view: IView,
  lines: ILines,
  row: number,
  hasCategories: boolean,
  trans: TranslationBundle
): HTMLElement {
  const site = textAt(lines.site, row);
  const bytes = at(lines.bytes, row);
  const category = categoryId(at(lines.category, row));
  const { groups } = view.timeline;
  const colour = groups === undefined ? category : groupOf(groups, site);
  const number = { class: 'memtrack-mod-number' };
  const name =
    site === ''
      ? element('span', {}, trans.__('no line known'))
      : cutInside('memtrack-Lines-site', splitSite(site));
  const share = element('span', { class: 'memtrack-Lines-bar', 'aria-hidden': 'true' });
  share.style.width = `${(100 * bytes) / Math.max(1, view.peak.bytes)}%`;
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row', title: site },
      element('span', { class: 'memtrack-Lines-name' }, swatch(colour), name),
      paint(share, colour)
    ),
    element('td', { ...number, title: `${bytes} B` }, formatBytes(bytes)),
    element('td', number, formatPercent(bytes, view.peak.bytes)),
    element('td', number, at(lines.allocations, row).toLocaleString()),
    ...(hasCategories ? [element('td', {}, categoryName(category, trans))] : [])
  );
}
