// The renderer of the MIME type of several ranks.
import type { Widget } from '@lumino/widgets';

import { OutputRenderer } from '../outputrenderer';
import type { ReportWidget } from '../report';

/** Shows the ranks of an output. */
export class RanksRenderer extends OutputRenderer {
  constructor(
    mimeType: string,
    private readonly _services: ReportWidget.IOptions
  ) {
    super(mimeType);
  }

  protected override async create(data: unknown): Promise<Widget> {
    const { ranksOf } = await import('./show');
    return ranksOf(data, this._services);
  }
}
