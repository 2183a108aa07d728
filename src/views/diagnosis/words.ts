// The words of a diagnosis that are not in its payload.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatPercent } from '../../base/bytes';
import type { IPlace } from '../../wire/diagnosis';
import { phaseName } from '../names';

/** From this confidence on a cause is told as the reason; as in diagnosis/diagnosis.py. */
export const SURE = 0.6;

/** Below this confidence a cause is told as one of the less likely. */
export const POSSIBLE = 0.3;

/** Returns how sure a cause is, in words and as a figure: `very likely, 80 %`. */
export function confidenceText(confidence: number, trans: TranslationBundle): string {
  return trans.__('%1, %2', confidenceWord(confidence, trans), formatPercent(confidence, 1));
}

function confidenceWord(confidence: number, trans: TranslationBundle): string {
  if (confidence >= 0.9) {
    return trans.__('almost certain');
  }
  if (confidence >= 0.75) {
    return trans.__('very likely');
  }
  if (confidence >= SURE) {
    return trans.__('likely');
  }
  return confidence >= POSSIBLE ? trans.__('possible') : trans.__('less likely');
}

/** Returns where it happened, in parts that stand side by side: those that `headline` does not tell. */
export function placeParts(
  place: IPlace,
  headline: string,
  trans: TranslationBundle
): readonly string[] {
  // `other` is what lies between the phases: it says nothing of where.
  const phase = place.phase === 'other' ? '' : phaseName(place.phase, trans);
  const step = place.step > 0 ? trans.__('step %1', place.step) : '';
  return [phase, place.layer, step, place.site].filter(
    part => part !== '' && !headline.includes(part)
  );
}

/** The figures of a message in the order they are told, but for the request and what was free. */
export const NUMBER_IDS = [
  'total',
  'process',
  'allowed',
  'reserved',
  'allocated',
  'reserved_unallocated',
  'private_pools'
] as const;

/** Returns the name of a figure of the message. */
export function numberName(id: (typeof NUMBER_IDS)[number], trans: TranslationBundle): string {
  switch (id) {
    case 'total':
      return trans.__('the whole device');
    case 'process':
      return trans.__('in use by this process');
    case 'allowed':
      return trans.__('allowed to this process');
    case 'reserved':
      return trans.__('reserved by PyTorch');
    case 'allocated':
      return trans.__('allocated by PyTorch');
    case 'reserved_unallocated':
      return trans.__('reserved but not allocated');
    case 'private_pools':
      return trans.__('in private pools');
  }
}
