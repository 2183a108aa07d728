// The TypeScript twin of `Encoder` in python_pkg/memtrack/reports/payload.py, for tests.

/** JSON in the making: tests change it to see it refused. */
export type Json = Record<string, unknown>;

const ARRAYS = { f8: Float64Array, i4: Int32Array, u4: Uint32Array, u1: Uint8Array };

/** Collects the binary columns of one payload while its JSON is built. */
export class Encoder {
  readonly buffers: ArrayBuffer[] = [];

  column(values: readonly number[], type: keyof typeof ARRAYS = 'f8'): Json {
    this.buffers.push(new ARRAYS[type](values).buffer);
    return { column: this.buffers.length - 1, type, length: values.length };
  }

  strings(values: readonly string[]): Json {
    const rows = new Map<string, number>();
    const codes = values.map(value => {
      if (value && !rows.has(value)) {
        rows.set(value, rows.size);
      }
      return rows.get(value) ?? -1;
    });
    return { values: [...rows.keys()], codes: this.column(codes, 'i4') };
  }
}
