// Drawing at the pace of the screen: at most once a frame, and not at all while nobody can see it.
import type { IDisposable } from '@lumino/disposable';

/** Runs `draw` in the next frame after `request`, once however often it was asked for. */
export class FrameTask implements IDisposable {
  private _frame: number | undefined;
  private _isWaiting = false;
  private _isShown = true;
  private _isDisposed = false;

  constructor(private readonly _draw: () => void) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Draw in the next frame, or as soon as it can be seen. */
  request(): void {
    this._isWaiting = true;
    this._schedule();
  }

  /** Whether there is somebody to draw for; what was asked for meanwhile is drawn on return. */
  set isShown(isShown: boolean) {
    this._isShown = isShown;
    this._schedule();
  }

  get isShown(): boolean {
    return this._isShown;
  }

  dispose(): void {
    this._isDisposed = true;
    if (this._frame !== undefined) {
      cancelAnimationFrame(this._frame);
      this._frame = undefined;
    }
  }

  private _schedule(): void {
    if (!this._isWaiting || !this._isShown || this._isDisposed || this._frame !== undefined) {
      return;
    }
    this._frame = requestAnimationFrame(() => {
      this._frame = undefined;
      if (this._isShown) {
        this._isWaiting = false;
        this._draw();
      }
    });
  }
}
