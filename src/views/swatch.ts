// The small square in the colour (and pattern) of a category or a part of a device.
import { colourVariable } from '../draw/theme';
import { element } from './dom';

/** Returns the swatch of `id`; what it stands for is written beside it. */
export function swatch(id: string): HTMLElement {
  return paint(element('span', { class: `memtrack-Swatch memtrack-mod-${cssName(id)}` }), id);
}

/** Gives `node` the colour of `id`, for the styles that paint with `--memtrack-part`. */
export function paint(node: HTMLElement, id: string): HTMLElement {
  node.style.setProperty('--memtrack-part', `var(${colourVariable(id)})`);
  return node;
}

/** Returns `id` as part of a class name. */
export function cssName(id: string): string {
  return id.replace(/[^a-zA-Z\d]+/g, '-');
}
