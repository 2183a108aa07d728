// The rank that the reader has chosen: on what it ran, how it differs, and its whole report.
import { Panel, Widget } from '@lumino/widgets';

import { unpackNotebook } from '../../wire';
import type { IRank, IRanks } from '../../wire/ranks';
import { element } from '../dom';
import { ReportWidget } from '../report';
import { failureText, failureWidget } from '../report/failure';
import { sharesTables } from './shares';
import { rankFacts } from './words';

/** Shows one rank of several. */
export class ChosenRank extends Panel {
  private _job = 0;

  constructor(
    private readonly _ranks: IRanks,
    private readonly _options: ReportWidget.IOptions
  ) {
    super();
    this.addClass('memtrack-Ranks-chosen');
    this.node.setAttribute('role', 'group');
  }

  /** Shows the rank in place `index`, all of it at once when its report is read; the latest wins. */
  async choose(index: number): Promise<void> {
    const rank = this._ranks.ranks[index];
    if (rank === undefined) {
      return;
    }
    const job = ++this._job;
    const report = await this._reportOf(rank);
    if (this.isDisposed || job !== this._job) {
      report.dispose();
      return;
    }
    [...this.widgets].forEach(old => old.dispose());
    this.node.setAttribute('aria-label', this._nameOf(rank));
    this.addWidget(new Widget({ node: this._head(rank, index) }));
    this.addWidget(report);
  }

  private _nameOf({ rank }: IRank): string {
    return this._options.trans.__('Rank %1', String(rank));
  }

  private _head(rank: IRank, index: number): HTMLElement {
    const { trans } = this._options;
    return element(
      'div',
      {},
      element(
        'div',
        { class: 'memtrack-Ranks-name', role: 'heading', 'aria-level': '4' },
        this._nameOf(rank)
      ),
      element('div', { class: 'memtrack-Ranks-facts', dir: 'auto' }, rankFacts(rank, trans)),
      element(
        'div',
        { class: 'memtrack-Captioned-group' },
        ...sharesTables(this._ranks, index, trans)
      )
    );
  }

  private async _reportOf({ rank, report }: IRank): Promise<Widget> {
    const { trans } = this._options;
    if (report === undefined) {
      return new Widget({
        node: element(
          'p',
          { class: 'memtrack-Ranks-absent' },
          trans.__(
            'Only the ranks with the highest peaks keep their whole reports in the notebook; in Python, ranks[%1] shows this one.',
            String(rank)
          )
        )
      });
    }
    try {
      const unpacked = await unpackNotebook(report);
      const view = new ReportWidget(this._options);
      view.setReport(unpacked.report);
      return view;
    } catch (error) {
      return failureWidget(failureText(error, trans));
    }
  }
}
