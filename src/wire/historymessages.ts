// Answers of a kernel to the view of a history, as python_pkg/memtrack/widgets/runmessages.py writes them.
import type { BinaryBuffer } from './columns';
import type { IComparison } from './comparison';
import { decodeText } from './decodeanswers';
import { decodeComparison } from './decodecomparison';
import { decodeHistory, decodeRun } from './decoderuns';
import { Fields } from './fields';
import type { Text } from './report';
import type { IHistory, IRun } from './runs';

/** An answer of the kernel. */
export type HistoryAnswer =
  | { readonly type: 'list'; readonly request: number; readonly history: IHistory }
  | { readonly type: 'runs'; readonly request: number; readonly runs: readonly IRun[] }
  | { readonly type: 'diff'; readonly request: number; readonly comparison: IComparison }
  | { readonly type: 'error'; readonly request: number; readonly sentence: Text };

/** Reads an answer; undefined for one of a kind that is not known. Throws `WireError`. */
export function readHistoryAnswer(
  content: unknown,
  buffers: readonly BinaryBuffer[]
): HistoryAnswer | undefined {
  const fields = Fields.of(content, '');
  const type = fields.string('type');
  const request = fields.integer('request', 0);
  switch (type) {
    case 'list':
      return { type, request, history: decodeHistory(fields.value('history')) };
    case 'runs':
      return { type, request, runs: fields.objects('runs', decodeRun) };
    case 'diff':
      return { type, request, comparison: decodeComparison(fields.value('comparison'), buffers) };
    case 'error':
      return { type, request, sentence: decodeText(fields.value('sentence'), 'sentence') };
    default:
      return undefined;
  }
}
