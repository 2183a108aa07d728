// How wide text will be, without laying it out.

/** Measures text in pixels. */
export type TextMeasure = (text: string) => number;

/** Returns a measure for `font`, a CSS font shorthand such as `11px sans-serif`. */
export function textMeasure(font: string): TextMeasure {
  const context = canvasContext();
  if (context === undefined) {
    return text => 7 * text.length;
  }
  context.font = font;
  return text => Math.ceil(context.measureText(text).width);
}

function canvasContext(): CanvasRenderingContext2D | undefined {
  return document.createElement('canvas').getContext?.('2d') ?? undefined;
}
