import { Widget } from '@lumino/widgets';

import { diagnosisJson, diagnosisOf } from '../../../wire/__tests__/diagnosis';
import { trans } from '../../__tests__/sample';
import { DiagnosisWidget } from '..';

const EVIL = '<img src=x onerror="document.title=1"><b>bold</b>&amp;';

describe('a diagnosis', () => {
  let widget: DiagnosisWidget;

  function show(...args: Parameters<typeof diagnosisOf>): void {
    widget.setDiagnosis(diagnosisOf(...args));
  }

  beforeEach(() => {
    widget = new DiagnosisWidget({ trans, language: 'en' });
    Widget.attach(widget, document.body);
    show();
  });

  afterEach(() => widget.dispose());

  const all = (selector: string): HTMLElement[] => [
    ...widget.node.querySelectorAll<HTMLElement>(selector)
  ];
  const texts = (selector: string): string[] => all(selector).map(node => node.textContent ?? '');
  const part = (id: string): HTMLElement | undefined => all(`section.memtrack-mod-${id}`)[0];
  const figures = (id: string): string[][] =>
    [...(part(id)?.querySelectorAll('dl > div') ?? [])].map(row =>
      [...row.children].map(cell => cell.textContent ?? '')
    );

  it('has its parts in order under headings, the answer first', () => {
    expect(widget.node.getAttribute('role')).toBe('region');
    expect(texts('[role=heading]')).toEqual([
      'Out of memory in forward of layers.17.self_attn: 2.00 GiB asked for, largest free block 612 MiB',
      'Why',
      'What does not fit together',
      'The device at that moment',
      'What was needed, and what there was',
      'From the message',
      'Who held the memory',
      'What helps, the least harmful first',
      'Next checks'
    ]);
    expect(texts('summary').slice(-2)).toEqual(['1 later error', 'The original message']);
  });

  it('tells of the place what the headline does not', () => {
    expect(texts('.memtrack-Diagnosis-place li')).toEqual(['step 3', 'train.py:88']);
    show('full', { headline: { en: 'Out of memory' } });
    expect(texts('.memtrack-Diagnosis-place li')).toEqual([
      'forward',
      'layers.17.self_attn',
      'step 3',
      'train.py:88'
    ]);
    show('text');
    expect(all('.memtrack-Diagnosis-place')).toEqual([]);
  });

  it('tells each cause with how sure it is, and unfolds the best', () => {
    expect(texts('.memtrack-Cause summary')).toEqual([
      'The peak is real: the work needs more memory than there is almost certain, 93 %',
      'Fragmentation: enough is free, but in no single piece less likely, 5 %'
    ]);
    expect(all('.memtrack-Cause').map(node => node.hasAttribute('open'))).toEqual([true, false]);
    expect(texts('.memtrack-Cause[open] li')).toEqual([
      'At the peak: activations',
      '<b>escaped</b> & {kept}'
    ]);
    expect(part('why')?.querySelector('.memtrack-Diagnosis-note')).toBeNull();
  });

  it.each([
    [0.9, 'almost certain, 90 %'],
    [0.75, 'very likely, 75 %'],
    [0.6, 'likely, 60 %'],
    [0.59, 'possible, 59 %'],
    [0.3, 'possible, 30 %'],
    [0.29, 'less likely, 29 %'],
    [0, 'less likely, 0 %']
  ])('calls %d by its word', (confidence, said) => {
    show('full', { causes: [{ id: 'capacity', confidence, title: { en: 'A' }, evidence: [] }] });
    expect(texts('.memtrack-Cause .memtrack-Badge')).toEqual([said]);
    const isSure = confidence >= 0.6;
    expect(texts('.memtrack-mod-why .memtrack-Diagnosis-note')).toEqual(
      isSure ? [] : ['No cause is sure. The next check tells more.']
    );
  });

  it('folds the causes that are little likely, where there is a better one', () => {
    const causeOf = (confidence: number): object => ({
      id: 'capacity',
      confidence,
      title: { en: 'A' },
      evidence: []
    });
    const shown = (...confidences: readonly number[]): [number, string[]] => {
      show('full', { causes: confidences.map(causeOf) });
      const folded = texts('.memtrack-mod-why .memtrack-Diagnosis-rest > summary');
      return [all('.memtrack-Diagnosis-rest .memtrack-Cause').length, folded];
    };
    expect(shown(0.9, 0.3, 0.29, 0.1)).toEqual([2, ['2 less likely causes']]);
    expect(shown(0.9, 0.29)).toEqual([0, []]);
    expect(shown(0.29, 0.2, 0.1)).toEqual([0, []]);
  });

  it('says that no cause is known where none is', () => {
    show('full', { causes: [] });
    expect(part('why')?.textContent).toContain(
      'What is known does not tell the cause. The next check does.'
    );
    show('full', { causes: [], checks: [] });
    expect(part('why')?.textContent).toBe('WhyWhat is known does not tell the cause.');
  });

  it('gives an unknown cause no confidence', () => {
    show('text');
    expect(part('why')?.textContent).toBe('WhyThe cause cannot be told from what is known');
    const [unknown] = diagnosisJson('text').causes as object[];
    const [known] = diagnosisJson().causes as object[];
    show('full', { causes: [known, unknown] });
    expect(texts('.memtrack-Cause-title')).toEqual([
      'The peak is real: the work needs more memory than there is'
    ]);
  });

  it('has the figures that are known, in full where one points', () => {
    expect(figures('needed')).toEqual([
      ['asked for', '2.00 GiB'],
      ['largest free block that could serve it', '612 MiB'],
      ['free inside the allocator, all blocks together', '921 MiB'],
      ['free on the device', '512 MiB'],
      ['held by other processes', '1.20 GiB'],
      ['process 4121', '1.20 GiB'],
      ['process 77', 'not told by the driver']
    ]);
    expect(part('needed')?.querySelector('dd')?.title).toBe('2147483648 B');
    expect(figures('numbers')).toEqual([
      ['the whole device', '23.7 GiB'],
      ['in use by this process', '22.0 GiB'],
      ['reserved by PyTorch', '21.5 GiB'],
      ['allocated by PyTorch', '20.6 GiB'],
      ['reserved but not allocated', '921 MiB']
    ]);
  });

  it('takes from the message what was not seen', () => {
    show('text');
    expect(figures('needed')).toEqual([
      ['asked for', '2.00 GiB'],
      ['free on the device', '512 MiB']
    ]);
    show('text', { needed: { segment: 20 * 2 ** 20 }, numbers: { requested: 2 ** 20 } });
    expect(figures('needed')).toEqual([
      ['asked for', '1.00 MiB'],
      ['as the allocator asked the driver for it', '20.0 MiB']
    ]);
  });

  it('ranks the holders, the smaller ones on demand', () => {
    expect(all('.memtrack-Holders tbody tr').map(row => row.textContent)).toEqual([
      'activations14.8 GiB412',
      'layers.0.<mlp>900 MiB3'
    ]);
    const holders = Array.from({ length: 9 }, (_, index) => ({
      name: { en: `/home/me/train.py:${index}` },
      bytes: 100 - 10 * index,
      allocations: 0
    }));
    show('full', { holders });
    const rows = all('.memtrack-Holders tbody tr');
    expect(rows.filter(row => !row.hidden)).toHaveLength(6);
    expect(all('.memtrack-Holders-bar').map(bar => bar.style.width)[8]).toBe('20%');
    expect(texts('.memtrack-Holders thead th')).toEqual(['Holder', 'Memory']);
    const more = part('holders')?.querySelector('button');
    expect(more?.textContent).toBe('3 more');
    more?.click();
    expect(rows.filter(row => !row.hidden)).toHaveLength(9);
    expect([more?.textContent, more?.getAttribute('aria-expanded')]).toEqual(['Fewer', 'true']);
    expect(rows[0]?.querySelector('th')?.title).toBe('/home/me/train.py:0');
  });

  it('has a table of remedies, with code and traps under each', () => {
    const heads = all('.memtrack-Remedies tbody tr:not(.memtrack-mod-detail)');
    const cellOf = (cell: Element): string | null | undefined =>
      (cell.lastElementChild ?? cell).textContent;
    expect(heads.map(row => [...row.children].slice(0, 3).map(cellOf))).toEqual([
      ['bf16 autocast', '5.50 GiB', 'faster'],
      ['micro-batch 12, accumulate 2', '—', '+4 % time']
    ]);
    expect(heads[1]?.querySelector('[role=img]')?.getAttribute('aria-label')).toBe(
      'No figure is known'
    );
    const details = all('.memtrack-Remedies .memtrack-mod-detail');
    expect(details.map(row => row.hidden)).toEqual([true]);
    heads[0]?.querySelector<HTMLElement>('.memtrack-Fold')?.click();
    expect(details.map(row => row.hidden)).toEqual([false]);
    expect(details[0]?.querySelector('pre')?.textContent).toBe(
      'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = model(batch)'
    );
    expect(details[0]?.querySelector('li')?.textContent).toBe('from Ampere on');
    // One saving alone needs no word on sums.
    expect(part('remedies')?.querySelector('.memtrack-Diagnosis-note')).toBeNull();
  });

  it('has no column of savings where none is known', () => {
    const remedy = { id: 'x', title: { en: 'A' }, cost: { en: 'nothing' }, code: 'a' };
    show('full', { remedies: [{ ...remedy, saving_bytes: null, caveats: [] }] });
    expect(texts('.memtrack-Remedies thead th')).toEqual(['Remedy', 'Costs', 'Code']);
    const measured = { ...remedy, saving_bytes: 2 ** 30, caveats: [] };
    show('full', { remedies: [measured, measured] });
    expect(texts('.memtrack-Remedies thead th')).toContain('Saves');
    expect(part('remedies')?.querySelector('.memtrack-Diagnosis-note')?.textContent).toBe(
      'Each saving is that of one remedy alone: they do not add up.'
    );
  });

  it('leads on: checks with their code, then who holds the memory and how to free it', () => {
    expect(texts('.memtrack-Diagnosis-checks > li > span')).toEqual([
      'See who holds it',
      'Look at the batch'
    ]);
    // What a check says already is not said again.
    expect(texts('.memtrack-mod-next code')).toEqual(['%memtrack who', '%memtrack free']);
    show('text');
    expect(texts('.memtrack-mod-next code')).toEqual([
      '%load_ext memtrack',
      '%memtrack who',
      '%memtrack free'
    ]);
    show('crash');
    expect(texts('.memtrack-mod-next code')).toEqual(['CUDA_LAUNCH_BLOCKING=1 python train.py']);
  });

  it('keeps the message as it was raised', () => {
    const pre = all('.memtrack-Diagnosis-message')[0];
    expect(pre?.textContent).toBe(diagnosisOf().message);
    expect(pre?.tabIndex).toBe(0);
  });

  it('is complete where nothing was found', () => {
    show('none');
    expect(widget.node.textContent).toBe('No memory error found, and no other error either.');
    expect(widget.hasClass('memtrack-mod-none')).toBe(true);
    show('crash');
    expect(widget.hasClass('memtrack-mod-none')).toBe(false);
    expect(texts('[role=heading]').slice(1)).toEqual(['Why', 'Next check']);
  });

  it('shows markup in any of its texts as text', () => {
    const text = { en: EVIL };
    show('full', {
      headline: text,
      place: { phase: EVIL, layer: EVIL, site: EVIL },
      causes: [{ id: EVIL, confidence: 0.9, title: text, evidence: [text] }],
      contradictions: [text],
      checks: [{ id: EVIL, text, code: EVIL }],
      remedies: [
        { id: EVIL, title: text, saving_bytes: 1, cost: text, code: EVIL, caveats: [text] }
      ],
      holders: [{ name: text, bytes: 1, allocations: 1 }],
      parts: [{ id: EVIL, bytes: 1, certainty: EVIL }],
      message: EVIL,
      later: [text]
    });
    expect(all('img, b, script')).toEqual([]);
    expect(widget.node.textContent?.split(EVIL).length).toBeGreaterThan(14);
  });

  it('speaks the language of the reader', () => {
    widget.dispose();
    widget = new DiagnosisWidget({ trans, language: 'zh-CN' });
    Widget.attach(widget, document.body);
    show();
    expect(texts('.memtrack-Cause[open] li')[0]).toBe('峰值时：激活');
    expect(texts('.memtrack-Holders-name')[0]).toBe('激活');
    const codes = { en: 'x = 1  # once', zh_CN: 'x = 1  # 一次' };
    const told = { id: 'x', text: { en: 'A' }, code: codes.en, codes };
    const remedy = { id: 'x', title: { en: 'A' }, code: codes.en, codes, caveats: [] };
    show('crash', { checks: [told], remedies: [remedy] });
    expect(texts('.memtrack-mod-next code')).toEqual([codes.zh_CN]);
    expect(texts('.memtrack-Remedies code')).toEqual([codes.zh_CN]);
  });
});
