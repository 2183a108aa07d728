// The layer table over plain objects, written for clarity: the slow twin of ../rows.ts.
import type { ISampleLayer } from '../../../wire/__tests__/sample';

/** A layer with its row, so that results can be compared. */
export interface ISlowLayer {
  readonly row: number;
  readonly path: string;
  readonly layer: ISampleLayer;
  readonly children: readonly ISlowLayer[];
}

export interface ISlowState {
  readonly column: string | undefined;
  readonly isDescending: boolean;
  readonly isFlat: boolean;
  readonly filter: string;
  readonly isOpen: (row: number) => boolean;
}

/** Numbers the layers of `roots` in pre-order. */
export function slowTree(roots: readonly ISampleLayer[]): readonly ISlowLayer[] {
  let row = 0;
  const visit = (layer: ISampleLayer, above: string): ISlowLayer => {
    const own = row++;
    const path = above ? `${above}.${layer.name}` : layer.name;
    const children = (layer.children ?? []).map(child => visit(child, path));
    return { row: own, path, layer, children };
  };
  return roots.map(root => visit(root, ''));
}

export function everyLayer(layers: readonly ISlowLayer[]): readonly ISlowLayer[] {
  return layers.flatMap(layer => [layer, ...everyLayer(layer.children)]);
}

/** The figure of a layer with everything beneath it. */
export function subtreeValue(layer: ISlowLayer, column: string): number {
  const own = layer.layer.own?.[column] ?? 0;
  return layer.children.reduce((sum, child) => sum + subtreeValue(child, column), own);
}

/** The rows shown, in order. */
export function slowRows(roots: readonly ISlowLayer[], state: ISlowState): readonly number[] {
  if (state.isFlat) {
    const found = everyLayer(roots).filter(layer => isMatch(layer, state.filter));
    return sorted(found, layer => layer.layer.own?.[state.column ?? ''] ?? 0, state).map(
      l => l.row
    );
  }
  const shown = roots.filter(layer => everyLayer([layer]).some(l => isMatch(l, state.filter)));
  return sorted(shown, layer => subtreeValue(layer, state.column ?? ''), state).flatMap(layer => [
    layer.row,
    ...(isOpen(layer, state) ? slowRows(layer.children, state) : [])
  ]);
}

function isMatch(layer: ISlowLayer, filter: string): boolean {
  const { type, aliases } = layer.layer;
  return [layer.path, type, aliases ?? ''].some(text => text.toLowerCase().includes(filter));
}

/** Open by the reader, or because a layer beneath is found by its own name or type. */
function isOpen(layer: ISlowLayer, state: ISlowState): boolean {
  const isFresh = (below: ISlowLayer, parent: ISlowLayer): boolean =>
    [below.layer.name, below.layer.type, below.layer.aliases ?? ''].some(text =>
      text.toLowerCase().includes(state.filter)
    ) ||
    (below.path.includes(state.filter) && !parent.path.includes(state.filter));
  const leads = (parent: ISlowLayer): boolean =>
    parent.children.some(child => isFresh(child, parent) || leads(child));
  return state.isOpen(layer.row) || (state.filter !== '' && leads(layer));
}

function sorted(
  layers: readonly ISlowLayer[],
  valueOf: (layer: ISlowLayer) => number,
  state: ISlowState
): readonly ISlowLayer[] {
  const sign = state.isDescending ? -1 : 1;
  return state.column === undefined
    ? layers
    : [...layers].sort((a, b) => sign * (valueOf(a) - valueOf(b)));
}
