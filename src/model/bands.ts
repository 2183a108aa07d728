// Phases and steps as bands on the screen: what is in sight, and what is wide enough to be told.
import { at } from '../base/assert';
import type { IPhases, PhaseId } from '../wire';
import { PHASE_IDS } from '../wire';
import { firstAtLeast } from './search';
import type { IWindow } from './window';

/** A stretch of cuts within the window; `row` is its first row of the phases. */
export interface IBand {
  readonly start: number;
  readonly end: number;
  readonly row: number;
  readonly step: number;
}

/** A phase within the window. */
export interface IPhaseBand extends IBand {
  readonly kind: PhaseId;
}

/** Returns the phases in sight, empty ones left out, cut off at the edges of `window`. */
export function phaseBands(phases: IPhases, window: IWindow): readonly IPhaseBand[] {
  const bands: IPhaseBand[] = [];
  for (let row = firstAtLeast(phases.end, window.start + 1); row < phases.length; row++) {
    const start = Math.max(window.start, at(phases.start, row));
    const end = Math.min(window.end, at(phases.end, row));
    if (start >= window.end) {
      break;
    }
    if (end > start) {
      bands.push({ start, end, row, step: at(phases.step, row), kind: kindOf(phases, row) });
    }
  }
  return bands;
}

/** Returns the steps in sight, each from its first phase to its last. */
export function stepBands(bands: readonly IPhaseBand[]): readonly IBand[] {
  const steps: IBand[] = [];
  for (const { start, end, row, step } of bands) {
    const last = steps[steps.length - 1];
    if (last?.step === step) {
      steps[steps.length - 1] = { ...last, end };
    } else {
      steps.push({ start, end, row, step });
    }
  }
  return steps.filter(band => band.step >= 0);
}

/** Returns what kind of phase `row` is. */
export function kindOf(phases: IPhases, row: number): PhaseId {
  return at(PHASE_IDS, at(phases.kind, row));
}
