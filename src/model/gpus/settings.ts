// What the reader chose in the settings of the GPU panel.

/** Columns of the list of processes besides the name, in the order they can be shown. */
export const PROCESS_COLUMNS = ['memory', 'age', 'activity', 'pid', 'user', 'command'] as const;

export type ProcessColumn = (typeof PROCESS_COLUMNS)[number];

/** How bytes are written: the unit that fits, or one for all. */
export const UNITS = ['auto', 'MiB', 'GiB'] as const;

export type Units = (typeof UNITS)[number];

/** The settings in force, as schema/gpu-panel.json describes them. */
export interface IGpuSettings {
  readonly intervalMs: number;
  readonly units: Units;
  /** Indices, UUIDs or parts of names; empty for every device. */
  readonly devices: readonly string[];
  readonly historyMinutes: number;
  readonly columns: readonly ProcessColumn[];
  readonly showsOthers: boolean;
  readonly hasStatusItem: boolean;
  /** A device that is used to this percentage is nearly full. */
  readonly fullPercent: number;
  /** A kernel that was idle for so long … */
  readonly idleMinutes: number;
  /** … and holds as much is worth a warning. */
  readonly idleBytes: number;
}

/** What holds where nobody chose. */
export const DEFAULT_GPU_SETTINGS: IGpuSettings = {
  intervalMs: 1000,
  units: 'auto',
  devices: [],
  historyMinutes: 5,
  columns: ['memory', 'age'],
  showsOthers: true,
  hasStatusItem: true,
  fullPercent: 90,
  idleMinutes: 60,
  idleBytes: 2 ** 30
};

/** Returns the settings in `composite`; what is missing or wrong is as nobody chose. */
export function gpuSettingsFrom(composite: Readonly<Record<string, unknown>>): IGpuSettings {
  const usual = DEFAULT_GPU_SETTINGS;
  const { units, devices, processColumns, otherUsers, statusItem } = composite;
  const within = (name: string, least: number, most: number, otherwise: number): number => {
    const value = composite[name];
    return typeof value === 'number' && Number.isFinite(value)
      ? Math.min(most, Math.max(least, value))
      : otherwise;
  };
  const gib = within('idleMemory', 0, 1024, usual.idleBytes / 2 ** 30);
  return {
    intervalMs: Math.round(1000 * within('interval', 0.25, 60, usual.intervalMs / 1000)),
    units: UNITS.find(unit => unit === units) ?? usual.units,
    devices: strings(devices).filter(text => text !== ''),
    historyMinutes: within('history', 1, 60, usual.historyMinutes),
    columns: Array.isArray(processColumns)
      ? strings(processColumns).flatMap(id => PROCESS_COLUMNS.filter(column => column === id))
      : usual.columns,
    showsOthers: typeof otherUsers === 'boolean' ? otherUsers : usual.showsOthers,
    hasStatusItem: typeof statusItem === 'boolean' ? statusItem : usual.hasStatusItem,
    fullPercent: within('fullThreshold', 1, 100, usual.fullPercent),
    idleMinutes: within('idleTime', 1, 100_000, usual.idleMinutes),
    idleBytes: Math.round(gib * 2 ** 30)
  };
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];
}
