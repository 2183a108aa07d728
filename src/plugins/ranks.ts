// Shows several ranks of one run in outputs, before any other renderer; they need no kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { Preferences } from '../model/preferences';
import { IReportPreferences } from '../tokens';
import { RanksRenderer } from '../views/ranks/renderer';
import { RANKS_MIME_TYPE } from '../wire/mimetype';
import { addRenderer } from './renderer';

/** Registers the renderer of the MIME type of several ranks. */
export const ranksPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:ranks-renderer',
  description: 'Shows several ranks of one run in the outputs of cells.',
  autoStart: true,
  optional: [ITranslator, IReportPreferences],
  requires: [IRenderMimeRegistry],
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null,
    preferences: IReportPreferences | null
  ): void => {
    const services = {
      trans: (translator ?? nullTranslator).load('memtrack'),
      language: translator?.languageCode ?? 'en',
      preferences: preferences ?? new Preferences()
    };
    addRenderer(rendermime, RANKS_MIME_TYPE, mimeType => new RanksRenderer(mimeType, services));
  }
};
