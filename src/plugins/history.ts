// Shows kept runs in outputs, before any other renderer, with or without a kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { ILiveHistory } from '../model/history/live';
import { Registry } from '../model/registry';
import { ILiveHistories } from '../tokens';
import { HistoryRenderer } from '../views/history/renderer';
import { HISTORY_MIME_TYPE } from '../wire/mimetype';

// That of reports.
const RANK = -20;

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
    rendermime.addFactory(
      {
        // The payload is data: nothing in it becomes markup or code.
        safe: true,
        mimeTypes: [HISTORY_MIME_TYPE],
        defaultRank: RANK,
        createRenderer: options => new HistoryRenderer(options.mimeType, services)
      },
      RANK
    );
    return liveHistories;
  }
};
