// The comparison that Python wrote for both sides: python_pkg/tests/make_comparison_fixture.py makes it.
import { readFileSync } from 'fs';
import { resolve } from 'path';

import type { IComparison } from '../comparison';
import { decodeComparison } from '../decodecomparison';
import type { Json } from './encoder';

const FOLDER = resolve(__dirname, '../../../python_pkg/tests/fixtures/comparison');

function read(name: string): Json {
  return JSON.parse(readFileSync(resolve(FOLDER, name), 'utf8')) as Json;
}

/** The data of an output in a notebook. */
export function comparisonOutput(): Json {
  return read('notebook.json');
}

/** The payload with `changes`, and its buffers. */
export function comparisonJson(changes: Readonly<Record<string, unknown>> = {}): {
  readonly json: Json;
  readonly buffers: DataView[];
} {
  const { comparison, lengths } = read('comparison.json');
  const message = readFileSync(resolve(FOLDER, 'comparison.bin'));
  let start = message.byteOffset;
  const buffers = (lengths as number[]).map(length => {
    start += length;
    return new DataView(message.buffer, start - length, length);
  });
  return { json: { ...(comparison as Json), ...changes }, buffers };
}

/** Returns the same, decoded. */
export function comparisonOf(changes: Readonly<Record<string, unknown>> = {}): IComparison {
  const { json, buffers } = comparisonJson(changes);
  return decodeComparison(json, buffers);
}
