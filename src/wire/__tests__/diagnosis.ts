// The diagnoses that Python wrote for both sides: python_pkg/tests/make_diagnosis_fixture.py makes them.
import { readFileSync } from 'fs';
import { resolve } from 'path';

import type { IDiagnosis } from '../diagnosis';
import { decodeDiagnosis } from '../decodediagnosis';
import type { Json } from './encoder';

const FOLDER = resolve(__dirname, '../../../python_pkg/tests/fixtures/diagnosis');

/** A failure with everything known, one known by its text only, no error, and a crash. */
export const DIAGNOSES = ['full', 'text', 'none', 'crash'] as const;

/** Returns the payload of one of them, with `changes`. */
export function diagnosisJson(
  name: (typeof DIAGNOSES)[number] = 'full',
  changes: Readonly<Record<string, unknown>> = {}
): Json {
  const json = JSON.parse(readFileSync(resolve(FOLDER, `${name}.json`), 'utf8')) as Json;
  return { ...json, ...changes };
}

/** Returns the same, decoded. */
export function diagnosisOf(...args: Parameters<typeof diagnosisJson>): IDiagnosis {
  return decodeDiagnosis(diagnosisJson(...args));
}
