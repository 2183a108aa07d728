import { trans } from '../../views/__tests__/sample';
import { summaryWords } from '../../views/summary/words';
import type { ISummary } from '../../wire';
import { decodeReport } from '../../wire';
import { readFixture, reportFixture } from '../../wire/__tests__/fixture';
import { METRICS, statistic, summaryTable } from '../summary';
import { displayWidth, summaryText } from '../summarytext';

const { json, buffers } = reportFixture();
const [view] = decodeReport(json, buffers).views;
const device = view?.device ?? { kind: 'cuda', index: 0, name: '', total: -1 };
const summary = view?.summary as ISummary;
const expected = readFixture('expected.json').summary as Record<string, string>;

function text(first: number, second?: number): string {
  const moments = { first, second };
  const words = summaryWords(summary, moments, device, trans);
  return summaryText(summaryTable(summary, moments), words);
}

describe('the text that is copied', () => {
  const last = summary.length - 1;

  it('is, letter for letter, the one that Python prints', () => {
    expect(text(last)).toBe(expected.end);
    expect(text(0, last)).toBe(expected['start and end']);
    expect(text(1)).toBe(expected.forward);
  });

  it('has lines of one width', () => {
    expect(new Set(text(0, last).split('\n').map(displayWidth))).toEqual(new Set([77]));
    expect(displayWidth('显存 a')).toBe(6);
  });

  it('shortens what does not fit, in the columns of a terminal', () => {
    const words = summaryWords(summary, { first: 0, second: undefined }, device, trans);
    const long = summaryText([], { ...words, headings: ['显存'.repeat(30)] }).split('\n')[1];
    expect(long).toMatch(/^\| *显存.*… *\|$/);
    expect(displayWidth(long ?? '')).toBe(77);
  });
});

describe('the table of statistics', () => {
  const made = (names: readonly string[], values: readonly number[]): ISummary => ({
    ...summary,
    length: values.length / names.length,
    names,
    values
  });

  it('has every metric of PyTorch, pools under it', () => {
    const groups = summaryTable(summary, { first: 0, second: undefined });
    expect(groups.map(({ metric }) => metric)).toEqual(METRICS.map(({ id }) => id));
    expect(groups[0]?.rows.map(({ pool }) => pool)).toEqual(['all', 'large_pool', 'small_pool']);
    const [all = [], ...pools] = groups[0]?.rows.map(({ figures }) => figures) ?? [];
    pools.forEach(figures => expect(figures).toHaveLength(all.length));
    expect(all[0]).toBe((pools[0]?.[0] ?? 0) + (pools[1]?.[0] ?? 0));
  });

  it('takes what is left out for 0 with the own allocator, for unknown with others', () => {
    const own = made(['allocation.all.allocated'], [3]);
    expect(statistic(own, 0, 'num_ooms')).toBe(0);
    const other = made(['reserved_bytes.all.current'], [3]);
    expect(statistic(other, 0, 'num_ooms')).toBeUndefined();
    const [allocated, , , reserved] = summaryTable(other, { first: 0, second: undefined });
    expect(allocated?.rows[0]?.figures).toEqual([undefined, undefined, undefined, undefined]);
    expect(reserved?.rows[0]?.figures[0]).toBe(3);
  });

  it('compares two moments', () => {
    const names = ['active.all.current', 'active.all.peak'];
    const groups = summaryTable(made(names, [5, 9, 3, 10]), { first: 0, second: 1 });
    const active = groups.find(({ metric }) => metric === 'active');
    expect(active?.rows[0]?.figures).toEqual([5, 3, -2, 1]);
  });
});
