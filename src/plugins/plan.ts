// Shows plans in outputs, before any other renderer; they need no kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { PlanRenderer } from '../views/planner/renderer';
import { PLAN_MIME_TYPE } from '../wire/mimetype';
import { addRenderer } from './renderer';

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
    addRenderer(rendermime, PLAN_MIME_TYPE, mimeType => new PlanRenderer(mimeType, trans));
  }
};
