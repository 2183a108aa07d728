import { ServerConnection } from '@jupyterlab/services';

import { gpusJson } from '../../wire/__tests__/gpusample';
import { Backoff } from '../backoff';
import type { GpuAnswer } from '../gpus';
import { GpuStream } from '../gpustream';

/** A websocket whose other end is the test. */
class FakeSocket {
  static readonly all: FakeSocket[] = [];
  readyState = 0;
  readonly sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.readyState = 3;
  }

  opened(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  says(json: unknown): void {
    this.onmessage?.({ data: JSON.stringify(json) });
  }
}

const fetched = jest.fn<Promise<Response>, [Request]>();

function answer(status: number, json: unknown): Promise<Response> {
  const body = JSON.stringify(json);
  return Promise.resolve({
    ok: status === 200,
    status,
    statusText: `${status}`,
    json: () => Promise.resolve(JSON.parse(body)),
    text: () => Promise.resolve(body)
  } as Response);
}

function makeStream(): { stream: GpuStream; answers: GpuAnswer[] } {
  const settings = ServerConnection.makeSettings({
    baseUrl: 'http://host/base/',
    wsUrl: 'ws://host/base/',
    token: 'to ken',
    appendToken: true,
    WebSocket: FakeSocket as unknown as typeof WebSocket,
    fetch: fetched as unknown as typeof fetch
  });
  const stream = new GpuStream(settings, 1000);
  const answers: GpuAnswer[] = [];
  stream.answered.connect((_, each) => answers.push(each));
  return { stream, answers };
}

const sockets = (): readonly FakeSocket[] => FakeSocket.all;
const last = (): FakeSocket | undefined => FakeSocket.all[FakeSocket.all.length - 1];
const problems = (answers: readonly GpuAnswer[]): unknown[] =>
  answers.map(each => ('problem' in each ? each.problem.id : 'state'));

beforeEach(() => {
  jest.useFakeTimers();
  FakeSocket.all.length = 0;
  fetched.mockReset();
});
afterEach(() => jest.useRealTimers());

describe('the stream of states', () => {
  it('opens nothing before it is started and leaves nothing open when stopped', async () => {
    const { stream, answers } = makeStream();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(sockets()).toHaveLength(0);
    stream.start();
    stream.start();
    expect(sockets().map(({ url }) => url)).toEqual([
      'ws://host/base/memtrack/api/gpus/stream?token=to%20ken'
    ]);
    last()?.opened();
    last()?.says(gpusJson());
    stream.stop();
    expect(last()?.readyState).toBe(3);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(sockets()).toHaveLength(1);
    expect(fetched).not.toHaveBeenCalled();
    expect(problems(answers)).toEqual(['state']);
  });

  it('tells the server its interval, at once and when it changes', () => {
    const { stream } = makeStream();
    stream.start();
    last()?.opened();
    stream.intervalMs = 5000;
    stream.intervalMs = 5000;
    expect(last()?.sent).toEqual(['{"interval_ms":1000}', '{"interval_ms":5000}']);
    stream.dispose();
  });

  it('asks why when the connection is lost, and comes back with the server', async () => {
    const { stream, answers } = makeStream();
    stream.start();
    last()?.opened();
    last()?.says(gpusJson());
    fetched.mockRejectedValue(new TypeError('connection refused'));
    last()?.onclose?.();
    await jest.advanceTimersByTimeAsync(0);
    expect(problems(answers)).toEqual(['state', 'unreachable']);
    await jest.advanceTimersByTimeAsync(500);
    expect(sockets()).toHaveLength(2);
    last()?.opened();
    last()?.says(gpusJson());
    expect(problems(answers)).toEqual(['state', 'unreachable', 'state']);
    stream.dispose();
  });

  it('waits longer each time, at most half a minute, and at once when asked to', async () => {
    const { stream } = makeStream();
    fetched.mockRejectedValue(new TypeError('connection refused'));
    stream.start();
    for (let attempt = 0; attempt < 12; attempt++) {
      last()?.onclose?.();
      await jest.advanceTimersByTimeAsync(30_000);
    }
    expect(sockets()).toHaveLength(13);
    last()?.onclose?.();
    await jest.advanceTimersByTimeAsync(20_000);
    expect(sockets()).toHaveLength(13);
    stream.retry();
    expect(sockets()).toHaveLength(14);
    stream.dispose();
  });

  it('polls where no websocket comes through', async () => {
    const { stream, answers } = makeStream();
    fetched.mockImplementation(() => answer(200, gpusJson()));
    stream.start();
    for (let attempt = 0; attempt < 8; attempt++) {
      last()?.onclose?.();
      await jest.advanceTimersByTimeAsync(5000);
    }
    expect(problems(answers)).toEqual(Array(8).fill('state'));
    stream.dispose();
  });

  it('takes a silent connection for a dead one', async () => {
    const { stream } = makeStream();
    fetched.mockImplementation(() => answer(200, gpusJson()));
    stream.start();
    last()?.opened();
    last()?.says(gpusJson());
    await jest.advanceTimersByTimeAsync(31_000);
    expect(sockets()).toHaveLength(2);
    stream.dispose();
  });

  it('says on a slow network that the latest state is old, once, until the next comes', async () => {
    const { stream, answers } = makeStream();
    fetched.mockImplementation(() => new Promise(() => undefined));
    stream.start();
    await jest.advanceTimersByTimeAsync(20_000);
    expect(problems(answers)).toEqual([]);
    last()?.opened();
    last()?.says(gpusJson());
    await jest.advanceTimersByTimeAsync(4999);
    expect(problems(answers)).toEqual(['state']);
    await jest.advanceTimersByTimeAsync(20_001);
    expect(problems(answers)).toEqual(['state', 'slow']);
    last()?.says(gpusJson());
    // The connection is lost, and the server does not say why for a long time.
    last()?.onclose?.();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(problems(answers)).toEqual(['state', 'slow', 'state', 'slow']);
    stream.dispose();
  });

  it('knows that a state of before a pause is old, and one of a moment ago is not', async () => {
    const { stream, answers } = makeStream();
    stream.start();
    last()?.says(gpusJson());
    stream.stop();
    await jest.advanceTimersByTimeAsync(1000);
    stream.start();
    last()?.says(gpusJson());
    stream.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(problems(answers)).toEqual(['state', 'state']);
    stream.start();
    await jest.advanceTimersByTimeAsync(0);
    expect(problems(answers)).toEqual(['state', 'state', 'slow']);
    stream.dispose();
  });

  it.each([
    ['missing', 404, 404],
    ['old', 404, 200],
    ['forbidden', 403, 403],
    ['unreachable', 500, 500]
  ])('learns that the server half is %s', async (id, gpus, info) => {
    const { stream, answers } = makeStream();
    fetched.mockImplementation(request =>
      request.url.includes('/info')
        ? answer(info, { version: '0.0.1' })
        : answer(gpus, { message: 'no' })
    );
    stream.start();
    last()?.onclose?.();
    await jest.advanceTimersByTimeAsync(0);
    expect(problems(answers)).toEqual([id]);
    stream.dispose();
  });

  it('tells a server of another version from one that cannot be understood', () => {
    const { stream, answers } = makeStream();
    stream.start();
    last()?.says(gpusJson([], { schema: 'memtrack.gpus/2' }));
    last()?.says({ schema: 'memtrack.gpus/1' });
    last()?.onmessage?.({ data: '<html>' });
    expect(problems(answers)).toEqual(['version', 'understood', 'understood']);
    stream.dispose();
  });
});

describe('waiting', () => {
  it('doubles up to its most, and begins anew', () => {
    const backoff = new Backoff(500, 3000, () => 0);
    expect([1, 2, 3, 4, 5].map(() => backoff.next())).toEqual([500, 1000, 2000, 3000, 3000]);
    backoff.reset();
    expect(backoff.next()).toBe(500);
    expect(new Backoff(1000, 1000, () => 1).next()).toBe(750);
  });
});
