// The KV cache and what else generation needs: the twin of memtrack/planners/generation.py, where each
// formula has its source.
import type { IKvInputs } from '../../wire/plan';
import { bitsOf, bytesOf, ceilDiv } from './elements';
import type { IPlanPart } from './parts';
import { totalOf, verdictOf } from './parts';

const GROUP = 64;
const SCALE_BYTES = 4;
const RESIDUAL = 128;
const WORKSPACE = 32 * 2 ** 20;
const MOST_TOKENS = 2 ** 24;
const MOST_BATCH = 2 ** 20;

/** Returns every part, those of no bytes too. */
export function kvParts(inputs: IKvInputs): readonly IPlanPart[] {
  return [
    { id: 'parameter', bytes: bytesOf(inputs.parameters, inputs.dtype) },
    { id: 'cache_kv', bytes: cacheBytes(inputs) },
    { id: 'output', bytes: inputs.batch * inputs.vocabulary * (widthOf(inputs) + 4) },
    { id: 'workspace', bytes: workspace(inputs) }
  ];
}

/** Returns the most tokens a sequence that fit `capacity` bytes, 0 for none. */
export function longestSequence(inputs: IKvInputs, capacity: number): number {
  return most(MOST_TOKENS, length => fits({ ...inputs, length, prompt: 0 }, capacity));
}

/** Returns the most sequences at a time that fit `capacity` bytes, 0 for none. */
export function largestBatch(inputs: IKvInputs, capacity: number): number {
  return most(MOST_BATCH, batch => fits({ ...inputs, batch }, capacity));
}

function fits(inputs: IKvInputs, capacity: number): boolean {
  return verdictOf(totalOf(kvParts(inputs)), capacity) === 'fits';
}

/** The largest number up to `limit` that fits; what fits is all below it. */
function most(limit: number, isFitting: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.floor((low + high + 1) / 2);
    [low, high] = isFitting(middle) ? [middle, high] : [low, middle - 1];
  }
  return low;
}

function cacheBytes(inputs: IKvInputs): number {
  const windowed = inputs.window > 0 ? inputs.windowed : 0;
  const seen = Math.min(inputs.length, inputs.window || inputs.length);
  const whole = (inputs.layers - windowed) * layerBytes(inputs, inputs.length);
  return whole + windowed * layerBytes(inputs, seen);
}

function layerBytes(inputs: IKvInputs, tokens: number): number {
  const token = inputs.kv_heads * (inputs.key_size + inputs.value_size) * inputs.batch;
  if (inputs.cache_dtype !== 'int8' && inputs.cache_dtype !== 'int4') {
    return bytesOf(token * tokens, inputs.cache_dtype);
  }
  const kept = Math.min(tokens, RESIDUAL);
  const packed = token * (tokens - kept);
  const scales = SCALE_BYTES * ceilDiv(packed, GROUP);
  const plain = inputs.dtype === 'fp32' ? 'fp32' : 'bf16';
  return bytesOf(packed, inputs.cache_dtype) + scales + bytesOf(token * kept, plain);
}

function widthOf(inputs: IKvInputs): number {
  return bitsOf(inputs.dtype) === 32 ? 4 : 2;
}

function workspace(inputs: IKvInputs): number {
  const prompt = inputs.prompt || inputs.length;
  const tokens = inputs.batch * prompt;
  const width = widthOf(inputs);
  const mlp = tokens * (2 * inputs.hidden + 2 * inputs.intermediate) * width;
  const scores = inputs.flash ? 0 : 2 * tokens * inputs.heads * prompt * width;
  return Math.max(mlp, scores, layerBytes(inputs, inputs.length)) + WORKSPACE;
}
