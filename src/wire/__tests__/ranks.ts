// The ranks that Python wrote for both sides: python_pkg/tests/make_ranks_fixture.py makes them.
import { readFileSync } from 'fs';
import { resolve } from 'path';

import { decodeRanks } from '../decoderanks';
import type { IRanks } from '../ranks';
import type { Json } from './encoder';

const FILE = resolve(__dirname, '../../../python_pkg/tests/fixtures/ranks/ranks.json');

/** The data of an output, with `changes`. */
export function ranksJson(changes: Readonly<Record<string, unknown>> = {}): Json {
  return { ...(JSON.parse(readFileSync(FILE, 'utf8')) as Json), ...changes };
}

/** The same, with `changes` to its rank in place `index`. */
export function ranksWith(index: number, changes: Readonly<Record<string, unknown>>): Json {
  const ranks = ranksJson().ranks as Json[];
  return ranksJson({
    ranks: ranks.map((rank, place) => (place === index ? { ...rank, ...changes } : rank))
  });
}

/** Returns the same as `ranksJson`, decoded. */
export function ranksOf(changes: Readonly<Record<string, unknown>> = {}): IRanks {
  return decodeRanks(ranksJson(changes));
}
