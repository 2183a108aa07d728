import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { GpuSidePanel } from '../sidepanel';

const WORDS = { loading: 'Asking …', failed: 'Could not be loaded.' };

/** Returns a panel that can be seen, and what its loading waits for. */
function opened(...answers: Promise<Widget>[]): { panel: GpuSidePanel; text: () => string } {
  const load = (): Promise<Widget> => answers.shift() ?? Promise.reject(new Error('no answer'));
  const panel = new GpuSidePanel({ load, sightChanged: () => undefined, words: WORDS });
  Widget.attach(panel, document.body);
  MessageLoop.flush();
  return { panel, text: () => panel.content.node.textContent };
}

function named(text: string): Widget {
  const widget = new Widget();
  widget.node.textContent = text;
  return widget;
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

describe('GpuSidePanel', () => {
  it('says what is going on until its view is there', async () => {
    const { panel, text } = opened(Promise.resolve(named('GPU 0')));
    expect(text()).toBe('Asking …');
    await settled();
    expect(text()).toBe('GPU 0');
    panel.dispose();
  });

  it('says that its view could not be loaded, and tries again when it is next seen', async () => {
    const told = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { panel, text } = opened(
      Promise.reject(new Error('offline')),
      Promise.resolve(named('GPU 0'))
    );
    await settled();
    expect(text()).toBe('Could not be loaded.');
    expect(told).toHaveBeenCalledTimes(1);
    panel.hide();
    panel.show();
    MessageLoop.flush();
    await settled();
    expect(text()).toBe('GPU 0');
    told.mockRestore();
    panel.dispose();
  });

  it('leaves nothing of a view that comes when it is gone', async () => {
    const view = named('late');
    const { panel } = opened(Promise.resolve(view));
    panel.dispose();
    await settled();
    expect(view.isDisposed).toBe(true);
  });
});
