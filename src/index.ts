// The plugins of the extension. A list and nothing else: each plugin loads its code when it runs.
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { comparisonPlugin } from './plugins/comparison';
import { diagnosisPlugin } from './plugins/diagnosis';
import { gpuMonitorPlugin } from './plugins/gpumonitor';
import { gpuPanelPlugin } from './plugins/gpupanel';
import { gpuStatusPlugin } from './plugins/gpustatus';
import { historyPlugin } from './plugins/history';
import { liveReportsPlugin } from './plugins/livereports';
import { planPlugin } from './plugins/plan';
import { preferencesPlugin } from './plugins/preferences';
import { ranksPlugin } from './plugins/ranks';
import { reportPlugin } from './plugins/report';
import { versionCheckPlugin } from './plugins/versioncheck';
import { widgetsPlugin } from './plugins/widgets';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  comparisonPlugin,
  diagnosisPlugin,
  gpuMonitorPlugin,
  gpuPanelPlugin,
  gpuStatusPlugin,
  historyPlugin,
  liveReportsPlugin,
  planPlugin,
  preferencesPlugin,
  ranksPlugin,
  reportPlugin,
  versionCheckPlugin,
  widgetsPlugin
];

export default plugins;
