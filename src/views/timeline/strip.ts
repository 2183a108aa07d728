// The strip of the whole run under the chart, with the window to drag and resize. Positions are
// shares of its width, so it needs no drawing when it is resized.
import type { TranslationBundle } from '@jupyterlab/translation';

import { BOX, stepArea } from '../../draw/path';
import { Scale } from '../../model/scale';
import { isWhole } from '../../model/window';
import { element, svgElement } from '../dom';
import { handleStripKey } from './keys';
import type { TimelineState } from './state';

type Grip = 'start' | 'end' | 'inside' | 'new';

const GRIP_PX = 8;

/** A strip of one timeline. */
export class Strip {
  readonly node: HTMLElement;
  private readonly _area = svgElement('path', { class: 'memtrack-Timeline-stripArea' });
  private readonly _window = element(
    'div',
    { class: 'memtrack-Timeline-window' },
    element('span', { class: 'memtrack-Timeline-grip' }),
    element('span', { class: 'memtrack-Timeline-grip' })
  );
  private _drawn: { readonly state: TimelineState; readonly axis: string } | undefined;
  private _drag:
    | { readonly grip: Grip; readonly cut: number; readonly start: number; readonly end: number }
    | undefined;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _state: () => TimelineState | undefined
  ) {
    const trans = _trans;
    const box = { viewBox: `0 0 ${BOX.width} ${BOX.height}`, preserveAspectRatio: 'none' };
    this.node = element(
      'div',
      {
        class: 'memtrack-Timeline-strip',
        role: 'slider',
        tabindex: '0',
        'aria-label': trans.__('Part of the run that is shown'),
        'aria-valuemin': '0',
        title: trans.__(
          'Drag to choose a part. Arrows move it, + and − zoom, Home shows all, P the peak.'
        )
      },
      svgElement('svg', { ...box, 'aria-hidden': 'true' }, this._area),
      this._window
    );
    this.node.addEventListener('keydown', event => this._key(event));
    this.node.addEventListener('pointerdown', event => this._down(event));
    this.node.addEventListener('pointermove', event => this._move(event));
    this.node.addEventListener('pointerup', () => (this._drag = undefined));
    this.node.addEventListener('pointercancel', () => (this._drag = undefined));
    this.node.addEventListener('dblclick', () => this._state()?.showWhole());
  }

  /** Bring the strip up to date; `whereText` tells a cut or a time. */
  update(whereText: (position: number) => string): void {
    const state = this._state();
    if (state === undefined) {
      return;
    }
    const scale = new Scale(state.whole, state.axis);
    const first = scale.positionOf(0);
    const last = Math.max(first + 1, scale.positionOf(state.whole.cuts));
    if (this._drawn?.state !== state || this._drawn.axis !== state.axis) {
      this._drawn = { state, axis: state.axis };
      const extent = { first, last, most: state.mostBytes };
      const { allocated } = state.whole.points;
      this._area.setAttribute('d', stepArea(scale.positions, allocated, extent));
    }
    const { start, end } = state.window;
    const [left, right] = [scale.positionOf(start), scale.positionOf(end)];
    this._window.style.left = `${(100 * (left - first)) / (last - first)}%`;
    this._window.style.right = `${(100 * (last - right)) / (last - first)}%`;
    const isAll = isWhole(state.window, state.whole.cuts);
    this.node.classList.toggle('memtrack-mod-whole', isAll);
    this.node.setAttribute('aria-valuemax', String(state.whole.cuts));
    this.node.setAttribute('aria-valuenow', String(start));
    const { _trans: trans } = this;
    this.node.setAttribute(
      'aria-valuetext',
      isAll ? trans.__('The whole run') : trans.__('%1 to %2', whereText(left), whereText(right))
    );
  }

  private _key(event: KeyboardEvent): void {
    const state = this._state();
    if (state !== undefined && handleStripKey(event, state)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  private _cutAt(event: PointerEvent, state: TimelineState): number {
    const { left, width } = this.node.getBoundingClientRect();
    const share = Math.min(Math.max(0, (event.clientX - left) / Math.max(1, width)), 1);
    const scale = new Scale(state.whole, state.axis);
    return Math.round(scale.cutAt(share * scale.positionOf(state.whole.cuts)));
  }

  private _gripAt(event: PointerEvent, state: TimelineState): Grip {
    if (isWhole(state.window, state.whole.cuts)) {
      return 'new';
    }
    const { left, right } = this._window.getBoundingClientRect();
    if (Math.abs(event.clientX - left) <= GRIP_PX) {
      return 'start';
    }
    if (Math.abs(event.clientX - right) <= GRIP_PX) {
      return 'end';
    }
    return event.clientX > left && event.clientX < right ? 'inside' : 'new';
  }

  private _down(event: PointerEvent): void {
    const state = this._state();
    if (state !== undefined && event.button === 0) {
      const cut = this._cutAt(event, state);
      this._drag = { grip: this._gripAt(event, state), cut, ...state.window };
      this.node.setPointerCapture?.(event.pointerId);
    }
  }

  private _move(event: PointerEvent): void {
    const state = this._state();
    const drag = this._drag;
    if (state === undefined || drag === undefined) {
      return;
    }
    const cut = this._cutAt(event, state);
    if (drag.grip === 'start') {
      state.show(Math.min(cut, drag.end), drag.end);
    } else if (drag.grip === 'end') {
      state.show(drag.start, Math.max(cut, drag.start));
    } else if (drag.grip === 'new') {
      state.show(drag.cut, cut);
    } else {
      state.moveTo(drag.start + cut - drag.cut);
    }
  }
}
