// A report as it lies in a notebook file: plain JSON with its columns packed.
import { SCHEMA, decodeReport } from './decode';
import { Fields } from './fields';
import { unpackBuffers } from './packed';
import type { IReport } from './report';

/** A report from a notebook, and the widget model that has it live ("" for none). */
export interface INotebookReport {
  readonly report: IReport;
  readonly modelId: string;
}

/** Unpacks the data of a `MIME_TYPE` output; rejects with `WireError` for what cannot be shown. */
export async function unpackNotebook(data: unknown): Promise<INotebookReport> {
  const fields = Fields.of(data, '');
  fields.checkSchema(SCHEMA);
  const buffers = await unpackBuffers(fields);
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
