// A made state of the devices, and the JSON it comes from, with one thing or another changed.
import { decodeGpus } from '../decodegpus';
import type { IGpuState } from '../gpus';

type Json = Record<string, unknown>;

export const GIB = 2 ** 30;
/** The time of the state, in seconds since 1970. */
export const NOW_S = 1_796_000_000;

/** The JSON of a process of the user's that is no kernel. */
export function processJson(changes: Json = {}): Json {
  return {
    pid: 4121,
    bytes: 2 * GIB,
    command: '/usr/bin/python train.py',
    user: 'ada',
    started: NOW_S - 7200,
    state: 'running',
    mine: true,
    kernel: null,
    end_command: 'kill -TERM 4121',
    ...changes
  };
}

/** The JSON of a process that is the kernel of a notebook. */
export function kernelJson(name: string, pid: number, bytes: number, changes: Json = {}): Json {
  return processJson({
    pid,
    bytes,
    end_command: null,
    kernel: {
      id: `id-${name}`,
      path: `work/${name}.ipynb`,
      name: `${name}.ipynb`,
      type: 'notebook',
      state: 'idle',
      last_activity: new Date(1000 * NOW_S - 60_000).toISOString(),
      ...changes
    }
  });
}

/** The JSON of a device of 24 GiB on which 12 are used, by two notebooks and a program. */
export function deviceJson(changes: Json = {}): Json {
  return {
    uuid: 'GPU-aaaa',
    index: 0,
    name: 'NVIDIA RTX 4090',
    kind: 'cuda',
    total: 24 * GIB,
    used: 12 * GIB,
    free: 11 * GIB,
    reserved: GIB,
    utilisation: 78,
    bandwidth: 30,
    temperature_c: 61,
    power_w: 310,
    power_limit_w: 450,
    flags: [],
    parent: null,
    status: null,
    lists_processes: true,
    processes: [kernelJson('train', 100, 7 * GIB), kernelJson('eval', 200, 3 * GIB), processJson()],
    ...changes
  };
}

/** The JSON of a state with these devices. */
export function gpusJson(devices: readonly Json[] = [deviceJson()], changes: Json = {}): Json {
  return {
    schema: 'memtrack.gpus/1',
    time: NOW_S,
    sequence: 1,
    interval_ms: 1000,
    kernels: 'local',
    status: { id: 'ok', message: { en: 'The driver answers.' }, advice: { en: '' }, detail: '' },
    devices,
    ...changes
  };
}

/** The state of `gpusJson`, decoded. */
export function gpusState(devices?: readonly Json[], changes?: Json): IGpuState {
  return decodeGpus(gpusJson(devices, changes));
}
