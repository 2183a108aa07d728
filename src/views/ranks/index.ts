// Several ranks of one run: how unequal they are and why, all of them to one scale, and the report of the
// one that is chosen.
import type { IDisposable } from '@lumino/disposable';
import { Panel, Widget } from '@lumino/widgets';

import type { Text } from '../../wire';
import { textIn } from '../../wire';
import type { IRanks } from '../../wire/ranks';
import { element } from '../dom';
import { isPlainKey, keepOwnKeys } from '../ownkeys';
import type { ReportWidget } from '../report';
import { ChosenRank } from './chosen';
import { ranksLegend, ranksTable } from './table';

/** Shows the ranks of one run; the first chosen is the one with the highest peak. */
export class RanksWidget extends Panel {
  private readonly _keys: IDisposable;

  constructor(ranks: IRanks, options: ReportWidget.IOptions) {
    super();
    const { trans } = options;
    this.addClass('memtrack-Report');
    this.addClass('memtrack-Ranks');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Ranks of one run'));
    this._keys = keepOwnKeys(this.node, isPlainKey);
    const chosen = new ChosenRank(ranks, options);
    const first = Math.max(
      0,
      ranks.ranks.findIndex(({ rank }) => rank === ranks.maxRank)
    );
    const body = element('div', {}, ...headOf(ranks, options.language));
    if (ranks.ranks.length > 0) {
      body.append(ranksTable(ranks, first, index => void chosen.choose(index), trans));
    }
    if (ranks.categories.length > 0) {
      body.append(ranksLegend(ranks, trans));
    }
    this.addWidget(new Widget({ node: body }));
    this.addWidget(chosen);
    void chosen.choose(first);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._keys.dispose();
      super.dispose();
    }
  }
}

function headOf({ headline, details }: IRanks, language: string): readonly HTMLElement[] {
  const say = (text: Text): string => textIn(text, language);
  return [
    element(
      'div',
      { class: 'memtrack-Report-headline', role: 'heading', 'aria-level': '3', dir: 'auto' },
      say(headline)
    ),
    ...(details.length === 0
      ? []
      : [
          element(
            'ul',
            { class: 'memtrack-Details' },
            ...details.map(detail => element('li', { dir: 'auto' }, say(detail)))
          )
        ])
  ];
}
