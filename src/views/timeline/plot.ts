// The chart: plotly's picture, and over it the cursor and everything that pointer and keys do.
import type { IDisposable } from '@lumino/disposable';

import { at } from '../../base/assert';
import { buildFigure } from '../../draw/figure';
import { FrameTask } from '../../draw/frame';
import type { IScene } from '../../draw/scene';
import { Frame, MARGIN } from '../../draw/scene';
import { pointAt } from '../../model/timeline';
import { element } from '../dom';
import { PointerControl } from './pointer';
import type { TimelineState } from './state';

type PlotlyDoor = typeof import('../../draw/plotly');

/** What the chart asks of the view around it. */
export interface IPlotOptions {
  /** Returns what to draw at a width and height in pixels; undefined for nothing yet. */
  readonly scene: (width: number, height: number) => IScene | undefined;
  readonly state: () => TimelineState | undefined;
  /** The pinned moment was chosen with a click or Enter. */
  readonly chosen: () => void;
  readonly failed: () => string;
}

const HEIGHT_PX = 320;

/** A chart of one timeline; draws at most once a frame and only while it is shown. */
export class Plot implements IDisposable {
  readonly node: HTMLElement;
  /** Draws the picture. */
  readonly task = new FrameTask(() => void this._draw());
  private readonly _canvas = element('div', { class: 'memtrack-Timeline-canvas' });
  private readonly _cursor = element('div', { class: 'memtrack-Timeline-cursor' });
  private readonly _figure = element('div', { class: 'memtrack-Timeline-figure' });
  private readonly _band = element('div', { class: 'memtrack-Timeline-band' });
  private readonly _surface: HTMLElement;
  private _plotly: PlotlyDoor | undefined;
  private _frame: Frame | undefined;
  private _width = 0;
  private _isDisposed = false;

  constructor(private readonly _options: IPlotOptions) {
    this._surface = element(
      'div',
      { class: 'memtrack-Timeline-surface' },
      this._band,
      this._cursor,
      this._figure
    );
    this._surface.style.inset = `${MARGIN.top}px ${MARGIN.right}px ${MARGIN.bottom}px ${MARGIN.left}px`;
    this._band.hidden = this._cursor.hidden = this._figure.hidden = true;
    this._canvas.setAttribute('aria-hidden', 'true');
    this.node = element('div', { class: 'memtrack-Timeline-plot' }, this._canvas, this._surface);
    this.node.style.height = `${HEIGHT_PX}px`;
    new PointerControl(this._surface, this._band, {
      state: _options.state,
      cutAt: xPx => this._cutAt(xPx),
      nearestPoint: xPx => this._nearestPoint(xPx),
      chosen: _options.chosen
    });
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  set width(widthPx: number) {
    this._width = widthPx;
    this.task.request();
  }

  dispose(): void {
    this._isDisposed = true;
    this.task.dispose();
    this._plotly?.purgeFigure(this._canvas);
  }

  /** Offer the picture as a file. */
  async save(name: string): Promise<void> {
    await this._plotly?.savePicture(this._canvas, name);
  }

  /** Put the cursor on the moment that is listed. */
  moveCursor(bytesText: (bytes: number) => string): void {
    const state = this._options.state();
    const frame = this._frame;
    if (state === undefined || frame === undefined || state.shown.points.length === 0) {
      this._cursor.hidden = this._figure.hidden = true;
      return;
    }
    const xPx = frame.xPx(state.scale.positionOf(state.cut));
    const isInSight = xPx >= 0 && xPx <= frame.plotWidth;
    this._cursor.hidden = !isInSight;
    // The peak's figure is in the picture already.
    this._figure.hidden = !isInSight || state.cut === state.view.peak.cut;
    const bytes = at(state.shown.points.allocated, pointAt(state.shown, state.cut));
    this._cursor.style.transform = `translateX(${xPx}px)`;
    this._figure.textContent = bytesText(bytes);
    const isLeft = xPx > frame.plotWidth / 2;
    this._figure.classList.toggle('memtrack-mod-left', isLeft);
    this._figure.style.left = `${xPx}px`;
    this._figure.style.bottom = `${frame.yPx(bytes)}px`;
  }

  private async _draw(): Promise<void> {
    const scene = this._width > 0 ? this._options.scene(this._width, HEIGHT_PX) : undefined;
    if (scene === undefined) {
      return;
    }
    this._frame = new Frame(scene);
    this.moveCursor(scene.words.bytes);
    if (this._plotly === undefined) {
      await this._load();
      return;
    }
    await this._plotly.drawFigure(this._canvas, buildFigure(scene));
  }

  private async _load(): Promise<void> {
    this.node.classList.add('memtrack-mod-loading');
    try {
      const plotly = await import('../../draw/plotly');
      if (this._isDisposed) {
        return;
      }
      this._plotly = plotly;
      this.task.request();
    } catch (error) {
      console.warn('memtrack could not load plotly.js.', error);
      this._canvas.textContent = this._options.failed();
    }
    this.node.classList.remove('memtrack-mod-loading');
  }

  private _cutAt(xPx: number): number {
    const state = this._options.state();
    return state === undefined || this._frame === undefined
      ? 0
      : Math.round(state.scale.cutAt(this._frame.positionAt(xPx)));
  }

  private _nearestPoint(xPx: number): number | undefined {
    const state = this._options.state();
    if (state === undefined || this._frame === undefined || state.shown.points.length === 0) {
      return undefined;
    }
    return nearestCut(state, this._frame, xPx);
  }
}

// So close to the pointer a higher point is what was meant: peaks are narrow.
const REACH_PX = 3;

/** The cut of the point that holds at `xPx`, or of the highest one in reach. */
function nearestCut(state: TimelineState, frame: Frame, xPx: number): number {
  const { shown, scale } = state;
  const { cut, allocated } = shown.points;
  const pointUnder = (x: number): number =>
    pointAt(shown, scale.cutAt(frame.positionAt(Math.min(Math.max(0, x), frame.plotWidth))));
  let best = pointUnder(xPx);
  for (let point = pointUnder(xPx - REACH_PX) + 1; point <= pointUnder(xPx + REACH_PX); point++) {
    if (at(allocated, point) > at(allocated, best)) {
      best = point;
    }
  }
  return at(cut, best);
}
