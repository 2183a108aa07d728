import { Widget } from '@lumino/widgets';

import { Preferences } from '../../../model/preferences';
import type { IView } from '../../../wire';
import { CATEGORY_IDS, decodeReport } from '../../../wire';
import { reportFixture } from '../../../wire/__tests__/fixture';
import { nextFrame, reportOf, trans, viewOf } from '../../__tests__/sample';
import { ReportWidget } from '..';

jest.mock('../../../draw/plotly', () => ({ drawFigure: jest.fn(), purgeFigure: jest.fn() }));

describe('the answers of a report', () => {
  let widget: ReportWidget;

  async function show(...args: Parameters<typeof reportOf>): Promise<void> {
    widget = new ReportWidget({ trans, language: 'en', preferences: new Preferences() });
    Widget.attach(widget, document.body);
    widget.setReport(reportOf(...args));
    await nextFrame();
  }

  afterEach(() => widget.dispose());

  const tabs = (): HTMLElement[] => [...widget.node.querySelectorAll<HTMLElement>('[role=tab]')];
  const names = (): (string | null)[] => tabs().map(tab => tab.textContent);
  const current = (): string | null | undefined =>
    tabs().find(tab => tab.getAttribute('aria-selected') === 'true')?.textContent;

  const growth = {
    sentence: { en: 'Each step keeps 1.50 MiB more, made in h.0 at train.py:88; 12 steps, 18 MiB' },
    stepBytes: 1.5 * 2 ** 20,
    bytes: 18 * 2 ** 20,
    steps: 12,
    layer: 1,
    category: CATEGORY_IDS[5],
    site: 'train.py:88'
  };

  it('begin with what grows, and lead to its layer', async () => {
    await show({ views: [viewOf(1, { growth: [growth, { ...growth, layer: -1 }] })] });
    const list = widget.node.querySelector<HTMLElement>('.memtrack-Report-growth');
    expect(list?.getAttribute('aria-label')).toBe('Growth from step to step');
    expect(list?.querySelectorAll('li')).toHaveLength(2);
    expect(list?.querySelector('li')?.textContent).toBe(`${growth.sentence.en} Show the layer`);
    // Only one of them is made by a layer.
    const links = list?.querySelectorAll<HTMLElement>('button');
    expect(links).toHaveLength(1);
    tabs()[1]?.click();
    links?.[0]?.click();
    await nextFrame();
    expect(current()).toBe('Layers');
    expect(widget.node.querySelector('[aria-selected=true][role=row]')).not.toBeNull();
  });

  it('keep the focus on a link while nothing of them changes', async () => {
    const report = reportOf({ views: [viewOf(1, { growth: [growth] })] });
    await show(report);
    const link = widget.node.querySelector<HTMLElement>('.memtrack-Report-growth button');
    link?.focus();
    widget.setReport({ ...report });
    await nextFrame();
    expect(document.activeElement).toBe(link);
  });

  it('raise no alarm in a healthy run, and have no empty tabs', async () => {
    await show();
    expect(widget.node.querySelector<HTMLElement>('.memtrack-Report-growth')?.hidden).toBe(true);
    expect(names()).toEqual(['Layers', 'Timeline', 'Ledger']);
    expect(current()).toBe('Layers');
  });

  it('rank source lines in the place of layers where no layer is known', async () => {
    const { json, buffers } = reportFixture();
    const { lines } = decodeReport(json, buffers).views[0] as IView;
    const none = { length: 0, values: [], codes: [] };
    const numbers = { parent: [], depth: [], subtree: [], tied: [] };
    const layers = { length: 0, ...numbers, name: none, path: none, type: none, aliases: none };
    const { timeline } = viewOf();
    const layer = Array.from(timeline.allocations.layer, () => -1);
    const points = { ...timeline.points, layer: Array.from(timeline.points.cut, () => -1) };
    const view = viewOf(1, {
      lines,
      timeline: { ...timeline, points, allocations: { ...timeline.allocations, layer } }
    });
    await show({ evidence: 'opened', steps: 0, layers, views: [view] });
    expect(names()).toEqual(['Source lines', 'Timeline', 'Ledger']);
    expect(current()).toBe('Source lines');
    expect(widget.node.querySelector('.memtrack-Lines tbody th')?.textContent).toBe(
      'train.py:88 train_step'
    );
    tabs()[1]?.click();
    await nextFrame();
    await nextFrame();
    const block = widget.node.querySelector('[role=option]');
    expect(block?.textContent).toContain('train.py:10 step');
    expect(block?.textContent).not.toContain('outside layers');
    expect(widget.node.querySelector('.memtrack-Timeline-moment')?.textContent).not.toContain(
      'step 1'
    );
  });

  it('have the summary where the allocator was read', async () => {
    const { json, buffers } = reportFixture();
    const { summary } = decodeReport(json, buffers).views[0] as IView;
    await show({ views: [viewOf(1, { summary }), viewOf(2)] });
    expect(names()).toContain('Summary');
    tabs()[3]?.click();
    expect(current()).toBe('Summary');
    const chooser = widget.node.querySelector<HTMLSelectElement>('.memtrack-Report-device select');
    if (chooser !== null) {
      chooser.selectedIndex = 1;
      chooser.dispatchEvent(new Event('change'));
    }
    await nextFrame();
    expect(names()).not.toContain('Summary');
    expect(current()).toBe('Layers');
  });
});
