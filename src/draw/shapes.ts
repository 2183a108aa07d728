// The bands of phases and steps, and the lines of marks, as plotly shapes.
import type { Shape } from 'plotly.js';

import type { PhaseId } from '../wire';
import { withAlpha } from './colour';
import type { Frame, IScene } from './scene';

// Narrower on average than this, bands are noise: steps alone are drawn, then nothing.
const LEAST_BAND_PX = 4;

// How much of the text's colour shades a phase: neighbours differ, the categories stay the loudest.
const SHADES: Readonly<Record<PhaseId, number>> = {
  forward: 0.05,
  backward: 0.11,
  optimizer: 0.17,
  other: 0
};

/** The lane of the phases' names, in pixels above the plot, and that of the steps above it. */
export const PHASE_LANE = { bottom: 3, top: 20 } as const;
export const STEP_LANE = { bottom: 24, top: 40 } as const;

/** Returns whether phases are wide enough to be drawn. */
export function showsPhases(scene: IScene, frame: Frame): boolean {
  return scene.phases.length > 0 && frame.plotWidth / scene.phases.length >= LEAST_BAND_PX;
}

/** Returns whether steps are wide enough to be drawn. */
export function showsSteps(scene: IScene, frame: Frame): boolean {
  return scene.steps.length > 0 && frame.plotWidth / scene.steps.length >= LEAST_BAND_PX;
}

/** Build the bands and lines of `scene`. */
export function shapesOf(scene: IScene, frame: Frame): Partial<Shape>[] {
  return [
    ...(showsPhases(scene, frame) ? phaseShapes(scene) : []),
    ...(showsSteps(scene, frame) ? stepShapes(scene) : []),
    ...scene.marks.map(mark => verticalLine(scene, mark.cut))
  ];
}

function phaseShapes({ phases, scale, theme }: IScene): Partial<Shape>[] {
  return phases.flatMap(({ kind, start, end }): Partial<Shape>[] => {
    const shade = SHADES[kind];
    if (shade === 0) {
      return [];
    }
    const across = {
      type: 'rect' as const,
      xref: 'x' as const,
      x0: scale.positionOf(start),
      x1: scale.positionOf(end),
      yref: 'paper' as const,
      line: { width: 0 },
      layer: 'below' as const
    };
    return [
      { ...across, y0: 0, y1: 1, fillcolor: withAlpha(theme.text, shade / 2) },
      {
        ...across,
        ...lane(PHASE_LANE),
        fillcolor: withAlpha(theme.text, shade),
        line: { width: 1, color: theme.background }
      }
    ];
  });
}

function stepShapes({ steps, scale, theme }: IScene): Partial<Shape>[] {
  return steps.slice(1).map(({ start }) => ({
    type: 'line',
    xref: 'x',
    x0: scale.positionOf(start),
    x1: scale.positionOf(start),
    yref: 'paper',
    ...lane({ bottom: PHASE_LANE.bottom, top: STEP_LANE.top }),
    line: { width: 1, color: theme.mutedText }
  }));
}

function verticalLine({ scale, theme }: IScene, cut: number): Partial<Shape> {
  return {
    type: 'line',
    xref: 'x',
    x0: scale.positionOf(cut),
    x1: scale.positionOf(cut),
    yref: 'paper',
    y0: 0,
    y1: 1,
    line: { width: 1, color: theme.text, dash: 'dot' }
  };
}

/** Pixels above the upper edge of the plot. */
function lane({ bottom, top }: { bottom: number; top: number }): Partial<Shape> {
  return { ysizemode: 'pixel', yanchor: 1, y0: bottom, y1: top };
}
