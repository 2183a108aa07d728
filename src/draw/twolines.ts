// Memory of two runs over their steps on one axis, as a plotly figure. Pure: plotly is not loaded here.
import type { Data, Layout } from 'plotly.js';

import { at } from '../base/assert';
import { byteTicks, roundTicks } from '../model/ticks';
import type { IComparedLine } from '../wire/comparison';
import type { IFigure } from './figure';
import { gridAxis, plainAxis, plainLayout, tickFont } from './layout';
import type { ITheme } from './theme';

/** What the figure is drawn from. */
export interface ITwoLines {
  readonly width: number;
  readonly height: number;
  readonly theme: ITheme;
  readonly before: IComparedLine;
  readonly after: IComparedLine;
  readonly words: ITwoLinesWords;
}

/** The words of the figure, in the reader's language. */
export interface ITwoLinesWords {
  readonly before: string;
  readonly after: string;
  readonly bytes: (bytes: number) => string;
  /** Under the axis: what its numbers count. */
  readonly axis: string;
}

const MARGIN = { left: 64, right: 14, top: 18, bottom: 40 } as const;
const HEADROOM = 1.12;

/** Build the figure: the first run dashed, the second whole, a point at each peak. */
export function buildTwoLines(scene: ITwoLines): IFigure {
  const { before, after, theme, words } = scene;
  return {
    data: [
      lineOf(before, words.before, { color: theme.mutedText, width: 1.5, dash: 'dash' }),
      lineOf(after, words.after, { color: theme.accent, width: 1.75, dash: 'solid' }),
      peakOf(before, theme.mutedText, theme),
      peakOf(after, theme.accent, theme)
    ],
    layout: layoutOf(scene)
  };
}

function lineOf(
  line: IComparedLine,
  name: string,
  style: { readonly color: string; readonly width: number; readonly dash: 'dash' | 'solid' }
): Data {
  return {
    type: 'scatter',
    mode: 'lines',
    name,
    x: [...line.step],
    y: [...line.allocated],
    line: { shape: 'hv', ...style },
    hoverinfo: 'skip'
  };
}

function peakOf(line: IComparedLine, color: string, theme: ITheme): Data {
  return {
    type: 'scatter',
    mode: 'markers',
    name: '',
    x: line.length === 0 ? [] : [line.peakAt],
    y: line.length === 0 ? [] : [most(line)],
    cliponaxis: false,
    marker: { size: 8, color, line: { width: 1.5, color: theme.background } },
    hoverinfo: 'skip'
  };
}

function layoutOf(scene: ITwoLines): Partial<Layout> {
  const { before, after, theme, words, width, height } = scene;
  const top = HEADROOM * Math.max(1, most(before), most(after));
  const last = Math.max(1, end(before), end(after));
  const yTicks = byteTicks(top, Math.max(2, (height - MARGIN.top - MARGIN.bottom) / 40));
  const xTicks = roundTicks(0, last, Math.max(2, (width - MARGIN.left) / 70), 1);
  return {
    ...plainLayout(scene, MARGIN),
    xaxis: {
      ...plainAxis(theme, xTicks, step => step.toLocaleString()),
      range: [0, last],
      showgrid: false,
      ticks: 'outside',
      ticklen: 4,
      tickcolor: theme.line,
      showline: true,
      title: { text: words.axis, font: tickFont(theme), standoff: 6 }
    },
    yaxis: gridAxis(theme, top, yTicks, words.bytes)
  };
}

function most({ allocated }: IComparedLine): number {
  let found = 0;
  for (const bytes of allocated) {
    found = Math.max(found, bytes);
  }
  return found;
}

function end({ step, length }: IComparedLine): number {
  return length === 0 ? 0 : at(step, length - 1);
}
