// Peak and speed of runs in the order they were made, as a plotly figure. Pure: plotly is not loaded here.
import type { Data, Layout } from 'plotly.js';

import { byteTicks, roundTicks } from '../model/ticks';
import type { IRun } from '../wire/runs';
import { withAlpha } from './colour';
import type { IFigure } from './figure';
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
  { width, height, theme, words }: IRunChart,
  runs: readonly IRun[],
  names: readonly string[],
  speeds: readonly (number | null)[]
): Partial<Layout> {
  const top = HEADROOM * Math.max(1, ...runs.map(({ peak }) => peak));
  const fastest = HEADROOM * Math.max(1e-9, ...speeds.map(speed => speed ?? 0));
  const tickFont = { family: theme.fontFamily, size: 11, color: theme.mutedText };
  const axis = { fixedrange: true, zeroline: false, tickfont: tickFont, linecolor: theme.line };
  const room = Math.max(2, Math.floor((width - MARGIN.left - MARGIN.right) / 60));
  const xTicks = roundTicks(0, Math.max(1, runs.length - 1), room, 1).filter(
    index => index < runs.length
  );
  const bytes = byteTicks(top, 4);
  const rates = fastest > 1e-6 ? roundTicks(0, fastest, 4) : [];
  return {
    width,
    height,
    margin: { l: MARGIN.left, r: MARGIN.right, t: MARGIN.top, b: MARGIN.bottom, pad: 0 },
    paper_bgcolor: 'rgba(0, 0, 0, 0)',
    plot_bgcolor: 'rgba(0, 0, 0, 0)',
    font: { family: theme.fontFamily, size: 11, color: theme.text },
    showlegend: false,
    hovermode: false,
    dragmode: false,
    xaxis: {
      ...axis,
      range: [-0.5, Math.max(0.5, runs.length - 0.5)],
      showgrid: false,
      tickmode: 'array',
      tickvals: [...xTicks],
      ticktext: xTicks.map(index => names[index] ?? ''),
      showline: true
    },
    yaxis: {
      ...axis,
      range: [0, top],
      gridcolor: withAlpha(theme.line, 0.6),
      tickmode: 'array',
      tickvals: [...bytes],
      ticktext: bytes.map(words.bytes)
    },
    yaxis2: {
      ...axis,
      range: [0, fastest],
      overlaying: 'y',
      side: 'right',
      showgrid: false,
      tickmode: 'array',
      tickvals: [...rates],
      ticktext: rates.map(words.rate)
    }
  };
}
