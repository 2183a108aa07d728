// Keys that belong to a view while it has the focus, and not to JupyterLab's shortcuts: in command
// mode a plain `d` pressed twice deletes the cell, whatever in its output has the focus.
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

const ATTRIBUTE = 'data-lm-suppress-shortcuts';

/**
 * Keeps from JupyterLab the keys pressed inside `node` for which `isOwn` holds, until disposed. Of
 * two that contain each other the one made later decides.
 *
 * Lumino handles keys while they travel down to the document and passes over a target with the
 * attribute; on its ancestors it would look too late, as shortcuts of the notebook match `:focus`.
 * On the window, which comes before, it is set for own keys and taken away for others, so that
 * saving with Ctrl+S still works.
 */
export function keepOwnKeys(
  node: HTMLElement,
  isOwn: (event: KeyboardEvent) => boolean
): IDisposable {
  const decide = (event: KeyboardEvent): void => {
    if (event.target instanceof Element && node.contains(event.target)) {
      event.target.toggleAttribute(ATTRIBUTE, isOwn(event));
    }
  };
  window.addEventListener('keydown', decide, true);
  return new DisposableDelegate(() => window.removeEventListener('keydown', decide, true));
}

/** Whether `event` is a key alone, which in an output is never meant for the notebook. */
export function isPlainKey(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, shiftKey, key } = event;
  // Shift+Enter runs the cell, wherever the focus is.
  return !ctrlKey && !metaKey && !altKey && !(shiftKey && key === 'Enter');
}
