// A report as it lies in a notebook file: plain JSON with its columns in base64 of a zlib stream.
import type { BinaryBuffer } from './columns';
import { checkSchema, decodeReport } from './decode';
import { WireError, malformed } from './errors';
import { Fields } from './fields';
import type { IReport } from './report';

/** The MIME type of a report in an output. */
export const MIME_TYPE = 'application/vnd.memtrack.report.v1+json';

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
  const buffers = split(await inflate(packed), lengths);
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

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  try {
    // 'deflate' is the zlib container of RFC 1950, which carries a checksum.
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new WireError('corrupt', 'buffers', 'is damaged: it does not decompress');
  }
}

function split(bytes: Uint8Array, lengths: readonly number[]): readonly BinaryBuffer[] {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total !== bytes.byteLength) {
    throw new WireError('corrupt', 'buffers', `holds ${bytes.byteLength} bytes, not ${total}`);
  }
  let start = 0;
  return lengths.map(length => bytes.subarray(start, (start += length)));
}
