// Kept runs as the views read them. The layout of the payload and of the messages is written down in
// python_pkg/memtrack/reports/historypayload.py and python_pkg/memtrack/widgets/.

/** One kept run; bytes and nanoseconds, undefined where unknown. */
export interface IRun {
  readonly id: number;
  readonly identifier: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly label: string;
  /** Given by the user; "" without one. */
  readonly name: string;
  readonly state: string;
  readonly evidence: string;
  readonly notebook: string;
  readonly cell: number | undefined;
  readonly device: string;
  readonly peak: number;
  readonly reserved: number | undefined;
  readonly stepNs: number | undefined;
  readonly steps: number;
  /** Equal for runs of the same model. */
  readonly structure: string;
  /** Elements of all parameters. */
  readonly parameters: number;
  readonly commit: string;
  /** Whether the working tree had changes that no commit has. */
  readonly dirty: boolean;
  readonly note: string;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly baseline: boolean;
  readonly deleted: boolean;
  /** Whether the full recording is kept beside the history. */
  readonly hasFile: boolean;
  /** Memory over the run, 0 to 1 of its peak. */
  readonly spark: readonly number[];
}

/** A page of the history, newest first. */
export interface IHistory {
  readonly folder: string;
  /** Whether runs can be named, pinned and deleted. */
  readonly writable: boolean;
  readonly search: string;
  /** Whether these are the deleted runs. */
  readonly deleted: boolean;
  readonly offset: number;
  /** Runs that match; `runs` are those from `offset` on. */
  readonly total: number;
  /** The widget model that changes runs; "" for none. */
  readonly modelId: string;
  readonly runs: readonly IRun[];
}
