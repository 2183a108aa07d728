import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { ILiveHistory } from '../../../model/history/live';
import { Registry } from '../../../model/registry';
import { historyJson, historyOf } from '../../../wire/__tests__/runs';
import { HISTORY_MIME_TYPE } from '../../../wire/mimetype';
import { trans } from '../../__tests__/sample';
import { HistoryRenderer } from '../renderer';

class FakeHistory implements ILiveHistory {
  readonly closed = new Signal<this, void>(this);
  readonly isClosed = false;
  readonly list = jest.fn(async () => historyOf());
  readonly change = jest.fn();
  readonly compare = jest.fn();

  constructor(readonly id: string) {}
}

function modelOf(changes: Readonly<Record<string, unknown>>): IRenderMime.IMimeModel {
  const data = { [HISTORY_MIME_TYPE]: historyJson(changes) as ReadonlyPartialJSONObject };
  return { trusted: false, metadata: {}, data, setData: jest.fn() };
}

describe('the renderer of histories', () => {
  const histories = new Registry<ILiveHistory>();
  let renderer: HistoryRenderer;

  beforeEach(() => {
    const services = { trans, language: 'en', liveHistories: histories };
    renderer = new HistoryRenderer(HISTORY_MIME_TYPE, services);
    Widget.attach(renderer, document.body);
  });
  afterEach(() => renderer.dispose());

  const isWritable = (): boolean =>
    [...renderer.node.querySelectorAll('button')].some(
      each => each.textContent === 'Pin' && each.closest('[hidden]') === null
    );

  it('is for reading until its kernel is there, and again once that is gone', async () => {
    await renderer.renderModel(modelOf({ model_id: 'mine' }));
    expect(isWritable()).toBe(false);
    const other = histories.add(new FakeHistory('another'));
    expect(isWritable()).toBe(false);
    const mine = histories.add(new FakeHistory('mine'));
    expect(isWritable()).toBe(true);
    mine.dispose();
    expect(isWritable()).toBe(false);
    other.dispose();
  });

  it('finds a kernel that was there before, and says what it cannot show', async () => {
    const mine = histories.add(new FakeHistory('mine'));
    await renderer.renderModel(modelOf({ model_id: 'mine' }));
    expect(isWritable()).toBe(true);
    await renderer.renderModel(modelOf({ schema: 'memtrack.history/9' }));
    expect(renderer.node.querySelector('[role=alert]')?.textContent).toMatch(/another version/);
    mine.dispose();
  });
});
