// Tells when the two halves of the extension do not belong together.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { PACKAGE_VERSION } from '../base/version';

/** Compares the versions of the front end and the server half once, after start-up. */
export const versionCheckPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:version-check',
  description: 'Warns when the front end and the server half have different versions.',
  autoStart: true,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): void => {
    const trans = (translator ?? nullTranslator).load('memtrack');
    void app.restored
      .then(() => checkVersions(app.serviceManager.serverSettings, trans))
      .catch((error: unknown) => {
        console.warn('memtrack could not ask its server half for its version.', error);
      });
  }
};

async function checkVersions(
  settings: ServerConnection.ISettings,
  trans: TranslationBundle
): Promise<void> {
  const { loadServerInfo } = await import('../api/info');
  const info = await loadServerInfo(settings);
  if (info === undefined) {
    console.warn(
      'memtrack: the server half is missing, so the panel has no data. ' +
        'Mend it with: jupyter server extension enable memtrack'
    );
  } else if (info.version !== PACKAGE_VERSION) {
    const { Notification } = await import('@jupyterlab/apputils');
    Notification.warning(
      trans.__(
        'memtrack %1 runs in this page but %2 on the server. Restart Jupyter, then reload the page.',
        PACKAGE_VERSION,
        info.version
      ),
      { autoClose: false }
    );
  }
}
