// The advice that Python wrote for both sides: python_pkg/tests/make_advice_fixture.py makes it.
import { readFileSync } from 'fs';
import { resolve } from 'path';

import type { IAdvice } from '../advice';
import { decodeAdvice } from '../decodeadvice';
import { Fields } from '../fields';
import type { Json } from './encoder';

const FILE = resolve(__dirname, '../../../python_pkg/tests/fixtures/advice/advice.json');

/** Returns the payload with `changes`. */
export function adviceJson(changes: Readonly<Record<string, unknown>> = {}): Json {
  return { ...(JSON.parse(readFileSync(FILE, 'utf8')) as Json), ...changes };
}

/** Returns the same, decoded. */
export function adviceOf(changes: Readonly<Record<string, unknown>> = {}): IAdvice {
  return decodeAdvice(Fields.of(adviceJson(changes), 'advice'));
}
