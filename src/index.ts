// The plugins of the extension. A list and nothing else: each plugin loads its code when it runs.
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { versionCheckPlugin } from './plugins/versioncheck';

const plugins: JupyterFrontEndPlugin<unknown>[] = [versionCheckPlugin];

export default plugins;
