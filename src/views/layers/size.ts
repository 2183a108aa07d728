// When an element has been laid out in another size: an output may be attached long before it is
// painted, and the browser says so here where Lumino does not.
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

/** Calls `changed` when the size of `node` has changed, until disposed. */
export function watchSize(node: Element, changed: () => void): IDisposable {
  if (typeof ResizeObserver === 'undefined') {
    return new DisposableDelegate(() => undefined);
  }
  const observer = new ResizeObserver(() => changed());
  observer.observe(node);
  return new DisposableDelegate(() => observer.disconnect());
}
