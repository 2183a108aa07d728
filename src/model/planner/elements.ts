// Bytes of elements, exact for whole numbers.
import type { Dtype } from '../../wire/plan';

const BITS: Readonly<Record<Dtype, number>> = {
  fp32: 32,
  bf16: 16,
  fp16: 16,
  fp8: 8,
  int8: 8,
  int4: 4
};

/** Returns the bits of one element, without the scales of a quantised dtype. */
export function bitsOf(dtype: Dtype): number {
  return BITS[dtype];
}

/** Returns what `elements` of a dtype take, rounded up to whole bytes. */
export function bytesOf(elements: number, dtype: Dtype): number {
  return ceilDiv(elements * BITS[dtype], 8);
}

/** Returns `a / b` rounded up, exact for whole numbers: the quotient of two doubles may round. */
export function ceilDiv(a: number, b: number): number {
  const rest = a % b;
  return (a - rest) / b + (rest > 0 ? 1 : 0);
}
