import { readFileSync } from 'fs';
import { resolve } from 'path';

import { formatBytes, formatChange, formatCount, formatDuration, formatPercent } from '../bytes';

const file = resolve(__dirname, '../../../python_pkg/tests/fixtures/units.json');
const cases: Record<string, [...number[], string][]> = JSON.parse(readFileSync(file, 'utf8'));

describe('figures read as in Python', () => {
  const formats: Record<string, (...values: number[]) => string> = {
    bytes: formatBytes,
    change: formatChange,
    duration: formatDuration,
    count: formatCount,
    percent: formatPercent
  };

  it.each(Object.keys(formats))('%s', kind => {
    for (const row of cases[kind] ?? []) {
      const values = row.slice(0, -1).map(Number);
      expect([values, formats[kind]?.(...values)]).toEqual([values, row[row.length - 1]]);
    }
  });

  it('checks the same kinds as the fixture has', () => {
    expect(Object.keys(cases).sort()).toEqual(Object.keys(formats).sort());
  });
});
