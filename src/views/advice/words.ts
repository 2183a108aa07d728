// The words of advice that are not in its payload.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, formatPercent } from '../../base/bytes';
import type { IAdvice, IAdvisedRemedy } from '../../wire';
import type { AdviceEvidence, CostClass } from '../../wire/advice';

/** Returns how much longer a step takes, in classes. */
export function timeWord(cost: CostClass, trans: TranslationBundle): string {
  switch (cost) {
    case 'none':
      return trans.__('no slower');
    case 'low':
      return trans.__('up to 10 % slower');
    case 'medium':
      return trans.__('10–50 % slower');
    case 'high':
      return trans.__('more than 50 % slower');
  }
}

/** Returns in a word how a figure came about. */
export function evidenceWord(evidence: AdviceEvidence, trans: TranslationBundle): string {
  switch (evidence) {
    case 'measured':
      return trans.__('measured');
    case 'predicted':
      return trans.__('predicted');
    case 'simulated':
      return trans.__('simulated');
    case 'estimated':
      return trans.__('estimated');
    case 'unknown':
      return trans.__('not known');
  }
}

/** Returns in a sentence how a figure came about. */
export function evidenceSentence(evidence: AdviceEvidence, trans: TranslationBundle): string {
  switch (evidence) {
    case 'measured':
      return trans.__('Measured: the run was made with it.');
    case 'predicted':
      return trans.__('Predicted: the program was run again with it, without data.');
    case 'simulated':
      return trans.__('Simulated: the events of this run were changed and run again.');
    case 'estimated':
      return trans.__('Estimated: some sizes had to be assumed.');
    case 'unknown':
      return trans.__('No figure is known.');
  }
}

/** Returns the answer: the peak as it is and, with a budget, whether it fits. */
export function headlineOf(advice: IAdvice, trans: TranslationBundle): string {
  const peak = formatBytes(advice.peak);
  if (advice.budget === undefined) {
    return trans.__('Peak %1: what would lower it', peak);
  }
  const budget = formatBytes(advice.budget);
  return fitsAsItIs(advice)
    ? trans.__('Peak %1: it fits into %2 as it is', peak, budget)
    : trans.__('Peak %1: it does not fit into %2', peak, budget);
}

/** Whether the run is within the budget as it is: what the allocator takes counts. */
export function fitsAsItIs({ budget, peak, reserved }: IAdvice): boolean {
  return budget === undefined || Math.max(peak, reserved ?? 0) <= budget;
}

/** Returns a new peak as a figure, with its interval where it is one. */
export function intervalWord(
  { low, high }: IAdvisedRemedy,
  trans: TranslationBundle
): string | undefined {
  return low === undefined || high === undefined || low === high
    ? undefined
    : trans.__('The new peak lies between %1 and %2.', formatBytes(low), formatBytes(high));
}

/** Returns a saving with its share of the peak: `-2.10 GiB`, `-24 %`; plus where more is needed. */
export function savingWords(saving: number, peak: number): readonly [string, string] {
  const sign = saving > 0 ? '-' : saving < 0 ? '+' : '±';
  const size = Math.abs(saving);
  return [`${sign}${formatBytes(size)}`, `${sign}${formatPercent(size, peak)}`];
}
