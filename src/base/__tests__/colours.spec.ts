// The colours of categories are checked as they stand in style/base.css: by WCAG contrast, and by
// their distance in Oklab as seen with each colour blindness (Machado et al. 2009, severity 1).
import { readFileSync } from 'fs';
import { resolve } from 'path';

import { CATEGORIES_DRAWN } from '../../wire';

type Rgb = readonly [number, number, number];
type Matrix = readonly [Rgb, Rgb, Rgb];

const css = readFileSync(resolve(__dirname, '../../../style/base.css'), 'utf8');
const layersCss = readFileSync(resolve(__dirname, '../../../style/layers.css'), 'utf8');
const [lightCss, darkCss] = css.split("body[data-jp-theme-light='false']");

const VISION: Readonly<Record<string, Matrix>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1]
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881]
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039]
  ]
};

const PARTS = [...CATEGORIES_DRAWN, 'cache', 'context', 'process', 'others'];
/** What lies beside the cache where the process is not known. */
const OUTSIDE = 'outside';
/** What is large in most runs, next to each other where the small ones between are empty. */
const MAIN = ['parameter', 'gradient', 'optimizer_state', 'activation', 'temporary'];

/** Backgrounds of JupyterLab's themes: light; dark, dark high contrast. */
const THEMES = [
  { name: 'light', css: lightCss ?? '', backgrounds: [[255, 255, 255]] as Rgb[] },
  {
    name: 'dark',
    css: darkCss ?? '',
    backgrounds: [
      [33, 33, 33],
      [0, 0, 0]
    ] as Rgb[]
  }
];

function colourOf(source: string, id: string): Rgb {
  const name = `--memtrack-${id.replace(/_/g, '-')}`;
  const found = new RegExp(`${name}: rgb\\((\\d+) (\\d+) (\\d+)\\)`).exec(source);
  if (found === null) {
    throw new Error(`no ${name}`);
  }
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

function map(rgb: Rgb, change: (part: number) => number): Rgb {
  return [change(rgb[0]), change(rgb[1]), change(rgb[2])];
}

function times(matrix: Matrix, rgb: Rgb): Rgb {
  const dot = (row: Rgb): number => row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2];
  return [dot(matrix[0]), dot(matrix[1]), dot(matrix[2])];
}

function linear(rgb: Rgb): Rgb {
  return map(rgb, part => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
}

function contrast(left: Rgb, right: Rgb): number {
  const luminance = (rgb: Rgb): number => {
    const [red, green, blue] = linear(rgb);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const [a, b] = [luminance(left), luminance(right)];
  return Math.max(a, b) / Math.min(a, b);
}

function oklab(light: Rgb): Rgb {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005]
    ],
    map(light, part => Math.min(1, Math.max(0, part)))
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766]
    ],
    map(cones, Math.cbrt)
  );
}

function distance(left: Rgb, right: Rgb, vision: Matrix): number {
  const [a, b] = [left, right].map(rgb => oklab(times(vision, linear(rgb)))) as [Rgb, Rgb];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

describe.each(THEMES)('category colours on $name', ({ css: source, backgrounds }) => {
  const colours = new Map([...PARTS, OUTSIDE].map(id => [id, colourOf(source, id)]));
  const of = (id: string): Rgb => colours.get(id) ?? [0, 0, 0];

  it('differ from the background by a contrast of 3', () => {
    for (const background of backgrounds) {
      const low = [...PARTS, OUTSIDE].filter(id => contrast(of(id), background) < 3);
      expect(low).toEqual([]);
    }
  });

  it('differ from their neighbours by a contrast of 3', () => {
    const low = PARTS.slice(1)
      .map((id, index) => [PARTS[index] ?? '', id] as const)
      .concat([['cache', OUTSIDE]])
      .filter(([left, right]) => contrast(of(left), of(right)) < 3);
    expect(low).toEqual([]);
  });

  it.each(Object.entries(VISION))('stay apart with %s', (_, vision) => {
    const isMain = (id: string): boolean => MAIN.includes(id);
    // Oklab distance: 0.02 is just noticed side by side; these are told apart in a legend.
    const close = CATEGORIES_DRAWN.flatMap((left, index) =>
      CATEGORIES_DRAWN.slice(index + 1).filter(right => {
        const least = isMain(left) && isMain(right) ? 0.08 : 0.04;
        return distance(of(left), of(right), vision) < least;
      })
    );
    expect(close).toEqual([]);
  });

  it('leave a figure readable where the bar behind it ends', () => {
    const tint = Number(/--memtrack-text-muted\)\) (\d+)%/.exec(layersCss)?.[1]) / 100;
    for (const background of backgrounds) {
      const tinted = (id: string): Rgb =>
        map(
          [0, 1, 2],
          index => tint * (of(id)[index] ?? 0) + (1 - tint) * (background[index] ?? 0)
        );
      // JupyterLab's text, and an edge too faint to be taken for a stroke of a digit.
      const text: Rgb = background[0] > 127 ? [33, 33, 33] : [255, 255, 255];
      const low = PARTS.filter(
        id => contrast(text, tinted(id)) < 7 || contrast(tinted(id), background) > 1.5
      );
      expect(low).toEqual([]);
    }
  });
});
