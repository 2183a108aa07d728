// The chart of both runs, as wide as there is room, in the colours of the theme.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { formatBytes } from '../../base/bytes';
import { FrameTask } from '../../draw/frame';
import { watchWidth } from '../../draw/sight';
import { readTheme, watchTheme } from '../../draw/theme';
import { buildTwoLines } from '../../draw/twolines';
import type { IComparison } from '../../wire/comparison';
import { element } from '../dom';
import { sideName } from './words';

type PlotlyDoor = typeof import('../../draw/plotly');

const HEIGHT_PX = 260;

/** Memory of both runs over their steps on one axis. */
export class ComparedChart extends Widget {
  private readonly _canvas = element('div', { class: 'memtrack-Comparison-canvas' });
  private readonly _task = new FrameTask(() => void this._draw());
  private _watches: readonly IDisposable[] = [];
  private _plotly: PlotlyDoor | undefined;

  constructor(
    private readonly _comparison: IComparison,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('memtrack-Comparison-chart');
    const { a, b, peak } = _comparison;
    this._canvas.style.height = `${HEIGHT_PX}px`;
    this._canvas.setAttribute('role', 'img');
    this._canvas.setAttribute(
      'aria-label',
      _trans.__(
        'Memory over the steps: before up to %1, after up to %2',
        formatBytes(peak.before),
        formatBytes(peak.after)
      )
    );
    const key = (kind: string, text: string): HTMLElement =>
      element('span', { class: `memtrack-Comparison-key memtrack-mod-${kind}`, dir: 'auto' }, text);
    this.node.append(
      element(
        'div',
        { class: 'memtrack-Comparison-legend' },
        key('before', _trans.__('before: %1', sideName(a, _trans))),
        key('after', _trans.__('after: %1', sideName(b, _trans)))
      ),
      this._canvas
    );
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
    const draw = (): void => this._task.request();
    this._watches = [watchWidth(this._canvas, draw), watchTheme(draw)];
    draw();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._task.request();
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
      this._plotly ??= await import('../../draw/plotly');
    } catch (error) {
      console.warn('memtrack could not load plotly.js.', error);
      this._canvas.textContent = this._trans.__('The chart could not be loaded.');
      return;
    }
    if (this.isDisposed || !this.isAttached) {
      return;
    }
    const { lines } = this._comparison;
    const words = {
      before: this._trans.__('before'),
      after: this._trans.__('after'),
      bytes: formatBytes,
      axis: this._trans.__('steps')
    };
    const theme = readTheme(this._canvas);
    const scene = { width, height: HEIGHT_PX, theme, before: lines.a, after: lines.b, words };
    await this._plotly.drawFigure(this._canvas, buildTwoLines(scene));
  }
}
