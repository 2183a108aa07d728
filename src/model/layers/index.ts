// The layer table without pixels.
export * from './columns';
export { LayerData } from './data';
export type { Extent } from './data';
export type { IExportWords } from './export';
export { toCsv, toTsv } from './export';
export type { Direction, ISort } from './order';
export { firstDirection } from './order';
export { LayerRows } from './rows';
export { LayerSelection, NO_ROW } from './selection';
export { ancestorsOf, childrenOf, findByPrefix } from './walk';
