// Elements in one expression.

/** Attributes of an element; undefined leaves one out. */
export type Attributes = Readonly<Record<string, string | undefined>>;

/** Returns a new element with `attributes` and `children`; strings become text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/** Returns a new SVG element with `attributes` and `children`. */
export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Node[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/** Returns a button with an action, not a submit button. */
export function button(
  attributes: Attributes,
  action: (event: MouseEvent) => void,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  const node = element('button', { type: 'button', ...attributes }, ...children);
  node.addEventListener('click', action);
  return node;
}

function setAttributes(node: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) {
      node.setAttribute(name, value);
    }
  }
}
