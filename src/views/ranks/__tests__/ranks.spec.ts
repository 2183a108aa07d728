import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { Preferences } from '../../../model/preferences';
import type { Json } from '../../../wire/__tests__/encoder';
import { ranksJson, ranksWith } from '../../../wire/__tests__/ranks';
import { RANKS_MIME_TYPE } from '../../../wire/mimetype';
import '../../../wire/__tests__/streams';
import { nextFrame, trans } from '../../__tests__/sample';
import { RanksRenderer } from '../renderer';

jest.mock('../../../draw/plotly', () => ({ drawFigure: jest.fn(), purgeFigure: jest.fn() }));

function modelOf(data: Json): IRenderMime.IMimeModel {
  return {
    trusted: false,
    metadata: {},
    data: { [RANKS_MIME_TYPE]: data as ReadonlyPartialJSONObject },
    setData: jest.fn()
  };
}

let renderer: RanksRenderer;

/** Shows `data` and waits until a rank is shown. */
async function show(data: Json, language = 'en'): Promise<HTMLElement> {
  renderer = new RanksRenderer(RANKS_MIME_TYPE, {
    trans,
    language,
    preferences: new Preferences()
  });
  Widget.attach(renderer, document.body);
  await renderer.renderModel(modelOf(data));
  await shownRank();
  return renderer.node;
}

/** Waits until the chosen rank, whose report is unpacked meanwhile, is there. */
async function shownRank(name?: string): Promise<void> {
  const isThere = (): boolean => {
    const label = chosen()?.getAttribute('aria-label');
    return name === undefined ? typeof label === 'string' : label === name;
  };
  for (let turn = 0; turn < 100 && !isThere(); turn++) {
    await nextFrame();
  }
  await nextFrame();
}

const chosen = (): Element | null => renderer.node.querySelector('.memtrack-Ranks-chosen');
const radios = (): HTMLInputElement[] => [
  ...renderer.node.querySelectorAll<HTMLInputElement>('input[type=radio]')
];
const rows = (table: string): string[][] =>
  [...renderer.node.querySelectorAll(`[aria-label="${table}"] :is(tbody, tfoot) tr`)].map(row =>
    [...row.children].map(cell => cell.textContent ?? '')
  );
const headline = (): string | null | undefined =>
  chosen()?.querySelector('.memtrack-Report-headline')?.textContent;

afterEach(() => renderer.dispose());

describe('several ranks', () => {
  it('begin with how unequal they are, in the language of the reader', async () => {
    const node = await show(ranksJson(), 'zh_CN');
    expect(node.querySelector('[role=heading]')?.textContent).toBe(
      'rank 1 的峰值为 1.23 GiB，是 3 个 rank 平均值（731 MiB）的 1.73 倍'
    );
    expect(node.querySelectorAll('.memtrack-Details li')).toHaveLength(4);
  });

  it('have a row each, also one that left nothing, with bars to one scale', async () => {
    const node = await show(ranksJson());
    const table = rows('Peaks of the ranks');
    expect(table.map(([rank, device, peak]) => [rank, device, peak])).toEqual([
      ['rank 0', 'cuda:0', '464 MiB'],
      ['rank 1', 'cuda:1', '1.23 GiB'],
      ['rank 2', 'no recording', undefined],
      ['rank 3', 'cuda:3', '464 MiB']
    ]);
    expect(table.map(row => row[6])).toEqual(['complete', 'complete', undefined, 'no end']);
    expect(table[0]?.slice(3)).toEqual(['', '2', '4.00 µs', 'complete', 'model.body · forward']);
    const bars = [...node.querySelectorAll<HTMLElement>('.memtrack-PartsBar-bar')];
    expect(bars.map(bar => Math.round(parseFloat(bar.style.width)))).toEqual([37, 100, 37]);
    const keys = [...node.querySelectorAll('.memtrack-Keys > *')];
    expect(keys.map(key => key.textContent)).toEqual([
      'parameters',
      'activations',
      'mean: 731 MiB'
    ]);
    expect(node.querySelector('.memtrack-PartsBar')?.getAttribute('aria-label')).toBe(
      '464 MiB in all: parameters 64.0 MiB, activations 400 MiB'
    );
  });

  it('have a column of reserved memory where it is known of one', async () => {
    await show(ranksWith(2, { reserved: 2 ** 30 }));
    const table = rows('Peaks of the ranks');
    expect(table.map(row => row[4])).toEqual(['', '', undefined, '1.00 GiB']);
    expect(renderer.node.querySelectorAll('.memtrack-Ranks-table thead th')).toHaveLength(9);
  });

  it('show first the one with the highest peak, and how it differs', async () => {
    const node = await show(ranksJson());
    expect(radios().map(radio => radio.checked)).toEqual([false, true, false]);
    expect(chosen()?.getAttribute('aria-label')).toBe('Rank 1');
    expect(headline()).toMatch(/^Peak 1\.23 GiB/);
    expect(node.querySelector('.memtrack-Ranks-facts')?.textContent).toBe(
      'node · NVIDIA Test 24GB (cuda:1) · process 1001 · train.rank1.memtrack'
    );
    // (1200 − (400 + 1200 + 400) / 3) MiB
    expect(rows('By category, against the mean')).toEqual([
      ['activations', '1.17 GiB', '667 MiB', '+533 MiB'],
      ['parameters', '64.0 MiB', '64.0 MiB', '±0 B'],
      ['Peak', '1.23 GiB', '731 MiB', '+533 MiB']
    ]);
    expect(rows('Layers that differ most')[0]).toEqual([
      'model.head',
      '964 MiB',
      '564 MiB',
      '+400 MiB'
    ]);
  });

  it('show the report of the one that is chosen', async () => {
    await show(ranksJson());
    radios()[2]?.click();
    await shownRank('Rank 3');
    expect(headline()).toMatch(/^Peak 464 MiB/);
    expect(renderer.node.querySelector('tr.memtrack-mod-chosen th')?.textContent).toBe('rank 3');
    expect(rows('By category, against the mean')[0]?.[3]).toBe('-267 MiB');
  });

  it('are chosen by a click anywhere in a row; the latest of two wins', async () => {
    await show(ranksJson());
    radios()[2]?.click();
    radios()[0]?.closest('tr')?.querySelector<HTMLElement>('.memtrack-Ranks-bar')?.click();
    await shownRank('Rank 0');
    await nextFrame();
    expect(chosen()?.getAttribute('aria-label')).toBe('Rank 0');
    expect(chosen()?.querySelectorAll('.memtrack-Report')).toHaveLength(1);
  });

  it('say where a report is that the notebook does not keep', async () => {
    await show(ranksWith(0, { report: null }));
    radios()[0]?.click();
    await shownRank('Rank 0');
    expect(chosen()?.querySelector('.memtrack-Ranks-absent')?.textContent).toMatch(
      /in Python, ranks\[0\] shows this one\.$/
    );
    expect(rows('By category, against the mean')).toHaveLength(3);
  });

  it('are there all the same when the report of one is damaged', async () => {
    await show(ranksWith(1, { report: { schema: 'memtrack.report/2' } }));
    expect(chosen()?.querySelector('[role=alert]')?.textContent).toMatch(/another version/);
    radios()[0]?.click();
    await shownRank('Rank 0');
    expect(headline()).toMatch(/^Peak 464 MiB/);
  });

  it('may have seen no memory', async () => {
    const ranks = (ranksJson().ranks as Json[]).map(rank => ({
      ...rank,
      device: null,
      peak: null,
      report: null
    }));
    await show(
      ranksJson({ ranks, categories: [], layers: [], max_rank: -1, max_peak: 0, mean_peak: 0 })
    );
    expect(rows('Peaks of the ranks')[0]?.slice(0, 4)).toEqual([
      'rank 0',
      '',
      '',
      'no memory seen'
    ]);
    expect(rows('By category, against the mean')).toEqual([]);
  });

  it('all missing leave the sentence', async () => {
    const nobody = { ranks: [], categories: [], layers: [], max_rank: -1, max_peak: 0 };
    const node = await show(ranksJson({ ...nobody, missing: [0, 1, 2, 3] }));
    expect(node.querySelector('[role=heading]')?.textContent).toMatch(/^Rank 1 peaks/);
    expect(radios()).toEqual([]);
  });
});

describe('the renderer of ranks', () => {
  it('says in one sentence what it cannot show, and recovers', async () => {
    const node = await show(ranksJson({ schema: 'memtrack.ranks/2' }));
    expect(node.querySelector('[role=alert]')?.textContent).toMatch(/another version of memtrack/);
    await renderer.renderModel(modelOf(ranksJson()));
    expect(node.querySelector('[role=alert]')).toBeNull();
    expect(radios()).toHaveLength(3);
  });

  it('shown again keeps the rank that the reader has chosen', async () => {
    await show(ranksJson());
    radios()[0]?.click();
    await shownRank('Rank 0');
    await renderer.renderModel(modelOf(ranksJson()));
    expect(radios().map(radio => radio.checked)).toEqual([true, false, false]);
  });

  it('makes nothing of names that look like markup', async () => {
    const node = await show(ranksWith(1, { host: '<img src=x>' }));
    expect(node.querySelector('.memtrack-Ranks-facts')?.textContent).toMatch(/^<img src=x>/);
    expect(node.querySelector('img')).toBeNull();
  });
});
