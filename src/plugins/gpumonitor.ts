// Provides the state of the GPUs to whoever shows it, with the settings of all that shows it.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator } from '@jupyterlab/translation';

import { IGpuMonitor } from '../tokens';
import { translateSettings } from './settingtexts';

/** Knows the GPUs of the server and what the kernels of this page hold, while somebody looks. */
export const gpuMonitorPlugin: JupyterFrontEndPlugin<IGpuMonitor> = {
  id: 'memtrack:gpus',
  description: 'Knows what is on the GPUs of the server, while somebody looks.',
  autoStart: true,
  optional: [INotebookTracker, ISettingRegistry, IStateDB, ITranslator],
  provides: IGpuMonitor,
  activate: async (
    app: JupyterFrontEnd,
    tracker: INotebookTracker | null,
    registry: ISettingRegistry | null,
    state: IStateDB | null,
    translator: ITranslator | null
  ): Promise<IGpuMonitor> => {
    translateSettings(registry, gpuMonitorPlugin.id, translator);
    const { followSettings, keepTraces, startMonitor } = await import('../panel/start');
    const monitor = startMonitor(app, tracker);
    const complain = (error: unknown): void => {
      console.warn('memtrack could not load how the GPU panel is to look.', error);
    };
    if (registry !== null) {
      followSettings(monitor, registry, gpuMonitorPlugin.id).catch(complain);
    }
    if (state !== null) {
      keepTraces(monitor, state).catch(complain);
    }
    return monitor;
  }
};
