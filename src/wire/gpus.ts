// What the server half tells of the devices, `memtrack.gpus/1`, and what a kernel tells of its own
// memory, `memtrack.usage/1`. Bytes are integers; undefined is what nobody told.
import type { Text } from './report';

/** What kind of trouble a driver has; an id that is not known here is `unknown`. */
export const STATUS_IDS = [
  'ok',
  'no_driver',
  'library_missing',
  'version_mismatch',
  'wsl_blocked',
  'permission',
  'no_devices',
  'container',
  'lost',
  'unknown'
] as const;

export type StatusId = (typeof STATUS_IDS)[number];

/** How a driver or a device is, with the way out where it is not well. */
export interface IStatus {
  readonly id: StatusId;
  readonly message: Text;
  readonly advice: Text;
  /** The driver's own words. */
  readonly detail: string;
}

/** A kernel of this server; `lastActivity` in ms since 1970. */
export interface IKernelFact {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly type: string;
  readonly state: string;
  readonly lastActivity: number | undefined;
}

/** A process that holds memory of a device. */
export interface IGpuProcess {
  readonly pid: number;
  readonly bytes: number | undefined;
  readonly command: string | undefined;
  readonly user: string | undefined;
  /** In seconds since 1970. */
  readonly started: number | undefined;
  readonly state: string;
  /** Whether it belongs to the user of the server. */
  readonly isMine: boolean;
  readonly kernel: IKernelFact | undefined;
  /** What ends it in a terminal; undefined where that would be wrong or is not ours to say. */
  readonly endCommand: string | undefined;
  /** Why it may be ended or may not. */
  readonly endWhy: Text | undefined;
  /** The notebook of a kernel of another server. */
  readonly notebook: string | undefined;
}

/** A device or a MIG instance, whose `parent` is the UUID of its device. */
export interface IGpuDevice {
  readonly uuid: string;
  readonly index: number;
  readonly name: string;
  readonly kind: string;
  readonly total: number;
  readonly used: number;
  readonly free: number;
  /** By the driver itself, neither used nor free. */
  readonly reserved: number | undefined;
  /** Percent of the time in which something ran. */
  readonly utilisation: number | undefined;
  readonly bandwidth: number | undefined;
  readonly temperatureC: number | undefined;
  readonly powerW: number | undefined;
  readonly powerLimitW: number | undefined;
  readonly flags: readonly string[];
  readonly parent: string | undefined;
  readonly status: IStatus | undefined;
  /** Whether the driver lists processes of this device at all. */
  readonly listsProcesses: boolean;
  readonly processes: readonly IGpuProcess[];
}

/** The devices at one moment, `time` in ms since 1970. */
export interface IGpuState {
  readonly time: number;
  readonly sequence: number;
  readonly intervalMs: number;
  /** Kernels run on another computer: these devices are not theirs. */
  readonly hasRemoteKernels: boolean;
  readonly status: IStatus;
  readonly devices: readonly IGpuDevice[];
}

/** What a kernel's process has on one device; `context` is what is neither tensor nor cache. */
export interface IDeviceUsage {
  readonly uuid: string;
  readonly index: number;
  readonly allocated: number;
  readonly reserved: number;
  readonly peak: number;
  readonly context: number | undefined;
}

/** What a kernel tells of its own memory. */
export interface IUsage {
  readonly pid: number;
  readonly host: string;
  readonly devices: readonly IDeviceUsage[];
}
