// Shows explanations of errors in outputs, before any other renderer; they need no kernel.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { DiagnosisRenderer } from '../views/diagnosis/renderer';
import { DIAGNOSIS_MIME_TYPE } from '../wire/mimetype';
import { addRenderer } from './renderer';

/** Registers the renderer of the MIME type of diagnoses. */
export const diagnosisPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:diagnosis-renderer',
  description: 'Shows explanations of errors in the outputs of cells.',
  autoStart: true,
  optional: [ITranslator],
  requires: [IRenderMimeRegistry],
  activate: (
    _: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('memtrack');
    const services = { trans, language: translator?.languageCode ?? 'en' };
    addRenderer(
      rendermime,
      DIAGNOSIS_MIME_TYPE,
      mimeType => new DiagnosisRenderer(mimeType, services)
    );
  }
};
