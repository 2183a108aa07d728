// The one door to plotly.js, itself only reached by import(): a megabyte that starts no sooner than
// the first chart. The core has `scatter`, which is all we draw.
import './amd';

import { downloadImage, purge, react } from 'plotly.js/lib/core';

import type { IFigure } from './figure';
import { FIGURE_CONFIG } from './figure';

/** Draw `figure` into `node`, or bring the figure already there up to date. */
export async function drawFigure(node: HTMLElement, figure: IFigure): Promise<void> {
  await react(node, figure.data, figure.layout, FIGURE_CONFIG);
}

/** Let go of everything that plotly keeps for `node`. */
export function purgeFigure(node: HTMLElement): void {
  purge(node);
}

/** Offer the figure of `node` as a picture file `name`.png. */
export async function savePicture(node: HTMLElement, name: string): Promise<void> {
  const { clientWidth: width, clientHeight: height } = node;
  await downloadImage(node, { format: 'png', width, height, filename: name });
}
