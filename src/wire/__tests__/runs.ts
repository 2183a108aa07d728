// The history that Python wrote for both sides: python_pkg/tests/make_comparison_fixture.py makes it.
import { readFileSync } from 'fs';
import { resolve } from 'path';

import { decodeHistory } from '../decoderuns';
import type { IHistory } from '../runs';
import type { Json } from './encoder';

const FILE = resolve(__dirname, '../../../python_pkg/tests/fixtures/runs/history.json');

/** Returns the payload with `changes`. */
export function historyJson(changes: Readonly<Record<string, unknown>> = {}): Json {
  return { ...(JSON.parse(readFileSync(FILE, 'utf8')) as Json), ...changes };
}

/** Returns the same, decoded. */
export function historyOf(changes: Readonly<Record<string, unknown>> = {}): IHistory {
  return decodeHistory(historyJson(changes));
}
