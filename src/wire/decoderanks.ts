// Payload JSON to an `IRanks`. What the views rely on is checked here: ranks that ascend, a figure of each
// share for each rank, categories that sum to the peaks. The reports inside are checked when one is shown.
import { decodeDevice } from './decode';
import { decodeText } from './decodeanswers';
import { malformed } from './errors';
import { Fields, asNumber } from './fields';
import type { IRank, IRankPeak, IRanks, IRankShare } from './ranks';

/** The name and major version this code reads, as in the payload's `schema`. */
const RANKS_SCHEMA = 'memtrack.ranks/1';

/** Decodes several ranks; throws `WireError` for what cannot be shown. */
export function decodeRanks(json: unknown): IRanks {
  const fields = Fields.of(json, '');
  fields.checkSchema(RANKS_SCHEMA);
  const ranks = fields.objects('ranks', rankOf);
  const decoded: IRanks = {
    label: fields.string('label'),
    worldSize: fields.integer('world_size', 0),
    headline: decodeText(fields.value('headline'), 'headline'),
    details: fields.list('details', decodeText),
    missing: fields.list('missing', countOf),
    meanPeak: fields.integer('mean_peak', 0),
    maxPeak: fields.integer('max_peak', 0),
    maxRank: fields.integer('max_rank', -1),
    imbalance: fields.number('imbalance'),
    ranks,
    categories: fields.objects('categories', share => shareOf(share, 'id', ranks.length)),
    layers: fields.objects('layers', share => shareOf(share, 'path', ranks.length))
  };
  checkOrder(decoded);
  checkPeaks(decoded);
  return decoded;
}

function rankOf(fields: Fields): IRank {
  return {
    rank: fields.integer('rank', 0),
    localRank: fields.integer('local_rank', -1),
    host: fields.string('host'),
    pid: fields.integer('pid', -1),
    state: fields.string('state'),
    evidence: fields.string('evidence'),
    file: fields.string('file'),
    device: fields.has('device') ? decodeDevice(fields.fields('device')) : undefined,
    peak: fields.has('peak') ? peakOf(fields.fields('peak')) : undefined,
    reserved: fields.integer('reserved', -1),
    steps: fields.integer('steps', 0),
    stepNs: fields.has('step_ns') ? fields.integer('step_ns', 0) : undefined,
    report: fields.has('report') ? fields.value('report') : undefined
  };
}

function peakOf(fields: Fields): IRankPeak {
  return {
    bytes: fields.integer('bytes', 0),
    step: fields.integer('step', -1),
    phase: fields.string('phase'),
    layer: fields.string('layer')
  };
}

function shareOf(fields: Fields, name: 'id' | 'path', count: number): IRankShare {
  const bytes = fields.list('bytes', countOf);
  if (bytes.length !== count) {
    throw malformed(fields.placeOf('bytes'), `has ${bytes.length} figures for ${count} ranks`);
  }
  return { id: fields.string(name), bytes };
}

function countOf(value: unknown, where: string): number {
  const count = asNumber(value, where);
  if (!Number.isSafeInteger(count) || count < 0) {
    throw malformed(where, `${count} is not a whole number of at least 0`);
  }
  return count;
}

/** A rank is there once or missing: the table has one row for each. */
function checkOrder({ ranks, missing }: IRanks): void {
  const seen = new Set(missing);
  ranks.forEach(({ rank }, index) => {
    const before = ranks[index - 1]?.rank ?? -1;
    if (rank <= before || seen.has(rank)) {
      throw malformed(`ranks[${index}].rank`, `${rank} comes twice or out of order`);
    }
  });
}

/** A view says that its bars are the whole, to one scale: what does not sum is refused, not drawn. */
function checkPeaks({ ranks, categories, maxRank, maxPeak }: IRanks): void {
  ranks.forEach(({ peak }, index) => {
    const whole = peak?.bytes ?? 0;
    const sum = categories.reduce((bytes, share) => bytes + (share.bytes[index] ?? 0), 0);
    if (sum !== whole) {
      throw malformed('categories', `sums to ${sum} in place ${index}, not ${whole}`);
    }
  });
  const highest = Math.max(0, ...ranks.map(({ peak }) => peak?.bytes ?? 0));
  const fullest = ranks.find(({ rank }) => rank === maxRank);
  if (highest !== maxPeak || (fullest?.peak?.bytes ?? 0) !== maxPeak) {
    throw malformed('max_peak', `${maxPeak} is not the highest peak, that of rank ${maxRank}`);
  }
}
