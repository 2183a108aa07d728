import catalogue from '../../../python_pkg/memtrack/locale/zh_CN/LC_MESSAGES/memtrack.json';
import gpus from '../../../schema/gpus.json';
import reports from '../../../schema/plugin.json';
import { translatedSchema } from '../schematexts';

describe('the texts of a schema', () => {
  const marked = translatedSchema(gpus, (context, text) => `${context}: ${text}`);

  it('are translated in the contexts of language packs', () => {
    expect(marked.title).toBe('schema: memtrack: GPU panel');
    expect(marked['jupyter.lab.setting-icon-label']).toBe('settings: memtrack: GPU panel');
    expect(marked.properties.interval.title).toBe('settings: Interval');
    expect(marked.properties.units.oneOf.map(({ title }) => title)).toEqual([
      'settings: The one that fits',
      'settings: GiB',
      'settings: MiB'
    ]);
    expect(marked.properties.processColumns.items.oneOf[0]?.title).toBe('settings: Memory');
  });

  it('are all that changes', () => {
    const plain = JSON.stringify(marked).replace(/"(schema|settings): /g, '"');
    expect(plain).toBe(JSON.stringify(gpus));
    expect(translatedSchema(gpus, (_, text) => text)).toEqual(gpus);
    expect(gpus['jupyter.lab.transform'] && reports['jupyter.lab.transform']).toBe(true);
  });

  it.each([
    ['gpus', gpus],
    ['plugin', reports]
  ])('of %s are all in Chinese', (_, schema) => {
    const known: Readonly<Record<string, unknown>> = catalogue;
    const lacking: string[] = [];
    translatedSchema<object>(schema, (context, text) => {
      const entry = known[`${context}\u0004${text}`];
      const chinese = Array.isArray(entry) ? String(entry[0]) : '';
      if (chinese === '' || (chinese === text && !/^(GiB|MiB|PID)$/.test(text))) {
        lacking.push(text);
      }
      return chinese;
    });
    expect(lacking).toEqual([]);
  });
});
