// A device from zero to its total: whose its memory is, in parts that sum to it.
import type { IDeviceUsage, IGpuDevice, IUsage } from '../../wire/gpus';

/**
 * Kinds of parts: of this notebook `tensors`, `cache`, `context` and its `children`, or `notebook` in
 * one where its kernel tells nothing; a `kernel` of another notebook; `others` are processes that are no kernel
 * of this server; `unlisted` is used by nobody whom the driver lists; `driver` it keeps for itself.
 */
export type PartKind =
  | 'tensors'
  | 'cache'
  | 'context'
  | 'children'
  | 'notebook'
  | 'kernel'
  | 'others'
  | 'unlisted'
  | 'driver'
  | 'free';

/** A part of a device. `key` stays the same while it lives; `kernelId` is "" where it is no kernel. */
export interface IDevicePart {
  readonly key: string;
  readonly kind: PartKind;
  readonly bytes: number;
  readonly kernelId: string;
}

/** The kernel of the notebook in front, and what it says of its memory. */
export interface ICurrentKernel {
  readonly id: string;
  readonly usage: IUsage | undefined;
}

/** Returns the parts of `device`, none of them empty, in the order they are drawn. */
export function deviceParts(
  device: IGpuDevice,
  current: ICurrentKernel | undefined
): readonly IDevicePart[] {
  const parts: IDevicePart[] = [];
  let left = device.used;
  const add = (kind: PartKind, bytes: number, kernelId = ''): void => {
    // What processes are said to hold may be a moment newer than what is used: never more than that.
    const part = Math.min(Math.max(0, bytes), left);
    left -= part;
    if (part > 0) {
      parts.push({
        key: kernelId === '' ? kind : `${kind}:${kernelId}`,
        kind,
        bytes: part,
        kernelId
      });
    }
  };
  const kernels = bytesByKernel(device);
  if (current !== undefined) {
    for (const [kind, bytes] of ownParts(device, current, kernels.get(current.id))) {
      add(kind, bytes);
    }
  }
  for (const [id, bytes] of kernels) {
    if (id !== '' && id !== current?.id) {
      add('kernel', bytes, id);
    }
  }
  add('others', kernels.get('') ?? 0);
  add('unlisted', left);
  left = Math.max(0, device.total - device.used - device.free);
  add('driver', device.reserved ?? 0);
  const known = parts.reduce((sum, part) => sum + part.bytes, 0);
  left = Math.max(0, device.total - known);
  add('free', left);
  return parts;
}

/** Returns what `usage` says of `device`; undefined when it does not name it. */
export function usageOn(device: IGpuDevice, usage: IUsage | undefined): IDeviceUsage | undefined {
  const wanted = plainUuid(device.uuid);
  return usage?.devices.find(({ uuid, index }) =>
    uuid === '' ? index === device.index : plainUuid(uuid) === wanted
  );
}

/** NVML writes `GPU-` before a UUID, torch does not. */
function plainUuid(uuid: string): string {
  return uuid.replace(/^(GPU|MIG)-/i, '').toLowerCase();
}

function bytesByKernel(device: IGpuDevice): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { kernel, bytes } of device.processes) {
    const id = kernel?.id ?? '';
    sums.set(id, (sums.get(id) ?? 0) + (bytes ?? 0));
  }
  return sums;
}

/** The parts of this notebook's kernel, `bytes` of its processes as the driver counts them. */
function ownParts(
  device: IGpuDevice,
  current: ICurrentKernel,
  bytes: number | undefined
): readonly (readonly [PartKind, number])[] {
  const usage = usageOn(device, current.usage);
  if (usage === undefined) {
    return [['notebook', bytes ?? 0]];
  }
  const { allocated, reserved } = usage;
  const [context, children] = besideReserved(device, current, bytes ?? 0, usage);
  return [
    ['tensors', allocated],
    ['cache', reserved - allocated],
    ['context', context],
    ['children', children]
  ];
}

/** What the kernel's process has beside its allocator's memory, and what its child processes have. */
function besideReserved(
  device: IGpuDevice,
  current: ICurrentKernel,
  bytes: number,
  { reserved, context }: IDeviceUsage
): readonly [number, number] {
  const pid = current.usage?.pid;
  const process = device.processes.find(each => each.pid === pid && each.kernel?.id === current.id);
  // 0 is what a driver says that does not tell it.
  if (process?.bytes) {
    return [process.bytes - reserved, bytes - process.bytes];
  }
  // The driver knows the process by another number (containers) or not at all (Windows): the
  // kernel's own word counts.
  return context === undefined ? [bytes - reserved, 0] : [context, bytes - reserved - context];
}
