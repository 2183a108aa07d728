// Kept runs with a real kernel: two recordings become runs by themselves, are named, deleted, compared.
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { openNotebook, sharedLab } from './support/lab';
import { writeNotebook } from './support/notebooks';

const TRAIN = `import tempfile, os, torch, memtrack
os.environ["MEMTRACK_HISTORY"] = tempfile.mkdtemp()
def train(width):
    model = torch.nn.Sequential(torch.nn.Linear(256, width), torch.nn.ReLU(), torch.nn.Linear(width, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with memtrack.track(model, optimizer):
        for _ in range(2):
            model(torch.randn(64, 256)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
train(256)
train(1024)`;
const THEMES = ['JupyterLab Light', 'JupyterLab Dark', 'JupyterLab Dark High Contrast'];

const lab = sharedLab();
let history: Locator;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  const { page } = lab;
  await openNotebook(
    page,
    writeNotebook('history.ipynb', [TRAIN, '%load_ext memtrack', '%memtrack history'])
  );
  await page.notebook.run();
  history = page.getByRole('region', { name: 'Kept runs' });
  await expect(history.getByRole('heading', { name: /^2 runs in/ })).toBeVisible();
});

test('every finished recording is a run, the newest first', async () => {
  const rows = history.getByRole('row').filter({ has: lab.page.getByRole('checkbox') });
  await expect(rows).toHaveCount(2);
  await expect(rows.first().getByRole('img', { name: /^Memory over the run/ })).toBeVisible();
});

test('a run is named by keyboard, and found by its name', async () => {
  const { page } = lab;
  const row = history.getByRole('row', { name: /^Run 2/ });
  await row.getByRole('button', { name: 'Edit' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('wide');
  await page.keyboard.press('Tab');
  await expect(history.getByText('Run 2, wide')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(row.getByRole('button', { name: 'Edit' })).toBeFocused();
  await history.getByRole('searchbox').fill('wide');
  await expect(history.getByRole('heading', { name: /^1 run found in/ })).toBeVisible();
  await history.getByRole('searchbox').fill('');
  await expect(history.getByRole('heading', { name: /^2 runs in/ })).toBeVisible();
});

test('a deleted run comes back, and the way back takes no line of its own', async () => {
  const toolbar = history.getByRole('group', { name: 'Kept runs' }).first();
  const before = await toolbar.boundingBox();
  await history
    .getByRole('row', { name: /^Run 1/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect(history.getByRole('heading', { name: /^1 run in/ })).toBeVisible();
  expect((await toolbar.boundingBox())?.height).toBe(before?.height);
  await history.getByRole('button', { name: 'Undo' }).click();
  await expect(history.getByRole('heading', { name: /^2 runs in/ })).toBeVisible();
});

test('two runs are compared under the list', async () => {
  for (const box of await history.getByRole('checkbox').all()) {
    await box.check();
  }
  await history.getByRole('button', { name: 'Compare two runs' }).click();
  const comparison = history.getByRole('region', { name: 'Comparison of two runs' });
  await expect(comparison.getByRole('heading', { level: 3 })).toContainText('Peak');
  await expect(comparison.getByText('before', { exact: true })).toBeVisible();
});

for (const theme of THEMES) {
  test(`nothing is out of reach or out of sight in ${theme}`, async () => {
    const { page } = lab;
    await page.theme.setTheme(theme);
    const { violations } = await new AxeBuilder({ page }).include('.memtrack-History').analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });
}

test('nothing is wider than a narrow window', async () => {
  const { page } = lab;
  await page.setViewportSize({ width: 620, height: 900 });
  for (const part of [history, history.getByRole('group', { name: 'Kept runs' }).nth(1)]) {
    await expect
      .poll(() => part.evaluate(node => node.scrollWidth - node.clientWidth))
      .toBeLessThanOrEqual(0);
  }
});
