// Shows memory reports in outputs, before any other renderer, with or without a kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { Preferences } from '../model/preferences';
import { ILiveReports, IReportPreferences } from '../tokens';
import { ReportRenderer } from '../views/report/renderer';
import { MIME_TYPE } from '../wire/mimetype';

// ipywidgets has -10: where both could show an output, ours does, as it needs no kernel.
const RANK = -20;

/** Registers the renderer of our MIME type. */
export const reportPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:report-renderer',
  description: 'Shows memory reports in the outputs of cells.',
  autoStart: true,
  optional: [ITranslator, IReportPreferences, ILiveReports],
  requires: [IRenderMimeRegistry],
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null,
    preferences: IReportPreferences | null,
    liveReports: ILiveReports | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('memtrack');
    const services = {
      trans,
      language: translator?.languageCode ?? 'en',
      preferences: preferences ?? new Preferences(),
      liveReports: liveReports ?? undefined
    };
    rendermime.addFactory(
      {
        // The payload is data: nothing in it becomes markup or code.
        safe: true,
        mimeTypes: [MIME_TYPE],
        defaultRank: RANK,
        createRenderer: options => new ReportRenderer(options.mimeType, services)
      },
      RANK
    );
  }
};
