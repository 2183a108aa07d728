// A scene to the traces and layout of a plotly figure. Pure: plotly itself is not loaded here.
import type { Config, Data, Layout } from 'plotly.js';

import { at } from '../base/assert';
import { areasOf } from '../model/areas';
import { firstAtLeast, lastAtMost } from '../model/search';
import { byteTicks, roundTicks } from '../model/ticks';
import type { INumbers } from '../wire';
import { withAlpha } from './colour';
import { gridAxis, plainAxis, plainLayout } from './layout';
import { axisNotes, notesOf } from './notes';
import type { IScene } from './scene';
import { Frame, MARGIN, areaName } from './scene';
import { shapesOf } from './shapes';

/** What plotly draws. */
export interface IFigure {
  readonly data: Data[];
  readonly layout: Partial<Layout>;
}

/**
 * How plotly behaves: nothing leaves the page (the cloud button is on by default since version 4),
 * and pointer and keys are ours.
 */
export const FIGURE_CONFIG: Partial<Config> = {
  showSendToCloud: false,
  plotlyServerURL: '',
  displaylogo: false,
  displayModeBar: false,
  scrollZoom: false,
  doubleClick: false,
  responsive: false
};

/** Build the figure of `scene`. */
export function buildFigure(scene: IScene): IFigure {
  const frame = new Frame(scene);
  const slice = sliceOf(scene);
  return {
    data: [
      ...stackOf(scene, slice),
      allocatedOf(scene, slice),
      ...reservedOf(scene, slice),
      ...layerOf(scene, slice),
      peakOf(scene)
    ],
    layout: layoutOf(scene, frame)
  };
}

/** Rows of the points in sight, one more on each side. */
interface ISlice {
  readonly from: number;
  readonly to: number;
}

function sliceOf({ timeline, window }: IScene): ISlice {
  const { cut, length } = timeline.points;
  return {
    from: Math.max(0, lastAtMost(cut, window.start)),
    to: Math.min(length, firstAtLeast(cut, window.end) + 1)
  };
}

function part(column: INumbers, { from, to }: ISlice): number[] {
  return Array.from({ length: to - from }, (_, index) => at(column, from + index));
}

function stackOf(scene: IScene, slice: ISlice): Data[] {
  const x = part(scene.scale.positions, slice);
  return areasOf(scene.timeline).map((area): Data => {
    const colour = scene.theme.category(area.id);
    return {
      type: 'scatter',
      mode: 'lines',
      name: areaName(area, scene.words),
      x,
      y: part(area.bytes, slice),
      stackgroup: 'memory',
      fillcolor: colour,
      // Its own outline keeps a peak of one event visible, however thin.
      line: { shape: 'hv', width: 0.75, color: colour },
      hoverinfo: 'skip'
    };
  });
}

/** The outline of the whole stack. */
function allocatedOf(scene: IScene, slice: ISlice): Data {
  return {
    type: 'scatter',
    mode: 'lines',
    name: '',
    x: part(scene.scale.positions, slice),
    y: part(scene.timeline.points.allocated, slice),
    line: { shape: 'hv', width: 1, color: withAlpha(scene.theme.text, 0.6) },
    hoverinfo: 'skip'
  };
}

function reservedOf(scene: IScene, slice: ISlice): Data[] {
  const { reserved } = scene.timeline.points;
  if (reserved === undefined) {
    return [];
  }
  return [
    {
      type: 'scatter',
      mode: 'lines',
      name: scene.words.reserved,
      x: part(scene.scale.positions, slice),
      y: part(reserved, slice),
      line: { shape: 'hv', width: 1.5, color: scene.theme.mutedText, dash: 'dash' },
      hoverinfo: 'skip'
    }
  ];
}

function layerOf(scene: IScene, slice: ISlice): Data[] {
  const { layer, theme } = scene;
  if (layer === undefined) {
    return [];
  }
  return [
    {
      type: 'scatter',
      mode: 'lines',
      name: layer.label,
      x: part(scene.scale.positions, slice),
      y: part(layer.bytes, slice),
      fill: 'tozeroy',
      fillcolor: withAlpha(theme.background, 0.55),
      fillpattern: { shape: '/', fgcolor: theme.text, fgopacity: 0.75, size: 7, solidity: 0.2 },
      line: { shape: 'hv', width: 2, color: theme.text },
      hoverinfo: 'skip'
    }
  ];
}

function peakOf({ peak, scale, theme }: IScene): Data {
  return {
    type: 'scatter',
    mode: 'markers',
    name: peak.label,
    x: [scale.positionOf(peak.cut)],
    y: [peak.bytes],
    // Whole where it lies on the edge, too.
    cliponaxis: false,
    marker: { size: 8, color: theme.text, line: { width: 1.5, color: theme.background } },
    hoverinfo: 'skip'
  };
}

function layoutOf(scene: IScene, frame: Frame): Partial<Layout> {
  const { theme, words } = scene;
  const yTicks = byteTicks(frame.topBytes, Math.max(2, frame.plotHeight / 40));
  const xTicks = xTicksOf(scene, frame);
  const xText = scene.scale.axis === 'events' ? words.count : words.duration;
  return {
    ...plainLayout(scene, MARGIN),
    xaxis: {
      ...plainAxis(theme, xTicks, position => (position === 0 ? '0' : xText(position))),
      range: [frame.first, frame.last],
      showgrid: false,
      ticks: 'outside',
      ticklen: 4,
      tickcolor: theme.line,
      showline: true
    },
    yaxis: gridAxis(theme, frame.topBytes, yTicks, words.bytes),
    shapes: shapesOf(scene, frame),
    annotations: [...notesOf(scene, frame), ...axisNotes(scene, frame, xTicks)]
  };
}

function xTicksOf({ scale, words, measure }: IScene, frame: Frame): number[] {
  const text = scale.axis === 'events' ? words.count : words.duration;
  const widest = measure(text(frame.last)) + 28;
  const count = Math.max(2, Math.floor(frame.plotWidth / Math.max(widest, 70)));
  return [...roundTicks(frame.first, frame.last, count, scale.axis === 'events' ? 1 : 0)];
}
