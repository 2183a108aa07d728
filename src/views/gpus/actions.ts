// What the reader can have done to a kernel or process; who does it is not the views' business.
import type { IProcessRow } from '../../model/gpus/rows';
import type { IGpuDevice } from '../../wire/gpus';

/** The actions of the panel. Each asks first where something may be lost, and tells what came of it. */
export interface IGpuActions {
  /** Brings the notebook of a kernel to the front. */
  open(row: IProcessRow): void;
  /** Shows the latest report or diagnosis of the notebook. */
  explain(row: IProcessRow): void;
  /** Gives back what is safe, as `%memtrack free` does. */
  free(row: IProcessRow): void;
  interrupt(row: IProcessRow): void;
  shutDown(row: IProcessRow, device: IGpuDevice): void;
  /** Tries to reach the server now. */
  retry(): void;
}
