// The GPU memory of the kernel in front, in the status bar.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IGpuMonitor } from '../tokens';
import { CommandIDs } from './gpupanel';

// Beside that of the kernel's state.
const RANK = 3;

/** Adds the status item; it is hidden where the kernel in front holds no memory of a GPU. */
export const gpuStatusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'memtrack:gpu-status',
  description: 'Shows the GPU memory of the kernel in front in the status bar.',
  autoStart: true,
  requires: [IGpuMonitor],
  // Notebook 7 has none.
  optional: [IStatusBar, ITranslator],
  activate: async (
    app: JupyterFrontEnd,
    monitor: IGpuMonitor,
    statusBar: IStatusBar | null,
    translator: ITranslator | null
  ): Promise<void> => {
    if (statusBar === null) {
      return;
    }
    const trans = (translator ?? nullTranslator).load('memtrack');
    const { GpuStatusItem } = await import('../panel/statusitem');
    const item = new GpuStatusItem(monitor.model, trans, () => {
      if (app.commands.hasCommand(CommandIDs.showGpus)) {
        void app.commands.execute(CommandIDs.showGpus);
      }
    });
    statusBar.registerStatusItem(gpuStatusPlugin.id, {
      item,
      align: 'left',
      rank: RANK,
      isActive: () => item.isActive,
      activeStateChanged: item.activeChanged
    });
    monitor.setInSight('status', true);
  }
};
