// The report that Python wrote for both sides: python_pkg/tests/make_report_fixture.py makes it.
import { readFileSync } from 'fs';
import { resolve } from 'path';

import type { Json } from './encoder';

const FOLDER = resolve(__dirname, '../../../python_pkg/tests/fixtures/report');

export function readFixture(name: string): Json {
  return JSON.parse(readFileSync(resolve(FOLDER, name), 'utf8'));
}

/** The payload and its buffers as views into one message, as they come from the kernel. */
export function reportFixture(): { readonly json: unknown; readonly buffers: DataView[] } {
  const { report, lengths } = readFixture('report.json');
  const message = readFileSync(resolve(FOLDER, 'report.bin'));
  let start = message.byteOffset;
  const buffers = (lengths as number[]).map(length => {
    start += length;
    return new DataView(message.buffer, start - length, length);
  });
  return { json: report, buffers };
}
