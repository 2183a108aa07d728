// Payload JSON to an `IHistory`: small, without columns, and checked like all that arrives.
import { WireError } from './errors';
import { Fields, asString } from './fields';
import type { IHistory, IRun } from './runs';

/** The name and major version this code reads, as in the payload's `schema`. */
const HISTORY_SCHEMA = 'memtrack.history/1';

const MILLISECONDS = 1000;
const FULL = 255;

/** Decodes a page of runs; throws `WireError` for what cannot be shown. */
export function decodeHistory(json: unknown): IHistory {
  const fields = Fields.of(json, '');
  fields.checkSchema(HISTORY_SCHEMA);
  return {
    folder: fields.string('folder'),
    writable: fields.flag('writable'),
    search: fields.string('search'),
    deleted: fields.flag('deleted'),
    offset: fields.integer('offset', 0),
    total: fields.integer('total', 0),
    modelId: fields.has('model_id') ? fields.string('model_id') : '',
    runs: fields.objects('runs', decodeRun)
  };
}

/** Decodes one run. */
export function decodeRun(fields: Fields): IRun {
  return {
    id: fields.integer('id', 0),
    identifier: fields.string('identifier'),
    created: MILLISECONDS * fields.number('created'),
    label: fields.string('label'),
    name: fields.string('name'),
    state: fields.string('state'),
    evidence: fields.string('evidence'),
    notebook: fields.string('notebook'),
    cell: fields.optionalInteger('cell', 0),
    device: fields.string('device'),
    peak: fields.integer('peak', 0),
    reserved: fields.optionalInteger('reserved', 0),
    stepNs: fields.optionalInteger('step_ns', 0),
    steps: fields.integer('steps', 0),
    structure: fields.string('structure'),
    parameters: fields.integer('parameters', 0),
    commit: fields.string('commit'),
    dirty: fields.flag('dirty'),
    note: fields.string('note'),
    tags: fields.list('tags', asString),
    pinned: fields.flag('pinned'),
    baseline: fields.flag('baseline'),
    deleted: fields.flag('deleted'),
    hasFile: fields.flag('has_file'),
    spark: sparkOf(fields)
  };
}

function sparkOf(fields: Fields): readonly number[] {
  try {
    return Array.from(atob(fields.string('spark')), point => point.charCodeAt(0) / FULL);
  } catch {
    throw new WireError('corrupt', fields.placeOf('spark'), 'is not base64');
  }
}
