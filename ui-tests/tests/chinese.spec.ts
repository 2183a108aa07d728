import { expect, test } from '@playwright/test';

import { GpuPanel, setFaults } from './support/gpus';
import { openNotebook, openSaved, refuseKernel, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';

// Of what is Latin on the page all are names, units and code, never sentences.
const ENGLISH = /\b(the|and|to|is|in|at|peak|layers?|memory|steps?|bytes)\b/gi;

const lab = sharedLab({
  settings: { '@jupyterlab/translation-extension:plugin': { locale: 'zh_CN' } }
});

test('the report speaks Chinese where JupyterLab does', async () => {
  const { page } = lab;
  const report = await openSaved(page, savedNotebook('devices'));
  await expect(report).toHaveAccessibleName('内存报告');
  await expect(report.getByRole('heading')).toHaveText(/^峰值 7\.36 GiB/);
  await expect(report.getByRole('tab')).toHaveText(['层', '源代码行', '时间线', '账目', '摘要']);

  for (const tab of await report.getByRole('tab').all()) {
    await tab.click();
    const text = await report.innerText();
    expect(text.match(ENGLISH) ?? []).toEqual([]);
  }
  expect(lab.errors).toEqual([]);
});

test('several ranks do, and the report of one', async () => {
  const { page } = lab;
  await openNotebook(page, savedNotebook('ranks'));
  await refuseKernel(page);
  const ranks = page.getByRole('region', { name: '一次运行的各个 rank' });
  await expect(ranks.getByRole('heading', { level: 3 }).first()).toContainText('1.73 倍');
  await expect(ranks.getByRole('heading', { name: /^峰值 1\.23 GiB/ })).toBeVisible();
  const text = await ranks.innerText();
  expect(text.match(ENGLISH) ?? []).toEqual([]);
});

test('planners do as well', async () => {
  const { page } = lab;
  await openNotebook(page, savedNotebook('plans'));
  await refuseKernel(page);
  const planners = page.getByRole('group', { name: '显存规划' });
  await expect(planners).toHaveCount(3);
  await expect(planners.first().getByRole('heading', { level: 3 })).toContainText('31.8 GiB');
  for (const index of [0, 1]) {
    const text = await planners.nth(index).innerText();
    expect(text.match(ENGLISH) ?? []).toEqual([]);
  }
});

test('the panel of the GPUs does, its warnings and empty states too', async () => {
  const { page } = lab;
  setFaults({});
  const panel = new GpuPanel(page);
  await panel.open();
  await expect(panel.rows(panel.device(1))).toContainText('grace');
  const text = await panel.region.innerText();
  expect(text.match(ENGLISH) ?? []).toEqual([]);
  setFaults({ refuse: { nvmlInit: 'NO_PERMISSION', nvmlDeviceGetMemoryInfo: 'GPU_IS_LOST' } });
  await expect(panel.explanation).toHaveAttribute('data-state', 'permission', { timeout: 40_000 });
  // The last paragraph is the driver's own words.
  for (const part of await panel.explanation.locator('h3, p:not([dir])').all()) {
    expect((await part.innerText()).match(ENGLISH) ?? []).toEqual([]);
  }
  setFaults({});
});

test('and the settings, which no language pack has', async () => {
  const { page } = lab;
  const open = (query: string): Promise<void> =>
    page.evaluate(
      async words =>
        void (await window.jupyterapp.commands.execute('settingeditor:open', { query: words })),
      query
    );
  await open('memtrack');
  const reports = page.getByRole('group', { name: 'memtrack：报告' });
  await expect(reports.getByRole('checkbox', { name: '折叠报告' })).toBeVisible();
  await expect(reports).toContainText('展开之前只显示内存报告的前两行。');
  const gpus = page.getByRole('group', { name: 'memtrack：GPU 面板' });
  await expect(gpus).toContainText('面板打开时每隔多少秒查看一次 GPU。');
  await expect(gpus.getByRole('option', { name: '自动选择' })).toHaveCount(1);
  for (const form of [reports, gpus]) {
    expect((await form.innerText()).match(ENGLISH) ?? []).toEqual([]);
  }
});
