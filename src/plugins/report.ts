// Shows memory reports in outputs, before any other renderer, with or without a kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { Preferences } from '../model/preferences';
import { ILiveReports, IReportPreferences } from '../tokens';
import { ReportRenderer } from '../views/report/renderer';
import { MIME_TYPE } from '../wire/mimetype';
import { addRenderer } from './renderer';

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
    addRenderer(rendermime, MIME_TYPE, mimeType => new ReportRenderer(mimeType, services));
  }
};
