// A part of a diagnosis under a heading of its own.
import { element } from '../dom';

/** Returns the part `id` with its heading; its name is that of the heading. */
export function section(
  id: string,
  title: string,
  ...content: readonly (Node | string)[]
): HTMLElement {
  const heading = element(
    'div',
    { class: 'memtrack-Diagnosis-title', role: 'heading', 'aria-level': '4' },
    title
  );
  return element(
    'section',
    { class: `memtrack-Diagnosis-section memtrack-mod-${id}` },
    heading,
    ...content
  );
}
