// The texts of a plugin's settings, in the reader's language.
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ITranslator } from '@jupyterlab/translation';
import { nullTranslator } from '@jupyterlab/translation';

import { translatedSchema } from '../model/schematexts';

/** Translates the schema of `pluginId`, which has to say `jupyter.lab.transform`, when it is fetched. */
export function translateSettings(
  registry: ISettingRegistry | null,
  pluginId: string,
  translator: ITranslator | null
): void {
  const bundle = (translator ?? nullTranslator).load('memtrack');
  registry?.transform(pluginId, {
    fetch: plugin => ({
      ...plugin,
      schema: translatedSchema(plugin.schema, (context, text) => bundle.pgettext(context, text))
    })
  });
}
