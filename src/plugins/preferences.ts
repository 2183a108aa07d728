// Provides what the reader chose in the settings, kept up to date.
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';

import { IReportPreferences } from '../tokens';
import { Preferences, preferencesFrom } from '../model/preferences';
import { translateSettings } from './settingtexts';

/** Reads the settings of the report view and applies them as they change. */
export const preferencesPlugin: JupyterFrontEndPlugin<IReportPreferences> = {
  id: 'memtrack:plugin',
  description: 'Keeps the settings of memory reports.',
  autoStart: true,
  optional: [ISettingRegistry, ITranslator],
  provides: IReportPreferences,
  activate: (
    _: JupyterFrontEnd,
    registry: ISettingRegistry | null,
    translator: ITranslator | null
  ): IReportPreferences => {
    const preferences = new Preferences();
    translateSettings(registry, preferencesPlugin.id, translator);
    registry
      ?.load(preferencesPlugin.id)
      .then(settings => {
        const apply = (): void => {
          preferences.values = preferencesFrom(settings.composite);
        };
        settings.changed.connect(apply);
        apply();
        preferences.keep = (name, value) => void settings.set(name, [...value]);
      })
      .catch((error: unknown) => {
        console.warn('memtrack could not load its settings.', error);
      });
    return preferences;
  }
};
