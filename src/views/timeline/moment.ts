// One line about the listed moment: when, what ran, how much.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import type { IWords } from '../../draw/scene';
import { kindOf } from '../../model/bands';
import { phaseAt, pointAt } from '../../model/timeline';
import { textAt } from '../../wire';
import type { TimelineState } from './state';

/** Returns the line for the moment that `state` lists. */
export function momentText(state: TimelineState, words: IWords, trans: TranslationBundle): string {
  const { points } = state.shown;
  if (points.length === 0) {
    return '';
  }
  const point = pointAt(state.shown, state.cut);
  const { phases, layers, steps } = state.report;
  const phase = steps > 0 ? phaseAt(phases, at(points.cut, point)) : -1;
  const layer = at(points.layer, point);
  const step = phase < 0 ? -1 : at(phases.step, phase);
  const when =
    state.axis === 'events'
      ? trans.__('event %1', words.count(at(points.cut, point)))
      : words.duration(at(points.timeNs, point));
  return [
    trans.__('%1 alive', formatBytes(at(points.allocated, point))),
    step < 0 ? '' : words.step(step),
    phase < 0 ? '' : words.phase(kindOf(phases, phase)),
    layer < 0 ? '' : textAt(layers.path, layer),
    when
  ]
    .filter(Boolean)
    .join(' · ');
}
