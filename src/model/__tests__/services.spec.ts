import type { ILiveReport } from '../live';
import { Registry } from '../registry';
import { DEFAULT_PREFERENCES, Preferences, preferencesFrom } from '../preferences';
import { Selection } from '../selection';
import schema from '../../../schema/plugin.json';

describe('the registry of live reports', () => {
  const live = (id: string): ILiveReport => ({ id }) as ILiveReport;

  it('says which report came and went', () => {
    const reports = new Registry<ILiveReport>();
    const said: string[] = [];
    reports.changed.connect((_, id) => said.push(id));
    const one = live('a');
    const entry = reports.add(one);
    expect(reports.get('a')).toBe(one);
    entry.dispose();
    entry.dispose();
    expect(reports.get('a')).toBeUndefined();
    expect(said).toEqual(['a', 'a']);
  });

  it('keeps a newer report when the older one of the same id goes', () => {
    const reports = new Registry<ILiveReport>();
    const [older, newer] = [live('a'), live('a')];
    const entry = reports.add(older);
    reports.add(newer);
    entry.dispose();
    expect(reports.get('a')).toBe(newer);
  });
});

describe('preferences', () => {
  it('are what the schema says where nobody chose', () => {
    const { properties } = schema;
    const defaults = Object.fromEntries(
      Object.entries(properties).map(([key, property]) => [key, property.default])
    );
    expect(preferencesFrom(defaults)).toEqual({
      ...DEFAULT_PREFERENCES,
      layerColumns: properties.layerColumns.default
    });
  });

  it('ignore what they do not know', () => {
    const values = preferencesFrom({ defaultTab: 'advice', timelineAxis: 3, layerColumns: 'x' });
    expect(values).toEqual(DEFAULT_PREFERENCES);
  });

  it('remember how the latest reports were left', () => {
    const preferences = new Preferences();
    preferences.tracesOf('a').tab = 'ledger';
    expect(preferences.tracesOf('a').tab).toBe('ledger');
    Array.from({ length: 200 }, (_, index) => preferences.tracesOf(`b${index}`));
    expect(preferences.tracesOf('a').tab).toBeUndefined();
  });
});

it('a selection says only changes', () => {
  const selection = new Selection();
  const said: number[] = [];
  selection.changed.connect((_, row) => said.push(row));
  selection.row = 3;
  selection.row = 3;
  selection.row = -1;
  expect(said).toEqual([3, -1]);
});
