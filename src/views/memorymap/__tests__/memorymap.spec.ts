import { Selection } from '../../../model/selection';
import type { IView } from '../../../wire';
import { decodeReport } from '../../../wire';
import { reportFixture } from '../../../wire/__tests__/fixture';
import { press, trans, viewOf } from '../../__tests__/sample';
import { MemoryMapView } from '..';

const { json, buffers } = reportFixture();
const report = decodeReport(json, buffers);
const view = report.views[0] as IView;

describe('the memory map', () => {
  let map: MemoryMapView;
  let selection: Selection;

  beforeEach(() => {
    selection = new Selection();
    map = new MemoryMapView(trans, selection);
    document.body.append(map.node);
    Object.defineProperty(HTMLElement.prototype, 'clientWidth', { value: 800, configurable: true });
    map.setView(report, view);
  });

  afterEach(() => {
    map.dispose();
    map.node.remove();
    Reflect.deleteProperty(HTMLElement.prototype, 'clientWidth');
  });

  const surface = (): HTMLElement => map.node.querySelector('[role=application]') as HTMLElement;
  const said = (): string | null | undefined =>
    map.node.querySelector('[role=status]')?.textContent;
  const pools = (): (string | null)[] =>
    [...map.node.querySelectorAll('.memtrack-Map-pool')].map(node => node.textContent);

  it('has the pools of the table with their sums', () => {
    expect(pools()).toEqual([
      'large blocks: 8.49 GiB; a full row is 1.95 GiB',
      'private pool 0.1: large blocks: 20.0 MiB; a full row is 20.0 MiB',
      'small blocks, up to 1 MiB: 2.00 MiB; a full row is 2.00 MiB'
    ]);
    expect(parseInt(surface().style.height, 10)).toBeGreaterThan(100);
  });

  it('tells by keyboard what each block and each gap is, and stays at the ends', () => {
    expect(said()).toMatch(/^Point at a block/);
    press(surface(), 'ArrowRight');
    expect(said()).toBe(
      '96.0 MiB · activations · gpt.block.mlp · train.py:88 train_step · segment of 1.95 GiB'
    );
    press(surface(), 'ArrowRight');
    expect(said()).toMatch(/^\d.* free · segment of 1\.95 GiB$/);
    const first = said();
    press(surface(), 'ArrowDown');
    expect(said()).not.toBe(first);
    for (let step = 0; step < 100; step++) {
      press(surface(), 'ArrowDown');
    }
    expect(said()).toContain('segment of 2.00 MiB');
    press(surface(), 'ArrowRight');
    press(surface(), 'ArrowRight');
    expect(said()).toBe('1.00 MiB free · segment of 2.00 MiB');
  });

  it('chooses the layer of a block', () => {
    press(surface(), 'ArrowRight');
    press(surface(), 'Enter');
    expect(selection.row).toBe(4);
  });

  it('is not there where nothing is known of the segments', () => {
    map.setView(report, viewOf());
    expect(map.node.hidden).toBe(true);
    map.setView(report, {
      ...view,
      map: view.map && { ...view.map, omitted: 3, omittedBytes: 2048 }
    });
    expect(map.node.hidden).toBe(false);
    expect(map.node.textContent).toContain('and 3 more segments, 2.00 KiB in all');
  });
});
