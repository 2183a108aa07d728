// A peak as a bar by category, to the scale of others beside it.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, formatPercent } from '../base/bytes';
import { CATEGORIES_DRAWN } from '../wire/codes';
import { element } from './dom';
import { categoryName } from './names';
import { cssName, paint, swatch } from './swatch';

/** A category and its bytes. */
export interface IPart {
  readonly id: string;
  readonly bytes: number;
}

/** Returns `parts` as a bar whose full width stands for `top` bytes; its name says all of it. */
export function partsBar(
  parts: readonly IPart[],
  top: number,
  trans: TranslationBundle
): HTMLElement {
  const shown = inDrawnOrder(parts.filter(({ bytes }) => bytes > 0));
  const whole = shown.reduce((sum, { bytes }) => sum + bytes, 0);
  const bar = element('div', { class: 'memtrack-PartsBar-bar' });
  bar.style.width = `${(100 * whole) / Math.max(top, 1)}%`;
  bar.append(...shown.map(part => segment(part, whole, trans)));
  const spoken = shown.map(({ id, bytes }) => `${categoryName(id, trans)} ${formatBytes(bytes)}`);
  return element(
    'div',
    {
      class: 'memtrack-PartsBar',
      role: 'img',
      'aria-label': trans.__('%1 in all: %2', formatBytes(whole), spoken.join(', '))
    },
    bar
  );
}

/** Returns what the colours of `parts` stand for; `more` is said after them. */
export function partsLegend(
  parts: readonly { readonly id: string }[],
  trans: TranslationBundle,
  ...more: readonly HTMLElement[]
): HTMLElement {
  const keys = inDrawnOrder(parts).map(({ id }) =>
    element('span', {}, swatch(id), categoryName(id, trans))
  );
  return element('div', { class: 'memtrack-Keys' }, ...keys, ...more);
}

/** Returns `parts` in the order in which categories are drawn, where neighbours differ most in colour. */
function inDrawnOrder<T extends { readonly id: string }>(parts: readonly T[]): readonly T[] {
  const place = ({ id }: T): number => {
    const found = CATEGORIES_DRAWN.findIndex(category => category === id);
    return found < 0 ? CATEGORIES_DRAWN.length : found;
  };
  return [...parts].sort((a, b) => place(a) - place(b));
}

function segment({ id, bytes }: IPart, whole: number, trans: TranslationBundle): HTMLElement {
  const node = element('span', {
    class: `memtrack-PartsBar-part memtrack-mod-${cssName(id)}`,
    title: `${categoryName(id, trans)}: ${formatBytes(bytes)} (${formatPercent(bytes, whole)})`
  });
  node.style.flexGrow = String(bytes);
  return paint(node, id);
}
