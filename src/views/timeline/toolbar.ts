// The buttons above the chart, and what the chart says of its resolution.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Axis } from '../../model/scale';
import { isWhole } from '../../model/window';
import { button, element } from '../dom';
import type { TimelineState } from './state';

/** The toolbar of one timeline. */
export class TimelineToolbar {
  readonly node: HTMLElement;
  private readonly _axes: Readonly<Record<Axis, HTMLButtonElement>>;
  private readonly _axisGroup: HTMLElement;
  private readonly _whole: HTMLButtonElement;
  private readonly _status = element('span', { class: 'memtrack-Timeline-status', role: 'status' });

  constructor(
    private readonly _trans: TranslationBundle,
    state: () => TimelineState | undefined,
    save: () => void
  ) {
    const trans = _trans;
    const tool = (text: string, title: string, act: (state: TimelineState) => void) =>
      button(
        // Who speaks to the page says what is written; signs are no words.
        { class: 'memtrack-Button', title, 'aria-label': /\p{L}/u.test(text) ? undefined : title },
        () => {
          const current = state();
          if (current !== undefined) {
            act(current);
          }
        },
        text
      );
    const axisTool = (axis: Axis, text: string, title: string) =>
      tool(text, title, current => (current.axis = axis));
    this._axes = {
      events: axisTool(
        'events',
        trans.__('Events'),
        trans.__('Every allocation and release takes the same width')
      ),
      time: axisTool('time', trans.__('Time'), trans.__('Widths are durations'))
    };
    const { events, time } = this._axes;
    this._axisGroup = element('span', { class: 'memtrack-Buttons' }, events, time);
    this._whole = tool(trans.__('Whole run'), trans.__('Show the whole run'), current =>
      current.showWhole()
    );
    this.node = element(
      'div',
      { class: 'memtrack-Toolbar', role: 'toolbar', 'aria-label': trans.__('Timeline') },
      this._axisGroup,
      element(
        'span',
        { class: 'memtrack-Buttons' },
        tool('−', trans.__('Zoom out'), current => current.zoom(2)),
        tool('+', trans.__('Zoom in'), current => current.zoom(0.5)),
        this._whole,
        tool(trans.__('Peak'), trans.__('Go to the peak'), current => current.goToPeak())
      ),
      this._status,
      button(
        { class: 'memtrack-Button', title: trans.__('Save the chart as a picture') },
        save,
        trans.__('PNG')
      )
    );
  }

  update(state: TimelineState): void {
    this._axisGroup.hidden = !state.hasTimes;
    for (const axis of ['events', 'time'] as const) {
      this._axes[axis].setAttribute('aria-pressed', String(state.axis === axis));
    }
    this._whole.disabled = isWhole(state.window, state.whole.cuts);
    this._status.textContent = this._statusText(state);
  }

  private _statusText(state: TimelineState): string {
    const trans = this._trans;
    if (state.isRefining) {
      return trans.__('Loading finer detail…');
    }
    const { bucketEvents } = state.shown;
    return bucketEvents > 1
      ? trans.__('Each point covers %1 events; every peak is kept', String(bucketEvents))
      : '';
  }
}
