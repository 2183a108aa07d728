// Reports made up for tests and the visual harness: trees of layers with figures that add up.
import type { Json } from './encoder';
import { Encoder } from './encoder';

/** A layer to be: `own` holds bytes of additive columns, `facts` the rest, by column id. */
export interface ISampleLayer {
  readonly name: string;
  readonly type: string;
  readonly own?: Readonly<Record<string, number>>;
  readonly facts?: Readonly<Record<string, number | string>>;
  readonly aliases?: string;
  readonly tied?: boolean;
  readonly children?: readonly ISampleLayer[];
}

/** A payload as it goes over the wire. */
export interface IPayload {
  readonly json: Json;
  readonly buffers: readonly ArrayBuffer[];
}

export const ADDITIVE = [
  'at_peak',
  'saved',
  'parameters',
  'buffers',
  'gradients',
  'optimizer',
  'parameter_count'
];
const TEXTS = ['output_shape', 'output_dtype'];
const FACTS: Readonly<Record<string, number>> = {
  calls: 0,
  output_bytes: -1,
  peak: -1,
  change: 0,
  live_after: -1,
  needs_grad: 0,
  forward_ns: 0,
  backward_ns: 0
};

interface IFlatLayer extends ISampleLayer {
  readonly parent: number;
  readonly depth: number;
  readonly path: string;
}

/** Returns the payload of a report with these layers; `outside` holds bytes of no layer. */
export function samplePayload(
  roots: readonly ISampleLayer[],
  outside: Readonly<Record<string, number>> = {}
): IPayload {
  const encoder = new Encoder();
  const layers = flatten(roots);
  const peak = sum(layers.map(layer => layer.own?.at_peak ?? 0)) + (outside.at_peak ?? 0);
  const json = {
    schema: 'memtrack.report/1',
    identifier: 'sample',
    state: 'complete',
    evidence: 'measured',
    label: '',
    started: '2026-11-29T03:00:00+00:00',
    versions: { torch: '2.13.0' },
    steps: 3,
    step_ns: 41_000_000,
    notices: [],
    layers: encodeTree(encoder, layers),
    phases: encodePhases(encoder),
    marks: { cut: encoder.column([2]), time_ns: encoder.column([20]), label: ['here'] },
    views: [
      {
        device: { kind: 'cuda', index: 0, name: 'NVIDIA H200', total: 150_000_000_000 },
        headline: { en: `Peak ${peak}`, zh_CN: `峰值 ${peak}` },
        details: [],
        peak: { bytes: peak, cut: 2, time_ns: 20, step: 0, phase: 'backward', layer: -1 },
        ledger: {
          total: peak,
          allocated: peak,
          parts: [{ id: 'activation', bytes: peak, certainty: 'measured' }]
        },
        layers: {
          columns: encodeColumns(encoder, layers),
          outside: Object.fromEntries(ADDITIVE.map(id => [id, outside[id] ?? 0]))
        },
        timeline: encodeTimeline(encoder, peak)
      }
    ]
  };
  return { json, buffers: encoder.buffers };
}

function encodePhases(encoder: Encoder): Json {
  return {
    start: encoder.column([0, 2]),
    end: encoder.column([2, 4]),
    start_ns: encoder.column([0, 20]),
    end_ns: encoder.column([20, 40]),
    kind: encoder.column([0, 1], 'u1'),
    step: encoder.column([0, 0], 'i4')
  };
}

function flatten(roots: readonly ISampleLayer[]): IFlatLayer[] {
  const layers: IFlatLayer[] = [];
  const visit = (layer: ISampleLayer, parent: number, above: string, depth: number): void => {
    const row = layers.length;
    const path = above ? `${above}.${layer.name}` : layer.name;
    layers.push({ ...layer, parent, path, depth });
    layer.children?.forEach(child => visit(child, row, path, depth + 1));
  };
  roots.forEach(root => visit(root, -1, '', 0));
  return layers;
}

function encodeTree(encoder: Encoder, layers: readonly IFlatLayer[]): Json {
  const ones = layers.map(() => 1);
  return {
    parent: encoder.column(
      layers.map(layer => layer.parent),
      'i4'
    ),
    depth: encoder.column(
      layers.map(layer => layer.depth),
      'i4'
    ),
    subtree: encoder.column(totals(layers, ones), 'i4'),
    tied: encoder.column(
      layers.map(layer => (layer.tied ? 1 : 0)),
      'u1'
    ),
    name: encoder.strings(layers.map(layer => layer.name)),
    path: encoder.strings(layers.map(layer => layer.path)),
    type: encoder.strings(layers.map(layer => layer.type)),
    aliases: encoder.strings(layers.map(layer => layer.aliases ?? ''))
  };
}

/** Sums of each layer's subtree: a layer's own value goes to all its ancestors. */
function totals(layers: readonly IFlatLayer[], own: readonly number[]): number[] {
  const sums = [...own];
  for (let row = layers.length - 1; row >= 0; row--) {
    const parent = layers[row]?.parent ?? -1;
    if (parent >= 0) {
      sums[parent] = (sums[parent] ?? 0) + (sums[row] ?? 0);
    }
  }
  return sums;
}

function encodeColumns(encoder: Encoder, layers: readonly IFlatLayer[]): Json {
  const columns: Json = {};
  for (const id of TEXTS) {
    columns[id] = encoder.strings(layers.map(layer => String(layer.facts?.[id] ?? '')));
  }
  for (const [id, missing] of Object.entries(FACTS)) {
    const type = id === 'calls' ? 'i4' : id === 'needs_grad' ? 'u1' : 'f8';
    columns[id] = encoder.column(
      layers.map(layer => Number(layer.facts?.[id] ?? missing)),
      type
    );
  }
  for (const id of ADDITIVE) {
    const own = layers.map(layer => layer.own?.[id] ?? 0);
    columns[id] = encoder.column(own);
    columns[`total_${id}`] = encoder.column(totals(layers, own));
  }
  return columns;
}

function encodeTimeline(encoder: Encoder, peak: number): Json {
  return {
    cuts: 4,
    duration_ns: 40,
    bucket_events: 1,
    peak_point: 1,
    points: {
      cut: encoder.column([0, 2, 4]),
      time_ns: encoder.column([0, 20, 40]),
      allocated: encoder.column([0, peak, 0]),
      reserved: encoder.column([0, 2 * peak, 2 * peak]),
      layer: encoder.column([-1, -1, -1], 'i4')
    },
    categories: { activation: encoder.column([0, peak, 0]) },
    allocations: {
      start: encoder.column([0]),
      end: encoder.column([3]),
      bytes: encoder.column([peak]),
      layer: encoder.column([-1], 'i4'),
      category: encoder.column([5], 'u1'),
      site: encoder.column([0], 'i4'),
      name: encoder.column([-1], 'i4')
    },
    sites: ['train.py:10 step'],
    names: [],
    omitted_allocations: 0,
    omitted_bytes: 0
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
