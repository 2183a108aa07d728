// Payload JSON to the answers of a view. What is missing is an older payload; what is there is
// checked like the rest.
import type {
  IAnswers,
  IGrowth,
  ILineGroups,
  ILines,
  IMarkPeaks,
  INestedPeaks,
  IPool,
  ISummary
} from './answers';
import type { ColumnDecoder } from './columns';
import { malformed } from './errors';
import { decodeMap } from './decodemap';
import { Fields, asString } from './fields';
import type { Text } from './report';

/** Decodes the answers in a view of a report with `layers` layers. */
export function decodeAnswers(decoder: ColumnDecoder, fields: Fields, layers: number): IAnswers {
  const optional = <T>(key: string, decode: (inner: Fields) => T): T | undefined =>
    fields.has(key) ? decode(fields.fields(key)) : undefined;
  const pools = fields.has('pools') ? fields.list('pools', decodePool) : [];
  return {
    pools,
    growth: fields.has('growth')
      ? fields.list('growth', (value, where) => decodeGrowth(Fields.of(value, where), layers))
      : [],
    peaks: optional('peaks', inner => decodePeaks(decoder, inner, layers)),
    markPeaks: optional('mark_peaks', inner => decodeMarkPeaks(decoder, inner, layers)),
    summary: optional('summary', inner => decodeSummary(decoder, inner)),
    lines: optional('lines', inner => decodeLines(decoder, inner)),
    map: optional('map', inner => decodeMap(decoder, inner, { layers, pools: pools.length }))
  };
}

/** Decodes one sentence in its languages; English is always among them. */
export function decodeText(value: unknown, where: string): Text {
  const fields = Fields.of(value, where);
  const languages = fields.keys().map(key => [key, fields.string(key)]);
  return { ...Object.fromEntries(languages), en: fields.string('en') };
}

/** Decodes `code` with its comments in each language; earlier versions have them in English alone. */
export function decodeCode(fields: Fields, code: string): Text {
  return fields.has('codes')
    ? decodeText(fields.value('codes'), fields.placeOf('codes'))
    : { en: code };
}

/** Decodes the levels of a timeline of `points` points by source line. */
export function decodeGroups(decoder: ColumnDecoder, fields: Fields, points: number): ILineGroups {
  const names = fields.list('names', asString);
  const references = fields.list('bytes', (value, where) => Fields.of({ column: value }, where));
  if (references.length !== names.length + 1) {
    throw malformed(fields.placeOf('bytes'), `${references.length} columns of ${names.length} + 1`);
  }
  return { names, bytes: references.map(each => decoder.numbers(each, 'column', points)) };
}

function decodePool(value: unknown, where: string): IPool {
  const pool = Fields.of(value, where);
  if (typeof pool.value('small') !== 'boolean') {
    throw malformed(pool.placeOf('small'), 'is not true or false');
  }
  return {
    pool: pool.string('pool'),
    small: pool.value('small') === true,
    stream: pool.string('stream'),
    reserved: pool.integer('reserved', 0),
    allocated: pool.integer('allocated', 0),
    pending: pool.integer('pending', 0),
    free: pool.integer('free', 0),
    largestFree: pool.integer('largest_free', 0),
    splinters: pool.integer('splinters', 0),
    segments: pool.integer('segments', 0)
  };
}

function decodeGrowth(fields: Fields, layers: number): IGrowth {
  const layer = fields.integer('layer', -1);
  if (layer >= layers) {
    throw malformed(fields.placeOf('layer'), `${layer} is outside -1 to ${layers - 1}`);
  }
  return {
    sentence: decodeText(fields.value('sentence'), fields.placeOf('sentence')),
    stepBytes: fields.integer('step_bytes', 0),
    bytes: fields.integer('bytes', 0),
    steps: fields.integer('steps', 0),
    layer,
    category: fields.string('category'),
    site: fields.string('site')
  };
}

function decodePeaks(decoder: ColumnDecoder, fields: Fields, layers: number): INestedPeaks {
  const step = decoder.numbers(fields, 'step');
  const { length } = step;
  return {
    length,
    step,
    kind: decoder.numbers(fields, 'kind', length),
    bytes: decoder.numbers(fields, 'bytes', length),
    cut: decoder.numbers(fields, 'cut', length),
    layer: decoder.references(fields, 'layer', -1, layers, length)
  };
}

function decodeMarkPeaks(decoder: ColumnDecoder, fields: Fields, layers: number): IMarkPeaks {
  const label = decoder.strings(fields, 'label');
  const { length } = label;
  return {
    length,
    label,
    bytes: decoder.numbers(fields, 'bytes', length),
    cut: decoder.numbers(fields, 'cut', length),
    layer: decoder.references(fields, 'layer', -1, layers, length)
  };
}

function decodeSummary(decoder: ColumnDecoder, fields: Fields): ISummary {
  const readings = fields.fields('readings');
  const cut = decoder.numbers(readings, 'cut');
  const { length } = cut;
  const names = fields.list('names', asString);
  return {
    length,
    cut,
    timeNs: decoder.numbers(readings, 'time_ns', length),
    kind: decoder.numbers(readings, 'kind', length),
    step: decoder.numbers(readings, 'step', length),
    phase: decoder.numbers(readings, 'phase', length),
    number: decoder.numbers(readings, 'number', length),
    label: decoder.strings(fields, 'label', length),
    names,
    values: decoder.numbers(fields, 'values', length * names.length)
  };
}

function decodeLines(decoder: ColumnDecoder, fields: Fields): ILines {
  const site = decoder.strings(fields, 'site');
  const { length } = site;
  return {
    length,
    site,
    bytes: decoder.numbers(fields, 'bytes', length),
    allocations: decoder.numbers(fields, 'allocations', length),
    category: decoder.numbers(fields, 'category', length),
    omitted: fields.integer('omitted', 0),
    omittedBytes: fields.integer('omitted_bytes', 0)
  };
}
