import { webcrypto } from 'crypto';
import { deflateSync } from 'zlib';

import './streams';
import { decodeReport, modelIdOf, unpackNotebook } from '..';
import type { Json } from './encoder';
import { samplePayload } from './sample';

const ROOTS = [{ name: 'model', type: 'GPT2', own: { at_peak: 2 ** 40 } }];

describe('unpackNotebook', () => {
  const { json, buffers } = samplePayload(ROOTS, { at_peak: 5 });
  const bytes = Buffer.concat(buffers.map(buffer => new Uint8Array(buffer)));

  function packed(changes: Json = {}): Json {
    return {
      schema: 'memtrack.report/1',
      report: json,
      lengths: buffers.map(buffer => buffer.byteLength),
      buffers: deflateSync(bytes, { level: 9 }).toString('base64'),
      model_id: 'abc',
      ...changes
    };
  }

  it('gives the same report as the message with binary buffers', async () => {
    const { report, modelId } = await unpackNotebook(packed());
    expect(report).toEqual(decodeReport(json, buffers));
    expect(modelId).toBe('abc');
    expect(modelIdOf(packed())).toBe('abc');
    expect(modelIdOf({})).toBe('');
  });

  it('says corrupt for damaged, foreign or truncated data', async () => {
    const noise = Buffer.from(webcrypto.getRandomValues(new Uint8Array(64))).toString('base64');
    const zipped = deflateSync(bytes);
    const flipped = Buffer.from(zipped);
    flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 0xff;
    const damages = [
      '%%%',
      noise,
      zipped.subarray(0, 40).toString('base64'),
      flipped.toString('base64')
    ];
    for (const damaged of damages) {
      await expect(unpackNotebook(packed({ buffers: damaged }))).rejects.toMatchObject({
        kind: 'corrupt',
        where: 'buffers'
      });
    }
  });

  it.each([[[3]], [[bytes.length - 1]], [[bytes.length, 1]]])(
    'says corrupt when the columns do not fill %j bytes',
    async lengths => {
      await expect(unpackNotebook(packed({ lengths }))).rejects.toMatchObject({ kind: 'corrupt' });
    }
  );

  it('refuses another version before it unpacks anything', async () => {
    const future = packed({ schema: 'memtrack.report/2', buffers: 7 });
    await expect(unpackNotebook(future)).rejects.toMatchObject({ kind: 'version' });
  });
});
