// The names under a bar: those that fit, or all of them, each with a line to its part.
import { at } from '../../base/assert';
import type { TextMeasure } from '../../draw/textwidth';
import { barLength, fitLabels, flagRows, spreadLabels } from '../../model/labels';
import { element, svgElement } from '../dom';
import { swatch } from '../swatch';

/** A part of a bar: where it lies in shares of the bar, and what it is called. */
export interface IPlacedPart {
  readonly id: string;
  readonly left: number;
  readonly share: number;
  readonly name: string;
  readonly bytes: string;
}

/** Labels to put under a bar that is `barPx` long. */
export interface IBarLabels {
  readonly barPx: number;
  readonly heightPx: number;
  readonly nodes: readonly Element[];
}

const ROW_PX = 17;
const PADDING_PX = 6;
const SWATCH_PX = 13;
const LEADER_PX = 22;
// Lines that run further than this share of the width are too flat to follow.
const FURTHEST = 0.35;
// A name under a part too thin to see would seem to be its neighbour's.
const LEAST_PX = 4;

/** Returns the labels that fit in one row of `widthPx`, the largest parts first, and the total. */
export function fittingLabels(
  parts: readonly IPlacedPart[],
  total: string,
  widthPx: number,
  measure: TextMeasure
): IBarLabels {
  const texts = parts.map(part => `${part.name} ${part.bytes}`);
  const labels = parts.map((part, index) => ({
    centre: centreOf(part) * widthPx,
    width: SWATCH_PX + measure(at(texts, index)) + 2 * PADDING_PX
  }));
  const order = parts
    .map((_, index) => index)
    .filter(index => at(parts, index).share * widthPx >= LEAST_PX)
    .sort((a, b) => at(parts, b).share - at(parts, a).share);
  const lefts = fitLabels(labels, order, widthPx - measure(total) - 2 * PADDING_PX);
  const nodes = lefts.flatMap((left, index) =>
    // A label beside its part, where a neighbour is too, is known by its colour.
    left === undefined ? [] : [labelAt(left, 0, swatch(at(parts, index).id), at(texts, index))]
  );
  const end = element('span', { class: 'memtrack-Bar-total' }, total);
  return { barPx: widthPx, heightPx: ROW_PX, nodes: [...nodes, end] };
}

/** Returns a label for every part: side by side in one row, else in as many rows as needed. */
export function everyLabel(
  parts: readonly IPlacedPart[],
  widthPx: number,
  measure: TextMeasure
): IBarLabels {
  return rowOfLabels(parts, widthPx, measure) ?? flags(parts, widthPx, measure);
}

/** Two lines a label, a slanted line to each: they keep their order, so no two lines cross. */
function rowOfLabels(
  parts: readonly IPlacedPart[],
  widthPx: number,
  measure: TextMeasure
): IBarLabels | undefined {
  const labels = parts.map(part => ({
    centre: centreOf(part) * widthPx,
    width: Math.max(measure(part.name), measure(part.bytes)) + 2 * PADDING_PX
  }));
  const lefts = spreadLabels(labels, widthPx);
  const isFar = labels.some(
    ({ centre, width }, index) =>
      Math.abs((lefts?.[index] ?? 0) + width / 2 - centre) > FURTHEST * widthPx
  );
  if (lefts === undefined || isFar) {
    return undefined;
  }
  const lines = svgElement('svg', {
    class: 'memtrack-Bar-leaders',
    width: String(widthPx),
    height: String(LEADER_PX),
    'aria-hidden': 'true'
  });
  const names = parts.map((part, index) => {
    const { centre, width } = at(labels, index);
    const left = at(lefts, index);
    const d = `M${centre} 0V4L${left + width / 2} ${LEADER_PX - 2}`;
    lines.append(svgElement('path', { d }));
    const node = labelAt(left, LEADER_PX, part.name, element('br'), part.bytes);
    node.classList.add('memtrack-mod-centred');
    node.style.width = `${width}px`;
    return node;
  });
  return { barPx: widthPx, heightPx: LEADER_PX + 2 * ROW_PX, nodes: [lines, ...names] };
}

/** Each label hangs at a line straight down from its part. */
function flags(parts: readonly IPlacedPart[], widthPx: number, measure: TextMeasure): IBarLabels {
  const texts = parts.map(part => `${part.name} ${part.bytes}`);
  const widths = texts.map(text => measure(text) + 2 * PADDING_PX);
  const barPx = barLength(parts.map(centreOf), widths, widthPx);
  const labels = parts.map((part, index) => ({
    centre: centreOf(part) * barPx,
    width: at(widths, index)
  }));
  const rows = flagRows(labels);
  const nodes = labels.flatMap(({ centre }, index) => {
    const topPx = at(rows, index) * ROW_PX;
    const line = element('span', { class: 'memtrack-Bar-line' });
    line.style.left = `${centre}px`;
    line.style.height = `${topPx + 12}px`;
    return [line, labelAt(centre, topPx + 4, at(texts, index))];
  });
  return { barPx, heightPx: (Math.max(0, ...rows) + 1) * ROW_PX + 6, nodes };
}

function centreOf(part: IPlacedPart): number {
  return part.left + part.share / 2;
}

function labelAt(
  leftPx: number,
  topPx: number,
  ...content: readonly (Node | string)[]
): HTMLElement {
  const node = element('span', { class: 'memtrack-Bar-label' }, ...content);
  node.style.left = `${leftPx}px`;
  node.style.top = `${topPx}px`;
  return node;
}
