// A picture of plotly's that is as wide as there is room, in the colours of the theme.
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import type { IFigure } from '../draw/figure';
import { FrameTask } from '../draw/frame';
import { watchWidth } from '../draw/sight';
import type { ITheme } from '../draw/theme';
import { readTheme, watchTheme } from '../draw/theme';
import { element } from './dom';

type PlotlyDoor = typeof import('../draw/plotly');

/** What a picture is drawn in. */
export interface ICanvas {
  readonly width: number;
  readonly height: number;
  readonly theme: ITheme;
}

/** What a chart is made with. */
export interface IChartOptions {
  readonly heightPx: number;
  readonly figure: (canvas: ICanvas) => IFigure;
  /** Said in place of a chart that cannot be loaded. */
  readonly failed: string;
}

/** Draws `figure` at most once a frame, whenever it, the room or the theme has changed. */
export class Chart extends Widget {
  private readonly _canvas = element('div', { role: 'img' });
  private readonly _task = new FrameTask(() => void this._draw());
  private _watches: readonly IDisposable[] = [];
  private _plotly: PlotlyDoor | undefined;

  constructor(private readonly _options: IChartOptions) {
    super();
    this.addClass('memtrack-Chart');
    this._canvas.style.height = `${_options.heightPx}px`;
    this.node.append(this._canvas);
  }

  /** What the picture shows, in a sentence. */
  set description(text: string) {
    this._canvas.setAttribute('aria-label', text);
  }

  /** Draw it again. */
  redraw(): void {
    this._task.request();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._unwatch();
      this._task.dispose();
      this._plotly?.purgeFigure(this._canvas);
      super.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    const draw = (): void => this.redraw();
    this._watches = [watchWidth(this._canvas, draw), watchTheme(draw)];
    draw();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.redraw();
  }

  protected override onBeforeDetach(message: Message): void {
    this._unwatch();
    super.onBeforeDetach(message);
  }

  private _unwatch(): void {
    this._watches.forEach(watch => watch.dispose());
    this._watches = [];
  }

  private async _draw(): Promise<void> {
    const width = this._canvas.clientWidth;
    if (width === 0) {
      return;
    }
    try {
      this._plotly ??= await import('../draw/plotly');
    } catch (error) {
      console.warn('memtrack could not load plotly.js.', error);
      this._canvas.textContent = this._options.failed;
      return;
    }
    if (!this.isDisposed && this.isAttached) {
      const canvas = { width, height: this._options.heightPx, theme: readTheme(this._canvas) };
      await this._plotly.drawFigure(this._canvas, this._options.figure(canvas));
    }
  }
}
