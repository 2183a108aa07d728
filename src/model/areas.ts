// What the picture of a timeline is made of: a category an area, or a source line an area where most
// of the memory has no category.
import { at } from '../base/assert';
import type { ILineGroups, INumbers, ITimeline } from '../wire';
import { CATEGORIES_DRAWN, categoryId } from '../wire';

/** The areas of source lines; each has a colour of its own, the last is for all other lines. */
export const LINE_AREAS: readonly string[] = [
  ...[1, 2, 3, 4, 5, 6, 7].map(number => `group-${number}`),
  'group-rest'
];

const REST = 'group-rest';

/** An area: the id of its colour, its name where that is none of ours, its bytes at each point. */
export interface IArea {
  readonly id: string;
  readonly line: string | undefined;
  readonly bytes: INumbers;
}

/** Returns the areas of `timeline` that hold anything at any point, in the order they are drawn. */
export function areasOf(timeline: ITimeline): readonly IArea[] {
  const { groups } = timeline;
  const areas = groups === undefined ? categoryAreas(timeline) : lineAreas(groups);
  return areas.filter(({ bytes }) => [...bytes].some(value => value > 0));
}

/** Returns the id of the colour that blocks made at `site` have among `groups`. */
export function groupOf({ names }: ILineGroups, site: string): string {
  return LINE_AREAS[names.indexOf(site)] ?? REST;
}

/** Returns the id of the colour of a block: of its line in a picture of lines, else its category's. */
export function areaOfBlock(timeline: ITimeline, row: number): string {
  const { allocations, groups, sites } = timeline;
  return groups === undefined
    ? categoryId(at(allocations.category, row))
    : groupOf(groups, sites[at(allocations.site, row)] ?? '');
}

function categoryAreas({ categories }: ITimeline): readonly IArea[] {
  const drawn: readonly string[] = CATEGORIES_DRAWN;
  // Categories of a later version come last.
  const later = [...categories.keys()].filter(id => !drawn.includes(id));
  return [...drawn, ...later].flatMap(id => {
    const bytes = categories.get(id);
    return bytes === undefined ? [] : [{ id, line: undefined, bytes }];
  });
}

function lineAreas({ names, bytes }: ILineGroups): readonly IArea[] {
  return bytes.map((column, index) => ({
    id: index < names.length ? (LINE_AREAS[index] ?? REST) : REST,
    line: names[index] ?? '',
    bytes: column
  }));
}
