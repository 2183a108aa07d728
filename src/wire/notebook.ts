// A report as it lies in a notebook file: plain JSON with its columns in base64 of a zlib stream.
import type { BinaryBuffer } from './columns';
import { checkSchema, decodeReport } from './decode';
import { WireError, malformed } from './errors';
import { Fields } from './fields';
import type { IReport } from './report';

/** A report from a notebook, and the widget model that has it live ("" for none). */
export interface INotebookReport {
  readonly report: IReport;
  readonly modelId: string;
}

/** Unpacks the data of a `MIME_TYPE` output; rejects with `WireError` for what cannot be shown. */
export async function unpackNotebook(data: unknown): Promise<INotebookReport> {
  const fields = Fields.of(data, '');
  checkSchema(fields);
  const lengths = fields.list('lengths', (value, where) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw malformed(where, 'is not a length');
    }
    return value;
  });
  const packed = bytesOfBase64(fields.string('buffers'));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const buffers = split(await inflate(packed, total), lengths);
  return {
    report: decodeReport(fields.value('report'), buffers),
    modelId: fields.has('model_id') ? fields.string('model_id') : ''
  };
}

/** Returns the widget model named in the data of an output, without unpacking it; "" for none. */
export function modelIdOf(data: unknown): string {
  const id = Fields.of(data, '').value('model_id');
  return typeof id === 'string' ? id : '';
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0));
  } catch {
    throw new WireError('corrupt', 'buffers', 'is not base64');
  }
}

/** Decompresses a zlib stream (RFC 1950, with its checksum), which has to hold `total` bytes. */
async function inflate(packed: Uint8Array<ArrayBuffer>, total: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const stream = new DecompressionStream('deflate');
    const writer = stream.writable.getWriter();
    const written = Promise.all([writer.write(packed), writer.close()]);
    // Heard through the reader, or of no interest once the reading has stopped.
    written.catch(() => undefined);
    const reader = stream.readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      chunks.push(next.value);
      length += next.value.byteLength;
      if (length > total) {
        // A bomb is not unpacked to its end.
        await reader.cancel();
        break;
      }
    }
  } catch {
    throw new WireError('corrupt', 'buffers', 'is damaged: it does not decompress');
  }
  if (length !== total) {
    throw new WireError('corrupt', 'buffers', `does not hold ${total} bytes`);
  }
  return joined(chunks, length);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let start = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, start);
    start += chunk.byteLength;
  }
  return bytes;
}

function split(bytes: Uint8Array, lengths: readonly number[]): readonly BinaryBuffer[] {
  let start = 0;
  return lengths.map(length => bytes.subarray(start, (start += length)));
}
