// The renderer of the MIME type of plans.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import { OutputRenderer } from '../outputrenderer';

/** Shows the plan of an output. */
export class PlanRenderer extends OutputRenderer {
  constructor(
    mimeType: string,
    private readonly _trans: TranslationBundle
  ) {
    super(mimeType);
  }

  protected override async create(data: unknown): Promise<Widget> {
    const { plannerOf } = await import('./show');
    return plannerOf(data, this._trans);
  }
}
