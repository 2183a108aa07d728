import { Widget } from '@lumino/widgets';

import { adviceOf } from '../../../wire/__tests__/advice';
import { reportOf, trans, viewOf } from '../../__tests__/sample';
import type { IAdviceAnswer } from '../../../wire';
import { AdviceView } from '..';

describe('the tab of advice', () => {
  let view: AdviceView;

  function show(changes: Readonly<Record<string, unknown>> = {}, language = 'en'): void {
    view?.dispose();
    view = new AdviceView({ trans, language });
    Widget.attach(view, document.body);
    view.setView(viewOf(), reportOf({ advice: adviceOf(changes) }));
  }

  beforeEach(() => show());
  afterEach(() => view.dispose());

  const all = (selector: string): HTMLElement[] => [
    ...view.node.querySelectorAll<HTMLElement>(selector)
  ];
  const remedies = (): HTMLElement[] =>
    all('[aria-label="What helps"] tbody tr:not(.memtrack-mod-detail)').slice(1);
  const cells = (row: HTMLElement | undefined): (string | undefined)[] =>
    [...(row?.children ?? [])].map(cell => cell.textContent ?? undefined);
  const titles = (): (string | null | undefined)[] =>
    remedies().map(row => row.querySelector('th')?.textContent);

  it('begins with the answer', () => {
    expect(view.node.querySelector('[role=heading]')?.textContent).toBe(
      'Peak 8.09 GiB: it does not fit into 4.00 GiB'
    );
    expect(view.node.querySelector('.memtrack-Advice-answer p')?.textContent).toBe(
      'The mildest that fits: fused <loss> + checkpoint each of the 24 blocks'
    );
  });

  it('has a remedy a row: the peak after it, what it saves, its time, its evidence', () => {
    expect(cells(remedies()[0])).toEqual([
      'checkpoint each of the 24 blocks',
      '4.09 GiBsimulated',
      '-4.00 GiB -49 %',
      '10–50 % slower',
      'CopyCopiedFailed'
    ]);
    expect(cells(remedies()[2])[1]).toBe('~6.09 GiBestimated');
    // One that needs more says so, with a plus.
    expect(cells(remedies()[4])).toEqual([
      'optimizer without foreach',
      '8.34 GiBsimulated',
      '+256 MiB +3 %',
      'more than 50 % slower',
      ''
    ]);
  });

  it('draws every peak against the highest, with the budget in its place', () => {
    const fills = all('[aria-label="What helps"] .memtrack-Advice-fill');
    const top = 8.34375;
    const widths = fills.map(node => parseFloat(node.style.width));
    expect(widths[0]).toBeCloseTo((100 * 8.09375) / top, 5);
    expect(widths[1]).toBeCloseTo((100 * 4.09375) / top, 5);
    const [mark] = all('.memtrack-Advice-budget');
    expect(parseFloat(mark?.style.left ?? '')).toBeCloseTo((100 * 4) / top, 5);
    expect(fills[3]?.classList.contains('memtrack-mod-estimated')).toBe(true);
  });

  it('is sorted by what is saved, or by harm', () => {
    expect(titles()[0]).toBe('checkpoint each of the 24 blocks');
    const order = view.node.querySelector('select');
    if (order === null) {
      throw new Error('There is no order to choose.');
    }
    order.focus();
    order.value = 'harm';
    order.dispatchEvent(new Event('change'));
    expect(titles()).toEqual([
      'bf16 autocast',
      'optimizer without foreach',
      'fused <loss>',
      'micro-batch 4, accumulate 2',
      'checkpoint each of the 24 blocks'
    ]);
    expect(document.activeElement).toBe(order);
  });

  it('unfolds why, the interval, the traps and the code', () => {
    const [, , autocast] = remedies();
    const detail = autocast?.nextElementSibling;
    expect(detail).toHaveProperty('hidden', true);
    autocast?.querySelector<HTMLElement>('.memtrack-Fold')?.click();
    expect(detail).toHaveProperty('hidden', false);
    expect(detail?.textContent).toContain('The new peak lies between 5.84 GiB and 7.09 GiB.');
    expect(detail?.querySelector('li')?.textContent).toBe('From Ampere on.');
    expect(detail?.querySelector('pre')?.textContent).toBe(
      'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = model(batch)'
    );
  });

  it('has the combinations from mild to harsh with what fits, and folds what cannot be told or does not help', () => {
    const rows = all('.memtrack-mod-together tr');
    expect(rows.map(row => cells(row)[3])).toEqual(['does not fit', '✓ fits']);
    const [unknown, refused] = all('details');
    expect(unknown?.querySelector('summary')?.textContent).toBe('Cannot be told from this run (1)');
    expect(unknown?.hasAttribute('open')).toBe(false);
    expect(refused?.querySelector('dd')?.textContent).toBe('The gradients are let go already.');
  });

  it('without a budget has no mark and no verdict', () => {
    show({ budget: null });
    expect(view.node.querySelector('[role=heading]')?.textContent).toBe(
      'Peak 8.09 GiB: what would lower it'
    );
    expect(all('.memtrack-Advice-budget, .memtrack-Advice-fit')).toEqual([]);
  });

  it('says where nothing helps', () => {
    show({ remedies: [], combinations: [{ ids: [], peak: 1, saving: 0, fits: false }] });
    expect(view.node.querySelector('.memtrack-Advice-answer p')?.textContent).toBe(
      'Nothing that was weighed helps here.'
    );
    expect(all('table')).toEqual([]);
  });

  it('shown again leaves alone what is unfolded', () => {
    const report = reportOf({ advice: adviceOf() });
    view.setView(viewOf(), report);
    remedies()[0]?.querySelector<HTMLElement>('.memtrack-Fold')?.click();
    view.setView(viewOf(2), report);
    expect(remedies()[0]?.nextElementSibling).toHaveProperty('hidden', false);
  });
});

describe('the tab of advice of a live report', () => {
  const running = reportOf({ state: 'recording' });
  const ended = reportOf({ state: 'complete' });
  let view: AdviceView;
  let asked: number;
  let answer: (answer: IAdviceAnswer | undefined) => Promise<void>;

  beforeEach(() => {
    asked = 0;
    view = new AdviceView({ trans, language: 'en' });
    view.request = () => {
      asked++;
      return new Promise(resolve => {
        answer = async value => {
          resolve(value);
          await Promise.resolve();
        };
      });
    };
    Widget.attach(view, document.body);
  });
  afterEach(() => view.dispose());

  const text = (): string | null | undefined =>
    view.node.querySelector('.memtrack-Advice-waiting')?.textContent;
  const press = (): void => view.node.querySelector<HTMLElement>('.memtrack-Button')?.click();
  const advice = reportOf({ advice: adviceOf() }).advice;

  it('asks at once for what has ended, and only once', async () => {
    view.setView(viewOf(), ended);
    view.setView(viewOf(), ended);
    expect(asked).toBe(1);
    expect(text()).toContain('Weighing remedies');
    await answer({ advice, problem: undefined });
    expect(text()).toBeUndefined();
    expect(view.node.querySelector('[role=heading]')?.textContent).toContain('Peak 8.09 GiB');
  });

  it('waits for the reader while the recording goes on', async () => {
    view.setView(viewOf(), running);
    expect(asked).toBe(0);
    expect(text()).toContain('The recording goes on.');
    press();
    expect(asked).toBe(1);
    await answer({ advice, problem: undefined });
    expect(text()).toBeUndefined();
    view.setView(viewOf(), reportOf({ state: 'recording' }));
    expect(text()).toContain('an earlier moment');
    expect(view.node.querySelector('[role=heading]')).not.toBeNull();
    view.setView(viewOf(), ended);
    expect(asked).toBe(2);
  });

  it('asks again for what came while it waited', async () => {
    view.setView(viewOf(), running);
    press();
    view.setView(viewOf(), ended);
    expect(asked).toBe(1);
    await answer({ advice, problem: undefined });
    expect(asked).toBe(2);
  });

  it('says why there is none, and that it can be asked again', async () => {
    view.setView(viewOf(), ended);
    await answer({ advice: undefined, problem: { en: 'It saw no memory.' } });
    expect(text()).toContain('It saw no memory.');
    press();
    expect(asked).toBe(2);
    await answer(undefined);
    expect(text()).toBe('The kernel is gone, and nobody else has the recording.');
  });
});
