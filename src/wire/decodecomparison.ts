// Payload JSON and its buffers to an `IComparison`. What the views rely on is checked here: the tree, the
// rows that parts refer to, and that parts, categories and movers sum to the peaks and their change.
import type { BinaryBuffer } from './columns';
import { ColumnDecoder } from './columns';
import type {
  IComparedLine,
  IComparison,
  IMergedLayers,
  IMover,
  INamedPair,
  IPair,
  IParts,
  IPhasePair,
  ISide
} from './comparison';
import { decodeText } from './decodeanswers';
import { malformed } from './errors';
import { Fields } from './fields';
import { checkPreOrder } from './layertree';
import { unpackBuffers } from './packed';

/** The name and major version this code reads, as in the payload's `schema`. */
const COMPARISON_SCHEMA = 'memtrack.comparison/1';

const ANY = -Number.MAX_SAFE_INTEGER;

/** Decodes a comparison; throws `WireError` for what cannot be shown. */
export function decodeComparison(json: unknown, buffers: readonly BinaryBuffer[]): IComparison {
  const fields = Fields.of(json, '');
  fields.checkSchema(COMPARISON_SCHEMA);
  const decoder = new ColumnDecoder(buffers);
  const layers = layersOf(decoder, fields.fields('layers'));
  const lines = fields.fields('timeline');
  const comparison = {
    a: sideOf(fields.fields('a')),
    b: sideOf(fields.fields('b')),
    sentence: decodeText(fields.value('sentence'), 'sentence'),
    details: fields.list('details', decodeText),
    peak: pairOf(fields.fields('peak')),
    movers: fields.objects('movers', moverOf),
    categories: fields.objects('categories', namedOf),
    ledger: fields.objects('ledger', namedOf),
    phases: fields.objects('phases', phaseOf),
    parts: partsOf(decoder, fields.fields('parts'), layers.length),
    layers,
    omittedLayers: fields.integer('omitted_layers', 0),
    lines: { a: lineOf(decoder, lines.fields('a')), b: lineOf(decoder, lines.fields('b')) },
    settings: fields.objects('settings', setting => ({
      name: setting.string('name'),
      before: setting.string('before'),
      after: setting.string('after')
    }))
  };
  checkSums(comparison);
  return comparison;
}

/** Unpacks the data of an output; rejects with `WireError` for what cannot be shown. */
export async function unpackComparison(data: unknown): Promise<IComparison> {
  const fields = Fields.of(data, '');
  fields.checkSchema(COMPARISON_SCHEMA);
  const buffers = await unpackBuffers(fields);
  return decodeComparison(fields.value('comparison'), buffers);
}

function sideOf(fields: Fields): ISide {
  return {
    identifier: fields.string('identifier'),
    run: fields.optionalInteger('run', 0),
    name: fields.string('name'),
    label: fields.string('label'),
    evidence: fields.string('evidence'),
    state: fields.string('state'),
    started: fields.string('started'),
    device: fields.string('device'),
    deviceTotal: fields.integer('device_total', -1),
    reserved: fields.optionalInteger('reserved', 0),
    stepNs: fields.optionalInteger('step_ns', 0),
    steps: fields.integer('steps', 0),
    step: fields.integer('step', -1),
    phase: fields.string('phase'),
    layer: fields.string('layer')
  };
}

function pairOf(fields: Fields): IPair {
  return { before: fields.integer('before', 0), after: fields.integer('after', 0) };
}

function namedOf(fields: Fields): INamedPair {
  return { id: fields.string('id'), ...pairOf(fields) };
}

function moverOf(fields: Fields): IMover {
  return {
    category: fields.string('category'),
    change: fields.integer('change', ANY),
    where: fields.string('where'),
    layers: fields.integer('layers', 0),
    isRest: fields.value('rest') === true
  };
}

function phaseOf(fields: Fields): IPhasePair {
  return {
    id: fields.string('id'),
    before: fields.optionalInteger('before', 0),
    after: fields.optionalInteger('after', 0),
    beforeNs: fields.optionalInteger('before_ns', 0),
    afterNs: fields.optionalInteger('after_ns', 0)
  };
}

function partsOf(decoder: ColumnDecoder, fields: Fields, layers: number): IParts {
  const row = decoder.references(fields, 'row', -1, layers);
  const { length } = row;
  return {
    length,
    row,
    category: decoder.strings(fields, 'category', length),
    before: decoder.numbers(fields, 'before', length),
    after: decoder.numbers(fields, 'after', length)
  };
}

function layersOf(decoder: ColumnDecoder, fields: Fields): IMergedLayers {
  const parent = decoder.numbers(fields, 'parent');
  const { length } = parent;
  const columns = fields.fields('columns');
  const layers = {
    length,
    parent,
    depth: decoder.numbers(fields, 'depth', length),
    subtree: decoder.numbers(fields, 'subtree', length),
    status: decoder.numbers(fields, 'status', length),
    sure: decoder.numbers(fields, 'sure', length),
    name: decoder.strings(fields, 'name', length),
    path: decoder.strings(fields, 'path', length),
    type: decoder.strings(fields, 'type', length),
    formerPath: decoder.strings(fields, 'former_path', length),
    formerType: decoder.strings(fields, 'former_type', length),
    columns: columns.map(id => ({
      before: decoder.numbers(columns.fields(id), 'before', length),
      after: decoder.numbers(columns.fields(id), 'after', length)
    }))
  };
  checkPreOrder(layers, fields.where);
  return layers;
}

function lineOf(decoder: ColumnDecoder, fields: Fields): IComparedLine {
  const step = decoder.numbers(fields, 'step');
  const { length } = step;
  return {
    length,
    step,
    allocated: decoder.numbers(fields, 'allocated', length),
    peakAt: fields.number('peak_at')
  };
}

/** A view says that its bars are the whole: what does not sum is refused, not drawn. */
function checkSums({ peak, parts, movers, categories }: IComparison): void {
  const sums: readonly (readonly [string, number, number])[] = [
    ['parts.before', total(parts.before), peak.before],
    ['parts.after', total(parts.after), peak.after],
    ['categories', total(categories.map(({ before }) => before)), peak.before],
    ['categories', total(categories.map(({ after }) => after)), peak.after],
    ['movers', total(movers.map(({ change }) => change)), peak.after - peak.before]
  ];
  for (const [where, sum, whole] of sums) {
    if (sum !== whole) {
      throw malformed(where, `sums to ${sum}, not ${whole}`);
    }
  }
}

function total(numbers: Iterable<number>): number {
  let sum = 0;
  for (const each of numbers) {
    sum += each;
  }
  return sum;
}
