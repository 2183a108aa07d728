// The texts of a settings schema in the reader's language. JupyterLab's server translates those of the
// schemas that a language pack knows; ours come with us, so the page does it, with the same contexts.

/** Returns `text` in the reader's language; `context` is `schema` or `settings`. */
export type Translate = (context: string, text: string) => string;

const TEXTS: readonly string[] = ['title', 'description', 'jupyter.lab.setting-icon-label'];

/** Returns a copy of `schema` with its titles and descriptions translated, those of choices too. */
export function translatedSchema<T extends object>(schema: T, translate: Translate): T {
  return translated(schema, translate, 'schema') as T;
}

function translated(value: unknown, translate: Translate, context: string): unknown {
  if (Array.isArray(value)) {
    return value.map(item => translated(item, translate, context));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (typeof inner === 'string') {
        const isSetting = context === 'settings' || key.startsWith('jupyter.lab');
        return [
          key,
          TEXTS.includes(key) ? translate(isSetting ? 'settings' : 'schema', inner) : inner
        ];
      }
      // Defaults and menus are data; below the properties all is of settings.
      const isText = key !== 'default' && !key.startsWith('jupyter.lab');
      return [
        key,
        isText ? translated(inner, translate, key === 'properties' ? 'settings' : context) : inner
      ];
    })
  );
}
