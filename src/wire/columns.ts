// References in the JSON plus binary buffers to checked columns. Buffers are little-endian, as are
// all machines that run a browser with typed arrays today.
import { at } from '../base/assert';
import { WireError, malformed } from './errors';
import type { Fields } from './fields';
import { asString } from './fields';

/** One binary buffer as it arrives: comm messages give `DataView`s into a larger message. */
export type BinaryBuffer = ArrayBuffer | ArrayBufferView;

/** A column of numbers, for reading only. */
export interface INumbers extends Iterable<number> {
  readonly length: number;
  readonly [row: number]: number;
}

/** A column of strings: `values` each once, `codes` a row's index into them, -1 for the empty. */
export interface IStrings {
  readonly length: number;
  readonly values: readonly string[];
  readonly codes: INumbers;
}

/** Returns the string of `row`; "" where it has none. */
export function textAt(strings: IStrings, row: number): string {
  const code = at(strings.codes, row);
  return code < 0 ? '' : at(strings.values, code);
}

const TYPES = {
  f8: { size: 8, over: (...at: Place) => new Float64Array(...at) },
  i4: { size: 4, over: (...at: Place) => new Int32Array(...at) },
  u4: { size: 4, over: (...at: Place) => new Uint32Array(...at) },
  u1: { size: 1, over: (...at: Place) => new Uint8Array(...at) }
} as const;

/** BinaryBuffer, offset in bytes, length in items. */
type Place = [ArrayBufferLike, number, number];

/** Decodes the columns of one payload, each reference checked against its buffer. */
export class ColumnDecoder {
  constructor(private readonly _buffers: readonly BinaryBuffer[]) {}

  /** Reads the column `owner[key]`, of `length` rows where that is known. */
  numbers(owner: Fields, key: string, length?: number): INumbers {
    const reference = owner.fields(key);
    const rows = reference.integer('length', 0);
    if (length !== undefined && rows !== length) {
      throw malformed(reference.where, `has ${rows} rows, not ${length}`);
    }
    const type = reference.string('type');
    if (!isColumnType(type)) {
      throw malformed(reference.placeOf('type'), `"${type}" is not a column type`);
    }
    const buffer = this._buffers[reference.integer('column', 0)];
    if (buffer === undefined) {
      throw malformed(reference.where, `refers to a buffer that is not there`);
    }
    return typedArray(bytesOf(buffer), type, rows, reference.where);
  }

  /** Reads a column whose values all lie in [least, end). */
  references(owner: Fields, key: string, least: number, end: number, length?: number): INumbers {
    const column = this.numbers(owner, key, length);
    for (const value of column) {
      if (!Number.isInteger(value) || value < least || value >= end) {
        throw malformed(owner.placeOf(key), `${value} is outside ${least} to ${end - 1}`);
      }
    }
    return column;
  }

  /** Reads a column of strings. */
  strings(owner: Fields, key: string, length?: number): IStrings {
    const fields = owner.fields(key);
    const values = fields.list('values', asString);
    const codes = this.references(fields, 'codes', -1, values.length, length);
    return { length: codes.length, values, codes };
  }
}

/** Whether the column `owner[key]` is one of strings. */
export function isStrings(owner: Fields, key: string): boolean {
  return owner.fields(key).has('values');
}

function isColumnType(type: string): type is keyof typeof TYPES {
  return Object.prototype.hasOwnProperty.call(TYPES, type);
}

function bytesOf(buffer: BinaryBuffer): Uint8Array {
  // Not `instanceof ArrayBuffer`: a buffer from another realm (an iframe) fails that.
  return ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
}

function typedArray(
  bytes: Uint8Array,
  type: keyof typeof TYPES,
  rows: number,
  where: string
): INumbers {
  const { size, over } = TYPES[type];
  if (bytes.byteLength !== rows * size) {
    throw new WireError('corrupt', where, `${bytes.byteLength} bytes are not ${rows} × ${type}`);
  }
  // A typed array may only begin at a multiple of its item size: copy what does not.
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  const column = over(aligned.buffer, aligned.byteOffset, rows);
  if (column instanceof Float64Array && !column.every(Number.isFinite)) {
    throw malformed(where, 'has a value that is not a number');
  }
  return column;
}
