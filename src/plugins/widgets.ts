// Offers the widget module to ipywidgets. Its token lives in a package that is only there when
// ipywidgets is, so it is imported when this runs: all else works without.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { PACKAGE_NAME, PACKAGE_VERSION } from '../base/version';
import { Preferences } from '../model/preferences';
import { ILiveReports, IReportPreferences } from '../tokens';
import type { IReportServices } from '../widgets/report';

/** Registers model and view of live reports, loaded when the first one comes. */
export const widgetsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:widgets',
  description: 'Connects memory reports with their kernel, where ipywidgets is installed.',
  autoStart: true,
  optional: [ITranslator, IReportPreferences, ILiveReports],
  // The application waits for this before it restores notebooks, which may hold our widgets.
  activate: async (
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    preferences: IReportPreferences | null,
    liveReports: ILiveReports | null
  ): Promise<void> => {
    await registerWidgets(app, {
      trans: (translator ?? nullTranslator).load('memtrack'),
      language: translator?.languageCode ?? 'en',
      preferences: preferences ?? new Preferences(),
      liveReports: liveReports ?? undefined
    });
  }
};

async function registerWidgets(app: JupyterFrontEnd, services: IReportServices): Promise<void> {
  const base = await import('@jupyter-widgets/base').catch(() => undefined);
  const registry = base && (await app.resolveOptionalService(base.IJupyterWidgetRegistry));
  registry?.registerWidget({
    name: PACKAGE_NAME,
    version: PACKAGE_VERSION,
    exports: async () => {
      const [{ reportWidgets }, { planWidgets }, { comparisonWidgets }] = await Promise.all([
        import('../widgets/report'),
        import('../widgets/plan'),
        import('../widgets/comparison')
      ]);
      return {
        ...reportWidgets(services),
        ...planWidgets(services.trans),
        ...comparisonWidgets(services)
      };
    }
  });
}
