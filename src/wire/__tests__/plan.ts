// The plan that Python wrote for both sides: python_pkg/tests/make_plan_fixture.py makes it.
import { readFileSync } from 'fs';
import { resolve } from 'path';

import type { Json } from './encoder';

const FILE = resolve(__dirname, '../../../python_pkg/tests/fixtures/plans/payload.json');

/** Returns the payload with `changes`, those of its inputs apart. */
export function planJson(
  changes: Readonly<Record<string, unknown>> = {},
  inputs: Readonly<Record<string, unknown>> = {}
): Json {
  const json = JSON.parse(readFileSync(FILE, 'utf8')) as Json;
  return { ...json, inputs: { ...(json.inputs as Json), ...inputs }, ...changes };
}

export const KV_INPUTS = {
  layers: 32,
  kv_heads: 8,
  key_size: 128,
  value_size: 128,
  length: 2048,
  batch: 8,
  dtype: 'bf16',
  cache_dtype: 'bf16',
  window: 0,
  windowed: 0,
  parameters: 7e9,
  hidden: 4096,
  heads: 32,
  intermediate: 11008,
  vocabulary: 32000,
  prompt: 0,
  flash: true
};
