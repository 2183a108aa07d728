// What goes over the websocket between a page and its kernel.
import type { Page } from '@playwright/test';

/** When messages of one kind came, in milliseconds. */
export interface ITraffic {
  readonly times: readonly number[];
}

/** Notes when the kernel sends a message of ours of this type, on sockets opened from now on. */
export function listenFor(page: Page, type: 'tick' | 'window'): ITraffic {
  const times: number[] = [];
  // ipywidgets wraps what we send: {"method": "custom", "content": {"type": …}}.
  const sign = new RegExp(`"content": ?\\{"type": ?"${type}"`);
  page.on('websocket', socket =>
    socket.on('framereceived', ({ payload }) => {
      if (sign.test(payload.toString())) {
        times.push(Date.now());
      }
    })
  );
  return { times };
}

/** The most messages in any second. */
export function mostInASecond({ times }: ITraffic): number {
  return Math.max(
    0,
    ...times.map((start, index) => times.slice(index).filter(time => time < start + 1000).length)
  );
}
