// JSON of the server half and of kernels to checked values. Fields that a newer version adds are let
// pass; a wrong one is a `WireError` that names its place.
import { decodeText } from './decodeanswers';
import { Fields, asString } from './fields';
import type {
  IDeviceUsage,
  IGpuDevice,
  IGpuProcess,
  IGpuState,
  IKernelFact,
  IStatus,
  IUsage
} from './gpus';
import { STATUS_IDS } from './gpus';
import type { Text } from './report';

/** The names and major versions this code reads. */
const GPUS_SCHEMA = 'memtrack.gpus/1';
const USAGE_SCHEMA = 'memtrack.usage/1';

/** Decodes the state of the devices. */
export function decodeGpus(json: unknown): IGpuState {
  const fields = Fields.of(json, '');
  fields.checkSchema(GPUS_SCHEMA);
  return {
    time: 1000 * fields.number('time'),
    sequence: fields.integer('sequence', 0),
    intervalMs: fields.integer('interval_ms', 1),
    hasRemoteKernels: fields.value('kernels') === 'remote',
    status: decodeStatus(fields.fields('status')),
    devices: fields.list('devices', decodeDevice)
  };
}

/** Decodes what a kernel says of its memory. */
export function decodeUsage(json: unknown): IUsage {
  const fields = Fields.of(json, '');
  fields.checkSchema(USAGE_SCHEMA);
  return {
    pid: fields.integer('pid', 0),
    host: optional(fields, 'host', key => fields.string(key)) ?? '',
    devices: fields.list('devices', decodeDeviceUsage)
  };
}

function decodeDevice(value: unknown, where: string): IGpuDevice {
  const fields = Fields.of(value, where);
  return {
    uuid: fields.string('uuid'),
    index: fields.integer('index', 0),
    name: fields.string('name'),
    kind: fields.string('kind'),
    total: fields.integer('total', 0),
    used: fields.integer('used', 0),
    free: fields.integer('free', 0),
    reserved: integer(fields, 'reserved'),
    utilisation: percent(fields, 'utilisation'),
    bandwidth: percent(fields, 'bandwidth'),
    temperatureC: number(fields, 'temperature_c'),
    powerW: number(fields, 'power_w'),
    powerLimitW: number(fields, 'power_limit_w'),
    flags: fields.has('flags') ? fields.list('flags', asString) : [],
    parent: string(fields, 'parent'),
    status: optional(fields, 'status', key => decodeStatus(fields.fields(key))),
    listsProcesses: fields.value('lists_processes') !== false,
    processes: fields.list('processes', decodeProcess)
  };
}

function decodeProcess(value: unknown, where: string): IGpuProcess {
  const fields = Fields.of(value, where);
  return {
    pid: fields.integer('pid', 0),
    bytes: integer(fields, 'bytes'),
    command: string(fields, 'command'),
    user: string(fields, 'user'),
    started: number(fields, 'started'),
    state: string(fields, 'state') ?? 'running',
    isMine: fields.value('mine') === true,
    kernel: optional(fields, 'kernel', key => decodeKernel(fields.fields(key))),
    endCommand: string(fields, 'end_command'),
    endWhy: sentence(fields, 'end_why'),
    notebook: string(fields, 'notebook')
  };
}

function decodeKernel(fields: Fields): IKernelFact {
  const last = Date.parse(string(fields, 'last_activity') ?? '');
  return {
    id: fields.string('id'),
    path: string(fields, 'path') ?? '',
    name: string(fields, 'name') ?? '',
    type: string(fields, 'type') ?? '',
    state: string(fields, 'state') ?? 'unknown',
    lastActivity: Number.isNaN(last) ? undefined : last
  };
}

function decodeStatus(fields: Fields): IStatus {
  const id = fields.string('id');
  return {
    id: STATUS_IDS.find(known => known === id) ?? 'unknown',
    message: sentence(fields, 'message') ?? { en: id },
    advice: sentence(fields, 'advice') ?? { en: '' },
    detail: string(fields, 'detail') ?? ''
  };
}

function decodeDeviceUsage(value: unknown, where: string): IDeviceUsage {
  const fields = Fields.of(value, where);
  return {
    uuid: string(fields, 'uuid') ?? '',
    index: fields.integer('index', 0),
    allocated: fields.integer('allocated', 0),
    reserved: fields.integer('reserved', 0),
    peak: integer(fields, 'peak') ?? 0,
    context: integer(fields, 'context')
  };
}

function optional<T>(fields: Fields, key: string, read: (key: string) => T): T | undefined {
  return fields.has(key) ? read(key) : undefined;
}

function string(fields: Fields, key: string): string | undefined {
  return optional(fields, key, () => fields.string(key));
}

function number(fields: Fields, key: string): number | undefined {
  return optional(fields, key, () => fields.number(key));
}

function integer(fields: Fields, key: string): number | undefined {
  return optional(fields, key, () => fields.integer(key, 0));
}

function sentence(fields: Fields, key: string): Text | undefined {
  return optional(fields, key, () => decodeText(fields.value(key), fields.placeOf(key)));
}

/** A percentage that a driver gives a little above 100 is 100. */
function percent(fields: Fields, key: string): number | undefined {
  return optional(fields, key, () => Math.min(100, Math.max(0, fields.number(key))));
}
