// A diagnosis as the views read it: why memory ran out, and what to do. The layout of the payload is
// that of python_pkg/memtrack/diagnosis/diagnosis.py. Bytes are integers exact to 2^53.
import type { ILedgerPart, Text } from './report';

/** The explanation of one failure; what is not known is empty or undefined, never made up. */
export interface IDiagnosis {
  /** `cuda_oom`, `hip_oom`, `cpu_oom`, …; `none` where no error of memory was found. */
  readonly kind: string;
  /** Whether memory of a device ran out, and not of the host or none at all. */
  readonly isDeviceMemory: boolean;
  readonly headline: Text;
  readonly place: IPlace;
  /** What the message says, in bytes, by names such as `requested` and `total`. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly otherProcesses: readonly IProcess[];
  /** Best first. */
  readonly causes: readonly ICause[];
  readonly contradictions: readonly Text[];
  readonly checks: readonly ICheck[];
  /** In the order of least harm. */
  readonly remedies: readonly IRemedy[];
  readonly needed: INeeded;
  /** Largest first. */
  readonly holders: readonly IHolder[];
  /** The parts of the device at the failure, as those of a ledger; they sum to the device. */
  readonly parts: readonly ILedgerPart[];
  /** The text of the error; "" where there is none. */
  readonly message: string;
  /** Headlines of errors that followed from this one. */
  readonly later: readonly Text[];
}

/** Where it happened: `step` counts from 1, 0 is unknown; "" likewise. */
export interface IPlace {
  readonly phase: string;
  readonly layer: string;
  readonly step: number;
  readonly site: string;
}

/** Another process on the device; `bytes` is -1 where the driver does not tell. */
export interface IProcess {
  readonly pid: number;
  readonly bytes: number;
}

/** A reason, how sure it is (0 to 1), and lines that a reader can check. */
export interface ICause {
  readonly id: string;
  readonly confidence: number;
  readonly title: Text;
  readonly evidence: readonly Text[];
}

/** What to look at next, and the code that shows it ("" for none). */
export interface ICheck {
  readonly id: string;
  readonly text: Text;
  readonly code: Text;
}

/** Something that helps; `savingBytes` is undefined where no figure is known. */
export interface IRemedy {
  readonly id: string;
  readonly title: Text;
  readonly savingBytes: number | undefined;
  readonly cost: Text;
  readonly code: Text;
  readonly caveats: readonly Text[];
}

/** What was asked for and what there was for it, in bytes; undefined where it is not known. */
export interface INeeded {
  readonly requested: number | undefined;
  /** What the allocator asks the device for when no free block serves. */
  readonly segment: number | undefined;
  readonly largestFree: number | undefined;
  /** Free inside the allocator, all blocks together. */
  readonly cached: number | undefined;
  readonly deviceFree: number | undefined;
  readonly others: number | undefined;
}

/** Who held memory at the failure: a layer, a category or a line of source. */
export interface IHolder {
  readonly name: Text;
  readonly bytes: number;
  readonly allocations: number;
}
