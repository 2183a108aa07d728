import { Widget } from '@lumino/widgets';

import { trans, viewOf } from '../../__tests__/sample';
import { LinesView } from '..';

const lines = {
  length: 3,
  site: { length: 3, values: ['a/train.py:10 step', 'model.py:3 forward'], codes: [0, -1, 1] },
  bytes: [600, 300, 100],
  allocations: [1200, 2, 1],
  category: [5, 0, 1],
  omitted: 0,
  omittedBytes: 0
};

describe('the source lines', () => {
  let view: LinesView;

  beforeEach(() => {
    view = new LinesView(trans);
    Widget.attach(view, document.body);
  });

  afterEach(() => view.dispose());

  const peak = { ...viewOf().peak, bytes: 1000 };
  const rows = (): string[][] =>
    [...view.node.querySelectorAll('tbody tr')].map(row =>
      [...row.children].map(cell => cell.textContent ?? '')
    );
  const colours = (): string[] =>
    [...view.node.querySelectorAll<HTMLElement>('.memtrack-Swatch')].map(node =>
      node.style.getPropertyValue('--memtrack-part')
    );

  it('are ranked with their share of the peak, also what has no line', () => {
    view.setView(viewOf(1, { lines, peak }));
    expect(rows()).toEqual([
      ['a/train.py:10 step', '600 B', '60 %', (1200).toLocaleString(), 'activations'],
      ['no line known', '300 B', '30 %', '2', 'unknown'],
      ['model.py:3 forward', '100 B', '10 %', '1', 'parameters']
    ]);
    const bar = view.node.querySelector<HTMLElement>('.memtrack-Lines-bar');
    expect(bar?.style.width).toBe('60%');
    expect(view.node.querySelector('th[scope=row]')?.getAttribute('title')).toBe(
      'a/train.py:10 step'
    );
  });

  it('have the colours of the picture, and no column that says the same of each', () => {
    const shown = viewOf(1, { lines: { ...lines, category: [0, 0, 0] }, peak });
    const bytes = [shown.timeline.points.allocated, shown.timeline.points.allocated];
    const groups = { names: ['a/train.py:10 step'], bytes };
    view.setView({ ...shown, timeline: { ...shown.timeline, groups } });
    expect(rows()[0]).toHaveLength(4);
    expect(colours()).toEqual([
      'var(--memtrack-group-1)',
      'var(--memtrack-group-rest)',
      'var(--memtrack-group-rest)'
    ]);
  });

  it('say how many are not listed', () => {
    view.setView(viewOf(1, { lines: { ...lines, omitted: 2, omittedBytes: 2048 }, peak }));
    expect(view.node.querySelector('p')?.textContent).toBe('and 2 more lines, 2.00 KiB in all');
    view.setView(viewOf());
    expect(rows()).toEqual([]);
  });
});
