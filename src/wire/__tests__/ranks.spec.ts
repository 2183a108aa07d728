import './streams';
import { WireError, unpackNotebook } from '..';
import { decodeRanks } from '../decoderanks';
import type { Json } from './encoder';
import { ranksJson, ranksOf, ranksWith } from './ranks';

const MIB = 2 ** 20;

/** Where the decoder stops; "" if it does not. */
function stopsAt(json: Json): string {
  try {
    decodeRanks(json);
    return '';
  } catch (error) {
    return error instanceof WireError ? `${error.kind} ${error.where}` : String(error);
  }
}

describe('ranks from Python', () => {
  it('are read with every figure as it was written', () => {
    const { worldSize, missing, maxRank, maxPeak, ranks, headline } = ranksOf();
    expect([worldSize, missing, maxRank]).toEqual([4, [2], 1]);
    // 64 MiB of parameters, and activations of 400 MiB a sample: rank 1 has three.
    expect(maxPeak).toBe((64 + 3 * 400) * MIB);
    expect(ranks.map(({ rank, state }) => [rank, state])).toEqual([
      [0, 'complete'],
      [1, 'complete'],
      [3, 'recording']
    ]);
    expect(ranks[2]).toMatchObject({
      localRank: 3,
      file: 'train.rank3.memtrack',
      device: { kind: 'cuda', index: 3, total: 24 * 2 ** 30 },
      peak: { bytes: 464 * MIB, step: 0, phase: 'forward', layer: 'model.body' },
      reserved: -1,
      stepNs: undefined
    });
    expect(headline.zh_CN).toContain('1.73');
  });

  it('differ by what their categories and layers differ', () => {
    const { categories, layers, imbalance, maxPeak, meanPeak } = ranksOf();
    expect(categories.map(({ id, bytes }) => [id, bytes.map(one => one / MIB)])).toEqual([
      ['activation', [400, 1200, 400]],
      ['parameter', [64, 64, 64]]
    ]);
    expect(layers.map(({ id }) => id)).toEqual(['model.head', 'model.body']);
    expect(imbalance).toBeCloseTo(maxPeak / meanPeak, 6);
  });

  it('hold whole reports, each with the peak of its rank', async () => {
    for (const { report, peak, identifier } of ranksOf().ranks.map((rank, index) => ({
      ...rank,
      identifier: ['run-0', 'run-1', 'run-3'][index]
    }))) {
      const unpacked = await unpackNotebook(report);
      expect(unpacked.report.identifier).toBe(identifier);
      expect(unpacked.report.views[0]?.peak.bytes).toBe(peak?.bytes);
    }
  });

  it('may have seen no memory', () => {
    const none = { device: null, peak: null, report: null };
    const rank = { ...(ranksJson().ranks as Json[])[0], ...none };
    const read = ranksOf({
      ranks: [rank],
      missing: [],
      max_peak: 0,
      max_rank: -1,
      categories: [],
      layers: []
    });
    expect(read.ranks[0]).toMatchObject({ device: undefined, peak: undefined, report: undefined });
  });
});

describe('ranks that are not laid out as promised', () => {
  const share = { id: 'activation', difference: 0 };
  const peak = { bytes: 464 * MIB + 1, step: 0, phase: 'forward', layer: '' };

  it.each([
    ['version schema', ranksJson({ schema: 'memtrack.ranks/2' })],
    ['malformed headline', ranksJson({ headline: 'text' })],
    ['malformed missing[0]', ranksJson({ missing: [-1] })],
    ['malformed imbalance', ranksJson({ imbalance: '2' })],
    ['malformed max_peak', ranksJson({ max_rank: 0 })],
    ['malformed max_peak', ranksJson({ max_peak: 1 })],
    ['malformed categories[0].bytes', ranksJson({ categories: [{ ...share, bytes: [1, 2] }] })],
    [
      'malformed categories[0].bytes[2]',
      ranksJson({ categories: [{ ...share, bytes: [1, 2, 0.5] }] })
    ],
    ['malformed categories', ranksJson({ categories: [] })],
    ['malformed categories', ranksWith(0, { peak })],
    ['malformed ranks[1].rank', ranksWith(1, { rank: 0 })],
    ['malformed ranks[2].rank', ranksJson({ missing: [3] })],
    ['malformed ranks[0].device.name', ranksWith(0, { device: { kind: 'cuda', index: 0 } })],
    ['malformed ranks[0].step_ns', ranksWith(0, { step_ns: -1 })]
  ])('are refused: %s', (where, json) => {
    expect(stopsAt(json)).toBe(where);
  });

  it('let pass what a newer version adds', () => {
    expect(stopsAt(ranksJson({ schema: 'memtrack.ranks/1.2', more: [1] }))).toBe('');
  });
});
