// What the chart has to show, as a scene to draw.
import type { TranslationBundle } from '@jupyterlab/translation';

import { at } from '../../base/assert';
import { formatBytes } from '../../base/bytes';
import { rememberLast } from '../../base/memo';
import type { IMoment, IScene, IWords } from '../../draw/scene';
import { textMeasure } from '../../draw/textwidth';
import type { ITheme } from '../../draw/theme';
import { phaseBands, stepBands } from '../../model/bands';
import { layerSeries } from '../../model/timeline';
import type { ILayerTree, IMarks, ITimeline } from '../../wire';
import { textAt } from '../../wire';
import type { TimelineState } from './state';

/** Makes the scenes of one view; the series of a chosen layer is kept while nothing else comes. */
export class SceneMaker {
  private readonly _layerOf = rememberLast(
    (timeline: ITimeline, tree: ILayerTree, row: number): IScene['layer'] => ({
      bytes: layerSeries(timeline, tree, row),
      label: textAt(tree.path, row)
    })
  );

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _words: IWords
  ) {}

  /** Returns the scene of `state` with the layer in row `chosen` (-1: none), sizes in pixels. */
  make(
    state: TimelineState,
    chosen: number,
    size: { readonly width: number; readonly height: number },
    theme: ITheme
  ): IScene {
    const { report, view, window, shown } = state;
    // Without steps there is one phase only: what lies between them.
    const phases = report.steps > 0 ? phaseBands(report.phases, window) : [];
    const label = this._trans.__('Peak %1', formatBytes(view.peak.bytes));
    const hasLayer = chosen >= 0 && chosen < report.layers.length;
    return {
      ...size,
      timeline: shown,
      scale: state.scale,
      window,
      mostBytes: state.mostBytes,
      phases,
      steps: stepBands(phases),
      marks: momentsOf(report.marks),
      peak: { cut: view.peak.cut, bytes: view.peak.bytes, label },
      layer: hasLayer ? this._layerOf(shown, report.layers, chosen) : undefined,
      theme,
      measure: textMeasure(`11px ${theme.fontFamily}`),
      words: this._words
    };
  }
}

function momentsOf(marks: IMarks): readonly IMoment[] {
  return marks.label.map((label, row) => ({ label, cut: at(marks.cut, row) }));
}
