// How ranks, their states and their places are called, in the reader's language.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IRank, IRankPeak } from '../../wire/ranks';
import { deviceName } from '../ledger';
import { phaseName } from '../names';

/** Returns how a rank ended; a state that is not known by itself. */
export function stateName(state: string, trans: TranslationBundle): string {
  switch (state) {
    case 'complete':
      return trans.__('complete');
    case 'interrupted':
      return trans.__('interrupted');
    case 'failed':
      return trans.__('failed');
    case 'recording':
      return trans.__('no end');
    default:
      return state;
  }
}

/** Returns where the peak of a rank is: layer and phase. */
export function peakPlace({ layer, phase }: IRankPeak, trans: TranslationBundle): string {
  return [layer, phaseName(phase, trans)].filter(Boolean).join(' · ');
}

/** Returns the short name of the device of a rank, such as `cuda:1`; "" without one. */
export function devicePlace({ device }: IRank): string {
  return device === undefined
    ? ''
    : device.index < 0
      ? device.kind
      : `${device.kind}:${device.index}`;
}

/** Returns on what a rank ran: machine, device, process and file. */
export function rankFacts(rank: IRank, trans: TranslationBundle): string {
  const { device, host, pid, file } = rank;
  return [
    host,
    device === undefined ? '' : deviceName({ device }),
    pid < 0 ? '' : trans.__('process %1', String(pid)),
    file
  ]
    .filter(Boolean)
    .join(' · ');
}
