// Payload JSON to an `IDiagnosis`. It is small and has no binary columns, but nothing in it is trusted.
// What is missing is an older payload or was not known; what is there is checked.
import { decodeCode, decodeText } from './decodeanswers';
import type { ICause, ICheck, IDiagnosis, IHolder, INeeded, IPlace, IRemedy } from './diagnosis';
import { malformed } from './errors';
import { Fields } from './fields';
import type { ILedgerPart } from './report';

/** The name and major version this code reads, as in the payload's `schema`. */
const DIAGNOSIS_SCHEMA = 'memtrack.diagnosis/1';

/** Decodes a diagnosis; throws `WireError` for what cannot be shown. */
export function decodeDiagnosis(json: unknown): IDiagnosis {
  const fields = Fields.of(json, '');
  fields.checkSchema(DIAGNOSIS_SCHEMA);
  return {
    kind: fields.string('kind'),
    isDeviceMemory: fields.flag('device_memory'),
    headline: decodeText(fields.value('headline'), 'headline'),
    place: placeOf(inner(fields, 'place')),
    numbers: numbersOf(inner(fields, 'numbers')),
    otherProcesses: items(fields, 'other_processes', process => ({
      pid: process.integer('pid', 0),
      bytes: process.integer('bytes', -1)
    })),
    causes: items(fields, 'causes', causeOf),
    contradictions: list(fields, 'contradictions', decodeText),
    checks: items(fields, 'checks', checkOf),
    remedies: items(fields, 'remedies', remedyOf),
    needed: neededOf(inner(fields, 'needed')),
    holders: items(fields, 'holders', holderOf),
    parts: items(fields, 'parts', partOf),
    message: string(fields, 'message'),
    later: list(fields, 'later', decodeText)
  };
}

function placeOf(fields: Fields): IPlace {
  return {
    phase: string(fields, 'phase'),
    layer: string(fields, 'layer'),
    step: fields.has('step') ? fields.integer('step', 0) : 0,
    site: string(fields, 'site')
  };
}

/** A figure past 2^53, such as the 2^64 that stands for no limit, is no amount of memory. */
function numbersOf(fields: Fields): ReadonlyMap<string, number> {
  const known = fields
    .keys()
    .filter(key => fields.has(key))
    .map(key => [key, fields.number(key)] as const);
  return new Map(known.filter(([, bytes]) => Number.isSafeInteger(bytes) && bytes >= 0));
}

function causeOf(fields: Fields): ICause {
  const confidence = fields.number('confidence');
  if (confidence < 0 || confidence > 1) {
    throw malformed(fields.placeOf('confidence'), `${confidence} is outside 0 to 1`);
  }
  return {
    id: fields.string('id'),
    confidence,
    title: decodeText(fields.value('title'), fields.placeOf('title')),
    evidence: list(fields, 'evidence', decodeText)
  };
}

function checkOf(fields: Fields): ICheck {
  return {
    id: fields.string('id'),
    text: decodeText(fields.value('text'), fields.placeOf('text')),
    code: decodeCode(fields, string(fields, 'code'))
  };
}

function remedyOf(fields: Fields): IRemedy {
  return {
    id: fields.string('id'),
    title: decodeText(fields.value('title'), fields.placeOf('title')),
    savingBytes: fields.optionalInteger('saving_bytes', 0),
    cost: fields.has('cost')
      ? decodeText(fields.value('cost'), fields.placeOf('cost'))
      : { en: '' },
    code: decodeCode(fields, string(fields, 'code')),
    caveats: list(fields, 'caveats', decodeText)
  };
}

function neededOf(fields: Fields): INeeded {
  return {
    requested: fields.optionalInteger('requested', 0),
    segment: fields.optionalInteger('segment', 0),
    largestFree: fields.optionalInteger('largest_free', 0),
    cached: fields.optionalInteger('cached', 0),
    deviceFree: fields.optionalInteger('device_free', 0),
    others: fields.optionalInteger('others', 0)
  };
}

function holderOf(fields: Fields): IHolder {
  return {
    name: decodeText(fields.value('name'), fields.placeOf('name')),
    bytes: fields.integer('bytes', 0),
    allocations: fields.has('allocations') ? fields.integer('allocations', 0) : 0
  };
}

function partOf(fields: Fields): ILedgerPart {
  return {
    id: fields.string('id'),
    bytes: fields.integer('bytes', 0),
    certainty: fields.string('certainty'),
    details: []
  };
}

function string(fields: Fields, key: string): string {
  return fields.has(key) ? fields.string(key) : '';
}

function inner(fields: Fields, key: string): Fields {
  return fields.has(key) ? fields.fields(key) : Fields.of({}, fields.placeOf(key));
}

function list<T>(
  fields: Fields,
  key: string,
  read: (value: unknown, where: string) => T
): readonly T[] {
  return fields.has(key) ? fields.list(key, read) : [];
}

function items<T>(fields: Fields, key: string, read: (item: Fields) => T): readonly T[] {
  return list(fields, key, (value, where) => read(Fields.of(value, where)));
}
