// The renderer of the MIME type of comparisons.
import type { Widget } from '@lumino/widgets';

import type { ComparisonWidget } from '.';
import { OutputRenderer } from '../outputrenderer';

/** Shows the comparison of an output. */
export class ComparisonRenderer extends OutputRenderer {
  constructor(
    mimeType: string,
    private readonly _services: ComparisonWidget.IOptions
  ) {
    super(mimeType);
  }

  protected override async create(data: unknown): Promise<Widget> {
    const { savedComparisonOf } = await import('./show');
    return savedComparisonOf(data, this._services);
  }
}
