// The one door between what arrives and what the views read.
export type { IAdvice, IAdvisedRemedy, ICombination } from './advice';
export type {
  IGrowth,
  ILineGroups,
  ILines,
  IMarkPeaks,
  IMemoryMap,
  INestedPeaks,
  IPool,
  ISummary
} from './answers';
export type { BinaryBuffer, INumbers, IStrings } from './columns';
export { textAt } from './columns';
export * from './codes';
export { SCHEMA, decodeReport, decodeTimeline } from './decode';
export type { WireErrorKind } from './errors';
export { WireError } from './errors';
export type { IAdviceAnswer, ITick, KernelMessage } from './messages';
export {
  adviceRequest,
  readMessage,
  readReportTrait,
  seenMessage,
  windowRequest
} from './messages';
export type { INotebookReport } from './notebook';
export { MIME_TYPE } from './mimetype';
export { modelIdOf, unpackNotebook } from './notebook';
export * from './report';
