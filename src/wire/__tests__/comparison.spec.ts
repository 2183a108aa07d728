import './streams';
import { WireError, textAt } from '..';
import { layerStatus } from '../comparison';
import { unpackComparison } from '../decodecomparison';
import { comparisonJson, comparisonOf, comparisonOutput } from './comparison';
import type { Json } from './encoder';

const MIB = 2 ** 20;

/** Where the decoder stops at a payload with `changes`; "" if it does not. */
function stopsAt(changes: Readonly<Record<string, unknown>>): string {
  try {
    comparisonOf(changes);
    return '';
  } catch (error) {
    return error instanceof WireError ? `${error.kind} ${error.where}` : String(error);
  }
}

/** The row of the layer at `path`. */
function rowOf(path: string): number {
  const { layers } = comparisonOf();
  return [...layers.path.codes].findIndex((_, row) => textAt(layers.path, row) === path);
}

describe('a comparison from Python', () => {
  it('is read with every figure as it was written', () => {
    const { a, b, peak, movers, phases, settings, sentence } = comparisonOf();
    expect([a.run, a.name, b.run, b.name]).toEqual([12, 'before <i>', 14, '']);
    expect(a).toMatchObject({ reserved: undefined, stepNs: 30000, deviceTotal: 24 * 2 ** 30 });
    // The head is wider by 201 MiB: once as weights, once as gradients, twice for Adam.
    expect(peak.after - peak.before).toBe(4 * 201 * MIB);
    expect(movers[0]).toEqual({
      category: 'optimizer_state',
      change: 2 * 200 * MIB,
      where: 'gpt.head',
      layers: 1,
      isRest: false
    });
    expect(phases.map(({ id }) => id)).toEqual(['forward', 'backward', 'optimizer', 'other']);
    expect(settings[0]).toEqual({ name: 'torch', before: '2.12.1', after: '2.13.0' });
    expect(sentence.zh_CN).toContain('峰值');
  });

  it('has the layers of both runs in one tree', () => {
    const { layers } = comparisonOf();
    const status = (path: string): string => layerStatus(layers.status[rowOf(path)] ?? -1);
    expect(status('gpt.layers')).toBe('alike');
    expect(textAt(layers.formerPath, rowOf('gpt.layers.0.mlp'))).toBe('gpt.h.0.mlp');
    expect(status('gpt.adapter <b>')).toBe('added');
    expect(textAt(layers.formerPath, rowOf('gpt.adapter <b>'))).toBe('');
    expect(status('gpt.pooler')).toBe('removed');
    const { before, after } = layers.columns.get('total_parameters') ?? { before: [], after: [] };
    expect([before[rowOf('gpt.adapter <b>')], after[rowOf('gpt.pooler')]]).toEqual([-1, -1]);
  });

  it('sums to both peaks, by layer and by category', () => {
    const { parts, peak, categories } = comparisonOf();
    const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
    expect([sum(parts.before), sum(parts.after)]).toEqual([peak.before, peak.after]);
    for (const { id, before, after } of categories) {
      const rows = [...(parts.row.length ? parts.category.codes : [])].map((_, row) => row);
      const of = rows.filter(row => textAt(parts.category, row) === id);
      expect(sum(of.map(row => parts.before[row] ?? NaN))).toBe(before);
      expect(sum(of.map(row => parts.after[row] ?? NaN))).toBe(after);
    }
  });

  it('is the same from the file of a notebook', async () => {
    const unpacked = await unpackComparison(comparisonOutput());
    const whole = comparisonOf();
    expect(unpacked.peak).toEqual(whole.peak);
    expect(unpacked.layers.path.values).toEqual(whole.layers.path.values);
  });
});

describe('a comparison that is not laid out as promised', () => {
  const { json } = comparisonJson();
  const peak = json.peak as { before: number; after: number };

  it.each([
    ['version schema', { schema: 'memtrack.comparison/2' }],
    ['malformed a', { a: null }],
    ['malformed sentence', { sentence: 'text' }],
    ['malformed peak.before', { peak: { ...peak, before: -1 } }],
    ['malformed parts.before', { peak: { ...peak, before: peak.before + 1 } }],
    ['malformed categories', { categories: [] }],
    ['malformed movers', { movers: [] }],
    ['malformed settings[0].after', { settings: [{ name: 'torch', before: '2' }] }],
    ['malformed timeline.b', { timeline: { a: (json.timeline as Json).a } }]
  ])('is refused: %s', (where, changes) => {
    expect(stopsAt(changes)).toBe(where);
  });

  it('lets pass what a newer version adds', () => {
    expect(stopsAt({ schema: 'memtrack.comparison/1.4', more: [1] })).toBe('');
    expect(layerStatus(99)).toBe('alike');
  });
});
