// Shows plans in outputs, before any other renderer; they need no kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { PlanRenderer } from '../views/planner/renderer';
import { PLAN_MIME_TYPE } from '../wire/mimetype';

// That of reports.
const RANK = -20;

/** Registers the renderer of the MIME type of plans. */
export const planPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:plan-renderer',
  description: 'Shows memory planners in the outputs of cells.',
  autoStart: true,
  optional: [ITranslator],
  requires: [IRenderMimeRegistry],
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('memtrack');
    rendermime.addFactory(
      {
        // The payload is data: nothing in it becomes markup or code.
        safe: true,
        mimeTypes: [PLAN_MIME_TYPE],
        defaultRank: RANK,
        createRenderer: options => new PlanRenderer(options.mimeType, trans)
      },
      RANK
    );
  }
};
