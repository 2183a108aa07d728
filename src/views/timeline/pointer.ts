// The pointer over the chart: pointing lists, clicking pins, dragging zooms, twice shows the whole.
import type { TimelineState } from './state';

/** What the pointer acts on. Pixels count from the left edge of the surface. */
export interface IPointerTarget {
  readonly state: () => TimelineState | undefined;
  readonly cutAt: (xPx: number) => number;
  readonly nearestPoint: (xPx: number) => number | undefined;
  readonly chosen: () => void;
}

// Less than this is a click by an unsteady hand.
const DRAG_PX = 5;

/** Listens to the pointer on `surface`; `band` shows what is being dragged over. */
export class PointerControl {
  private _startPx: number | undefined;

  constructor(
    private readonly _surface: HTMLElement,
    private readonly _band: HTMLElement,
    private readonly _target: IPointerTarget
  ) {
    _surface.addEventListener('pointermove', event => this._move(event));
    _surface.addEventListener('pointerleave', () => this._target.state()?.point(undefined));
    _surface.addEventListener('pointerdown', event => this._down(event));
    _surface.addEventListener('pointerup', event => this._up(event));
    _surface.addEventListener('pointercancel', () => this._stop());
    _surface.addEventListener('dblclick', () => this._target.state()?.showWhole());
  }

  private _xPx(event: PointerEvent): number {
    const { left, width } = this._surface.getBoundingClientRect();
    return Math.min(Math.max(0, event.clientX - left), width);
  }

  private _down(event: PointerEvent): void {
    if (event.button === 0) {
      this._startPx = this._xPx(event);
      this._surface.setPointerCapture?.(event.pointerId);
    }
  }

  private _move(event: PointerEvent): void {
    const xPx = this._xPx(event);
    if (this._startPx !== undefined && this._isDrag(xPx, this._startPx)) {
      this._band.hidden = false;
      this._band.style.left = `${Math.min(xPx, this._startPx)}px`;
      this._band.style.width = `${Math.abs(xPx - this._startPx)}px`;
      return;
    }
    this._target.state()?.point(this._target.nearestPoint(xPx));
  }

  private _up(event: PointerEvent): void {
    const startPx = this._startPx;
    this._stop();
    const state = this._target.state();
    if (startPx === undefined || state === undefined) {
      return;
    }
    const xPx = this._xPx(event);
    if (this._isDrag(xPx, startPx)) {
      state.point(undefined);
      state.show(this._target.cutAt(startPx), this._target.cutAt(xPx));
      return;
    }
    const cut = this._target.nearestPoint(xPx);
    if (cut !== undefined) {
      state.pin(cut);
      this._target.chosen();
    }
  }

  private _stop(): void {
    this._startPx = undefined;
    this._band.hidden = true;
  }

  private _isDrag(xPx: number, startPx: number): boolean {
    return Math.abs(xPx - startPx) >= DRAG_PX;
  }
}
