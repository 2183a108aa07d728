import { readFileSync } from 'fs';
import { resolve } from 'path';

import { kvParts, largestBatch, longestSequence } from '../generation';
import type { IKvInputs, ILedgerInputs, ILoadingInputs } from '../../../wire/plan';
import { bytesOf, ceilDiv } from '../elements';
import { ledgerParts } from '../ledger';
import { loadingWays } from '../loading';
import type { IPlanPart } from '../parts';
import { totalOf, verdictOf } from '../parts';

interface ICase {
  readonly kind: string;
  readonly inputs: unknown;
  readonly parts?: Record<string, number>;
  readonly verdicts?: readonly string[];
  readonly longest?: readonly number[];
  readonly batches?: readonly number[];
  readonly ways?: readonly Record<string, unknown>[];
}

const FILE = resolve(__dirname, '../../../../python_pkg/tests/fixtures/plans/cases.json');
const { capacities, cases } = JSON.parse(readFileSync(FILE, 'utf8')) as {
  capacities: readonly number[];
  cases: readonly ICase[];
};
const ofKind = (kind: string): readonly (readonly [string, ICase])[] =>
  cases.filter(each => each.kind === kind).map(each => [JSON.stringify(each.inputs), each]);

function told(parts: readonly IPlanPart[]): Record<string, number> {
  return Object.fromEntries(
    parts.filter(({ bytes }) => bytes > 0).map(({ id, bytes }) => [id, bytes])
  );
}

describe('plans that Python made', () => {
  it.each(ofKind('ledger'))('of training are the same here: %s', (_, { inputs, ...wanted }) => {
    const parts = ledgerParts(inputs as ILedgerInputs);
    expect(told(parts)).toEqual(wanted.parts);
    expect(capacities.map(each => verdictOf(totalOf(parts), each))).toEqual(wanted.verdicts);
  });

  it.each(ofKind('kv'))('of generation are the same here: %s', (_, { inputs, ...wanted }) => {
    const kv = inputs as IKvInputs;
    expect(told(kvParts(kv))).toEqual(wanted.parts);
    expect(capacities.map(each => longestSequence(kv, each))).toEqual(wanted.longest);
    expect(capacities.map(each => largestBatch(kv, each))).toEqual(wanted.batches);
  });

  it.each(ofKind('loading'))('of loading are the same here: %s', (_, { inputs, ways }) => {
    const found = loadingWays(inputs as ILoadingInputs).map(({ deviceAfter, ...way }) => ({
      ...way,
      device_after: deviceAfter
    }));
    expect(found).toEqual(ways);
  });
});

describe('bytes of elements', () => {
  it('are rounded up, and exact where a quotient of doubles is not', () => {
    expect(bytesOf(3, 'int4')).toBe(2);
    expect(bytesOf(1e12, 'fp32')).toBe(4e12);
    expect(ceilDiv(2 ** 53 - 1, 2)).toBe(2 ** 52);
  });
});
