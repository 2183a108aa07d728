import { Widget } from '@lumino/widgets';

import { decodePlan } from '../../../wire/decodeplan';
import { KV_INPUTS, planJson } from '../../../wire/__tests__/plan';
import { trans } from '../../__tests__/sample';
import { PlannerWidget } from '..';
import { plannerOf } from '../show';

describe('the planner', () => {
  let planner: PlannerWidget;

  function show(...args: Parameters<typeof planJson>): void {
    planner.setPlan(decodePlan(planJson(...args)));
  }

  beforeEach(() => {
    jest.useFakeTimers();
    planner = new PlannerWidget({ trans });
    Widget.attach(planner, document.body);
    // A billion parameters in fp32 with Adam, as in the guide.
    show(
      { capacity: null },
      {
        parameters: 1e9,
        dtype: 'fp32',
        mixed: 'none',
        optimizer: 'adam',
        zero: 0,
        gpus: 1,
        sequence: 0,
        vocabulary: 0
      }
    );
  });

  afterEach(() => {
    planner.dispose();
    jest.useRealTimers();
  });

  const labelled = <E extends HTMLElement = HTMLInputElement>(name: string): E => {
    const label = [...planner.node.querySelectorAll('label')].find(
      node => node.textContent?.trim() === name
    );
    const node = label?.htmlFor
      ? planner.node.querySelector<E>(`#${label.htmlFor}`)
      : label?.querySelector<E>('input');
    if (!node) {
      throw new Error(`There is no control ${name}.`);
    }
    return node;
  };
  const slider = (name: string): HTMLInputElement | null =>
    planner.node.querySelector(`input[type=range][aria-label="${name}"]`);
  function put(node: HTMLInputElement | HTMLSelectElement, value: string, type = 'input'): void {
    node.value = value;
    node.dispatchEvent(new Event(type, { bubbles: true }));
  }
  const rows = (): Record<string, string> =>
    Object.fromEntries(
      [...planner.node.querySelectorAll('.memtrack-Planner-parts tr')].map(row => [
        row.querySelector('th')?.textContent?.trim() ?? '',
        row.children[2]?.textContent ?? ''
      ])
    );
  const headline = (): string => planner.node.querySelector('[role=heading]')?.textContent ?? '';
  const verdict = (): string =>
    planner.node.querySelector('.memtrack-Planner-verdict')?.textContent ?? '';

  it('begins with the plan: 4, 4 and 8 billion bytes', () => {
    expect(headline()).toBe('14.9\u00a0GiB on each GPU to train 1.00\u00a0B parameters');
    expect(rows()).toMatchObject({
      parameters: '3.73 GiB',
      gradients: '3.73 GiB',
      'optimizer state': '7.45 GiB',
      activations: '—'
    });
    const sizes = [...planner.node.querySelectorAll<HTMLElement>('.memtrack-mod-number[title]')];
    expect(sizes.slice(0, 3).map(node => node.title)).toEqual([
      '4000000000 B',
      '4000000000 B',
      '8000000000 B'
    ]);
  });

  it('moves its bars with a slider, in the same nodes', () => {
    const row = planner.node.querySelector('.memtrack-Planner-parts tr');
    const gpus = slider('Number');
    put(labelled<HTMLSelectElement>('Sharding'), '3', 'change');
    if (gpus === null) {
      throw new Error('There is no slider.');
    }
    put(gpus, '3');
    expect(labelled('Number').value).toBe('8');
    expect(gpus.getAttribute('aria-valuetext')).toBe('8');
    expect(rows()['optimizer state']).toBe('954 MiB');
    expect(rows()['gathered layers']).toBe('358 MiB');
    expect(planner.node.querySelector('.memtrack-Planner-parts tr')).toBe(row);
  });

  it('says how each part is found, and by whom', () => {
    const formula = (name: string): string | null | undefined =>
      [...planner.node.querySelectorAll('.memtrack-Planner-parts tr')]
        .find(row => row.querySelector('th')?.textContent?.trim() === name)
        ?.querySelector('.memtrack-Planner-formula')?.textContent;
    expect(formula('parameters')).toBe('1.00 B × 4 bytes');
    expect(formula('optimizer state')).toBe('1.00 B × 8 bytes');
    expect(formula('activations')).toBe('');
    put(labelled<HTMLSelectElement>('Sharding'), '1', 'change');
    put(labelled('Number'), '8');
    expect(formula('optimizer state')).toBe('1.00 B × 8 bytes ÷ 8 GPUs');
    expect(formula('gradients')).toBe('1.00 B × 4 bytes');
    put(labelled('Sequence'), '2048');
    expect(formula('activations')).toBe('66 sbh a layer (Korthikanti et al. 2022); estimated');
    labelled('fused attention').click();
    expect(formula('activations')).toMatch(/^66 sbh \+ 9 as²b a layer/);
    put(labelled<HTMLSelectElement>('Weights'), 'bf16', 'change');
    expect(formula('activations')).toMatch(/^34 sbh \+ 5 as²b a layer/);
    labelled('checkpoint every layer').click();
    expect(formula('activations')).toMatch(/^2 sbh a layer, and 34 sbh \+ 5 as²b once/);
  });

  it('takes a usual shape for a sequence where the plan tells none', () => {
    show({ capacity: null }, { parameters: 7e9, layers: 0, hidden: 0, heads: 0, sequence: 0 });
    const sequence = slider('Sequence');
    if (sequence === null) {
      throw new Error('There is no slider.');
    }
    put(sequence, '4');
    expect(
      ['Sequence', 'Layers', 'Hidden size', 'Heads'].map(name => labelled(name).value)
    ).toEqual(['1024', '32', '4096', '32']);
    expect(rows().activations).not.toBe('—');
    // A shape of nothing is none.
    put(labelled('Layers'), '0');
    expect(labelled('Layers').value).toBe('32');
  });

  it('takes counts as they are written, and keeps what holds where they are none', () => {
    const box = labelled('Parameters');
    put(box, '2b');
    expect(rows().parameters).toBe('7.45 GiB');
    put(box, 'many');
    expect(box.getAttribute('aria-invalid')).toBe('true');
    expect(rows().parameters).toBe('7.45 GiB');
    box.dispatchEvent(new Event('change'));
    expect([box.value, box.getAttribute('aria-invalid')]).toEqual(['2B', null]);
  });

  it('bars what makes no sense together', () => {
    put(labelled<HTMLSelectElement>('Mixed precision'), 'autocast', 'change');
    expect(rows()['autocast copies']).toBe('1.86 GiB');
    put(labelled<HTMLSelectElement>('Weights'), 'bf16', 'change');
    const mixed = labelled<HTMLSelectElement>('Mixed precision');
    expect(mixed.value).toBe('none');
    expect([...mixed.options].map(({ disabled }) => disabled)).toEqual([false, true, false]);
    put(mixed, 'master', 'change');
    expect(rows()['fp32 master weights']).toBe('3.73 GiB');
  });

  it('says whether it fits, once it stands still', () => {
    expect(verdict()).toBe('');
    const gpu = labelled<HTMLSelectElement>('To fit into');
    const name = (words: string): string =>
      [...gpu.options].find(option => option.text.includes(words))?.value ?? '';
    put(gpu, name('A100 80GB'), 'change');
    expect(verdict()).toMatch(/^Fits NVIDIA A100 80GB \(79\.\d\sGiB\): 64\.\d\sGiB left$/);
    put(gpu, name('T4'), 'change');
    expect(verdict()).toMatch(/^Does not fit NVIDIA T4/);
    const status = planner.node.querySelector('[role=status]');
    expect(status?.textContent).toBe('');
    jest.runAllTimers();
    expect(status?.textContent).toMatch(/^14\.9\sGiB .* Does not fit NVIDIA T4/);
    expect(planner.node.querySelector('[role=img]')?.getAttribute('aria-label')).toMatch(
      /^14\.9 GiB in all: parameters 3\.73 GiB/
    );
  });

  it('plans generation: how long and how many fit', () => {
    show({ kind: 'kv', inputs: KV_INPUTS, gpu: '', capacity: 24 * 2 ** 30 });
    expect(rows()).toMatchObject({ 'KV cache': '2.00 GiB', parameters: '13.0 GiB' });
    const more = planner.node.querySelector('.memtrack-Planner-more')?.textContent;
    expect(more).toBe(
      'At most 6,959 tokens a sequence at this batch, or a batch of 27 at this length.'
    );
  });

  it('gives a sliding window to all layers until they are counted', () => {
    show({ kind: 'kv', inputs: { ...KV_INPUTS, window: 0, windowed: 0 }, gpu: '', capacity: null });
    const before = rows()['KV cache'];
    put(labelled('Sliding window'), '512');
    expect(labelled('Layers with it').value).toBe(labelled('Layers').value);
    expect(rows()['KV cache']).not.toBe(before);
  });

  it('goes from one plan to another and back without losing what was chosen', () => {
    const kind = (name: string): HTMLElement | undefined =>
      [...planner.node.querySelectorAll<HTMLElement>('[role=group] button')].find(
        node => node.textContent === name
      );
    put(labelled('Parameters'), '3B');
    kind('Loading')?.click();
    expect(kind('Loading')?.getAttribute('aria-pressed')).toBe('true');
    expect(planner.node.querySelectorAll('.memtrack-Planner-ways tbody tr')).toHaveLength(11);
    kind('Training')?.click();
    expect(labelled('Parameters').value).toBe('3B');
  });

  it('names every control', () => {
    for (const node of planner.node.querySelectorAll('input, select')) {
      const label = planner.node.querySelector(`label[for="${node.id}"]`) ?? node.closest('label');
      expect(label?.textContent ?? node.getAttribute('aria-label')).toBeTruthy();
    }
  });
});

describe('a payload that is no plan', () => {
  it('is said in one sentence', () => {
    const said = (json: unknown): string | null => plannerOf(json, trans).node.textContent;
    expect(said(planJson({ schema: 'memtrack.plan/2' }))).toMatch(/another version of memtrack/);
    expect(said(planJson({ kind: 7 }))).toBe(
      'This plan is damaged and cannot be shown (kind: is not a string). Run the cell again.'
    );
  });
});
