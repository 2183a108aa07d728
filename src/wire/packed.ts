// Columns as they lie in a notebook file: in base64 of one zlib stream, with the length of each.
import type { BinaryBuffer } from './columns';
import { WireError, malformed } from './errors';
import type { Fields } from './fields';

/** Unpacks `buffers` by `lengths`; rejects with `WireError` for what is damaged or too long. */
export async function unpackBuffers(fields: Fields): Promise<readonly BinaryBuffer[]> {
  const lengths = fields.list('lengths', (value, where) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw malformed(where, 'is not a length');
    }
    return value;
  });
  const packed = bytesOfBase64(fields.string('buffers'));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return split(await inflate(packed, total), lengths);
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
