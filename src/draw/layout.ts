// What all our charts have in common: plain axes in the colours of the theme, and no controls of plotly's.
import type { Font, Layout, LayoutAxis } from 'plotly.js';

import { withAlpha } from './colour';
import type { ITheme } from './theme';

/** Room around a plot, in pixels. */
export interface IMargin {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Returns a layout of that size without axes. */
export function plainLayout(
  {
    width,
    height,
    theme
  }: { readonly width: number; readonly height: number; readonly theme: ITheme },
  margin: IMargin
): Partial<Layout> {
  return {
    width,
    height,
    margin: { l: margin.left, r: margin.right, t: margin.top, b: margin.bottom, pad: 0 },
    paper_bgcolor: 'rgba(0, 0, 0, 0)',
    plot_bgcolor: 'rgba(0, 0, 0, 0)',
    font: { family: theme.fontFamily, size: 11, color: theme.text },
    showlegend: false,
    hovermode: false,
    dragmode: false
  };
}

/** Returns the font of what stands at an axis. */
export function tickFont(theme: ITheme): Partial<Font> {
  return { family: theme.fontFamily, size: 11, color: theme.mutedText };
}

/** Returns an axis with the given ticks. */
export function plainAxis(
  theme: ITheme,
  ticks: readonly number[],
  text: (tick: number) => string
): Partial<LayoutAxis> {
  return {
    fixedrange: true,
    zeroline: false,
    tickfont: tickFont(theme),
    linecolor: theme.line,
    tickmode: 'array',
    tickvals: [...ticks],
    ticktext: ticks.map(text)
  };
}

/** Returns the axis at the left, from 0 to `top`, with lines across the plot. */
export function gridAxis(
  theme: ITheme,
  top: number,
  ticks: readonly number[],
  text: (tick: number) => string
): Partial<LayoutAxis> {
  return {
    ...plainAxis(theme, ticks, text),
    range: [0, top],
    gridcolor: withAlpha(theme.line, 0.6)
  };
}
