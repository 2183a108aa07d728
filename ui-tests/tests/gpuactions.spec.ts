// What the buttons of the panel do to a real kernel, whose memory is made up: the machine has no GPU.
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { GpuPanel, setFaults, setGpuSetting } from './support/gpus';
import { openNotebook, sharedLab } from './support/lab';
import { writeNotebook } from './support/notebooks';

const FIGURES = `
import memtrack.notebook.usage as usage
GIB = 1 << 30
usage.usage_now = lambda: [
    {"uuid": "00000000-0000-4000-8000-000000000000", "index": 0, "allocated": 2 * GIB,
     "reserved": 3 * GIB, "peak": 3 * GIB, "context": GIB}]
`;
const FAILURE =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total ' +
  'capacity of 23.69 GiB of which 1.19 GiB is free.';
const CELLS = [
  FIGURES,
  '%load_ext memtrack',
  `%memtrack explain "${FAILURE}"`,
  'import time\nwhile True:\n    time.sleep(0.05)',
  'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)'
];

const lab = sharedLab();
let panel: GpuPanel;

test.beforeAll(async () => {
  setFaults({});
  const { page } = lab;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  // Galata reads a body in every answer about kernels; this one has none.
  await page.route('**/api/kernels/*/interrupt*', route => route.continue());
  await openNotebook(page, writeNotebook('actions.ipynb', CELLS));
  await page.getByText('Python 3 (ipykernel) | Idle').waitFor();
  panel = new GpuPanel(page);
  await panel.open();
});

const row = (): Locator => panel.rows(panel.device(0)).filter({ hasText: 'actions.ipynb' });
const press = (name: RegExp): Promise<void> => row().getByRole('button', { name }).click();
const toast = (text: RegExp): Locator => lab.page.locator('.Toastify__toast').getByText(text);
const status = (): Locator => lab.page.locator('.memtrack-GpuStatus');
const run = (index: number): Promise<boolean> =>
  lab.page.notebook.runCell(index, { inplace: true, wait: false } as never);

test('Free says that memtrack is not loaded', async () => {
  await press(/^Free/);
  await expect(toast(/^memtrack is not loaded in actions\.ipynb: run/)).toBeVisible();
  await expect(status()).toBeHidden();
});

test('once it is, the bar and the status bar tell what the notebook holds', async () => {
  const { page } = lab;
  await page.notebook.runCell(0, true);
  await page.notebook.runCell(1, true);
  // Of the driver's 4 GiB the allocator has 3.
  await expect(row()).toContainText('tensors 2.00 GiB');
  await expect(row()).toContainText('allocator cache 1.00 GiB');
  await expect(row()).toContainText('CUDA context 1.00 GiB');
  await expect(status()).toHaveText('GPU 4.00 GiB');
  await expect(status().getByRole('button')).toHaveAttribute(
    'title',
    /GPU memory of actions\.ipynb/
  );
  await panel.close();
  await status().getByRole('button').click();
  await expect(panel.region).toBeVisible();
  await setGpuSetting(page, 'statusItem', false);
  await expect(status()).toBeHidden();
  await setGpuSetting(page, 'statusItem', true);
  await expect(status()).toBeVisible();
});

test('Free gives back what is safe, and tells', async () => {
  await press(/^Free/);
  await expect(toast(/given back in actions\.ipynb|^Nothing in actions\.ipynb/)).toBeVisible();
});

test('Explain says that there is nothing yet, then goes to the latest', async () => {
  const { page } = lab;
  await press(/^Explain/);
  await expect(toast(/^There is no memory report in actions\.ipynb yet/)).toBeVisible();
  await page.notebook.runCell(2, true);
  await page.notebook.selectCells(0);
  await press(/^Explain/);
  await expect(page.locator('.jp-Cell.jp-mod-active .memtrack-Diagnosis')).toBeInViewport();
});

test('Interrupt asks first', async () => {
  await run(3);
  await press(/^Interrupt/);
  const dialog = lab.page.getByRole('dialog');
  await expect(dialog).toContainText('Interrupt the kernel of actions.ipynb?');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(row()).toContainText('busy');
  // A cell that runs is not disturbed by freeing.
  await press(/^Free/);
  await expect(toast(/^A cell is running here/)).toBeVisible();
  await press(/^Interrupt/);
  await dialog.getByRole('button', { name: 'Interrupt' }).click();
  await expect(
    lab.page.locator('.jp-OutputArea').getByText('KeyboardInterrupt').first()
  ).toBeVisible();
  await expect(row()).toContainText('idle');
});

test('the command for a process of another program is copied, not run', async () => {
  const foreign = panel.rows(panel.device(0)).filter({ hasText: 'no session' });
  const command = await foreign.locator('code').innerText();
  expect(command).toMatch(/^kill -TERM \d+$/);
  await foreign.getByRole('button', { name: `Copy: ${command}` }).click();
  await expect.poll(() => lab.page.evaluate(() => navigator.clipboard.readText())).toBe(command);
  // Of another user's there is none.
  await expect(panel.rows(panel.device(1)).getByRole('button')).toHaveCount(0);
});

test('a closed notebook is opened again', async () => {
  const { page } = lab;
  await page.notebook.close(true);
  await expect(row()).not.toContainText('this notebook');
  await press(/^Open/);
  await expect(page.locator('.jp-NotebookPanel')).toBeVisible();
  await expect(row()).toContainText('this notebook');
  await expect(status()).toBeVisible();
});

test('a kernel that is killed comes back, and is not told of before memtrack is loaded', async () => {
  const { page } = lab;
  await run(4);
  await page.getByRole('dialog').getByRole('button', { name: 'Ok' }).click();
  await expect(row()).toContainText('this notebook');
  await expect(status()).toBeHidden();
  await expect(row()).not.toContainText('allocator cache');
  await page.notebook.runCell(0, true);
  await page.notebook.runCell(1, true);
  await expect(status()).toHaveText('GPU 4.00 GiB');
  await expect(row()).toContainText('allocator cache 1.00 GiB');
});
