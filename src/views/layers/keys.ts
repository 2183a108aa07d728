// The keys of the grid, after the treegrid pattern of the ARIA Authoring Practices Guide, with the
// focus on whole rows.

/** What a key asks the grid to do. */
export type GridAction =
  | { readonly kind: 'move'; readonly lines: number; readonly isExtending: boolean }
  | { readonly kind: 'page'; readonly pages: 1 | -1; readonly isExtending: boolean }
  | { readonly kind: 'edge'; readonly edge: 'first' | 'last' }
  | { readonly kind: 'open' | 'close' | 'siblings' | 'choose' | 'toggle' | 'all' | 'none' }
  | { readonly kind: 'type'; readonly text: string };

/** Returns what `event` asks for; undefined when the key is not the grid's. */
export function gridAction(event: KeyboardEvent): GridAction | undefined {
  const { key, shiftKey } = event;
  if (event.altKey || event.isComposing) {
    return undefined;
  }
  if (event.ctrlKey || event.metaKey) {
    return withControl(key);
  }
  switch (key) {
    case 'ArrowDown':
      return { kind: 'move', lines: 1, isExtending: shiftKey };
    case 'ArrowUp':
      return { kind: 'move', lines: -1, isExtending: shiftKey };
    case 'PageDown':
      return { kind: 'page', pages: 1, isExtending: shiftKey };
    case 'PageUp':
      return { kind: 'page', pages: -1, isExtending: shiftKey };
    case 'Home':
      return { kind: 'edge', edge: 'first' };
    case 'End':
      return { kind: 'edge', edge: 'last' };
    case 'ArrowRight':
      return { kind: 'open' };
    case 'ArrowLeft':
      return { kind: 'close' };
    case '*':
      return { kind: 'siblings' };
    case 'Enter':
      return { kind: 'choose' };
    case 'Escape':
      return { kind: 'none' };
    default:
      return typed(key);
  }
}

function withControl(key: string): GridAction | undefined {
  switch (key) {
    case 'Home':
      return { kind: 'edge', edge: 'first' };
    case 'End':
      return { kind: 'edge', edge: 'last' };
    case 'a':
      return { kind: 'all' };
    case ' ':
      return { kind: 'toggle' };
    default:
      return undefined;
  }
}

function typed(key: string): GridAction | undefined {
  return [...key].length === 1 ? { kind: 'type', text: key } : undefined;
}

/** Collects what is typed quickly one after the other, to find a line by how it begins. */
export class TypeAhead {
  private _text = '';
  private _lastMs = -Infinity;

  constructor(private readonly _pauseMs = 700) {}

  /** Whether typing is under way, so that a space belongs to it. */
  isActive(nowMs: number): boolean {
    return this._text !== '' && nowMs - this._lastMs < this._pauseMs;
  }

  /**
   * Returns what to look for after `text` was typed at `nowMs`. The same letter again and again
   * looks for that letter, from one find to the next.
   */
  add(text: string, nowMs: number): { readonly prefix: string; readonly isNext: boolean } {
    this._text = this.isActive(nowMs) ? this._text + text : text;
    this._lastMs = nowMs;
    const letters = new Set(this._text.toLowerCase());
    const isRepeated = letters.size === 1;
    return { prefix: isRepeated ? text : this._text, isNext: isRepeated };
  }
}
