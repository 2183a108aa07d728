// Cells that failed, each explained under its traceback, in a saved notebook without a kernel.
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { collectErrors, openNotebook, refuseKernel, runCell, sharedLab } from './support/lab';
import { savedNotebook, writeNotebook } from './support/notebooks';

const THEMES = ['JupyterLab Light', 'JupyterLab Dark', 'JupyterLab Dark High Contrast'];

const CELLS = [
  '%load_ext memtrack',
  'raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of' +
    ' 23.69 GiB of which 10.06 MiB is free. Including non-PyTorch memory, this process has 23.67 GiB' +
    ' memory in use. Of the allocated memory 22.80 GiB is allocated by PyTorch, and 411.50 MiB is' +
    ' reserved by PyTorch but unallocated.")'
];

const lab = sharedLab();
let diagnoses: Locator;
let full: Locator;

test.beforeAll(async () => {
  await openNotebook(lab.page, savedNotebook('diagnosis'));
  await refuseKernel(lab.page);
  diagnoses = lab.page.getByRole('region', { name: 'Explanation of the error' });
  full = diagnoses.first();
  await expect(diagnoses).toHaveCount(4);
});

test('stands under the traceback and begins with the answer', async () => {
  const outputs = lab.page.locator('.jp-OutputArea-output').first();
  await expect(outputs).toContainText('Traceback (most recent call last)');
  const heading = full.getByRole('heading', { level: 3 });
  await expect(heading).toHaveText(/^Out of memory in forward of layers\.17\.self_attn/);
  await expect(full.getByText('almost certain, 93 %')).toBeVisible();
  // Once only: neither the HTML nor the text beside it.
  await expect(lab.page.getByText(/^Out of memory in forward of layers/)).toHaveCount(1);
});

test('folds by keyboard, and what is above does not move', async () => {
  const { page } = lab;
  const cause = full.getByText('Fragmentation');
  const evidence = full.getByText('612 MiB < 2.00 GiB');
  await expect(evidence).toBeHidden();
  const before = await cause.boundingBox();
  await full.locator('summary', { hasText: 'Fragmentation' }).focus();
  await page.keyboard.press('Enter');
  await expect(evidence).toBeVisible();
  expect(await cause.boundingBox()).toEqual(before);
  // The keys were not those of the notebook: it is still in command mode with all of its cells.
  await expect(page.locator('.jp-Cell')).toHaveCount(4);
  await page.keyboard.press('Enter');
  await expect(evidence).toBeHidden();
});

test('copies the code of a remedy and says so', async () => {
  const { page } = lab;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copy = full.getByRole('button', { name: 'Copy: bf16 autocast' });
  const width = (await copy.boundingBox())?.width;
  await copy.click();
  await expect(full.getByRole('status')).toHaveText('Copied');
  await expect(copy).toContainText('Copied');
  expect((await copy.boundingBox())?.width).toBe(width);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = model(batch)'
  );
  await full.getByRole('button', { name: 'bf16 autocast', exact: true }).click();
  await expect(full.getByText('from Ampere on')).toBeVisible();
});

test('draws what was asked from where the device is free to past its end', async () => {
  const bar = await full.getByRole('img', { name: /^23\.7 GiB in all/ }).boundingBox();
  const asked = await full.locator('.memtrack-Picture-asked').boundingBox();
  if (bar === null || asked === null) {
    throw new Error('The bar is not drawn.');
  }
  expect(asked.x).toBeLessThan(bar.x + bar.width);
  expect(asked.x + asked.width).toBeGreaterThan(bar.x + bar.width);
  await expect(full.getByText('1.50 GiB more than the device has free')).toBeVisible();
});

test('sets each figure beside its name in one line', async () => {
  const rows = await full.locator('dl > div').all();
  expect(rows).toHaveLength(12);
  for (const row of rows) {
    expect((await row.boundingBox())?.height).toBeLessThan(30);
  }
});

test('is complete where little is known', async () => {
  const headings = (index: number): Locator => diagnoses.nth(index).getByRole('heading');
  await expect(headings(1)).toHaveText([
    'Out of memory on GPU 0: 2.00 GiB asked for, 512 MiB of 23.7 GiB free.',
    'Why',
    'What was needed, and what there was',
    'From the message',
    'Next check'
  ]);
  await expect(headings(2).first()).toHaveText(
    /^Not out of memory: a kernel read or wrote outside/
  );
  await expect(headings(3)).toHaveText(['No memory error found, and no other error either.']);
});

for (const theme of THEMES) {
  test(`has no serious accessibility violation in ${theme}`, async () => {
    await lab.page.theme.setTheme(theme);
    await full.getByText('The original message').click();
    const { violations } = await new AxeBuilder({ page: lab.page })
      .include('.memtrack-Diagnosis')
      .analyze();
    const serious = violations.filter(
      ({ impact }) => impact === 'serious' || impact === 'critical'
    );
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });
}

test('fits where there is little room', async () => {
  await lab.page.setViewportSize({ width: 620, height: 900 });
  await expect
    .poll(() => full.evaluate(node => node.scrollWidth - node.clientWidth))
    .toBeLessThanOrEqual(0);
  await expect(full.getByRole('row', { name: /^bf16 autocast/ })).toBeVisible();
  expect(lab.errors).toEqual([]);
});

test('comes by itself under the traceback of a cell that fails of memory', async () => {
  const { page } = lab;
  await page.setViewportSize({ width: 1300, height: 900 });
  await openNotebook(page, writeNotebook('failing.ipynb', CELLS));
  await runCell(page, 0);
  await runCell(page, 1);
  const outputs = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output');
  await expect(outputs.filter({ hasText: 'RuntimeError' }).first()).toContainText('Traceback');
  const region = page
    .locator('.jp-NotebookPanel:not(.lm-mod-hidden)')
    .getByRole('region', { name: 'Explanation of the error' });
  await expect(region).toHaveCount(1);
  await expect(region.getByRole('heading', { level: 3 })).toContainText('20.0 GiB');
  await expect(region.getByRole('heading', { name: 'Why' })).toBeVisible();
  await expect(region.getByRole('button', { name: 'Copy: Free it' })).toBeVisible();
  expect(lab.errors).toEqual([]);
});

test('is shown by Notebook 7', async ({ page }) => {
  const errors: string[] = [];
  collectErrors(page, errors);
  await page.goto(`/notebooks/${savedNotebook('diagnosis')}`);
  await refuseKernel(page);
  const region = page.getByRole('region', { name: 'Explanation of the error' });
  await expect(region).toHaveCount(4);
  await expect(region.first().getByText('almost certain, 93 %')).toBeVisible();
  expect(errors.filter(error => error.includes('memtrack'))).toEqual([]);
});
