// Messages between a kernel and a live report, as src/widgets/ sends and gets them. The Python side
// is python_pkg/memtrack/widgets/.
import type { IAdvice } from './advice';
import type { BinaryBuffer } from './columns';
import { decodeReport } from './decode';
import { decodeAdvice } from './decodeadvice';
import { decodeText } from './decodeanswers';
import { malformed } from './errors';
import { Fields, asNumber } from './fields';
import type { IReport, Text } from './report';

/** What a kernel tells a few times a second while it records. Bytes and nanoseconds. */
export interface ITick {
  readonly number: number;
  readonly state: string;
  /** -1 outside any step. */
  readonly step: number;
  readonly phase: string;
  readonly allocated: number;
  readonly peak: number;
  /** Undefined without a caching allocator. */
  readonly reserved: number | undefined;
  readonly elapsedNs: number;
  readonly timeNs: readonly number[];
  /** Allocated at `timeNs`: the whole run so far, bounded. */
  readonly curve: readonly number[];
}

/** What a kernel says when it is asked for advice: the advice, or why there is none. */
export interface IAdviceAnswer {
  readonly advice: IAdvice | undefined;
  readonly problem: Text | undefined;
}

/** A message of the kernel; undefined kinds are of a later version. */
export type KernelMessage =
  | { readonly type: 'tick'; readonly tick: ITick }
  | { readonly type: 'window'; readonly request: number; readonly timeline: unknown }
  | { readonly type: 'advice'; readonly request: number; readonly answer: IAdviceAnswer };

/** Reads a message; undefined for one of a kind that is not known. Throws `WireError`. */
export function readMessage(content: unknown): KernelMessage | undefined {
  const fields = Fields.of(content, '');
  switch (fields.string('type')) {
    case 'tick':
      return { type: 'tick', tick: tickOf(fields) };
    case 'window':
      return {
        type: 'window',
        request: fields.integer('request', 0),
        timeline: fields.value('json')
      };
    case 'advice':
      return {
        type: 'advice',
        request: fields.integer('request', 0),
        answer: {
          advice: fields.has('json') ? decodeAdvice(fields.fields('json')) : undefined,
          problem: fields.has('problem')
            ? decodeText(fields.value('problem'), 'problem')
            : undefined
        }
      };
    default:
      return undefined;
  }
}

/** Reads the trait that holds the report; undefined before the first. Throws `WireError`. */
export function readReportTrait(trait: unknown): IReport | undefined {
  if (!Fields.of(trait, '').has('json')) {
    return undefined;
  }
  const { json, buffers } = readBuffers(trait);
  return decodeReport(json, buffers);
}

/** Reads a payload with its buffers beside it. Throws `WireError`. */
export function readBuffers(message: unknown): {
  readonly json: unknown;
  readonly buffers: readonly BinaryBuffer[];
} {
  const fields = Fields.of(message, '');
  return { json: fields.value('json'), buffers: fields.list('buffers', asBuffer) };
}

/** Returns the message that asks for a finer timeline. */
export function windowRequest(
  request: number,
  view: number,
  window: { readonly start: number; readonly end: number },
  buckets: number
): Readonly<Record<string, string | number>> {
  return { type: 'window', request, view, start: window.start, end: window.end, buckets };
}

/** Returns the message that asks for advice on the recording shown. */
export function adviceRequest(request: number): Readonly<Record<string, string | number>> {
  return { type: 'advice', request };
}

/** Returns the message that says that a tick was drawn. */
export function seenMessage(tick: number): Readonly<Record<string, string | number>> {
  return { type: 'seen', tick };
}

function tickOf(fields: Fields): ITick {
  const points = fields.fields('points');
  const timeNs = points.list('time_ns', asNumber);
  return {
    number: fields.integer('tick', 0),
    state: fields.string('state'),
    step: fields.integer('step', -1),
    phase: fields.string('phase'),
    allocated: fields.number('allocated'),
    peak: fields.number('peak'),
    reserved: fields.has('reserved') ? fields.number('reserved') : undefined,
    elapsedNs: fields.number('elapsed_ns'),
    timeNs,
    curve: points.list('allocated', asNumber).slice(0, timeNs.length)
  };
}

function asBuffer(value: unknown, where: string): BinaryBuffer {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return value;
  }
  throw malformed(where, 'is not a buffer');
}
