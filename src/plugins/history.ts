// Shows kept runs in outputs, before any other renderer, with or without a kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { ILiveHistory } from '../model/history/live';
import { Registry } from '../model/registry';
import { ILiveHistories } from '../tokens';
import { HistoryRenderer } from '../views/history/renderer';
import { HISTORY_MIME_TYPE } from '../wire/mimetype';
import { addRenderer } from './renderer';

/** Registers the renderer of the MIME type of histories, and knows those that have a kernel. */
export const historyPlugin: JupyterFrontEndPlugin<ILiveHistories> = {
  id: 'memtrack:history-renderer',
  description: 'Shows kept runs in the outputs of cells.',
  autoStart: true,
  provides: ILiveHistories,
  optional: [ITranslator],
  requires: [IRenderMimeRegistry],
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null
  ): ILiveHistories => {
    const liveHistories = new Registry<ILiveHistory>();
    const services = {
      trans: (translator ?? nullTranslator).load('memtrack'),
      language: translator?.languageCode ?? 'en',
      liveHistories
    };
    addRenderer(rendermime, HISTORY_MIME_TYPE, mimeType => new HistoryRenderer(mimeType, services));
    return liveHistories;
  }
};
