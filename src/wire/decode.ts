// Payload JSON and its buffers to an `IReport`. Everything is checked here, so that no view has to.
import type { BinaryBuffer } from './columns';
import { ColumnDecoder, isStrings } from './columns';
import { decodeAdvice } from './decodeadvice';
import { decodeAnswers, decodeGroups, decodeText } from './decodeanswers';
import { malformed } from './errors';
import { Fields, asString } from './fields';
import { decodeLayerTree } from './layertree';
import type {
  IDevice,
  ILayerColumns,
  ILedger,
  ILedgerPart,
  IMarks,
  IPeak,
  IPhases,
  IReport,
  ITimeline,
  IView
} from './report';

/** The name and major version this code reads, as in the payload's `schema`. */
export const SCHEMA = 'memtrack.report/1';

/** Decodes a report; throws `WireError` for what cannot be shown. */
export function decodeReport(json: unknown, buffers: readonly BinaryBuffer[]): IReport {
  const fields = Fields.of(json, '');
  fields.checkSchema(SCHEMA);
  const decoder = new ColumnDecoder(buffers);
  const layers = decodeLayerTree(decoder, fields.fields('layers'));
  return {
    identifier: fields.string('identifier'),
    state: fields.string('state'),
    evidence: fields.string('evidence'),
    label: fields.string('label'),
    started: fields.string('started'),
    versions: versionsOf(fields.fields('versions')),
    steps: fields.integer('steps', 0),
    stepNs: fields.has('step_ns') ? fields.number('step_ns') : undefined,
    notices: fields.list('notices', decodeText),
    layers,
    phases: decodePhases(decoder, fields.fields('phases')),
    marks: decodeMarks(decoder, fields.fields('marks')),
    views: fields.list('views', (view, where) =>
      decodeView(decoder, Fields.of(view, where), layers.length)
    ),
    advice: fields.has('advice') ? decodeAdvice(fields.fields('advice')) : undefined
  };
}

/** Decodes one timeline by itself, the answer to a zoom, of a report with `layers` layers. */
export function decodeTimeline(
  json: unknown,
  buffers: readonly BinaryBuffer[],
  layers: number
): ITimeline {
  return timelineOf(new ColumnDecoder(buffers), Fields.of(json, ''), layers);
}

function versionsOf(fields: Fields): ReadonlyMap<string, string> {
  return fields.map(key => fields.string(key));
}

function decodePhases(decoder: ColumnDecoder, fields: Fields): IPhases {
  const start = decoder.numbers(fields, 'start');
  const { length } = start;
  return {
    length,
    start,
    end: decoder.numbers(fields, 'end', length),
    startNs: decoder.numbers(fields, 'start_ns', length),
    endNs: decoder.numbers(fields, 'end_ns', length),
    kind: decoder.numbers(fields, 'kind', length),
    step: decoder.numbers(fields, 'step', length)
  };
}

function decodeMarks(decoder: ColumnDecoder, fields: Fields): IMarks {
  const cut = decoder.numbers(fields, 'cut');
  const label = fields.list('label', asString);
  if (label.length !== cut.length) {
    throw malformed(fields.placeOf('label'), `has ${label.length} rows, not ${cut.length}`);
  }
  return { cut, timeNs: decoder.numbers(fields, 'time_ns', cut.length), label };
}

function decodeView(decoder: ColumnDecoder, fields: Fields, layers: number): IView {
  return {
    device: decodeDevice(fields.fields('device')),
    headline: decodeText(fields.value('headline'), fields.placeOf('headline')),
    details: fields.list('details', decodeText),
    peak: decodePeak(fields.fields('peak'), layers),
    ledger: decodeLedger(fields.fields('ledger')),
    layers: decodeLayerColumns(decoder, fields.fields('layers'), layers),
    timeline: timelineOf(decoder, fields.fields('timeline'), layers),
    ...decodeAnswers(decoder, fields, layers)
  };
}

/** Decodes a device. */
export function decodeDevice(fields: Fields): IDevice {
  return {
    kind: fields.string('kind'),
    index: fields.integer('index', -1),
    name: fields.string('name'),
    total: fields.integer('total', -1)
  };
}

function decodePeak(fields: Fields, layers: number): IPeak {
  const layer = fields.integer('layer', -1);
  if (layer >= layers) {
    throw malformed(fields.placeOf('layer'), `${layer} is outside -1 to ${layers - 1}`);
  }
  return {
    bytes: fields.integer('bytes', 0),
    cut: fields.integer('cut', 0),
    timeNs: fields.number('time_ns'),
    step: fields.integer('step', -1),
    phase: fields.string('phase'),
    layer
  };
}

function decodeLedger(fields: Fields): ILedger {
  return {
    total: fields.integer('total', 0),
    allocated: fields.integer('allocated', 0),
    rounding: fields.has('rounding') ? fields.integer('rounding', 0) : 0,
    parts: fields.list('parts', decodePart)
  };
}

function decodePart(value: unknown, where: string): ILedgerPart {
  const detail = decodeDetail(value, where);
  const part = Fields.of(value, where);
  return { ...detail, details: part.has('details') ? part.list('details', decodeDetail) : [] };
}

/** One level is shown: what a detail might have inside is not read, however deep it is. */
function decodeDetail(value: unknown, where: string): ILedgerPart {
  const part = Fields.of(value, where);
  return {
    id: part.string('id'),
    bytes: part.integer('bytes', 0),
    certainty: part.string('certainty'),
    details: []
  };
}

function decodeLayerColumns(decoder: ColumnDecoder, fields: Fields, layers: number): ILayerColumns {
  const columns = fields.fields('columns');
  const outside = fields.fields('outside');
  const [texts, numbers] = [new Map(), new Map()];
  for (const id of columns.keys()) {
    if (isStrings(columns, id)) {
      texts.set(id, decoder.strings(columns, id, layers));
    } else {
      numbers.set(id, decoder.numbers(columns, id, layers));
    }
  }
  return { numbers, texts, outside: outside.map(id => outside.number(id)) };
}

function timelineOf(decoder: ColumnDecoder, fields: Fields, layers: number): ITimeline {
  const points = pointsOf(decoder, fields.fields('points'), layers);
  const categories = fields.fields('categories');
  const sites = fields.list('sites', asString);
  const names = fields.list('names', asString);
  const peakPoint = fields.integer('peak_point', -1);
  if (peakPoint >= points.length) {
    throw malformed(fields.placeOf('peak_point'), `${peakPoint} of ${points.length} points`);
  }
  return {
    cuts: fields.integer('cuts', 0),
    durationNs: fields.number('duration_ns'),
    bucketEvents: fields.number('bucket_events'),
    peakPoint,
    points,
    categories: categories.map(id => decoder.numbers(categories, id, points.length)),
    allocations: allocationsOf(decoder, fields.fields('allocations'), {
      layers,
      sites: sites.length,
      names: names.length
    }),
    sites,
    names,
    omittedAllocations: fields.integer('omitted_allocations', 0),
    omittedBytes: fields.integer('omitted_bytes', 0),
    groups: fields.has('groups')
      ? decodeGroups(decoder, fields.fields('groups'), points.length)
      : undefined
  };
}

function pointsOf(decoder: ColumnDecoder, fields: Fields, layers: number): ITimeline['points'] {
  const cut = decoder.numbers(fields, 'cut');
  const { length } = cut;
  return {
    length,
    cut,
    timeNs: decoder.numbers(fields, 'time_ns', length),
    allocated: decoder.numbers(fields, 'allocated', length),
    reserved: fields.has('reserved') ? decoder.numbers(fields, 'reserved', length) : undefined,
    layer: decoder.references(fields, 'layer', -1, layers, length)
  };
}

function allocationsOf(
  decoder: ColumnDecoder,
  fields: Fields,
  ends: { readonly layers: number; readonly sites: number; readonly names: number }
): ITimeline['allocations'] {
  const start = decoder.numbers(fields, 'start');
  const { length } = start;
  return {
    length,
    start,
    end: decoder.numbers(fields, 'end', length),
    bytes: decoder.numbers(fields, 'bytes', length),
    layer: decoder.references(fields, 'layer', -1, ends.layers, length),
    category: decoder.numbers(fields, 'category', length),
    site: decoder.references(fields, 'site', -1, ends.sites, length),
    name: decoder.references(fields, 'name', -1, ends.names, length)
  };
}
