// Who looks at the devices, as other plugins see it.
import type { GpuModel } from './model';

/** Who looks. While nobody does, nothing is asked of server or kernels. */
export type GpuWatcher = 'panel' | 'status';

/** The devices and who looks at them. */
export interface IGpuMonitor {
  readonly model: GpuModel;
  /** Tells that a watcher can be seen by the reader, or cannot any more. */
  setInSight(watcher: GpuWatcher, isInSight: boolean): void;
  /** Tries to reach the server now. */
  retry(): void;
}
