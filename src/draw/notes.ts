// The words in the picture: names of areas, phases, steps and marks where they fit, and the peak.
import type { Annotation } from 'plotly.js';

import { at } from '../base/assert';
import { placeInside } from '../model/arealabels';
import type { IBand } from '../model/bands';
import { fitLabels } from '../model/labels';
import { firstAtLeast, lastAtMost } from '../model/search';
import { roundStep } from '../model/ticks';
import { areasOf } from '../model/areas';
import type { INumbers } from '../wire';
import { inkOn } from './colour';
import type { Frame, IScene } from './scene';
import { MARGIN, areaName } from './scene';
import { PHASE_LANE, STEP_LANE, showsPhases, showsSteps } from './shapes';

type Note = Partial<Annotation>;

const LINE_PX = 15;
const PADDING_PX = 6;

/** Build the annotations of `scene`. */
export function notesOf(scene: IScene, frame: Frame): Note[] {
  return [
    ...areaNotes(scene, frame),
    ...(showsPhases(scene, frame) ? phaseNotes(scene, frame) : []),
    ...(showsSteps(scene, frame) ? stepNotes(scene, frame) : []),
    ...markNotes(scene, frame),
    ...reservedNotes(scene, frame),
    ...layerNotes(scene, frame),
    ...peakNotes(scene, frame)
  ];
}

/** A note whose anchor is `x`, `y` pixels from the lower left corner of the plot. */
function note(scene: IScene, frame: Frame, text: string, x: number, y: number): Note {
  return {
    text,
    xref: 'paper',
    yref: 'paper',
    x: x / frame.plotWidth,
    y: y / frame.plotHeight,
    xanchor: 'center',
    yanchor: 'middle',
    showarrow: false,
    borderpad: 0,
    font: { size: 11, color: scene.theme.text }
  };
}

function areaNotes(scene: IScene, frame: Frame): Note[] {
  const { timeline, scale, theme, words, measure } = scene;
  const lefts = Array.from(scale.positions, position => frame.xPx(position));
  // A line stands there, until the reader looks at another moment.
  const peakX = frame.xPx(scale.positionOf(scene.peak.cut));
  const from = Math.max(0, lastAtMost(lefts, 0));
  const to = firstAtLeast(lefts, frame.plotWidth);
  const inSight = (column: ArrayLike<number>): number[] =>
    Array.from({ length: to - from }, (_, index) => at(column, from + index));
  const area = {
    lefts: inSight(lefts).map(left => Math.max(0, left)),
    bottom: inSight(lefts).map(() => 0),
    end: frame.plotWidth
  };
  return areasOf(timeline).flatMap(part => {
    const heights = inSight(part.bytes).map(bytes => frame.yPx(bytes));
    const top = area.bottom.map((bottom, index) => bottom + at(heights, index));
    const name = areaName(part, words);
    const width = measure(name) + 2 * PADDING_PX;
    const place = placeInside({ ...area, top }, width, LINE_PX, peakX);
    area.bottom = top;
    const font = { size: 11, color: inkOn(theme.category(part.id)) };
    return place === undefined ? [] : [{ ...note(scene, frame, name, place.x, place.y), font }];
  });
}

/** What the horizontal axis counts, left of its figures `ticks`; times have their units. */
export function axisNotes(scene: IScene, frame: Frame, ticks: readonly number[]): Note[] {
  const { scale, measure, theme, words } = scene;
  const left = PADDING_PX - MARGIN.left;
  const end = left + measure(words.events) + PADDING_PX;
  const isFree = ticks.every(tick => frame.xPx(tick) - measure(words.count(tick)) / 2 >= end);
  if (scale.axis !== 'events' || !isFree) {
    return [];
  }
  const font = { size: 11, color: theme.mutedText };
  return [{ ...note(scene, frame, words.events, left, -13), xanchor: 'left', font }];
}

function phaseNotes(scene: IScene, frame: Frame): Note[] {
  const y = frame.plotHeight + (PHASE_LANE.bottom + PHASE_LANE.top) / 2;
  return scene.phases
    .filter(band => band.kind !== 'other')
    .flatMap(band => bandNote(scene, frame, band, scene.words.phase(band.kind), y));
}

function stepNotes(scene: IScene, frame: Frame): Note[] {
  const { steps, measure, words } = scene;
  const y = frame.plotHeight + (STEP_LANE.bottom + STEP_LANE.top) / 2;
  const stepPx = frame.plotWidth / steps.length;
  if (stepPx >= measure(words.step(at(steps, 0).step)) + PADDING_PX) {
    return steps.flatMap(band => bandNote(scene, frame, band, words.step(band.step), y));
  }
  // Numbers alone, every first, second, fifth, tenth, … of them.
  const widest = measure(words.stepNumber(at(steps, steps.length - 1).step)) + PADDING_PX;
  const every = roundStep(widest / stepPx);
  return steps
    .filter(band => Number(words.stepNumber(band.step)) % every === 0)
    .map(band => {
      const number = words.stepNumber(band.step);
      return note(scene, frame, number, ...centreOf(scene, frame, band, y));
    });
}

function bandNote(scene: IScene, frame: Frame, band: IBand, text: string, y: number): Note[] {
  const left = frame.xPx(scene.scale.positionOf(band.start));
  const right = frame.xPx(scene.scale.positionOf(band.end));
  return right - left < scene.measure(text) + PADDING_PX
    ? []
    : [note(scene, frame, text, (left + right) / 2, y)];
}

function centreOf(scene: IScene, frame: Frame, band: IBand, y: number): [number, number] {
  const { scale } = scene;
  return [(frame.xPx(scale.positionOf(band.start)) + frame.xPx(scale.positionOf(band.end))) / 2, y];
}

function markNotes(scene: IScene, frame: Frame): Note[] {
  const { start, end } = scene.window;
  const marks = scene.marks.filter(mark => mark.cut >= start && mark.cut <= end);
  const labels = marks.map(mark => {
    const width = scene.measure(mark.label) + 2 * PADDING_PX;
    const x = frame.xPx(scene.scale.positionOf(mark.cut));
    // To the right of its line, or to the left where the chart ends.
    const side = x + width <= frame.plotWidth ? 1 : -1;
    return { centre: x + side * (width / 2), width };
  });
  const order = labels.map((_, index) => index);
  return fitLabels(labels, order, frame.plotWidth).flatMap((left, index) => {
    const mark = at(marks, index);
    return left === undefined
      ? []
      : [
          {
            ...note(scene, frame, mark.label, left + PADDING_PX, frame.plotHeight - 9),
            xanchor: 'left'
          }
        ];
  });
}

function reservedNotes(scene: IScene, frame: Frame): Note[] {
  const { reserved } = scene.timeline.points;
  if (reserved === undefined || reserved.length === 0) {
    return [];
  }
  const row = Math.max(0, lastAtMost(scene.timeline.points.cut, scene.window.end));
  const y = frame.yPx(valueAt(reserved, row)) + 8;
  const muted = { size: 11, color: scene.theme.mutedText };
  return [
    {
      ...note(scene, frame, scene.words.reserved, frame.plotWidth, y),
      xanchor: 'right',
      font: muted
    }
  ];
}

/** The chosen layer's name: inside its bytes where they are high enough, else over their highest. */
function layerNotes(scene: IScene, frame: Frame): Note[] {
  const { layer, theme, measure, scale } = scene;
  if (layer === undefined) {
    return [];
  }
  const { cut } = scene.timeline.points;
  const from = Math.max(0, lastAtMost(cut, scene.window.start));
  const bytes = layer.bytes.subarray(from, Math.max(from + 1, firstAtLeast(cut, scene.window.end)));
  const most = bytes.reduce((highest, value) => Math.max(highest, value), 0);
  const label = `${layer.label} ${scene.words.bytes(most)}`;
  const width = measure(label) + 2 * PADDING_PX;
  const lefts = Array.from(bytes, (_, row) =>
    Math.max(0, frame.xPx(at(scale.positions, from + row)))
  );
  const top = Array.from(bytes, value => frame.yPx(value));
  const area = { lefts, bottom: top.map(() => 0), top, end: frame.plotWidth };
  const peak = bytes.indexOf(most);
  const over = {
    x: Math.min(Math.max(at(lefts, peak), width / 2), frame.plotWidth - width / 2),
    y: Math.min(at(top, peak) + 12, frame.plotHeight - 12)
  };
  const { x, y } = placeInside(area, width, 2 * LINE_PX) ?? over;
  return [
    {
      ...note(scene, frame, label, x, y),
      bgcolor: theme.background,
      bordercolor: theme.text,
      borderwidth: 1,
      borderpad: 2
    }
  ];
}

function peakNotes(scene: IScene, frame: Frame): Note[] {
  const { peak, scale, measure, theme } = scene;
  const x = frame.xPx(scale.positionOf(peak.cut));
  if (x < 0 || x > frame.plotWidth) {
    return [];
  }
  // Beside the line that stands there, so that it does not go through the figure.
  const half = measure(peak.label) * 0.6 + PADDING_PX / 2;
  const centre = x + 2 * half <= frame.plotWidth ? x + half : x - half;
  return [
    {
      ...note(scene, frame, `<b>${escaped(peak.label)}</b>`, x, frame.yPx(peak.bytes)),
      yanchor: 'bottom',
      xshift: centre - x,
      yshift: 7,
      bgcolor: theme.background,
      borderpad: 1
    }
  ];
}

function valueAt(column: INumbers, row: number): number {
  return at(column, Math.min(row, column.length - 1));
}

// plotly reads a few HTML tags in text.
function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}
