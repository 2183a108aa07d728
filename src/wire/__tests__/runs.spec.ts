import { WireError } from '..';
import type { Json } from './encoder';
import { historyJson, historyOf } from './runs';

/** Where the decoder stops at a history whose first run has `changes`; "" if it does not. */
function stopsAt(changes: Readonly<Record<string, unknown>>): string {
  const [first, ...rest] = historyJson().runs as Json[];
  try {
    historyOf({ runs: [{ ...first, ...changes }, ...rest] });
    return '';
  } catch (error) {
    return error instanceof WireError ? `${error.kind} ${error.where}` : String(error);
  }
}

describe('a history from Python', () => {
  it('is read with every figure as it was written', () => {
    const { total, writable, runs, modelId } = historyOf();
    expect([total, writable, modelId, runs.length]).toEqual([1203, true, '', 3]);
    expect(runs[0]).toMatchObject({
      id: 14,
      created: Date.UTC(2026, 2, 1, 12) + 250,
      name: 'wide <head>',
      cell: 7,
      peak: 5100273664,
      stepNs: 41200000,
      tags: ['bf16', 'checkpointed'],
      pinned: true,
      hasFile: true
    });
    expect(runs[2]).toMatchObject({ cell: undefined, reserved: undefined, evidence: 'predicted' });
  });

  it('draws memory over the run from 0 to its peak', () => {
    const spark = historyOf().runs[0]?.spark ?? [];
    expect(spark).toHaveLength(60);
    expect([Math.min(...spark), Math.max(...spark)]).toEqual([0, 1]);
  });
});

describe('a history that is not laid out as promised', () => {
  it.each([
    ['malformed runs[0].id', { id: 1.5 }],
    ['malformed runs[0].peak', { peak: null }],
    ['malformed runs[0].dirty', { dirty: 1 }],
    ['malformed runs[0].tags[1]', { tags: ['a', 2] }],
    ['corrupt runs[0].spark', { spark: '%' }]
  ])('is refused: %s', (where, changes) => {
    expect(stopsAt(changes)).toBe(where);
  });

  it('is refused in another version', () => {
    expect(() => historyOf({ schema: 'memtrack.history/2' })).toThrow(WireError);
  });
});
