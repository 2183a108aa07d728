// What other plugins may ask for.
import { Token } from '@lumino/coreutils';

import type { IGpuMonitor as GpuMonitor } from './model/gpus/monitor';
import type { ILiveHistories as LiveHistories } from './model/history/live';
import type { ILiveReports as LiveReports } from './model/live';
import type { Preferences } from './model/preferences';

/** The live reports of this page, by the id of their widget model. */
export const ILiveReports = new Token<LiveReports>(
  'memtrack:ILiveReports',
  'The memory reports of this page that have a kernel: where outputs find live data.'
);

/** The type of the service behind the token. */
export type ILiveReports = LiveReports;

/** The live histories of this page, by the id of their widget model. */
export const ILiveHistories = new Token<LiveHistories>(
  'memtrack:ILiveHistories',
  'The lists of runs of this page that have a kernel: where outputs find who changes runs.'
);

/** The type of the service behind the token. */
export type ILiveHistories = LiveHistories;

/** What the reader chose in the settings of memory reports, kept up to date. */
export const IReportPreferences = new Token<Preferences>(
  'memtrack:IReportPreferences',
  'The settings of memory reports: applied as they change.'
);

/** The type of the service behind the token. */
export type IReportPreferences = Preferences;

/** The GPUs of the server and what the kernels of this page hold on them. */
export const IGpuMonitor = new Token<GpuMonitor>(
  'memtrack:IGpuMonitor',
  'The GPUs of the server and the memory of this page’s kernels, up to date while somebody looks.'
);

/** The type of the service behind the token. */
export type IGpuMonitor = GpuMonitor;
