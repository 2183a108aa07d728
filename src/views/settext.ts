// Text that is written again and again: the page hears of it only when it is another.

/** Gives `node` the text, unless it has it already. */
export function setText(node: Element | undefined, text: string): void {
  if (node !== undefined && node.textContent !== text) {
    node.textContent = text;
  }
}
