// Plans in a saved notebook, without a kernel: of training, of generation, of loading.
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { THEMES, violationsIn } from './support/accessibility';
import { openNotebook, refuseKernel, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';

const lab = sharedLab();
let planners: Locator;
let training: Locator;

test.beforeAll(async () => {
  await openNotebook(lab.page, savedNotebook('plans'));
  await refuseKernel(lab.page);
  planners = lab.page.getByRole('group', { name: 'Memory planner' });
  training = planners.first();
  await expect(planners).toHaveCount(3);
});

const part = (planner: Locator, name: string): Locator =>
  planner.getByRole('row', { name: new RegExp(`^${name}`) });

test('a plan begins with its answer', async () => {
  await expect(training.getByRole('heading', { level: 3 })).toHaveText(
    '31.8 GiB on each GPU to train 7.00 B parameters'
  );
  await expect(training.getByText(/^Fits NVIDIA A100 80GB/)).toBeVisible();
});

test('a slider moved by keys moves the bars, and nothing else', async () => {
  const { page } = lab;
  const row = part(training, 'activations');
  // The focus may scroll.
  await training.getByRole('slider', { name: 'Batch on a GPU' }).focus();
  const before = await row.boundingBox();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(training.getByRole('textbox', { name: 'Batch on a GPU' })).toHaveValue('4');
  await expect(row).toContainText('68.4 GiB');
  await expect(training.getByText(/^Does not fit NVIDIA A100 80GB/)).toBeVisible();
  expect(await row.boundingBox()).toEqual(before);
  await page.keyboard.press('Home');
  await expect(row).toContainText('17.1 GiB');
  // The keys were not those of the notebook.
  await expect(page.locator('.jp-Cell')).toHaveCount(3);
});

test('what is typed counts as it is typed', async () => {
  const box = training.getByRole('textbox', { name: 'Parameters' });
  await box.fill('14B');
  await expect(part(training, 'parameters')).toContainText('3.26 GiB');
  await box.fill('nonsense');
  await expect(box).toHaveAttribute('aria-invalid', 'true');
  await box.blur();
  await expect(box).toHaveValue('14B');
  await box.fill('7B');
});

test('a billion parameters in fp32 with Adam take 4, 4 and 8 billion bytes', async () => {
  await training.getByRole('textbox', { name: 'Parameters' }).fill('1B');
  await training.getByRole('textbox', { name: 'Number' }).fill('1');
  await training.getByRole('combobox', { name: 'Weights' }).selectOption('fp32');
  await training.getByRole('combobox', { name: 'Optimizer' }).selectOption('Adam');
  for (const [name, bytes] of [
    ['parameters', '4000000000 B'],
    ['gradients', '4000000000 B'],
    ['optimizer state', '8000000000 B']
  ] as const) {
    await expect(part(training, name).getByTitle(bytes)).toBeVisible();
  }
  await expect(part(training, 'optimizer state')).toContainText('1.00 B × 8 bytes');
  // Sharded to eight, each has an eighth of the states.
  await training.getByRole('textbox', { name: 'Number' }).fill('8');
  await training.getByRole('combobox', { name: 'Sharding' }).selectOption('1');
  await expect(part(training, 'optimizer state').getByTitle('1000000000 B')).toBeVisible();
});

test('generation: the cache grows with the length, and what fits is told', async () => {
  const generation = planners.nth(1);
  const cache = part(generation, 'KV cache');
  // 2 × 32 layers × 8 heads × 128 × 32,768 tokens × 4 sequences × 2 bytes
  await expect(cache.getByTitle('17179869184 B')).toBeVisible();
  await generation.getByRole('combobox', { name: 'Cache' }).selectOption('fp8');
  await expect(cache.getByTitle('8589934592 B')).toBeVisible();
  await generation.getByRole('textbox', { name: 'Tokens of each' }).fill('16384');
  await expect(cache.getByTitle('4294967296 B')).toBeVisible();
  await expect(
    generation.getByText(/^At most [\d,]+ tokens a sequence at this batch/)
  ).toBeVisible();
});

test('loading: what the computer and the GPU need, by the way it is done', async () => {
  const loading = planners.nth(2);
  const table = loading.getByRole('table', { name: 'Ways to load' });
  await expect(table.getByRole('row')).toHaveCount(12);
  await expect(table.getByRole('row').nth(1)).toContainText('torch.load(mmap=True)');
  await loading.getByRole('combobox', { name: 'In the model' }).selectOption('fp32');
  await expect(loading.getByRole('heading', { level: 3 })).toHaveText(/^At least 261\sGiB/);
});

test('a plan changes its kind and keeps what was chosen', async () => {
  await training.getByRole('button', { name: 'Loading' }).click();
  await expect(training.getByRole('table', { name: 'Ways to load' })).toBeVisible();
  await training.getByRole('button', { name: 'Training' }).click();
  await expect(training.getByRole('textbox', { name: 'Parameters' })).toHaveValue('1B');
});

for (const theme of THEMES) {
  test(`planners have no accessibility violation in ${theme}`, async () => {
    await lab.page.theme.setTheme(theme);
    expect(await violationsIn(lab.page, '.memtrack-Planner')).toEqual([]);
  });
}

test('planners fit where there is little room, the answer first', async () => {
  await lab.page.setViewportSize({ width: 620, height: 900 });
  for (const planner of await planners.all()) {
    await expect
      .poll(() => planner.evaluate(node => node.scrollWidth - node.clientWidth))
      .toBeLessThanOrEqual(0);
  }
  const [answer, control] = await Promise.all([
    training.getByRole('heading', { level: 3 }).boundingBox(),
    training.getByRole('slider', { name: 'Parameters' }).boundingBox()
  ]);
  expect(answer?.y).toBeLessThan(control?.y ?? 0);
  await lab.page.setViewportSize({ width: 1300, height: 900 });
  expect(lab.errors).toEqual([]);
});
