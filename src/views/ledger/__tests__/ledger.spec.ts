import { Widget } from '@lumino/widgets';

import { reportOf, trans, viewOf } from '../../__tests__/sample';
import { LedgerView, deviceName } from '..';
import { DeviceBar } from '../devicebar';
import { everyLabel, fittingLabels } from '../barlabels';

describe('the ledger', () => {
  let ledger: LedgerView;

  beforeEach(() => {
    ledger = new LedgerView(trans);
    Widget.attach(ledger, document.body);
    ledger.setView(viewOf(), reportOf());
  });

  afterEach(() => ledger.dispose());

  const rows = (): string[][] =>
    [...ledger.node.querySelectorAll('tbody tr, tfoot tr')].map(row =>
      [...row.children].map(cell => cell.textContent ?? '')
    );

  it('has every part with its share and how it is known, and sums that add up', () => {
    expect(rows()).toEqual([
      ['parameters', '100 B', '10 %', '33 %', 'measured'],
      ['activations', '200 B', '20 %', '67 %', 'measured'],
      ['allocated', '300 B', '30 %', '100 %', ''],
      ['allocator cache', '50 B', '5 %', '', 'estimated'],
      ['free', '650 B', '65 %', '', 'estimated'],
      ['the whole device', '1000 B', '100 %', '', '']
    ]);
  });

  it('calls the sum what it is where the size of the device is not known', () => {
    const device = { kind: 'cuda', index: 1, name: '', total: -1 };
    ledger.setView(viewOf(1, { device }), reportOf());
    expect(rows()[5]?.[0]).toBe('reserved');
    expect(deviceName(viewOf(1, { device }))).toBe('cuda:1');
  });

  it('draws each part in its place and in its colour, and says it in words', () => {
    const parts = [...ledger.node.querySelectorAll<HTMLElement>('.memtrack-Bar-part')];
    expect(parts.map(part => [part.style.left, part.style.width])).toEqual([
      ['0%', '10%'],
      ['10%', '20%'],
      ['30%', '5%'],
      ['35%', '65%']
    ]);
    expect(parts[1]?.style.getPropertyValue('--memtrack-part')).toBe('var(--memtrack-activation)');
    expect(ledger.node.querySelector('[role=img]')?.getAttribute('aria-label')).toBe(
      '1000 B in all: parameters 100 B, activations 200 B, allocator cache 50 B, free 650 B'
    );
  });
});

describe('the tensors alone', () => {
  const barOf = (free: number): HTMLElement[] => {
    const bar = new DeviceBar(trans, 'fitting');
    const parts = [
      { id: 'parameter', bytes: 10, certainty: 'measured', details: [] },
      { id: 'activation', bytes: 30, certainty: 'measured', details: [] },
      { id: 'free', bytes: free, certainty: 'estimated', details: [] }
    ];
    bar.ledger = { total: 40 + free, allocated: 40, rounding: 0, parts };
    bar.dispose();
    return [...bar.node.querySelectorAll<HTMLElement>('.memtrack-Bars-magnified')];
  };

  it('have a bar of their own where they are a small part of the device', () => {
    const [magnified] = barOf(960);
    expect(magnified?.hidden).toBe(false);
    expect(magnified?.firstElementChild?.textContent).toBe('The tensors alone, 40 B');
    const parts = [...(magnified?.querySelectorAll<HTMLElement>('.memtrack-Bar-part') ?? [])];
    expect(parts.map(part => part.style.width)).toEqual(['25%', '75%']);
  });

  it('have none where the device shows them well enough', () => {
    expect(barOf(60)[0]?.hidden).toBe(true);
  });
});

describe('the names under a bar', () => {
  const measure = (text: string): number => 6 * text.length;
  const part = (id: string, left: number, share: number) => ({
    id,
    left,
    share,
    name: id,
    bytes: '1 GiB'
  });
  const parts = [part('weights', 0, 0.01), part('grads', 0.01, 0.001), part('free', 0.011, 0.989)];

  function texts(nodes: readonly Element[]): (string | null)[] {
    return nodes.filter(node => node.tagName === 'SPAN').map(node => node.textContent);
  }

  it('are those that fit, but never one of a part too thin to be seen', () => {
    const { nodes } = fittingLabels(parts, '24 GiB', 600, measure);
    expect(texts(nodes)).toEqual(['weights 1 GiB', 'free 1 GiB', '24 GiB']);
  });

  it('are all of them, side by side where there is room', () => {
    const { nodes, barPx } = everyLabel(parts, 600, measure);
    expect(texts(nodes)).toEqual(['weights1 GiB', 'grads1 GiB', 'free1 GiB']);
    expect(nodes[0]?.querySelectorAll('path')).toHaveLength(3);
    expect(barPx).toBe(600);
  });

  it('are all of them, one under the other where there is none', () => {
    const { nodes, heightPx } = everyLabel(parts, 110, measure);
    expect(texts(nodes).filter(Boolean)).toEqual(['weights 1 GiB', 'grads 1 GiB', 'free 1 GiB']);
    expect(heightPx).toBe(3 * 17 + 6);
  });
});
