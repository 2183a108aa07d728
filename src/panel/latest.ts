// The latest report or diagnosis of a notebook: where it is, and the way to it.
import type { NotebookPanel } from '@jupyterlab/notebook';

import { DIAGNOSIS_MIME_TYPE, MIME_TYPE } from '../wire/mimetype';

/** A cell as far as this room reads it. */
export interface ICellOutputs {
  /** How often cells were run when this one was; null for never. */
  readonly executionCount: number | null;
  /** The MIME types of its outputs. */
  readonly types: readonly string[];
}

/** Returns the place of the cell with the latest report or diagnosis; -1 for none. */
export function latestCell(cells: readonly ICellOutputs[]): number {
  let best = -1;
  cells.forEach(({ executionCount, types }, index) => {
    const isOurs = types.some(type => type === MIME_TYPE || type === DIAGNOSIS_MIME_TYPE);
    // Of a notebook that was not run since it was opened the last one in it counts.
    if (isOurs && (executionCount ?? 0) >= (cells[best]?.executionCount ?? 0)) {
      best = index;
    }
  });
  return best;
}

/** Scrolls `panel` to its latest report or diagnosis; resolves to whether there is one. */
export async function showLatest(panel: NotebookPanel): Promise<boolean> {
  await panel.context.ready;
  const index = latestCell(cellsOf(panel));
  if (index < 0) {
    return false;
  }
  panel.content.activeCellIndex = index;
  await panel.content.scrollToItem(index);
  const node = panel.content.widgets[index]?.node;
  node?.querySelector('.memtrack-Report, .memtrack-Output')?.scrollIntoView({ block: 'nearest' });
  return true;
}

function cellsOf({ content }: NotebookPanel): readonly ICellOutputs[] {
  const cells = [...(content.model?.cells ?? [])];
  return cells.map(cell => {
    const json = cell.toJSON();
    const outputs = Array.isArray(json.outputs) ? json.outputs : [];
    return {
      executionCount: typeof json.execution_count === 'number' ? json.execution_count : null,
      types: outputs.flatMap(output => typesOf(output))
    };
  });
}

function typesOf(output: unknown): readonly string[] {
  const data: unknown =
    typeof output === 'object' && output !== null && 'data' in output ? output.data : undefined;
  return typeof data === 'object' && data !== null ? Object.keys(data) : [];
}
