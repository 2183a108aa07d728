// Offers the widget module to ipywidgets. Its token lives in a package that is only there when
// ipywidgets is, so it is imported when this runs: all else works without.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { PACKAGE_NAME, PACKAGE_VERSION } from '../base/version';
import { Preferences } from '../model/preferences';
import { ILiveHistories, ILiveReports, IReportPreferences } from '../tokens';
import type { IHistoryServices } from '../widgets/history';
import type { IReportServices } from '../widgets/report';

/** Registers model and view of live reports, loaded when the first one comes. */
export const widgetsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:widgets',
  description: 'Connects memory reports with their kernel, where ipywidgets is installed.',
  autoStart: true,
  optional: [ITranslator, IReportPreferences, ILiveReports, ILiveHistories],
  // The application waits for this before it restores notebooks, which may hold our widgets.
  activate: async (
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    preferences: IReportPreferences | null,
    liveReports: ILiveReports | null,
    liveHistories: ILiveHistories | null
  ): Promise<void> => {
    await registerWidgets(app, {
      trans: (translator ?? nullTranslator).load('memtrack'),
      language: translator?.languageCode ?? 'en',
      preferences: preferences ?? new Preferences(),
      liveReports: liveReports ?? undefined,
      liveHistories: liveHistories ?? undefined
    });
  }
};

async function registerWidgets(
  app: JupyterFrontEnd,
  services: IReportServices & IHistoryServices
): Promise<void> {
  const base = await import('@jupyter-widgets/base').catch(() => undefined);
  const registry = base && (await app.resolveOptionalService(base.IJupyterWidgetRegistry));
  registry?.registerWidget({
    name: PACKAGE_NAME,
    version: PACKAGE_VERSION,
    exports: async () => {
      const [report, plan, comparison, history] = await Promise.all([
        import('../widgets/report'),
        import('../widgets/plan'),
        import('../widgets/comparison'),
        import('../widgets/history')
      ]);
      return {
        ...report.reportWidgets(services),
        ...plan.planWidgets(services.trans),
        ...comparison.comparisonWidgets(services),
        ...history.historyWidgets(services)
      };
    }
  });
}
