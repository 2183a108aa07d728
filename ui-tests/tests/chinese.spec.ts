import { expect, test } from '@playwright/test';

import { openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';

const lab = sharedLab({
  settings: { '@jupyterlab/translation-extension:plugin': { locale: 'zh_CN' } }
});

test('the report speaks Chinese where JupyterLab does', async () => {
  const { page } = lab;
  const report = await openSaved(page, savedNotebook('devices'));
  await expect(report).toHaveAccessibleName('内存报告');
  await expect(report.getByRole('heading')).toHaveText(/^峰值 7\.36 GiB/);
  await expect(report.getByRole('tab')).toHaveText(['层', '源代码行', '时间线', '账目', '摘要']);

  // What is Latin in the report are names and units, never sentences.
  for (const tab of await report.getByRole('tab').all()) {
    await tab.click();
    const text = await report.innerText();
    expect(text.match(/\b(the|and|to|is|in|at|peak|layers?|memory|step)\b/gi) ?? []).toEqual([]);
  }
  expect(lab.errors).toEqual([]);
});
