// Everything a picture of a timeline is made of, in one readonly object, and where things lie in it.
import type { IArea } from '../model/areas';
import type { IBand, IPhaseBand } from '../model/bands';
import type { Scale } from '../model/scale';
import type { IWindow } from '../model/window';
import type { ITimeline } from '../wire';
import type { TextMeasure } from './textwidth';
import type { ITheme } from './theme';

/** A moment with a name. */
export interface IMoment {
  readonly cut: number;
  readonly label: string;
}

/** The words in a picture, in the reader's language. */
export interface IWords {
  readonly category: (id: string) => string;
  /** The area of all lines that have none of their own. */
  readonly otherLines: string;
  readonly phase: (id: string) => string;
  readonly step: (step: number) => string;
  /** A step's number as people count. */
  readonly stepNumber: (step: number) => string;
  readonly bytes: (bytes: number) => string;
  /** What an axis of events counts. */
  readonly events: string;
  readonly count: (count: number) => string;
  readonly duration: (nanoseconds: number) => string;
  readonly reserved: string;
}

/** One picture; sizes in pixels. */
export interface IScene {
  readonly timeline: ITimeline;
  readonly scale: Scale;
  readonly window: IWindow;
  /** What the vertical axis has to reach: the same for every window, so that zooming is honest. */
  readonly mostBytes: number;
  readonly phases: readonly IPhaseBand[];
  readonly steps: readonly IBand[];
  readonly marks: readonly IMoment[];
  readonly peak: IMoment & { readonly bytes: number };
  /** The chosen layer: its bytes at each point of `timeline`. */
  readonly layer: { readonly bytes: Float64Array; readonly label: string } | undefined;
  readonly width: number;
  readonly height: number;
  readonly theme: ITheme;
  readonly measure: TextMeasure;
  readonly words: IWords;
}

/** Returns what an area is called: its source line, else its category. */
export function areaName({ id, line }: IArea, words: IWords): string {
  return line === undefined ? words.category(id) : line || words.otherLines;
}

/** Space around the plot: figures at the left, steps and phases above, the axis below. */
export const MARGIN = { left: 62, right: 12, top: 46, bottom: 26 } as const;

// Above the highest value: a row for the names of marks, and one for that of the line of reserved.
const HEADROOM_PX = 34;

/** From cuts, positions and bytes to pixels of the plot and back. */
export class Frame {
  readonly plotWidth: number;
  readonly plotHeight: number;
  readonly first: number;
  readonly last: number;
  /** The byte value at the upper edge. */
  readonly topBytes: number;

  constructor(scene: Pick<IScene, 'scale' | 'window' | 'width' | 'height' | 'mostBytes'>) {
    this.plotWidth = Math.max(1, scene.width - MARGIN.left - MARGIN.right);
    this.plotHeight = Math.max(1, scene.height - MARGIN.top - MARGIN.bottom);
    this.first = scene.scale.positionOf(scene.window.start);
    this.last = Math.max(scene.scale.positionOf(scene.window.end), this.first + 1);
    const room = Math.max(1, this.plotHeight - HEADROOM_PX) / this.plotHeight;
    this.topBytes = Math.max(1, scene.mostBytes) / room;
  }

  /** Pixels from the left edge of the plot. */
  xPx(position: number): number {
    return ((position - this.first) / (this.last - this.first)) * this.plotWidth;
  }

  /** The position at `xPx` pixels from the left edge of the plot. */
  positionAt(xPx: number): number {
    return this.first + (xPx / this.plotWidth) * (this.last - this.first);
  }

  /** Pixels from the lower edge of the plot. */
  yPx(bytes: number): number {
    return (bytes / this.topBytes) * this.plotHeight;
  }
}
