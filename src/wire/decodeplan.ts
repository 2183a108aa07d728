// Payload JSON to an `IPlan`, laid out in memtrack/reports/planpayload.py. Nothing in it is trusted: a
// figure beyond what a planner takes is refused, so that no picture is drawn of nonsense.
import { malformed } from './errors';
import { Fields } from './fields';
import type { ICapacity, IKvInputs, ILedgerInputs, ILoadingInputs, IPlan } from './plan';
import { DTYPES, FLOATS, MIXED, OPTIMIZERS } from './plan';

/** The name and major version this code reads, as in the payload's `schema`. */
const PLAN_SCHEMA = 'memtrack.plan/1';

/** Decodes a plan; throws `WireError` for what cannot be shown. */
export function decodePlan(json: unknown): IPlan {
  const fields = Fields.of(json, '');
  fields.checkSchema(PLAN_SCHEMA);
  const gpus = fields.list('gpus', (value, where) => capacityOf(Fields.of(value, where)));
  const gpu = fields.has('capacity')
    ? { name: fields.string('gpu'), usable: fields.integer('capacity', 1) }
    : undefined;
  const inputs = fields.fields('inputs');
  const kind = oneOf(fields, 'kind', ['ledger', 'kv', 'loading'] as const);
  switch (kind) {
    case 'ledger':
      return { kind, inputs: ledgerOf(inputs), gpus, gpu };
    case 'kv':
      return { kind, inputs: kvOf(inputs), gpus, gpu };
    case 'loading':
      return { kind, inputs: loadingOf(inputs), gpus, gpu };
  }
}

function capacityOf(fields: Fields): ICapacity {
  return { name: fields.string('name'), usable: fields.integer('usable', 1) };
}

function ledgerOf(fields: Fields): ILedgerInputs {
  const lora = fields.number('lora');
  if (lora < 0 || lora > 1) {
    throw malformed(fields.placeOf('lora'), `${lora} is outside 0 to 1`);
  }
  return {
    parameters: fields.integer('parameters', 1),
    dtype: oneOf(fields, 'dtype', FLOATS),
    optimizer: oneOf(fields, 'optimizer', OPTIMIZERS),
    mixed: oneOf(fields, 'mixed', MIXED),
    zero: Math.min(3, fields.integer('zero', 0)),
    gpus: fields.integer('gpus', 1),
    lora,
    layers: fields.integer('layers', 0),
    hidden: fields.integer('hidden', 0),
    heads: fields.integer('heads', 0),
    sequence: fields.integer('sequence', 0),
    batch: fields.integer('batch', 1),
    vocabulary: fields.integer('vocabulary', 0),
    checkpointing: fields.flag('checkpointing'),
    flash: fields.flag('flash')
  };
}

function kvOf(fields: Fields): IKvInputs {
  return {
    layers: fields.integer('layers', 1),
    kv_heads: fields.integer('kv_heads', 1),
    key_size: fields.integer('key_size', 1),
    value_size: fields.integer('value_size', 1),
    length: fields.integer('length', 1),
    batch: fields.integer('batch', 1),
    dtype: oneOf(fields, 'dtype', DTYPES),
    cache_dtype: oneOf(fields, 'cache_dtype', DTYPES),
    window: fields.integer('window', 0),
    windowed: fields.integer('windowed', 0),
    parameters: fields.integer('parameters', 0),
    hidden: fields.integer('hidden', 0),
    heads: fields.integer('heads', 0),
    intermediate: fields.integer('intermediate', 0),
    vocabulary: fields.integer('vocabulary', 0),
    prompt: fields.integer('prompt', 0),
    flash: fields.flag('flash')
  };
}

function loadingOf(fields: Fields): ILoadingInputs {
  return {
    parameters: fields.integer('parameters', 1),
    stored: oneOf(fields, 'stored', DTYPES),
    dtype: oneOf(fields, 'dtype', DTYPES),
    built: oneOf(fields, 'built', DTYPES),
    largest: fields.integer('largest', 0)
  };
}

function oneOf<T extends string>(fields: Fields, key: string, known: readonly T[]): T {
  const value = fields.string(key);
  const found = known.find(each => each === value);
  if (found === undefined) {
    throw malformed(fields.placeOf(key), `"${value}" is none of ${known.join(', ')}`);
  }
  return found;
}
