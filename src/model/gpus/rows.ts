// The processes of a device as rows: whose they are, in which order, and who is left out.
import type { IGpuDevice, IGpuProcess } from '../../wire/gpus';
import type { ProcessColumn } from './settings';

/** `current`: the notebook in front; `kernel`: another kernel of this server; `foreign`: neither. */
export type RowKind = 'current' | 'kernel' | 'foreign';

/** One process in the list. */
export interface IProcessRow {
  readonly key: string;
  readonly kind: RowKind;
  readonly process: IGpuProcess;
  /** For how long it has run and, for a kernel, been idle, in seconds. */
  readonly ageS: number | undefined;
  readonly idleS: number | undefined;
}

/** How the list is sorted. */
export interface IProcessSort {
  readonly column: ProcessColumn | 'name';
  readonly isDescending: boolean;
}

/** The largest first, until the reader chooses. */
export const DEFAULT_SORT: IProcessSort = { column: 'memory', isDescending: true };

/** Returns the processes of `device` at `now` (ms), and without those of other users if they are left out. */
export function processRows(
  device: IGpuDevice,
  currentId: string | undefined,
  now: number,
  showsOthers: boolean
): readonly IProcessRow[] {
  return device.processes
    .filter(process => showsOthers || process.isMine)
    .map(process => ({
      key: `${process.pid}`,
      kind: kindOf(process, currentId),
      process,
      ageS: process.started === undefined ? undefined : Math.max(0, now / 1000 - process.started),
      idleS: idleSeconds(process, now)
    }));
}

/** Returns `rows` in order; what is not known comes last, however it is sorted. */
export function sortedRows(
  rows: readonly IProcessRow[],
  { column, isDescending }: IProcessSort
): readonly IProcessRow[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((left, right) => {
    const a = sortKey(left, column);
    const b = sortKey(right, column);
    if (a === undefined || b === undefined) {
      return Number(a === undefined) - Number(b === undefined) || byPid(left, right);
    }
    const order =
      typeof a === 'string' || typeof b === 'string'
        ? String(a).localeCompare(String(b), undefined, { numeric: true })
        : a - b;
    return sign * order || byPid(left, right);
  });
}

/** Returns the rows in the order of `keys`, those that are not among them at the end. */
export function heldRows(
  rows: readonly IProcessRow[],
  keys: readonly string[]
): readonly IProcessRow[] {
  const places = new Map(keys.map((key, index) => [key, index]));
  const place = ({ key }: IProcessRow): number => places.get(key) ?? keys.length;
  return [...rows].sort((left, right) => place(left) - place(right));
}

/** What is written first for a process: the file of a notebook, else a program. */
export function rowName({ process }: IProcessRow): string {
  const { kernel, notebook, command, pid } = process;
  if (kernel !== undefined) {
    return fileName(kernel.path) || kernel.name || kernel.id.slice(0, 8);
  }
  return fileName(notebook ?? '') || programOf(command ?? '') || `pid ${pid}`;
}

/** Returns the last part of a path; a console's path ends in its id, which tells nobody anything. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).pop() ?? '';
}

function programOf(command: string): string {
  return fileName(command.trim().split(/\s+/)[0] ?? '');
}

function kindOf({ kernel }: IGpuProcess, currentId: string | undefined): RowKind {
  if (kernel === undefined) {
    return 'foreign';
  }
  return kernel.id === currentId ? 'current' : 'kernel';
}

function idleSeconds({ kernel }: IGpuProcess, now: number): number | undefined {
  if (kernel?.state !== 'idle' || kernel.lastActivity === undefined) {
    return undefined;
  }
  return Math.max(0, (now - kernel.lastActivity) / 1000);
}

function sortKey(row: IProcessRow, column: IProcessSort['column']): number | string | undefined {
  switch (column) {
    case 'name':
      return rowName(row);
    case 'memory':
      return row.process.bytes;
    case 'age':
      return row.ageS;
    case 'activity':
      return row.idleS ?? (row.process.kernel === undefined ? undefined : 0);
    case 'pid':
      return row.process.pid;
    case 'user':
      return row.process.user;
    case 'command':
      return row.process.command;
  }
}

function byPid(left: IProcessRow, right: IProcessRow): number {
  return left.process.pid - right.process.pid;
}
