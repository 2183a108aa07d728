// Shows comparisons of two runs in outputs, before any other renderer; they need no kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { ComparisonRenderer } from '../views/comparison/renderer';
import { COMPARISON_MIME_TYPE } from '../wire/mimetype';
import { addRenderer } from './renderer';

/** Registers the renderer of the MIME type of comparisons. */
export const comparisonPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:comparison-renderer',
  description: 'Shows comparisons of two runs in the outputs of cells.',
  autoStart: true,
  optional: [ITranslator],
  requires: [IRenderMimeRegistry],
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null
  ): void => {
    const services = {
      trans: (translator ?? nullTranslator).load('memtrack'),
      language: translator?.languageCode ?? 'en'
    };
    addRenderer(
      rendermime,
      COMPARISON_MIME_TYPE,
      mimeType => new ComparisonRenderer(mimeType, services)
    );
  }
};
