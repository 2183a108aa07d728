// The picture of the GPU panel in the README: two devices from a tape.
import { expect, test } from '@playwright/test';
import path from 'node:path';

import { GpuPanel, setFaults } from './support/gpus';
import { openNotebook, sharedLab } from './support/lab';
import { writeNotebook } from './support/notebooks';

const FOLDER = path.join(__dirname, '../../docs/images');
const FONTS = { 'ui-font-family': '"Liberation Sans", Arial, "DejaVu Sans"' };
const WIDTH_PX = 430;

const lab = sharedLab({
  viewport: { width: 1180, height: 800 },
  settings: { '@jupyterlab/apputils-extension:themes': { overrides: FONTS } }
});

test('the panel, light and dark', async () => {
  const { page } = lab;
  setFaults({});
  await openNotebook(page, writeNotebook('train.ipynb', ['%load_ext memtrack']));
  await page.getByText('Python 3 (ipykernel) | Idle').waitFor();
  await page.sidebar.close('left');
  const panel = new GpuPanel(page);
  await panel.open();
  await page.sidebar.setWidth(WIDTH_PX, 'right');
  await expect(panel.rows(panel.device(0))).toHaveCount(2);
  // A history worth to be seen.
  await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 20_000)));
  await panel.region.screenshot({ path: path.join(FOLDER, 'gpu-panel.png') });
  await page.theme.setDarkTheme();
  await panel.region.screenshot({ path: path.join(FOLDER, 'gpu-panel-dark.png') });
});
