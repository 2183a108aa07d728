// Peak and speed of runs in the order they were made, as a plotly figure. Pure: plotly is not loaded here.
import type { Data, Layout } from 'plotly.js';

import { byteTicks, roundTicks } from '../model/ticks';
import type { IRun } from '../wire/runs';
import type { IFigure } from './figure';
import { gridAxis, plainAxis, plainLayout } from './layout';
import type { ITheme } from './theme';

/** What the figure is drawn from. */
export interface IRunChart {
  readonly width: number;
  readonly height: number;
  readonly theme: ITheme;
  /** Newest first, as the history lists them. */
  readonly runs: readonly IRun[];
  readonly words: IRunChartWords;
}

/** The words of the figure, in the reader's language. */
export interface IRunChartWords {
  readonly bytes: (bytes: number) => string;
  readonly rate: (stepsPerSecond: number) => string;
}

const MARGIN = { left: 64, right: 64, top: 12, bottom: 28 } as const;
const HEADROOM = 1.12;
const NANOSECONDS = 1e9;

/** Build the figure: peaks as a line on the left axis, steps a second as diamonds on the right. */
export function buildRunChart(scene: IRunChart): IFigure {
  const { theme } = scene;
  const runs = [...scene.runs].reverse();
  const x = runs.map((_, index) => index);
  const names = runs.map(({ id }) => `#${id}`);
  const speeds = runs.map(({ stepNs }) => (stepNs ? NANOSECONDS / stepNs : null));
  return {
    data: [
      {
        type: 'scatter',
        mode: 'lines+markers',
        name: '',
        x,
        y: runs.map(({ peak }) => peak),
        line: { width: 1.75, color: theme.accent },
        marker: { size: runs.map(({ baseline }) => (baseline ? 10 : 6)), color: theme.accent },
        hoverinfo: 'skip'
      } as Data,
      {
        type: 'scatter',
        mode: 'markers',
        name: '',
        x,
        y: speeds,
        yaxis: 'y2',
        marker: { size: 7, symbol: 'diamond-open', color: theme.mutedText },
        hoverinfo: 'skip'
      } as Data
    ],
    layout: layoutOf(scene, runs, names, speeds)
  };
}

function layoutOf(
  scene: IRunChart,
  runs: readonly IRun[],
  names: readonly string[],
  speeds: readonly (number | null)[]
): Partial<Layout> {
  const { width, theme, words } = scene;
  const top = HEADROOM * Math.max(1, ...runs.map(({ peak }) => peak));
  const fastest = HEADROOM * Math.max(1e-9, ...speeds.map(speed => speed ?? 0));
  const room = Math.max(2, Math.floor((width - MARGIN.left - MARGIN.right) / 60));
  const xTicks = roundTicks(0, Math.max(1, runs.length - 1), room, 1).filter(
    index => index < runs.length
  );
  const rates = fastest > 1e-6 ? roundTicks(0, fastest, 4) : [];
  return {
    ...plainLayout(scene, MARGIN),
    xaxis: {
      ...plainAxis(theme, xTicks, index => names[index] ?? ''),
      range: [-0.5, Math.max(0.5, runs.length - 0.5)],
      showgrid: false,
      showline: true
    },
    yaxis: gridAxis(theme, top, byteTicks(top, 4), words.bytes),
    yaxis2: {
      ...plainAxis(theme, rates, words.rate),
      range: [0, fastest],
      overlaying: 'y',
      side: 'right',
      showgrid: false
    }
  };
}
