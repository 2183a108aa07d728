import { readFileSync } from 'fs';
import { resolve } from 'path';

import {
  formatBytes,
  formatChange,
  formatCount,
  formatDuration,
  formatPercent,
  together
} from '../bytes';

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

it('a figure and its unit stay on one line, other words do not', () => {
  expect(together('eval.ipynb (21) has been idle for 3 h and holds 22.0 GiB.')).toBe(
    'eval.ipynb (21) has been idle for 3\u00a0h and holds 22.0\u00a0GiB.'
  );
  expect(together('91 % of the memory is in use')).toBe('91\u00a0% of the memory is in use');
  expect(together('5 processes; pid 7 holds 512 B, 2 mice')).toBe(
    '5 processes; pid 7 holds 512\u00a0B, 2 mice'
  );
});
