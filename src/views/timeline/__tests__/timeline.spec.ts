import { Widget } from '@lumino/widgets';

import { at } from '../../../base/assert';
import { drawFigure, purgeFigure } from '../../../draw/plotly';
import { randomRun } from '../../../model/__tests__/run';
import { Selection } from '../../../model/selection';
import { aliveAt, pointAt } from '../../../model/timeline';
import { textAt } from '../../../wire';
import { trans, nextFrame, press, reportOf, viewOf } from '../../__tests__/sample';
import { TimelineView } from '..';

jest.mock('../../../draw/plotly', () => ({
  drawFigure: jest.fn().mockResolvedValue(undefined),
  purgeFigure: jest.fn(),
  savePicture: jest.fn()
}));

const drawn = jest.mocked(drawFigure);

/** Lets the chart load and draw. */
async function settle(): Promise<void> {
  for (let frame = 0; frame < 4; frame++) {
    await nextFrame();
  }
}

describe('the timeline', () => {
  let view: TimelineView;
  let selection: Selection;
  const { timeline } = viewOf();
  const { tree } = randomRun(1, 100);

  beforeEach(async () => {
    drawn.mockClear();
    selection = new Selection();
    view = new TimelineView({ trans, language: 'en', selection, axis: 'events' });
    Object.defineProperty(HTMLElement.prototype, 'clientWidth', { value: 800, configurable: true });
    Widget.attach(view, document.body);
    view.setView(reportOf(), 0);
    await settle();
  });

  afterEach(() => {
    view.dispose();
    Reflect.deleteProperty(HTMLElement.prototype, 'clientWidth');
  });

  const chart = (): HTMLElement => find('[role=application]');
  const strip = (): HTMLElement => find('[role=slider]');
  const blocks = (): HTMLElement[] => [...view.node.querySelectorAll<HTMLElement>('[role=option]')];
  const moment = (): string => find('.memtrack-Timeline-moment').textContent ?? '';

  function find(selector: string): HTMLElement {
    const node = view.node.querySelector<HTMLElement>(selector);
    if (node === null) {
      throw new Error(`no ${selector}`);
    }
    return node;
  }

  function button(label: string): HTMLButtonElement {
    const found = [...view.node.querySelectorAll('button')].find(
      node => node.textContent === label || node.getAttribute('aria-label') === label
    );
    if (found === undefined) {
      throw new Error(`no button ${label}`);
    }
    return found;
  }

  function range(): unknown {
    return drawn.mock.calls[drawn.mock.calls.length - 1]?.[1].layout.xaxis?.range;
  }

  it('draws the whole run once and says in words what it shows', () => {
    expect(drawn).toHaveBeenCalledTimes(1);
    expect(range()).toEqual([0, 100]);
    expect(chart().getAttribute('aria-label')).toMatch(
      /^Memory over the run by category; the peak/
    );
    expect(strip().getAttribute('aria-valuetext')).toBe('The whole run');
  });

  it('lists what is alive at the peak first, largest first', () => {
    const rows = aliveAt(timeline, viewOf().peak.cut);
    expect(blocks()).toHaveLength(rows.length);
    const layer = at(timeline.allocations.layer, at(rows, 0));
    const first = at(blocks(), 0).textContent ?? '';
    expect(first).toContain(layer < 0 ? 'outside layers' : textAt(tree.path, layer));
    expect(first).toContain('train.py:10 step');
  });

  it('moves the moment with the arrows, point by point', async () => {
    const point = pointAt(timeline, viewOf().peak.cut);
    expect(press(chart(), 'ArrowLeft')).toBe(true);
    await settle();
    const cut = at(timeline.points.cut, point - 1);
    expect(moment()).toContain(`event ${cut}`);
    expect(blocks()).toHaveLength(aliveAt(timeline, cut).length);
    press(chart(), 'p');
    await settle();
    expect(moment()).toContain(`event ${viewOf().peak.cut}`);
  });

  it('moves only the cursor and the list with the moment: the picture stays', async () => {
    press(chart(), 'ArrowLeft');
    await settle();
    expect(drawn).toHaveBeenCalledTimes(1);
  });

  it('zooms, pans and shows the whole with keys, on the strip too', async () => {
    press(strip(), '+');
    await settle();
    const [start, end] = range() as [number, number];
    expect(end - start).toBe(50);
    expect(strip().getAttribute('aria-valuetext')).toBe(`event ${start} to event ${end}`);
    press(strip(), 'ArrowRight');
    press(strip(), 'ArrowRight');
    await settle();
    expect(range()).toEqual([Math.min(50, start + 10), Math.min(100, end + 10)]);
    press(strip(), 'Home');
    await settle();
    expect(range()).toEqual([0, 100]);
  });

  it('leaves keys alone that are not its own', () => {
    expect(press(chart(), 'Tab')).toBe(false);
    expect(press(strip(), 'x')).toBe(false);
  });

  it('chooses the layer that runs at the moment with Enter', () => {
    press(chart(), 'Enter');
    const running = at(timeline.points.layer, timeline.peakPoint);
    expect(selection.row).toBe(running < 0 ? -1 : running);
  });

  it('chooses the layer of a block, and draws a chosen layer in front', async () => {
    const rows = aliveAt(timeline, viewOf().peak.cut);
    const index = rows.findIndex(row => at(timeline.allocations.layer, row) > 0);
    blocks()[index]?.click();
    const layer = at(timeline.allocations.layer, at(rows, index));
    expect(selection.row).toBe(layer);
    await settle();
    const names = drawn.mock.calls[1]?.[1].data.map(trace => ('name' in trace ? trace.name : ''));
    expect(names).toContain(textAt(tree.path, layer));
    expect(at(blocks(), index).classList).toContain('memtrack-mod-chosen');
  });

  it('walks the list with the keyboard', () => {
    const list = find('[role=listbox]');
    press(list, 'ArrowDown');
    const active = list.getAttribute('aria-activedescendant');
    expect(active).toBe(blocks()[1]?.id);
    expect(blocks()[1]?.getAttribute('aria-selected')).toBe('true');
    expect(blocks()[0]?.getAttribute('aria-selected')).toBe('false');
  });

  it('counts time instead of events when asked', async () => {
    button('Time').click();
    await settle();
    expect(range()).toEqual([0, 100_000]);
    expect(button('Time').getAttribute('aria-pressed')).toBe('true');
    expect(view.axis).toBe('time');
  });

  it('has the peak of each step as a table whose figures lead to the moment', async () => {
    const table = find('.memtrack-Timeline-peaks table');
    expect(table.querySelectorAll('tbody tr')).toHaveLength(2);
    table.querySelector<HTMLElement>('tbody tr:last-child button')?.click();
    await settle();
    expect(moment()).toContain('step 2');
  });

  it('has the peaks of phases and of what follows a mark, where they are known', async () => {
    const peaks = {
      length: 3,
      step: [0, 0, 1],
      kind: [0, 1, 0],
      bytes: [5, 9, 6],
      cut: [20, 30, 70],
      layer: [-1, 1, 0]
    };
    const label = { length: 2, values: ['here'], codes: [-1, 0] };
    const markPeaks = { length: 2, label, bytes: [9, 6], cut: [30, 70], layer: [1, 0] };
    view.setView(reportOf({ views: [viewOf(1, { peaks, markPeaks })] }), 0);
    const tables = [...view.node.querySelectorAll('.memtrack-Timeline-peaks table')];
    const cells = tables.map(table =>
      [...table.querySelectorAll('tr')].map(row => [...row.children].map(cell => cell.textContent))
    );
    const [first, second] = [textAt(tree.path, 0), textAt(tree.path, 1)];
    expect(cells).toEqual([
      [
        ['Step', 'forward', 'backward', 'Holds most at the peak'],
        ['1', '5 B', '9 B', second],
        ['2', '6 B', '', first]
      ],
      [
        ['From mark', 'Peak', 'Holds most at the peak'],
        ['before the first mark', '9 B', second],
        ['here', '6 B', first]
      ]
    ]);
    const highest = tables[0]?.querySelectorAll<HTMLElement>('.memtrack-mod-highest button');
    expect([...(highest ?? [])].map(node => node.textContent)).toEqual(['9 B', '6 B']);
    highest?.[1]?.click();
    await settle();
    expect(moment()).toContain('step 2');
  });

  it('keeps window and moment when the same run comes again', async () => {
    press(chart(), 'ArrowLeft');
    press(chart(), '+');
    await settle();
    const [before, where] = [range(), moment()];
    view.setView(reportOf(), 0);
    await settle();
    expect([range(), moment()]).toEqual([before, where]);
  });

  it('draws nothing while it is hidden', async () => {
    view.isShown = false;
    press(strip(), '+');
    await settle();
    expect(drawn).toHaveBeenCalledTimes(1);
    view.isShown = true;
    await settle();
    expect(drawn).toHaveBeenCalledTimes(2);
  });

  it('gives the chart back when it is disposed', () => {
    view.dispose();
    expect(purgeFigure).toHaveBeenCalled();
  });
});
