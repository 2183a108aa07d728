// Provides the registry of live reports.
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import type { ILiveReport } from '../model/live';
import { Registry } from '../model/registry';
import { ILiveReports } from '../tokens';

/** Knows the reports of this page that have a kernel. */
export const liveReportsPlugin: JupyterFrontEndPlugin<ILiveReports> = {
  id: 'memtrack:live-reports',
  description: 'Knows the memory reports of this page that have a kernel.',
  autoStart: true,
  provides: ILiveReports,
  activate: () => new Registry<ILiveReport>()
};
