// The picture of the GPU panel in the README: two H200 from a recording of NVML's answers. The processes
// of the recording become the kernels of two notebooks, which tell what they had told then.
import { expect, test } from '@playwright/test';
import path from 'node:path';

import { GpuPanel, setFaults } from './support/gpus';
import { openNotebook, sharedLab } from './support/lab';
import { writeNotebook } from './support/notebooks';
import { takePicture } from './support/picture';

const FOLDER = path.join(__dirname, '../../docs/images');
const FONTS = { 'ui-font-family': '"Liberation Sans", Arial, "DejaVu Sans"' };
const WIDTH_PX = 430;
const FIGURES = `
import memtrack.notebook.usage as usage
usage.usage_now = lambda: [
    {"uuid": "de02e7eb-e203-529a-8e1b-4907d4cb5995", "index": 0, "allocated": 4362076160,
     "reserved": 4362076160, "peak": 4362076160, "context": 715128832}]
`;

const lab = sharedLab({
  viewport: { width: 1180, height: 800 },
  settings: { '@jupyterlab/apputils-extension:themes': { overrides: FONTS } }
});

test('the panel, light and dark', async () => {
  const { page } = lab;
  setFaults({});
  for (const name of ['train.ipynb', 'eval.ipynb']) {
    await openNotebook(page, writeNotebook(name, [FIGURES, '%load_ext memtrack']));
    await page.getByText('Python 3 (ipykernel) | Idle').waitFor();
  }
  await page.activity.activateTab('train.ipynb');
  await page.notebook.run();
  await page.sidebar.close('left');
  const panel = new GpuPanel(page);
  await panel.open();
  await page.sidebar.setWidth(WIDTH_PX, 'right');
  await expect(panel.rows(panel.device(0)).filter({ hasText: 'train.ipynb' })).toContainText(
    'tensors 4.06 GiB'
  );
  // A history worth to be seen.
  await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 20_000)));
  await takePicture(panel.region, path.join(FOLDER, 'gpu-panel.png'));
  await page.theme.setDarkTheme();
  await takePicture(panel.region, path.join(FOLDER, 'gpu-panel-dark.png'));
});
