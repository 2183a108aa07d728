// A memory map to pixels of a canvas.
import { at } from '../base/assert';
import type { IMapBox, IMapLayout, IMapSpot } from '../model/memorymap';
import { ROW_PX, spots } from '../model/memorymap';
import type { IMemoryMap } from '../wire';
import { withAlpha } from './colour';
import type { ITheme } from './theme';

/** What is drawn. */
export interface IMapScene {
  readonly map: IMemoryMap;
  readonly layout: IMapLayout;
  readonly theme: ITheme;
  /** The id of a block's colour. */
  readonly colourOf: (block: number) => string;
  /** Shown with a frame. */
  readonly pointed: IMapSpot | undefined;
  /** Blocks of this layer and of those under it, up to before `end`, are shown with a frame. */
  readonly chosen: { readonly first: number; readonly end: number };
}

/** Draws `scene` onto a canvas that is as large as its layout, `ratio` device pixels to one. */
export function drawMap(canvas: HTMLCanvasElement, scene: IMapScene, ratio: number): void {
  const context = canvas.getContext('2d');
  if (context === null) {
    return;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  for (const box of scene.layout.boxes) {
    drawSegment(context, scene, box);
  }
}

function drawSegment(context: CanvasRenderingContext2D, scene: IMapScene, box: IMapBox): void {
  const { map, theme, pointed, chosen } = scene;
  const { left, top, width } = box;
  const scale = width / Math.max(1, at(map.segments.bytes, box.segment));
  context.fillStyle = withAlpha(theme.text, 0.08);
  context.fillRect(left, top, width, ROW_PX);
  const frames: [number, number, string][] = [];
  for (const spot of spots(map, box)) {
    const x = left + spot.start * scale;
    const wide = spot.bytes * scale;
    if (spot.block >= 0) {
      context.globalAlpha = at(map.blocks.pending, spot.block) > 0 ? 0.5 : 1;
      context.fillStyle = theme.category(scene.colourOf(spot.block));
      // A seam of the background tells neighbours apart where there is room for one.
      context.fillRect(x, top, wide > 3 ? wide - 0.5 : wide, ROW_PX);
      context.globalAlpha = 1;
      const layer = at(map.blocks.layer, spot.block);
      if (layer >= chosen.first && layer < chosen.end) {
        frames.push([x, wide, theme.text]);
      }
    }
    if (spot.segment === pointed?.segment && spot.start === pointed.start) {
      frames.push([x, wide, theme.accent]);
    }
  }
  context.strokeStyle = theme.mutedText;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, Math.max(1, width - 1), ROW_PX - 1);
  for (const [x, wide, colour] of frames) {
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.strokeRect(x + 1, top + 1, Math.max(1, wide - 2), ROW_PX - 2);
  }
}
