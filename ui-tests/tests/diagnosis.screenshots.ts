// The picture of a diagnosis in the README: losses kept with their graphs, on an NVIDIA H200.
import { expect, test } from '@playwright/test';
import path from 'node:path';

import { openNotebook, refuseKernel, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { takePicture } from './support/picture';

const FOLDER = path.join(__dirname, '../../docs/images');
const FONTS = { 'ui-font-family': '"Liberation Sans", Arial, "DejaVu Sans"' };

const lab = sharedLab({
  settings: { '@jupyterlab/apputils-extension:themes': { overrides: FONTS } }
});

test('diagnosis', async () => {
  const { page } = lab;
  await openNotebook(page, savedNotebook('leak'));
  await refuseKernel(page);
  await page.sidebar.close('left');
  await page.setViewportSize({ width: 1180, height: 2000 });
  const diagnosis = page.getByRole('region', { name: 'Explanation of the error' });
  await expect(diagnosis.getByText('almost certain, 90 %')).toBeVisible();
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.fonts.ready);
  const [whole, remedies] = await Promise.all(
    [diagnosis, diagnosis.getByRole('table', { name: /^What helps/ })].map(node =>
      node.boundingBox()
    )
  );
  if (!whole || !remedies) {
    throw new Error('There is nothing to take a picture of.');
  }
  // To the end of what helps: what follows is code to copy.
  const height = remedies.y + remedies.height + 10 - whole.y;
  await takePicture(page, path.join(FOLDER, 'diagnosis.png'), {
    animations: 'disabled',
    clip: { ...whole, height }
  });
});
