import { WireError, categoryId, decodeReport, decodeTimeline, textAt, textIn } from '..';
import type { Json } from './encoder';
import { Encoder } from './encoder';
import { randomLayers, seeded } from './random';
import type { IPayload } from './sample';
import { samplePayload } from './sample';

const ROOTS = [
  {
    name: 'model',
    type: 'GPT2',
    own: { at_peak: 2 ** 40 },
    children: [
      { name: 'wte', type: 'Embedding', own: { at_peak: 7, parameters: 2 ** 33 }, aliases: 'head' },
      { name: 'h', type: 'Block', facts: { output_shape: '8×512×768' }, tied: true }
    ]
  }
];

/** The payload of `ROOTS` with one value replaced; `path` is as in an error: `views.0.peak.layer`. */
function payloadWith(path: string, value: unknown): IPayload {
  const payload = samplePayload(ROOTS, { at_peak: 5 });
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const owner = keys.reduce<Json>((inner, key) => inner[key] as Json, payload.json);
  owner[last] = value;
  return payload;
}

function failure(payload: IPayload): WireError {
  try {
    decodeReport(payload.json, payload.buffers);
  } catch (error) {
    if (error instanceof WireError) {
      return error;
    }
    throw error;
  }
  throw new Error('it was accepted');
}

describe('decodeReport', () => {
  const { json, buffers } = samplePayload(ROOTS, { at_peak: 5 });

  it('gives every column its values, names and figures', () => {
    const report = decodeReport(json, buffers);
    const { layers } = report;
    expect([...layers.parent]).toEqual([-1, 0, 0]);
    expect([...layers.subtree]).toEqual([3, 1, 1]);
    expect([0, 1, 2].map(row => textAt(layers.path, row))).toEqual([
      'model',
      'model.wte',
      'model.h'
    ]);
    expect([0, 1, 2].map(row => textAt(layers.aliases, row))).toEqual(['', 'head', '']);
    const columns = report.views[0]?.layers;
    expect([...(columns?.numbers.get('at_peak') ?? [])]).toEqual([2 ** 40, 7, 0]);
    expect([...(columns?.numbers.get('total_at_peak') ?? [])]).toEqual([2 ** 40 + 7, 7, 0]);
    expect(columns?.outside.get('at_peak')).toBe(5);
    expect(columns?.texts.get('output_shape')?.values).toEqual(['8×512×768']);
    expect(report.stepNs).toBe(41_000_000);
    expect(report.views[0]?.timeline.points.reserved?.length).toBe(3);
  });

  it.each([1, 2, 3, 4, 5, 7])('copies columns that begin %d bytes off their alignment', offset => {
    const shifted = buffers.map(buffer => {
      const message = new Uint8Array(buffer.byteLength + offset + 3).fill(0xff);
      message.set(new Uint8Array(buffer), offset);
      return new DataView(message.buffer, offset, buffer.byteLength);
    });
    expect(decodeReport(json, shifted)).toEqual(decodeReport(json, buffers));
  });

  it('keeps bytes exact to 2^53 and reads random trees', () => {
    const random = seeded(1);
    for (let round = 0; round < 20; round++) {
      const payload = samplePayload(randomLayers(random, 1 + round * 3), { saved: 2 ** 53 });
      const report = decodeReport(payload.json, payload.buffers);
      expect(report.layers.length).toBe(1 + round * 3);
      expect(report.views[0]?.layers.outside.get('saved')).toBe(2 ** 53);
    }
  });

  it('ignores keys it does not know and minor versions', () => {
    expect(() => decodeReport({ ...json, future: { column: 99 } }, buffers)).not.toThrow();
    expect(() => decodeReport({ ...json, schema: 'memtrack.report/1.7' }, buffers)).not.toThrow();
    expect(categoryId(5)).toBe('activation');
    expect(categoryId(99)).toBe('unknown');
  });

  it.each(['memtrack.report/2', 'memtrack.report/10', 'memtrack.report', 'other/1'])(
    'refuses the schema %s as another version',
    schema => {
      expect(failure(payloadWith('schema', schema))).toMatchObject({
        kind: 'version',
        where: 'schema'
      });
    }
  );

  it.each<[string, unknown, string]>([
    ['label', 7, 'label'],
    ['steps', -1, 'steps'],
    ['steps', 1.5, 'steps'],
    ['step_ns', 'slow', 'step_ns'],
    ['notices', {}, 'notices'],
    ['notices', [{ zh_CN: '无' }], 'notices[0].en'],
    ['versions', [], 'versions'],
    ['layers', null, 'layers'],
    ['marks.label', [], 'marks.label'],
    ['views.0.peak.layer', 3, 'views[0].peak.layer'],
    ['views.0.timeline.peak_point', 3, 'views[0].timeline.peak_point'],
    ['views.0.layers.outside.saved', null, 'views[0].layers.outside.saved'],
    ['layers.name.values', [], 'layers.name.codes'],
    ['layers.depth.type', 'i8', 'layers.depth.type'],
    ['layers.depth.type', 'toString', 'layers.depth.type'],
    ['layers.depth.column', 999, 'layers.depth'],
    ['layers.depth.length', 2, 'layers.depth']
  ])('names the place of a wrong %s = %j', (path, value, where) => {
    expect(failure(payloadWith(path, value))).toMatchObject({ kind: 'malformed', where });
  });

  it('refuses a payload that is no object at all', () => {
    for (const nothing of [undefined, null, [], 'report', 3]) {
      expect(() => decodeReport(nothing, [])).toThrow(WireError);
    }
  });

  it('refuses a buffer cut short and a value that is not a number', () => {
    const short = buffers.map((buffer, index) => (index === 0 ? buffer.slice(4) : buffer));
    expect(failure({ json, buffers: short }).kind).toBe('corrupt');
    const broken = samplePayload([{ name: 'm', type: 'M', own: { at_peak: NaN } }]);
    expect(failure(broken)).toMatchObject({ kind: 'malformed' });
  });

  it.each([
    ['a parent after its child', [-1, 2, 0], [0, 1, 1], [3, 1, 1]],
    ['a parent that is its own', [0, 0, 0], [0, 1, 1], [3, 1, 1]],
    ['a wrong depth', [-1, 0, 0], [0, 1, 2], [3, 1, 1]],
    ['a subtree too large', [-1, 0, 0], [0, 1, 1], [3, 2, 1]],
    ['a subtree past the end', [-1, 0, 0], [0, 1, 1], [4, 1, 1]],
    ['a child outside its parent’s rows', [-1, -1, 0], [0, 0, 1], [2, 1, 1]],
    ['a reference below -1', [-2, 0, 0], [0, 1, 1], [3, 1, 1]]
  ])('refuses %s', (_, parent, depth, subtree) => {
    const payload = samplePayload(ROOTS);
    const columns = payload.json.layers as Record<string, { column: number }>;
    const changed = [...payload.buffers];
    for (const [id, values] of Object.entries({ parent, depth, subtree })) {
      changed[columns[id]?.column ?? -1] = new Int32Array(values).buffer;
    }
    expect(failure({ json: payload.json, buffers: changed })).toMatchObject({
      kind: 'malformed',
      where: 'layers'
    });
  });
});

describe('the answers of a view', () => {
  const withAnswer = (key: string, value: unknown): IPayload =>
    payloadWith(`views.0.${key}`, value);
  const pool = {
    pool: '',
    small: true,
    stream: '140234567890123456789',
    reserved: 4,
    allocated: 1,
    pending: 1,
    free: 2,
    largest_free: 2,
    splinters: 1,
    segments: 1
  };
  const found = {
    sentence: { en: 'Each step keeps 1 B more' },
    step_bytes: 1,
    bytes: 3,
    steps: 3,
    layer: 2,
    category: 'activation',
    site: 'train.py:1'
  };

  it('are none in an older payload', () => {
    const { json, buffers } = samplePayload(ROOTS);
    const [view] = decodeReport(json, buffers).views;
    expect(view).toMatchObject({ pools: [], growth: [] });
    expect([view?.peaks, view?.markPeaks, view?.summary, view?.lines]).toEqual(
      Array.from({ length: 4 }, () => undefined)
    );
    expect(view?.ledger).toMatchObject({ rounding: 0, parts: [{ details: [] }] });
    expect(view?.timeline.groups).toBeUndefined();
  });

  it('keep pointers that a number cannot hold', () => {
    const { json, buffers } = withAnswer('pools', [pool]);
    expect(decodeReport(json, buffers).views[0]?.pools[0]).toMatchObject({
      stream: '140234567890123456789',
      largestFree: 2
    });
  });

  it('read the details of a part one level deep, whatever lies below', () => {
    const deep = { id: 'cache.small', bytes: 1, certainty: 'measured', details: 'not read' };
    const part = { id: 'cache', bytes: 1, certainty: 'measured', details: [deep] };
    const { json, buffers } = withAnswer('ledger.parts', [part]);
    expect(decodeReport(json, buffers).views[0]?.ledger.parts[0]?.details).toEqual([
      { ...deep, details: [] }
    ]);
  });

  it.each<[string, unknown, string]>([
    ['pools', {}, 'pools'],
    ['pools', [{ ...pool, small: 1 }], 'pools[0].small'],
    ['pools', [{ ...pool, free: -1 }], 'pools[0].free'],
    ['growth', [{ ...found, layer: 3 }], 'growth[0].layer'],
    ['growth', [{ ...found, sentence: {} }], 'growth[0].sentence.en'],
    ['growth', [{ ...found, steps: 0.5 }], 'growth[0].steps'],
    ['peaks', {}, 'peaks.step'],
    ['summary', { names: [] }, 'summary.readings'],
    ['lines', { site: { values: ['a'], codes: 1 } }, 'lines.site.codes'],
    ['ledger.rounding', -1, 'ledger.rounding'],
    ['timeline.groups', { names: ['a'], bytes: [] }, 'timeline.groups.bytes']
  ])('name the place of a wrong %s = %j', (key, value, where) => {
    expect(failure(withAnswer(key, value))).toMatchObject({
      kind: 'malformed',
      where: `views[0].${where}`
    });
  });

  it('refuse statistics that are not a row of names for each reading', () => {
    const { json, buffers } = samplePayload(ROOTS);
    const encoder = new Encoder();
    encoder.buffers.push(...buffers);
    const one = encoder.column([1]);
    const readings = { cut: one, time_ns: one, kind: one, step: one, phase: one, number: one };
    const summary = {
      readings,
      label: encoder.strings(['']),
      names: ['a', 'b'],
      values: encoder.column([1, 2, 3])
    };
    (json.views as Json[])[0] = { ...(json.views as Json[])[0], summary };
    expect(failure({ json, buffers: encoder.buffers })).toMatchObject({
      kind: 'malformed',
      where: 'views[0].summary.values'
    });
  });
});

describe('the memory map', () => {
  type Blocks = readonly (readonly [segment: number, offset: number, bytes: number])[];

  function withBlocks(blocks: Blocks, changes: Json = {}): IPayload {
    const { json, buffers } = samplePayload(ROOTS);
    const encoder = new Encoder();
    encoder.buffers.push(...buffers);
    const columns = (names: readonly string[], values: readonly (readonly number[])[]): Json =>
      Object.fromEntries(names.map((name, row) => [name, encoder.column(values[row] ?? [])]));
    const [segment = [], offset = [], bytes = []] = [0, 1, 2].map(i => blocks.map(b => b[i] ?? 0));
    const none = blocks.map(() => -1);
    const zero = blocks.map(() => 0);
    const map = {
      segments: columns(
        ['bytes', 'pool', 'expandable'],
        [
          [100, 50],
          [0, 0],
          [0, 0]
        ]
      ),
      blocks: columns(
        ['segment', 'offset', 'bytes', 'category', 'layer', 'site', 'pending'],
        [segment, offset, bytes, zero, none, none, zero]
      ),
      sites: [],
      omitted: 0,
      omitted_bytes: 0,
      ...changes
    };
    const sizes = ['reserved', 'allocated', 'pending', 'free', 'largest_free', 'splinters'];
    const pool = {
      pool: '',
      small: false,
      stream: '0',
      segments: 2,
      ...Object.fromEntries(sizes.map(name => [name, 0]))
    };
    (json.views as Json[])[0] = { ...(json.views as Json[])[0], map, pools: [pool] };
    return { json, buffers: encoder.buffers };
  }

  it('has its segments and blocks', () => {
    const { json, buffers } = withBlocks([
      [0, 0, 40],
      [0, 40, 60],
      [1, 10, 40]
    ]);
    const map = decodeReport(json, buffers).views[0]?.map;
    expect([...(map?.segments.bytes ?? [])]).toEqual([100, 50]);
    expect([...(map?.blocks.offset ?? [])]).toEqual([0, 40, 10]);
  });

  it.each<[string, Blocks]>([
    [
      'over another',
      [
        [0, 0, 40],
        [0, 39, 1]
      ]
    ],
    ['beyond its segment', [[1, 10, 41]]],
    ['before its segment', [[0, -1, 5]]],
    [
      'out of order',
      [
        [1, 0, 5],
        [0, 0, 5]
      ]
    ],
    ['of less than nothing', [[0, 10, -5]]]
  ])('refuses a block %s', (_, blocks) => {
    expect(failure(withBlocks(blocks))).toMatchObject({
      kind: 'malformed',
      where: 'views[0].map.blocks.offset'
    });
  });

  it('refuses a segment without a pool', () => {
    expect(failure(withBlocks([[2, 0, 1]]))).toMatchObject({
      kind: 'malformed',
      where: 'views[0].map.blocks.segment'
    });
    expect(failure(withBlocks([], { omitted: -1 })).where).toBe('views[0].map.omitted');
  });
});

describe('decodeTimeline', () => {
  it('reads the answer to a zoom by itself and checks its references', () => {
    const { json, buffers } = samplePayload(ROOTS, { at_peak: 5 });
    const timeline = (json.views as Json[])[0]?.timeline;
    expect(decodeTimeline(timeline, buffers, 3).points.length).toBe(3);
    expect(() => decodeTimeline({}, [], 3)).toThrow('points: is not an object');
  });
});

describe('textIn', () => {
  it('finds the language, its sibling, or English', () => {
    const text = { en: 'peak', zh_CN: '峰值' };
    expect(
      ['zh_CN', 'zh-CN', 'zh_TW', 'en', 'en_GB', 'fr_FR', ''].map(l => textIn(text, l))
    ).toEqual(['峰值', '峰值', '峰值', 'peak', 'peak', 'peak', 'peak']);
  });
});
