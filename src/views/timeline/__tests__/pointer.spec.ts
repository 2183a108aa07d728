import { PointerControl } from '../pointer';
import type { TimelineState } from '../state';

describe('the pointer over the chart', () => {
  const state = {
    point: jest.fn(),
    pin: jest.fn(),
    show: jest.fn(),
    showWhole: jest.fn()
  };
  const chosen = jest.fn();
  let surface: HTMLElement;
  let band: HTMLElement;

  beforeEach(() => {
    jest.clearAllMocks();
    surface = document.createElement('div');
    band = document.createElement('div');
    band.hidden = true;
    surface.getBoundingClientRect = () => ({ left: 100, width: 500 }) as DOMRect;
    new PointerControl(surface, band, {
      state: () => state as unknown as TimelineState,
      cutAt: xPx => xPx * 2,
      nearestPoint: xPx => xPx,
      chosen
    });
  });

  function send(type: string, clientX: number): void {
    surface.dispatchEvent(new MouseEvent(type, { clientX, button: 0 }));
  }

  it('lists what is under it until it leaves', () => {
    send('pointermove', 150);
    expect(state.point).toHaveBeenLastCalledWith(50);
    send('pointerleave', 0);
    expect(state.point).toHaveBeenLastCalledWith(undefined);
  });

  it('pins and chooses with a click, also by an unsteady hand', () => {
    send('pointerdown', 150);
    send('pointermove', 152);
    send('pointerup', 152);
    expect(state.pin).toHaveBeenCalledWith(52);
    expect(chosen).toHaveBeenCalledTimes(1);
    expect(state.show).not.toHaveBeenCalled();
  });

  it('zooms into what is dragged over, shown meanwhile, within the chart', () => {
    send('pointerdown', 300);
    send('pointermove', 250);
    expect(band.hidden).toBe(false);
    expect(band.style.left).toBe('150px');
    expect(band.style.width).toBe('50px');
    send('pointerup', 50);
    expect(state.show).toHaveBeenCalledWith(400, 0);
    expect(band.hidden).toBe(true);
    expect(state.pin).not.toHaveBeenCalled();
  });

  it('shows the whole run with two clicks', () => {
    send('dblclick', 200);
    expect(state.showWhole).toHaveBeenCalledTimes(1);
  });
});
