// The plugins of the extension. A list and nothing else: each plugin loads its code when it runs.
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { diagnosisPlugin } from './plugins/diagnosis';
import { liveReportsPlugin } from './plugins/livereports';
import { preferencesPlugin } from './plugins/preferences';
import { reportPlugin } from './plugins/report';
import { versionCheckPlugin } from './plugins/versioncheck';
import { widgetsPlugin } from './plugins/widgets';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  diagnosisPlugin,
  liveReportsPlugin,
  preferencesPlugin,
  reportPlugin,
  versionCheckPlugin,
  widgetsPlugin
];

export default plugins;
