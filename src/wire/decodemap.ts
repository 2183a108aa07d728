// Payload JSON to the memory map: that blocks lie in their segments, in order, is checked here.
import { at } from '../base/assert';
import type { IMapBlocks, IMapSegments, IMemoryMap } from './answers';
import type { ColumnDecoder } from './columns';
import { malformed } from './errors';
import type { Fields } from './fields';
import { asString } from './fields';

/** Decodes a map; `ends` is how many layers and pools there are to refer to. */
export function decodeMap(
  decoder: ColumnDecoder,
  fields: Fields,
  ends: { readonly layers: number; readonly pools: number }
): IMemoryMap {
  const sites = fields.list('sites', asString);
  const segments = segmentsOf(decoder, fields.fields('segments'), ends.pools);
  const inner = fields.fields('blocks');
  const blocks = blocksOf(decoder, inner, {
    layers: ends.layers,
    segments: segments.length,
    sites: sites.length
  });
  checkPlaces(segments, blocks, inner.placeOf('offset'));
  return {
    segments,
    blocks,
    sites,
    omitted: fields.integer('omitted', 0),
    omittedBytes: fields.integer('omitted_bytes', 0)
  };
}

function segmentsOf(decoder: ColumnDecoder, fields: Fields, pools: number): IMapSegments {
  const bytes = decoder.numbers(fields, 'bytes');
  const { length } = bytes;
  return {
    length,
    bytes,
    pool: decoder.references(fields, 'pool', 0, pools, length),
    expandable: decoder.numbers(fields, 'expandable', length)
  };
}

function blocksOf(
  decoder: ColumnDecoder,
  fields: Fields,
  ends: { readonly layers: number; readonly segments: number; readonly sites: number }
): IMapBlocks {
  const segment = decoder.references(fields, 'segment', 0, ends.segments);
  const { length } = segment;
  return {
    length,
    segment,
    offset: decoder.numbers(fields, 'offset', length),
    bytes: decoder.numbers(fields, 'bytes', length),
    category: decoder.numbers(fields, 'category', length),
    layer: decoder.references(fields, 'layer', -1, ends.layers, length),
    site: decoder.references(fields, 'site', -1, ends.sites, length),
    pending: decoder.numbers(fields, 'pending', length)
  };
}

function checkPlaces(segments: IMapSegments, blocks: IMapBlocks, where: string): void {
  let [last, end] = [-1, 0];
  for (let row = 0; row < blocks.length; row++) {
    const segment = at(blocks.segment, row);
    const start = at(blocks.offset, row);
    const from = segment === last ? end : 0;
    end = start + at(blocks.bytes, row);
    if (segment < last || start < from || end < start || end > at(segments.bytes, segment)) {
      throw malformed(where, `block ${row} does not lie in its place`);
    }
    last = segment;
  }
}
