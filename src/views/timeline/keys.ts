// The keys of chart and strip.
import type { TimelineState } from './state';

const ZOOM = 0.5;

/** Keys that chart and strip share; returns whether `event` was one of them. */
function handleViewKey(event: KeyboardEvent, state: TimelineState): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return false;
  }
  switch (event.key) {
    case '+':
    case '=':
      state.zoom(ZOOM);
      return true;
    case '-':
    case '_':
      state.zoom(1 / ZOOM);
      return true;
    case 'Home':
      state.showWhole();
      return true;
    case 'p':
    case 'P':
      state.goToPeak();
      return true;
    case 'PageUp':
      state.pan(-0.9);
      return true;
    case 'PageDown':
      state.pan(0.9);
      return true;
    default:
      return false;
  }
}

/** Keys of the strip: arrows move the window. */
export function handleStripKey(event: KeyboardEvent, state: TimelineState): boolean {
  const share = event.shiftKey ? 0.5 : 0.1;
  switch (event.key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      state.pan(-share);
      return true;
    case 'ArrowRight':
    case 'ArrowUp':
      state.pan(share);
      return true;
    default:
      return handleViewKey(event, state);
  }
}

/** Keys of the chart: arrows move the cursor, Enter chooses the layer that runs there. */
export function handleChartKey(
  event: KeyboardEvent,
  state: TimelineState,
  choose: () => void
): boolean {
  const points = event.shiftKey ? 10 : 1;
  switch (event.key) {
    case 'ArrowLeft':
      state.step(-points);
      return true;
    case 'ArrowRight':
      state.step(points);
      return true;
    case 'Enter':
      state.pin(state.cut);
      choose();
      return true;
    default:
      return handleViewKey(event, state);
  }
}
