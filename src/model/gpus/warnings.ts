// What of a device or its processes the reader should know of, and when.
import type { IGpuDevice, IGpuProcess } from '../../wire/gpus';
import type { IGpuSettings } from './settings';

/** A warning; `pid` names a process, `bytes` and `seconds` are its figures. */
export type GpuWarning =
  | { readonly id: 'full'; readonly percent: number }
  | { readonly id: 'flag'; readonly flag: string }
  | { readonly id: 'unlisted'; readonly bytes: number }
  | {
      readonly id: 'idle';
      readonly process: IGpuProcess;
      readonly bytes: number;
      readonly seconds: number;
    }
  | {
      readonly id: 'sessionless' | 'defunct';
      readonly process: IGpuProcess;
      readonly bytes: number | undefined;
    }
  | { readonly id: 'sessionlessMany'; readonly count: number; readonly bytes: number };

// More of one kind are told in one line, so that the list of processes stays in sight.
const MOST_LINES = 3;
// A driver counts some memory to no process even when all is well; from here on somebody holds it.
const UNLISTED_BYTES = 2 ** 30;
// Ended, and yet the driver lists it.
const DEFUNCT: readonly string[] = ['zombie', 'gone'];

/** Returns the warnings of `device`, one of `devices`, at `now` (ms), the most pressing first. */
export function warningsOf(
  device: IGpuDevice,
  devices: readonly IGpuDevice[],
  settings: IGpuSettings,
  now: number
): readonly GpuWarning[] {
  const usable = device.used + device.free;
  const percent = usable > 0 ? (100 * device.used) / usable : 0;
  return [
    ...device.flags.map(flag => ({ id: 'flag', flag }) as const),
    ...(percent >= settings.fullPercent ? [{ id: 'full', percent } as const] : []),
    ...together(device.processes.flatMap(process => ofProcess(process, settings, now))),
    ...(devices.some(({ parent }) => parent === device.uuid) ? [] : unlisted(device))
  ];
}

function together(warnings: readonly GpuWarning[]): readonly GpuWarning[] {
  const sizes = warnings.flatMap(each => (each.id === 'sessionless' ? [each.bytes ?? 0] : []));
  if (sizes.length <= MOST_LINES) {
    return warnings;
  }
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const rest = warnings.filter(({ id }) => id !== 'sessionless');
  return [...rest, { id: 'sessionlessMany', count: sizes.length, bytes }];
}

function ofProcess(
  process: IGpuProcess,
  settings: IGpuSettings,
  now: number
): readonly GpuWarning[] {
  const { kernel, bytes, state, isMine } = process;
  if (DEFUNCT.includes(state)) {
    return [{ id: 'defunct', process, bytes }];
  }
  if (kernel === undefined ? isMine : kernel.path === '' && kernel.type === '') {
    return [{ id: 'sessionless', process, bytes }];
  }
  const last = kernel?.state === 'idle' ? kernel.lastActivity : undefined;
  const seconds = last === undefined ? 0 : (now - last) / 1000;
  const isIdle = seconds >= 60 * settings.idleMinutes;
  return isIdle && bytes !== undefined && bytes >= settings.idleBytes
    ? [{ id: 'idle', process, bytes, seconds }]
    : [];
}

/** Memory in use that no listed process accounts for; the processes of a MIG device are with its instances. */
function unlisted(device: IGpuDevice): readonly GpuWarning[] {
  const { processes, listsProcesses, used, kind } = device;
  // A process of unknown size may hold all of it.
  if (!listsProcesses || kind === 'mps' || processes.some(({ bytes }) => bytes === undefined)) {
    return [];
  }
  const bytes = used - processes.reduce((sum, process) => sum + (process.bytes ?? 0), 0);
  return bytes >= UNLISTED_BYTES ? [{ id: 'unlisted', bytes }] : [];
}
