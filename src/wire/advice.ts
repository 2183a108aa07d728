// Advice on a run as the views read it; the layout of the payload is in memtrack/reports/advicepayload.py.
import type { Text } from './report';

export const EVIDENCE = ['measured', 'predicted', 'simulated', 'estimated', 'unknown'] as const;
export const COST_CLASSES = ['none', 'low', 'medium', 'high'] as const;

/** How a figure came about. */
export type AdviceEvidence = (typeof EVIDENCE)[number];
/** What a remedy costs in time, in classes. */
export type CostClass = (typeof COST_CLASSES)[number];

/** One remedy for one run; figures in bytes, undefined where they cannot be known. */
export interface IAdvisedRemedy {
  readonly id: string;
  readonly title: Text;
  readonly applies: boolean;
  readonly why: Text;
  /** The peak as it is less the new one: negative where more is needed. */
  readonly saving: number | undefined;
  readonly peak: number | undefined;
  readonly low: number | undefined;
  readonly high: number | undefined;
  readonly reserved: number | undefined;
  readonly evidence: AdviceEvidence;
  readonly cost: Text;
  readonly costClass: CostClass;
  /** Place in the order of harm, least first; undefined where the payload does not tell. */
  readonly harm: number | undefined;
  readonly caveats: readonly Text[];
  /** Code to paste; its comments are in every language. */
  readonly code: Text;
}

/** Several remedies at once, mildest first, by their ids. */
export interface ICombination {
  readonly ids: readonly string[];
  readonly peak: number;
  readonly saving: number;
  readonly reserved: number | undefined;
  readonly fits: boolean;
}

/** What helps in a run. Remedies come ranked by what they save. */
export interface IAdvice {
  readonly budget: number | undefined;
  readonly peak: number;
  readonly reserved: number | undefined;
  readonly remedies: readonly IAdvisedRemedy[];
  readonly combinations: readonly ICombination[];
}
