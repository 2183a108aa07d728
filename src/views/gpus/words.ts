// The words of the panel that are not in what the server says.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatPercent } from '../../base/bytes';
import { bytesIn, spanOf } from '../../model/gpus/figures';
import type { IDevicePart, PartKind } from '../../model/gpus/parts';
import type { IProcessRow } from '../../model/gpus/rows';
import { fileName } from '../../model/gpus/rows';
import type { ProcessColumn, Units } from '../../model/gpus/settings';
import type { GpuWarning } from '../../model/gpus/warnings';
import type { IGpuDevice, IGpuProcess } from '../../wire/gpus';

/** Returns a span of time in its largest unit: `2 h`. */
export function spanText(seconds: number, trans: TranslationBundle): string {
  const { unit, count } = spanOf(seconds);
  switch (unit) {
    case 'second':
      return trans.__('%1 s', count);
    case 'minute':
      return trans.__('%1 min', count);
    case 'hour':
      return trans.__('%1 h', count);
    case 'day':
      return trans.__('%1 d', count);
  }
}

/** Returns the name of a kind of part; that of a notebook is its file. */
export function partKindName(kind: PartKind, trans: TranslationBundle): string {
  switch (kind) {
    case 'tensors':
      return trans.__('tensors');
    case 'cache':
      return trans.__('allocator cache');
    case 'context':
      return trans.__('CUDA context');
    case 'children':
      return trans.__('child processes');
    case 'notebook':
      return trans.__('this notebook');
    case 'kernel':
      return trans.__('other notebooks');
    case 'others':
      return trans.__('other processes');
    case 'unlisted':
      return trans.__('of no listed process');
    case 'driver':
      return trans.__('kept by the driver');
    case 'free':
      return trans.__('free');
  }
}

/** Returns what a part is called where it stands alone. */
export function partTitle(part: IDevicePart, device: IGpuDevice, trans: TranslationBundle): string {
  const process = device.processes.find(({ kernel }) => kernel?.id === part.kernelId);
  const kernel = part.kind === 'kernel' ? process?.kernel : undefined;
  if (kernel !== undefined) {
    return fileName(kernel.path) || kernel.name;
  }
  const name = partKindName(part.kind, trans);
  return ['tensors', 'cache', 'context', 'children'].includes(part.kind)
    ? trans.__('%1 of this notebook', name)
    : name;
}

/** Returns the heading of a column of the list of processes. */
export function columnName(column: ProcessColumn | 'name', trans: TranslationBundle): string {
  switch (column) {
    case 'name':
      return trans.__('Process');
    case 'memory':
      return trans.__('Memory');
    case 'age':
      return trans.__('Age');
    case 'activity':
      return trans.__('Idle for');
    case 'pid':
      return trans.__('PID');
    case 'user':
      return trans.__('User');
    case 'command':
      return trans.__('Command');
  }
}

/** Returns what a process is and does, in one line under its name. */
export function rowNote(row: IProcessRow, trans: TranslationBundle): string {
  const { kind, process, idleS } = row;
  const { kernel, state, user, isMine, notebook } = process;
  if (state === 'zombie' || state === 'gone') {
    return trans.__('has ended, yet the driver lists it');
  }
  if (kernel === undefined) {
    const whose =
      notebook !== undefined ? trans.__('kernel of another server') : trans.__('no session');
    return isMine ? whose : (user ?? trans.__('of another user'));
  }
  const doing = stateName(kernel.state, idleS, trans);
  return kind === 'current' ? trans.__('this notebook, %1', doing) : doing;
}

function stateName(state: string, idleS: number | undefined, trans: TranslationBundle): string {
  switch (state) {
    case 'idle':
      return idleS === undefined || idleS < 60
        ? trans.__('idle')
        : trans.__('idle for %1', spanText(idleS, trans));
    case 'busy':
      return trans.__('busy');
    case 'starting':
      return trans.__('starting');
    case 'dead':
      return trans.__('dead');
    default:
      return state;
  }
}

/** Returns the sentence of a warning. */
export function warningText(warning: GpuWarning, units: Units, trans: TranslationBundle): string {
  switch (warning.id) {
    case 'full':
      return trans.__(
        '%1 of the memory is in use: what is asked next may fail.',
        formatPercent(warning.percent, 100)
      );
    case 'flag':
      return flagText(warning.flag, trans);
    case 'unlisted':
      return trans.__(
        '%1 is in use, but by no process the driver lists: one in another container, or one that has ended badly. “nvidia-smi” and “fuser -v /dev/nvidia*” as administrator tell more.',
        bytesIn(units, warning.bytes)
      );
    case 'idle':
      return trans.__(
        '%1 has been idle for %2 and holds %3.',
        processName(warning.process),
        spanText(warning.seconds, trans),
        bytesIn(units, warning.bytes)
      );
    case 'sessionless':
      return trans.__(
        '%1 belongs to no open session: look whether it is still needed.',
        processName(warning.process)
      );
    case 'sessionlessMany':
      return trans.__(
        '%1 processes belong to no open session and hold %2: look whether they are still needed.',
        warning.count,
        bytesIn(units, warning.bytes)
      );
    case 'defunct':
      return trans.__(
        '%1 has ended, but the driver still counts its memory. What started it has to end as well.',
        processName(warning.process)
      );
  }
}

function flagText(flag: string, trans: TranslationBundle): string {
  switch (flag) {
    case 'throttle_thermal':
      return trans.__('Slowed down: it is too hot.');
    case 'power_cap':
      return trans.__('Slowed down: it has reached its power limit.');
    case 'power_brake':
      return trans.__('Slowed down: the power supply asks for it.');
    case 'throttle_hardware':
      return trans.__('Slowed down by the hardware: heat or power supply.');
    case 'ecc_uncorrected':
      return trans.__('Memory errors that could not be corrected: results may be wrong.');
    case 'row_remap_pending':
      return trans.__('Faulty memory will be replaced at the next reset of the GPU.');
    case 'row_remap_failed':
      return trans.__('Faulty memory could not be replaced: the GPU should be exchanged.');
    default:
      return flag;
  }
}

function processName({ pid, kernel, command, notebook }: IGpuProcess): string {
  const name = fileName(kernel?.path ?? notebook ?? '') || (command ?? '').split(/\s/)[0];
  return name ? `${fileName(name)} (${pid})` : `pid ${pid}`;
}
