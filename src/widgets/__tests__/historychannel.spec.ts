import { comparisonJson } from '../../wire/__tests__/comparison';
import { historyJson } from '../../wire/__tests__/runs';
import { HistoryChannel } from '../historychannel';

const QUERY = { search: 'gpt', deleted: false, offset: 0 };

describe('the channel of a history', () => {
  const sent: Record<string, unknown>[] = [];
  let channel: HistoryChannel;

  beforeEach(() => {
    sent.length = 0;
    channel = new HistoryChannel('abc', content => sent.push(content));
  });

  it('gives each question the answer with its number, in whatever order they come', async () => {
    const [first, second] = [channel.list(QUERY), channel.list({ ...QUERY, search: 'bert' })];
    expect(sent).toEqual([
      { type: 'list', ...QUERY, request: 1 },
      { type: 'list', ...QUERY, search: 'bert', request: 2 }
    ]);
    const answer = (request: number, total: number): unknown => ({
      type: 'list',
      request,
      history: historyJson({ total })
    });
    channel.receive(answer(2, 2), []);
    channel.receive(answer(1, 1), []);
    expect([(await first).total, (await second).total]).toEqual([1, 2]);
  });

  it('asks for a change in the words of the kernel and gives the rows that changed', async () => {
    const changed = channel.change(14, { type: 'rename', name: 'lean' });
    expect(sent).toEqual([{ type: 'rename', id: 14, name: 'lean', request: 1 }]);
    channel.receive({ type: 'runs', request: 1, runs: historyJson().runs }, []);
    expect((await changed).map(({ id }) => id)).toEqual([14, 12, 3]);
  });

  it('compares two runs', async () => {
    const compared = channel.compare(12, 14);
    expect(sent).toEqual([{ type: 'diff', a: 12, b: 14, request: 1 }]);
    const { json, buffers } = comparisonJson();
    channel.receive({ type: 'diff', request: 1, comparison: json }, buffers);
    expect((await compared).a.run).toBe(12);
  });

  it('tells what the kernel refuses, in its words', async () => {
    const refused = channel.change(3, { type: 'delete' });
    const sentence = { en: 'The history is read-only.', zh_CN: '只读。' };
    channel.receive({ type: 'error', request: 1, sentence }, []);
    await expect(refused).rejects.toMatchObject({ sentence });
  });

  it('tells of a damaged answer whom it was for', async () => {
    const listed = channel.list(QUERY);
    channel.receive({ type: 'list', request: 1, history: historyJson({ total: -1 }) }, []);
    await expect(listed).rejects.toMatchObject({ kind: 'malformed', where: 'total' });
  });

  it('ignores what nobody asked for and kinds of a later version', () => {
    channel.receive({ type: 'list', request: 7, history: historyJson() }, []);
    channel.receive({ type: 'later', request: 7 }, []);
    expect(sent).toEqual([]);
  });

  it('leaves nobody waiting when the kernel goes', async () => {
    const listed = channel.list(QUERY);
    channel.close();
    await expect(listed).rejects.toMatchObject({ sentence: undefined });
    await expect(channel.list(QUERY)).rejects.toMatchObject({ sentence: undefined });
    expect(sent).toHaveLength(1);
  });
});
