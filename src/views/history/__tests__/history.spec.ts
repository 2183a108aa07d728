import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { ILiveHistory, RunChange } from '../../../model/history/live';
import { HistoryError } from '../../../model/history/live';
import { comparisonOf } from '../../../wire/__tests__/comparison';
import { historyOf } from '../../../wire/__tests__/runs';
import type { IRun } from '../../../wire/runs';
import { trans } from '../../__tests__/sample';
import { HistoryWidget } from '..';
import { whenText } from '../words';

const SETTLED_MS = 0;

class FakeHistory implements ILiveHistory {
  readonly id = 'abc';
  readonly closed = new Signal<this, void>(this);
  isClosed = false;
  readonly asked: unknown[] = [];
  refusal: HistoryError | undefined;

  async list(query: unknown): Promise<ReturnType<typeof historyOf>> {
    this.asked.push(query);
    return historyOf({ total: 1, runs: [] });
  }

  async change(id: number, change: RunChange): Promise<readonly IRun[]> {
    this.asked.push([id, change]);
    if (this.refusal !== undefined) {
      throw this.refusal;
    }
    const run = historyOf().runs.find(each => each.id === id);
    return run === undefined
      ? []
      : [{ ...run, pinned: change.type === 'pin', deleted: change.type === 'delete' }];
  }

  async compare(a: number, b: number): Promise<ReturnType<typeof comparisonOf>> {
    this.asked.push([a, b]);
    return comparisonOf();
  }
}

describe('the view of a history', () => {
  let view: HistoryWidget;
  let live: FakeHistory;

  beforeEach(() => {
    live = new FakeHistory();
    view = new HistoryWidget(historyOf(), { trans, language: 'en' });
    Widget.attach(view, document.body);
  });
  afterEach(() => view.dispose());

  const rows = (): HTMLElement[] => [
    ...view.node.querySelectorAll<HTMLElement>('tbody tr:not(.memtrack-mod-detail)')
  ];
  const buttons = (text: string): HTMLButtonElement[] =>
    [...view.node.querySelectorAll('button')].filter(
      each => each.textContent === text && each.closest('[hidden]') === null
    );
  const settled = (): Promise<void> => new Promise(done => setTimeout(done, SETTLED_MS));
  const status = (): string => view.node.querySelector('[role=status]')?.textContent ?? '';

  it('lists runs newest first, with what each was and needed', () => {
    expect(view.node.querySelector('[role=heading]')?.textContent).toBe(
      '1203 runs in /home/me/.memtrack'
    );
    expect(rows().map(row => row.querySelector('th label')?.textContent)).toEqual([
      'Run 14, wide <head>',
      'Run 12, gpt',
      'Run 3, gpt'
    ]);
    expect(rows()[0]?.textContent).toContain('4.75 GiB');
    expect(rows()[0]?.textContent).toContain('41.2 ms');
    expect(rows()[0]?.textContent).toContain('11111111 and changes');
    expect(rows()[0]?.querySelector('.memtrack-History-tags')?.textContent).toBe(
      'pinnedbf16checkpointeda note & more'
    );
    expect(rows()[1]?.querySelector('.memtrack-History-tags')?.textContent).toBe('baseline');
  });

  it('is for reading where no kernel answers, and says how to get one', () => {
    expect(buttons('Delete')).toEqual([]);
    expect(buttons('Compare two runs')).toEqual([]);
    expect(view.node.textContent).toContain('Saved with the notebook. Run the cell again');
  });

  it('pins and names through the kernel', async () => {
    view.live = live;
    buttons('Pin')[1]?.click();
    await settled();
    expect(live.asked).toEqual([[12, { type: 'pin' }]]);
    expect(buttons('Pin')[1]?.getAttribute('aria-pressed')).toBe('true');
    buttons('Edit')[1]?.click();
    const name = view.node.querySelectorAll<HTMLInputElement>('.memtrack-History-editor input')[3];
    if (name === undefined) {
      throw new Error('no field');
    }
    name.value = ' lean ';
    name.dispatchEvent(new Event('change'));
    await settled();
    expect(live.asked[1]).toEqual([12, { type: 'rename', name: 'lean' }]);
  });

  it('deletes with a way back', async () => {
    view.live = live;
    buttons('Delete')[1]?.click();
    await settled();
    expect(rows()).toHaveLength(2);
    expect(status()).toBe('Run 12, gpt was deleted. Undo');
    buttons('Undo')[0]?.click();
    await settled();
    expect(live.asked[1]).toEqual([12, { type: 'restore' }]);
    expect(rows()).toHaveLength(3);
    expect(status()).toBe('Run 12, gpt is back.');
  });

  it('compares two ticked runs, the older as before; a third takes the place of the first', async () => {
    view.live = live;
    const boxes = [...view.node.querySelectorAll<HTMLInputElement>('th input')];
    const compare = buttons('Compare two runs')[0];
    expect(compare?.disabled).toBe(true);
    for (const index of [2, 0, 1]) {
      boxes[index]?.click();
    }
    expect(boxes.map(box => box.checked)).toEqual([true, true, false]);
    compare?.click();
    await settled();
    expect(live.asked).toEqual([[12, 14]]);
    expect(view.node.querySelector('.memtrack-Comparison')).not.toBeNull();
  });

  it('says what the kernel refuses and keeps the rows', async () => {
    view.live = live;
    live.refusal = new HistoryError({ en: 'The history is read-only.' });
    buttons('Delete')[0]?.click();
    await settled();
    expect(status()).toBe('The history is read-only.');
    expect(rows()).toHaveLength(3);
  });

  it('becomes a list for reading when the kernel goes', () => {
    view.live = live;
    expect(buttons('Delete')).toHaveLength(3);
    live.isClosed = true;
    live.closed.emit();
    expect(buttons('Delete')).toEqual([]);
  });

  it('offers no change where the folder cannot be written to', () => {
    view.dispose();
    view = new HistoryWidget(historyOf({ writable: false }), { trans, language: 'en' });
    view.live = live;
    expect(buttons('Delete')).toEqual([]);
    expect(buttons('Compare two runs')).toHaveLength(1);
    expect(view.node.textContent).toContain('cannot be written to');
  });
});

it('tells the year of another year alone', () => {
  const created = new Date(2026, 10, 5, 9, 4).getTime();
  expect(whenText(created, 'en_GB', new Date(2026, 11, 1))).toBe('5 Nov, 9:04');
  expect(whenText(created, 'en_GB', new Date(2027, 0, 1))).toBe('5 Nov 2026, 9:04');
});
