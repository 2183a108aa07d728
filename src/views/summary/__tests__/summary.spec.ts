import { Widget } from '@lumino/widgets';

import { decodeReport } from '../../../wire';
import type { IView } from '../../../wire';
import { readFixture, reportFixture } from '../../../wire/__tests__/fixture';
import { trans, viewOf } from '../../__tests__/sample';
import { SummaryView } from '..';

const { json, buffers } = reportFixture();
const view = decodeReport(json, buffers).views[0] as IView;
const expected = readFixture('expected.json').summary as Record<string, string>;

describe('the summary', () => {
  let summary: SummaryView;

  beforeEach(() => {
    summary = new SummaryView(trans);
    Widget.attach(summary, document.body);
    summary.setView(view);
  });

  afterEach(() => summary.dispose());

  const selects = (): readonly HTMLSelectElement[] => [...summary.node.querySelectorAll('select')];
  const choose = (index: number, title: string): void => {
    const select = selects()[index];
    if (select !== undefined) {
      select.value = title;
      select.dispatchEvent(new Event('change'));
    }
  };
  const rows = (): string[][] =>
    [...summary.node.querySelectorAll<HTMLElement>('tbody tr')]
      .filter(row => !row.hidden)
      .map(row => [...row.children].map(cell => cell.textContent ?? ''));
  const heads = (): (string | null)[] =>
    [...summary.node.querySelectorAll('thead th')].map(cell => cell.textContent);

  it('shows the end of the run as PyTorch names it, pools folded', () => {
    expect(selects()[0]?.value).toBe('end of the recording');
    expect(heads()).toEqual(['Metric', 'Cur Usage', 'Peak Usage', 'Tot Alloc', 'Tot Freed']);
    expect(rows()).toHaveLength(11);
    expect(rows()[3]).toEqual(['GPU reserved memory', '8.51 GiB', '8.51 GiB', '8.51 GiB', '0']);
    expect(rows()[5]?.[0]).toBe('Allocations');
    expect(summary.node.querySelector('caption')?.textContent).toBe('end of the recording');
  });

  it('names every moment, marks by their labels', () => {
    const titles = [...(selects()[0]?.options ?? [])].map(option => option.text);
    expect(titles).toHaveLength(view.summary?.length ?? 0);
    expect(titles.slice(0, 5)).toEqual([
      'start of the recording',
      'after forward of step 1',
      'after backward of step 1',
      'after optimizer of step 1',
      "mark '第 1 步 <done>'"
    ]);
  });

  it('unfolds the pools of a metric, and keeps them so at another moment', () => {
    const toggle = summary.node.querySelector('button.memtrack-Fold') as HTMLElement;
    expect(toggle.getAttribute('aria-expanded')).toBe('false');
    expect(toggle.textContent).toBe('Allocated memory');
    toggle.click();
    expect(toggle.getAttribute('aria-expanded')).toBe('true');
    expect(rows().slice(1, 3)).toEqual([
      ['from large pool', '1.32 GiB', '7.36 GiB', expect.any(String), expect.any(String)],
      ['from small pool', '1.00 MiB', '1.00 MiB', '1.00 MiB', '0']
    ]);
    choose(0, 'start of the recording');
    expect(rows()[1]?.[0]).toBe('from large pool');
  });

  it('compares with another moment, the earlier first whichever way they were chosen', () => {
    choose(1, 'start of the recording');
    expect(heads()).toEqual(['Metric', 'Cur First', 'Cur Second', 'Difference', 'Peak Diff.']);
    expect(rows()[3]).toEqual([
      'GPU reserved memory',
      '450 MiB',
      '8.51 GiB',
      '+8.07 GiB',
      '+8.07 GiB'
    ]);
    expect(summary.node.textContent).toContain(
      'First: start of the recording; second: end of the recording'
    );
    choose(1, 'no other');
    expect(heads()[1]).toBe('Cur Usage');
  });

  it('copies the table as Python prints it', async () => {
    let copied = '';
    const clipboard = { writeText: async (text: string) => void (copied = text) };
    Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
    choose(1, 'start of the recording');
    summary.node.querySelector<HTMLElement>('.memtrack-Button')?.click();
    await Promise.resolve();
    await Promise.resolve();
    expect(copied).toBe(expected['start and end']);
    expect(summary.node.querySelector('[role=status]')?.textContent).toBe('Copied');
  });

  it('keeps its moments when the same run comes again, and is empty without readings', () => {
    choose(0, 'after forward of step 2');
    summary.setView({ ...view });
    expect(selects()[0]?.value).toBe('after forward of step 2');
    summary.setView(viewOf());
    expect(rows()).toEqual([]);
  });
});
