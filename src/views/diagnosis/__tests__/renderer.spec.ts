import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { diagnosisJson } from '../../../wire/__tests__/diagnosis';
import { DIAGNOSIS_MIME_TYPE } from '../../../wire/mimetype';
import { trans } from '../../__tests__/sample';
import { DiagnosisRenderer } from '../renderer';

function modelOf(...args: Parameters<typeof diagnosisJson>): IRenderMime.IMimeModel {
  const data = { [DIAGNOSIS_MIME_TYPE]: diagnosisJson(...args) as ReadonlyPartialJSONObject };
  return { trusted: false, metadata: {}, data, setData: jest.fn() };
}

describe('the renderer of diagnoses', () => {
  let renderer: DiagnosisRenderer;

  beforeEach(() => {
    renderer = new DiagnosisRenderer(DIAGNOSIS_MIME_TYPE, { trans, language: 'en' });
    Widget.attach(renderer, document.body);
  });

  afterEach(() => renderer.dispose());

  const headline = (): string => renderer.node.querySelector('[role=heading]')?.textContent ?? '';
  const failure = (): string => renderer.node.querySelector('[role=alert]')?.textContent ?? '';

  it('shows the diagnosis of an untrusted notebook', async () => {
    await renderer.renderModel(modelOf());
    expect(headline()).toMatch(/^Out of memory in forward/);
  });

  it('shown again leaves alone what the reader unfolded', async () => {
    await renderer.renderModel(modelOf());
    const cause = renderer.node.querySelectorAll('details')[1];
    cause?.setAttribute('open', '');
    await renderer.renderModel(modelOf());
    expect(renderer.node.querySelectorAll('details')[1]).toBe(cause);
    await renderer.renderModel(modelOf('crash'));
    expect(headline()).toMatch(/illegal access/);
  });

  it('shows the latest of two that come at once', async () => {
    await Promise.all([
      renderer.renderModel(modelOf('text')),
      renderer.renderModel(modelOf('crash'))
    ]);
    expect(headline()).toMatch(/illegal access/);
  });

  it('says in one sentence what it cannot show, and recovers', async () => {
    await renderer.renderModel(modelOf('full', { schema: 'memtrack.diagnosis/2' }));
    expect(failure()).toBe(
      'This explanation was written by another version of memtrack. Run the cell again, or update memtrack in this Jupyter.'
    );
    await renderer.renderModel(modelOf('full', { headline: 7 }));
    expect(failure()).toBe(
      'This explanation is damaged and cannot be shown (headline: is not an object). Run the cell again.'
    );
    await renderer.renderModel(modelOf());
    expect([failure(), headline()]).toEqual(['', expect.stringMatching(/^Out of memory/)]);
  });

  it('shows nothing when it is disposed meanwhile', async () => {
    const rendering = renderer.renderModel(modelOf());
    renderer.dispose();
    await rendering;
    expect(headline()).toBe('');
  });
});
