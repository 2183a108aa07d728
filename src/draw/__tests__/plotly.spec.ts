import * as Plotly from 'plotly.js/lib/core';

import { drawFigure, purgeFigure, savePicture } from '../plotly';

jest.mock('plotly.js/lib/core', () => ({
  react: jest.fn().mockResolvedValue(undefined),
  purge: jest.fn(),
  downloadImage: jest.fn().mockResolvedValue('')
}));

const mocked = jest.mocked(Plotly);

describe('the door to plotly', () => {
  const node = document.createElement('div');

  it('draws with the cloud button off', async () => {
    await drawFigure(node, { data: [], layout: {} });
    expect(mocked.react.mock.calls[0]?.[3]).toMatchObject({ showSendToCloud: false });
  });

  it('lets go of a node', () => {
    purgeFigure(node);
    expect(mocked.purge).toHaveBeenCalledWith(node);
  });

  it('saves a picture in the page itself', async () => {
    await savePicture(node, 'memtrack gpt2');
    expect(mocked.downloadImage.mock.calls[0]?.[1]).toMatchObject({
      format: 'png',
      filename: 'memtrack gpt2'
    });
  });
});
