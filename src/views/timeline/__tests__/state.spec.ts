import { randomRun } from '../../../model/__tests__/run';
import type { ITimeline } from '../../../wire';
import { reportOf, viewOf } from '../../__tests__/sample';
import type { RequestWindow } from '../state';
import { TimelineState } from '../state';

const coarse: ITimeline = { ...randomRun(1, 4000, 40).timeline, bucketEvents: 40 };

function finer(start: number, end: number): ITimeline {
  const cut = Array.from({ length: end - start + 1 }, (_, index) => start + index);
  const zeros = cut.map(() => 0);
  const points = { ...coarse.points, cut, timeNs: cut, allocated: zeros, length: cut.length };
  return { ...coarse, bucketEvents: 1, points };
}

describe('the state of a timeline', () => {
  let state: TimelineState;
  let answers: ((timeline: ITimeline | undefined) => void)[];
  let request: jest.MockedFunction<RequestWindow>;

  beforeEach(() => {
    jest.useFakeTimers();
    answers = [];
    request = jest.fn(
      (..._: Parameters<RequestWindow>) => new Promise(resolve => answers.push(resolve))
    );
    state = new TimelineState(reportOf({ views: [viewOf(1, { timeline: coarse })] }), 0, 'events');
    state.requestWindow = request;
  });

  afterEach(() => {
    state.dispose();
    jest.useRealTimers();
  });

  async function answer(index: number, timeline: ITimeline | undefined): Promise<void> {
    answers[index]?.(timeline);
    await jest.advanceTimersByTimeAsync(0);
  }

  it('asks for finer data where the window comes to rest', () => {
    state.show(100, 300);
    state.show(1000, 1200);
    expect(request).not.toHaveBeenCalled();
    jest.advanceTimersByTime(200);
    expect(request.mock.calls).toEqual([[0, { start: 900, end: 1300 }, 1000]]);
  });

  it('keeps stale data on the screen until the finer comes', async () => {
    state.show(1000, 1200);
    jest.advanceTimersByTime(200);
    expect(state.shown).toBe(coarse);
    expect(state.isRefining).toBe(true);
    const fine = finer(900, 1300);
    await answer(0, fine);
    expect(state.shown).toBe(fine);
    expect(state.isRefining).toBe(false);
  });

  it('takes the answer to the latest question only', async () => {
    state.show(1000, 1200);
    jest.advanceTimersByTime(200);
    state.show(2000, 2200);
    jest.advanceTimersByTime(200);
    await answer(1, finer(1900, 2300));
    await answer(0, finer(900, 1300));
    expect(state.shown.points.cut[0]).toBe(1900);
    state.show(1000, 1200);
    expect(state.shown).toBe(coarse);
  });

  it('does with what it has when there is no answer, and stops promising one', async () => {
    state.show(1000, 1200);
    jest.advanceTimersByTime(200);
    jest.advanceTimersByTime(5000);
    expect(state.isRefining).toBe(false);
    await answer(0, undefined);
    expect(state.shown).toBe(coarse);
  });

  it('does not ask without a kernel', () => {
    state.requestWindow = undefined;
    state.show(1000, 1200);
    jest.advanceTimersByTime(200);
    expect(state.isRefining).toBe(false);
  });

  it('says nothing after it is disposed', async () => {
    state.show(1000, 1200);
    jest.advanceTimersByTime(200);
    const changed = jest.fn();
    state.changed.connect(changed);
    state.dispose();
    await answer(0, finer(900, 1300));
    expect(changed).not.toHaveBeenCalled();
  });

  it('lists where the pointer is, then what was pinned', () => {
    state.pin(40);
    state.point(90);
    expect(state.cut).toBe(90);
    state.point(undefined);
    expect(state.cut).toBe(40);
  });

  it('brings the peak into sight without changing the zoom', () => {
    const { peak } = state.view;
    const away = peak.cut > 2000 ? 0 : 3000;
    state.show(away, away + 200);
    state.goToPeak();
    expect(state.cut).toBe(peak.cut);
    expect(state.window.start).toBeLessThanOrEqual(peak.cut);
    expect(state.window.end).toBeGreaterThanOrEqual(peak.cut);
    expect(state.window.end - state.window.start).toBe(200);
  });
});
