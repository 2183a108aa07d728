// The renderer of the MIME type of diagnoses.
import type { Widget } from '@lumino/widgets';

import type { DiagnosisWidget } from '.';
import { OutputRenderer } from '../outputrenderer';

/** Shows the diagnosis of an output. */
export class DiagnosisRenderer extends OutputRenderer {
  constructor(
    mimeType: string,
    private readonly _services: DiagnosisWidget.IOptions
  ) {
    super(mimeType);
  }

  protected override async create(data: unknown): Promise<Widget> {
    const { diagnosisOf } = await import('./show');
    return diagnosisOf(data, this._services);
  }
}
