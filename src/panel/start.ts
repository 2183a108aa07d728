// All that the panel needs, made in one place for the plugins.
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { IStateDB } from '@jupyterlab/statedb';

import { gpuSettingsFrom } from '../model/gpus/settings';
import { tracesFrom } from '../model/gpus/traces';
import { GpuMonitor } from './monitor';
import { Notebooks } from './notebooks';

const KEPT = 'memtrack:gpu-panel';

/** Returns a monitor that follows the page's notebooks. */
export function startMonitor(
  { shell, serviceManager }: JupyterFrontEnd,
  tracker: INotebookTracker | null
): GpuMonitor {
  const notebooks = new Notebooks(shell, tracker ?? undefined);
  return new GpuMonitor(serviceManager.serverSettings, notebooks);
}

/** Applies the settings of `pluginId` as they change. */
export async function followSettings(
  monitor: GpuMonitor,
  registry: ISettingRegistry,
  pluginId: string
): Promise<void> {
  const settings = await registry.load(pluginId);
  const apply = (): void => {
    monitor.model.settings = gpuSettingsFrom(settings.composite);
    monitor.applySettings();
  };
  settings.changed.connect(apply);
  apply();
}

/** Brings back how the panel was left, and keeps it from now on. */
export async function keepTraces({ model }: GpuMonitor, state: IStateDB): Promise<void> {
  model.restore(tracesFrom(await state.fetch(KEPT)));
  model.tracesChanged.connect((_, { sort, folded }) => {
    const kept = { sort: { ...sort }, folded: [...folded] };
    state.save(KEPT, kept).catch((error: unknown) => {
      console.warn('memtrack could not keep how the GPU panel was left.', error);
    });
  });
}
