// Whether a node can be seen and how wide it is, where the browser tells.
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

/** Call `changed` when `node` comes into or leaves sight (scrolling, other tabs), until disposed. */
export function watchSight(node: Element, changed: (isInSight: boolean) => void): IDisposable {
  let isNear = true;
  const tell = (): void => changed(isNear && document.visibilityState !== 'hidden');
  document.addEventListener('visibilitychange', tell);
  const observer =
    typeof IntersectionObserver === 'undefined'
      ? undefined
      : new IntersectionObserver(entries => {
          isNear = entries[entries.length - 1]?.isIntersecting ?? isNear;
          tell();
        });
  observer?.observe(node);
  return new DisposableDelegate(() => {
    document.removeEventListener('visibilitychange', tell);
    observer?.disconnect();
  });
}

/** Call `changed` with the inner width of `node` in pixels whenever it changes and is not 0. */
export function watchWidth(node: Element, changed: (widthPx: number) => void): IDisposable {
  let lastWidth = 0;
  const observer =
    typeof ResizeObserver === 'undefined'
      ? undefined
      : new ResizeObserver(entries => {
          const width = Math.floor(entries[entries.length - 1]?.contentRect.width ?? 0);
          if (width > 0 && width !== lastWidth) {
            lastWidth = width;
            changed(width);
          }
        });
  observer?.observe(node);
  return new DisposableDelegate(() => observer?.disconnect());
}
