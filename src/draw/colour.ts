// CSS colours as plain numbers: what SVG written by plotly understands, and what can be read on it.

/** Red, green, blue from 0 to 255. */
export type Rgb = readonly [number, number, number];

/** Returns `colour`, a computed CSS colour, as `rgb()` or `rgba()`. */
export function plainColour(colour: string): string {
  // `color-mix()` computes to `color(srgb …)` or `oklab()`: let the browser paint and read it.
  return /^rgba?\(/.test(colour) ? colour : (painted(colour) ?? colour);
}

/** Returns the parts of an `rgb()` or `rgba()` colour; grey for anything else. */
export function partsOf(colour: string): Rgb {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [red ?? 128, green ?? 128, blue ?? 128];
}

/** Returns `colour` with the opacity `alpha`. */
export function withAlpha(colour: string, alpha: number): string {
  return `rgba(${partsOf(colour).join(', ')}, ${alpha})`;
}

/** Returns black or white, whichever is easier to read on `background`. */
export function inkOn(background: string): string {
  const luminance = luminanceOf(partsOf(background));
  // Where the contrast ratio (WCAG 2) to black and to white is equal: (L + .05)² = 1.05 × .05.
  return luminance > 0.179 ? 'rgb(0, 0, 0)' : 'rgb(255, 255, 255)';
}

function luminanceOf(rgb: Rgb): number {
  const [red, green, blue] = rgb.map(part => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

function painted(colour: string): string | undefined {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) {
    return undefined;
  }
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
  return `rgba(${red}, ${green}, ${blue}, ${(alpha ?? 255) / 255})`;
}
