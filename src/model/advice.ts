// Remedies in groups and orders, as a reader wants them.
import type { IAdvice, IAdvisedRemedy } from '../wire';
import { COST_CLASSES } from '../wire/advice';

/** By bytes saved at the new peak, most first; or by harm, least first. */
export const ADVICE_ORDERS = ['saving', 'harm'] as const;
export type AdviceOrder = (typeof ADVICE_ORDERS)[number];

/** Remedies with a figure, those that apply without one, and those that do not apply. */
export interface IAdviceGroups {
  readonly helping: readonly IAdvisedRemedy[];
  readonly unknown: readonly IAdvisedRemedy[];
  readonly refused: readonly IAdvisedRemedy[];
}

/** Puts remedies into groups; `helping` in the chosen order, the payload's among equals. */
export function groupsOf({ remedies }: IAdvice, order: AdviceOrder): IAdviceGroups {
  const helping = remedies.filter(one => one.applies && one.peak !== undefined);
  return {
    helping: order === 'saving' ? helping : [...helping].sort((a, b) => harmOf(a) - harmOf(b)),
    unknown: remedies.filter(one => one.applies && one.peak === undefined),
    refused: remedies.filter(one => !one.applies)
  };
}

/** The place in the order of harm; by what it costs in time where no place is told. */
function harmOf({ harm, costClass }: IAdvisedRemedy): number {
  return harm ?? COST_CLASSES.indexOf(costClass);
}
