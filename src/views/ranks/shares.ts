// One rank against the mean: what it has more and less of, by category and by layer.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IRanks, IRankShare } from '../../wire/ranks';
import { NUMBER, bytesCell, captioned, changeCell } from '../captioned';
import { element } from '../dom';
import { categoryName } from '../names';
import { swatch } from '../swatch';

/** Returns two tables for the rank in place `index`; none where there is nothing to compare it with. */
export function sharesTables(
  ranks: IRanks,
  index: number,
  trans: TranslationBundle
): readonly HTMLElement[] {
  const compared = ranks.ranks.flatMap(({ peak }, place) => (peak === undefined ? [] : [place]));
  if (compared.length < 2 || !compared.includes(index)) {
    return [];
  }
  const name = trans.__('rank %1', String(ranks.ranks[index]?.rank));
  const columns = (first: string): readonly (readonly [string, string?])[] => [
    [first],
    [name, NUMBER],
    [trans.__('Mean'), NUMBER],
    [trans.__('Difference'), NUMBER]
  ];
  const row = (share: IRankShare, ...head: (Node | string)[]): HTMLElement =>
    shareRow(
      share,
      index,
      compared,
      element('th', { scope: 'row', class: 'memtrack-mod-path', dir: 'auto' }, ...head)
    );
  const peaks = { id: '', bytes: ranks.ranks.map(({ peak }) => peak?.bytes ?? 0) };
  const sum = row(peaks, trans.__('Peak'));
  sum.classList.add('memtrack-mod-sum');
  return [
    captioned(
      trans.__('By category, against the mean'),
      columns(trans.__('Category')),
      ranks.categories.map(share => row(share, swatch(share.id), categoryName(share.id, trans))),
      sum
    ),
    ...(ranks.layers.length === 0
      ? []
      : [
          captioned(
            trans.__('Layers that differ most'),
            columns(trans.__('Layer')),
            ranks.layers.map(share => row(share, share.id || trans.__('in no layer')))
          )
        ])
  ];
}

function shareRow(
  { bytes }: IRankShare,
  index: number,
  compared: readonly number[],
  head: HTMLElement
): HTMLElement {
  const here = bytes[index] ?? 0;
  const mean = compared.reduce((sum, place) => sum + (bytes[place] ?? 0), 0) / compared.length;
  return element(
    'tr',
    {},
    head,
    bytesCell(here),
    bytesCell(Math.round(mean)),
    changeCell(Math.round(here - mean))
  );
}
