import live from '../../../../bench/results/panel-live.json';
import { decodeGpus, decodeUsage } from '../../../wire/decodegpus';
import type { IGpuDevice, IUsage } from '../../../wire/gpus';
import {
  GIB,
  deviceJson,
  gpusState,
  kernelJson,
  processJson
} from '../../../wire/__tests__/gpusample';
import { seeded } from '../../../wire/__tests__/random';
import { deviceParts } from '../parts';

function device(changes = {}): IGpuDevice {
  const [found] = gpusState([deviceJson(changes)]).devices;
  if (found === undefined) {
    throw new Error('there is one');
  }
  return found;
}

function usage(allocated: number, reserved: number, uuid = 'GPU-aaaa'): IUsage {
  const devices = [{ uuid, index: 0, allocated, reserved, peak: reserved, context: GIB }];
  return { pid: 100, host: 'here', devices };
}

const bytes = (one: IGpuDevice, id: string, own?: IUsage): Record<string, number> =>
  Object.fromEntries(
    deviceParts(one, { id, usage: own }).map(part => [part.key, part.bytes / GIB])
  );

describe('the parts of a device', () => {
  it('split this notebook, and name the others', () => {
    expect(bytes(device(), 'id-train', usage(5 * GIB, 6 * GIB))).toEqual({
      tensors: 5,
      cache: 1,
      context: 1,
      'kernel:id-eval': 3,
      others: 2,
      driver: 1,
      free: 11
    });
  });

  it('show this notebook as one where its kernel says nothing, or not of this device', () => {
    const whole = { notebook: 7, 'kernel:id-eval': 3, others: 2, driver: 1, free: 11 };
    expect(bytes(device(), 'id-train')).toEqual(whole);
    expect(bytes(device(), 'id-train', usage(GIB, GIB, 'GPU-bbbb'))).toEqual(whole);
  });

  it('know a UUID with and without its prefix', () => {
    expect(bytes(device(), 'id-train', usage(GIB, GIB, 'AAAA'))).toHaveProperty('tensors', 1);
  });

  it('take the kernel at its word where the driver tells no sizes', () => {
    const one = device({ processes: [kernelJson('train', 100, 0)] });
    expect(bytes(one, 'id-train', usage(5 * GIB, 6 * GIB))).toEqual({
      tensors: 5,
      cache: 1,
      context: 1,
      unlisted: 5,
      driver: 1,
      free: 11
    });
  });

  it('say what no listed process has', () => {
    const one = device({ processes: [processJson({ bytes: 4 * GIB })] });
    expect(bytes(one, 'id-none')).toMatchObject({ others: 4, unlisted: 8 });
  });

  it('sum to the device, whatever driver and kernel say', () => {
    const random = seeded(7);
    const size = (most: number): number => Math.floor(random() * most * GIB);
    for (let round = 0; round < 300; round++) {
      const used = size(24);
      const reserved = random() < 0.5 ? null : size(2);
      const one = device({
        used,
        free: Math.max(0, 24 * GIB - used - (reserved ?? 0)),
        reserved,
        processes: [
          kernelJson('train', 100, size(30)),
          kernelJson('eval', 200, size(5)),
          processJson({ bytes: random() < 0.3 ? null : size(9) })
        ]
      });
      const own = random() < 0.5 ? usage(size(4), size(12)) : undefined;
      const parts = deviceParts(one, { id: 'id-train', usage: own });
      expect(parts.every(part => part.bytes > 0)).toBe(true);
      expect(new Set(parts.map(part => part.key)).size).toBe(parts.length);
      expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(24 * GIB);
    }
  });

  it('of a real H200 split the notebook exactly as the driver counts it, children apart', () => {
    const state = decodeGpus(live.state);
    const own = decodeUsage(live.usage);
    const [first] = state.devices;
    const kernel = first?.processes.find(({ pid }) => pid === own.pid)?.kernel;
    const parts = first && kernel ? deviceParts(first, { id: kernel.id, usage: own }) : [];
    const sizes = Object.fromEntries(parts.map(part => [part.kind, part.bytes]));
    expect(sizes).toMatchObject({ tensors: 2 ** 31, children: 1_616_904_192 });
    expect(sizes.context).toBe(2_711_617_536 - 2 ** 31);
    expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(first?.total);
  });
});
