// How high a run reaches with a remedy, drawn against how high it reaches now.
import { formatBytes } from '../../base/bytes';
import type { AdviceEvidence } from '../../wire/advice';
import { element } from '../dom';

/** What all bars of one table share: its right end, and where the budget lies. */
export interface IBarScale {
  readonly top: number;
  readonly budget: number | undefined;
}

/** Returns a bar of `peak`, hatched where it is an estimate, its figure, and `rest` beside them. */
export function peakBar(
  peak: number,
  evidence: AdviceEvidence,
  scale: IBarScale,
  ...rest: readonly HTMLElement[]
): HTMLElement {
  const { top, budget } = scale;
  const over = budget !== undefined && peak > budget ? ' memtrack-mod-over' : '';
  const fill = element('span', {
    class: `memtrack-Advice-fill memtrack-mod-${evidence}${over}`
  });
  fill.style.width = `${(100 * peak) / Math.max(1, top)}%`;
  const marks: HTMLElement[] = [];
  if (budget !== undefined && budget < top) {
    const mark = element('span', { class: 'memtrack-Advice-budget' });
    mark.style.left = `${(100 * budget) / Math.max(1, top)}%`;
    marks.push(mark);
  }
  const figure = `${evidence === 'estimated' ? '~' : ''}${formatBytes(peak)}`;
  return element(
    'span',
    { class: 'memtrack-Advice-peak' },
    element('span', { class: 'memtrack-Advice-bar', 'aria-hidden': 'true' }, fill, ...marks),
    element('span', { class: 'memtrack-Advice-figure', title: `${peak} B` }, figure),
    ...rest
  );
}
