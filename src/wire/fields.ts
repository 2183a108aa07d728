// Guards between `unknown` JSON and the types of this room: each names the place of a wrong value.
import { WireError, malformed } from './errors';

/** The fields of one JSON object, read one by one and checked as they are read. */
export class Fields {
  private constructor(
    private readonly _record: Readonly<Record<string, unknown>>,
    readonly where: string
  ) {}

  /** Wraps `value`, which has to be an object; `where` is its place in the payload. */
  static of(value: unknown, where: string): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw malformed(where, 'is not an object');
    }
    return new Fields(value as Record<string, unknown>, where);
  }

  keys(): readonly string[] {
    return Object.keys(this._record);
  }

  has(key: string): boolean {
    return this._record[key] !== undefined && this._record[key] !== null;
  }

  value(key: string): unknown {
    return Object.prototype.hasOwnProperty.call(this._record, key) ? this._record[key] : undefined;
  }

  string(key: string): string {
    return asString(this.value(key), this.placeOf(key));
  }

  number(key: string): number {
    return asNumber(this.value(key), this.placeOf(key));
  }

  /** A whole number of at least `least`. */
  integer(key: string, least: number): number {
    const value = this.number(key);
    if (!Number.isSafeInteger(value) || value < least) {
      throw malformed(this.placeOf(key), `${value} is not a whole number of at least ${least}`);
    }
    return value;
  }

  /** A whole number of at least `least`; undefined where there is none. */
  optionalInteger(key: string, least: number): number | undefined {
    return this.has(key) ? this.integer(key, least) : undefined;
  }

  flag(key: string): boolean {
    const value = this.value(key);
    if (typeof value !== 'boolean') {
      throw malformed(this.placeOf(key), 'is not true or false');
    }
    return value;
  }

  fields(key: string): Fields {
    return Fields.of(this.value(key), this.placeOf(key));
  }

  list<T>(key: string, read: (value: unknown, where: string) => T): readonly T[] {
    const values = this.value(key);
    if (!Array.isArray(values)) {
      throw malformed(this.placeOf(key), 'is not a list');
    }
    return values.map((value, index) => read(value, `${this.placeOf(key)}[${index}]`));
  }

  /** A list of objects. */
  objects<T>(key: string, read: (fields: Fields) => T): readonly T[] {
    return this.list(key, (value, where) => read(Fields.of(value, where)));
  }

  /** Throws unless `schema` is `expected` in name and major version: a minor one only adds keys. */
  checkSchema(expected: string): void {
    const schema = this.string('schema');
    if (schema !== expected && !schema.startsWith(`${expected}.`)) {
      throw new WireError('version', this.placeOf('schema'), `"${schema}" is not "${expected}"`);
    }
  }

  /** Every field through `read`, in the order of the JSON. */
  map<T>(read: (key: string) => T): ReadonlyMap<string, T> {
    return new Map(this.keys().map(key => [key, read(key)]));
  }

  placeOf(key: string): string {
    return this.where ? `${this.where}.${key}` : key;
  }
}

export function asString(value: unknown, where: string): string {
  if (typeof value !== 'string') {
    throw malformed(where, 'is not a string');
  }
  return value;
}

export function asNumber(value: unknown, where: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw malformed(where, 'is not a number');
  }
  return value;
}
