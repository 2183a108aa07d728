// The peaks of phases as a table: a row a step, a column a kind of phase.
import { at } from '../base/assert';
import type { INestedPeaks, PhaseId } from '../wire';
import { PHASE_IDS, phaseId } from '../wire';

/** The most allocated in one phase of a step; `layer` is the row of the layer that holds most. */
export interface IPhasePeak {
  readonly bytes: number;
  readonly cut: number;
  readonly layer: number;
}

/** One step: the peak of each kind of phase it has, and which is its highest. */
export interface IPeakRow {
  readonly step: number;
  readonly phases: ReadonlyMap<PhaseId, IPhasePeak>;
  readonly highest: PhaseId;
}

/** Returns a row a step, in order. */
export function peakRows(peaks: INestedPeaks): readonly IPeakRow[] {
  const steps = new Map<number, Map<PhaseId, IPhasePeak>>();
  for (let row = 0; row < peaks.length; row++) {
    const step = at(peaks.step, row);
    const phases = steps.get(step) ?? new Map<PhaseId, IPhasePeak>();
    phases.set(phaseId(at(peaks.kind, row)), {
      bytes: at(peaks.bytes, row),
      cut: at(peaks.cut, row),
      layer: at(peaks.layer, row)
    });
    steps.set(step, phases);
  }
  return [...steps].map(([step, phases]) => ({ step, phases, highest: highestOf(phases) }));
}

/**
 * Returns the kinds of phases to tell, in their order. What lies between phases begins where one
 * ends, as high as that: it is told where it is the highest of a step by itself.
 */
export function peakKinds(rows: readonly IPeakRow[]): readonly PhaseId[] {
  return PHASE_IDS.filter(kind =>
    rows.some(row => row.phases.has(kind) && (kind !== 'other' || row.highest === kind))
  );
}

function highestOf(phases: ReadonlyMap<PhaseId, IPhasePeak>): PhaseId {
  // Phases touch: a peak at the border of two is not that of what lies between.
  const [first = ['other'] as const] = [...phases].sort(
    ([a, one], [b, other]) =>
      other.bytes - one.bytes ||
      Number(a === 'other') - Number(b === 'other') ||
      one.cut - other.cut
  );
  return first[0];
}
