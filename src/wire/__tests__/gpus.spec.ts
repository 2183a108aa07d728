import live from '../../../bench/results/panel-live.json';
import { decodeGpus, decodeUsage } from '../decodegpus';
import { readFreeAnswer } from '../freed';
import { deviceJson, gpusJson, gpusState, kernelJson, processJson } from './gpusample';

describe('the state of the devices', () => {
  it('of two H200 is read as the server half sent it there', () => {
    const state = decodeGpus(live.state);
    expect(state.devices.map(({ name }) => name)).toEqual(['NVIDIA H200', 'NVIDIA H200']);
    for (const { total, used, free, reserved } of state.devices) {
      expect(used + free + (reserved ?? 0)).toBe(total);
    }
    expect(state.status.id).toBe('ok');
    expect(state.hasRemoteKernels).toBe(false);
  });

  it('leaves what is not known unknown, and never 0', () => {
    const process = processJson({ bytes: null, command: null, user: null, started: null });
    const device = deviceJson({
      utilisation: null,
      reserved: null,
      power_w: null,
      processes: [process]
    });
    const [found] = gpusState([device]).devices;
    expect(found).toMatchObject({ utilisation: undefined, reserved: undefined, powerW: undefined });
    expect(found?.processes[0]).toMatchObject({
      bytes: undefined,
      command: undefined,
      started: undefined
    });
  });

  it('reads when a kernel was last active', () => {
    const process = kernelJson('a', 1, 1, { last_activity: '2026-11-30T05:00:00+00:00' });
    const [found] = gpusState([deviceJson({ processes: [process] })]).devices;
    expect(found?.processes[0]?.kernel?.lastActivity).toBe(Date.UTC(2026, 10, 30, 5));
    const silent = kernelJson('a', 1, 1, { last_activity: '' });
    const [other] = gpusState([deviceJson({ processes: [silent] })]).devices;
    expect(other?.processes[0]?.kernel?.lastActivity).toBeUndefined();
  });

  it('takes members and states that a newer server adds', () => {
    const state = decodeGpus({
      ...gpusJson([deviceJson({ fan: 30 })], { schema: 'memtrack.gpus/1.4' }),
      status: { id: 'melted', message: { en: 'Too hot.' }, advice: { en: '' }, detail: '' }
    });
    expect(state.status.id).toBe('unknown');
    expect(state.status.message.en).toBe('Too hot.');
  });

  it.each([
    ['schema', gpusJson([], { schema: 'memtrack.gpus/2' })],
    ['devices[0].used', gpusJson([deviceJson({ used: -1 })])],
    ['devices[0].total', gpusJson([deviceJson({ total: '24' })])],
    [
      'devices[0].processes[0].pid',
      gpusJson([deviceJson({ processes: [processJson({ pid: 1.5 })] })])
    ],
    ['', 'text'],
    ['devices', gpusJson(undefined, { devices: {} })]
  ])('names the place of what is wrong: %s', (where, json) => {
    expect(() => decodeGpus(json)).toThrow(expect.objectContaining({ name: 'WireError', where }));
  });
});

describe('what a kernel says', () => {
  it('of its memory on an H200 is read', () => {
    const usage = decodeUsage(live.usage);
    expect(usage.devices).toHaveLength(live.usage.devices.length);
    expect(usage.devices[0]).toMatchObject({ allocated: 2 ** 31, reserved: 2 ** 31 });
  });

  it('was given back, or why not', () => {
    const devices = [
      { device: 'cuda:0', released: 5 },
      { device: 'cuda:1', released: 7 }
    ];
    expect(readFreeAnswer({ freed: { devices, text: 'freed' } })).toEqual({
      bytes: 12,
      text: 'freed'
    });
    expect(readFreeAnswer({ freed: null, refused: { en: 'busy' } })).toEqual({
      refused: { en: 'busy' }
    });
    expect(readFreeAnswer(live.usage)).toBeUndefined();
  });
});
