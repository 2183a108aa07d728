import { expect, test } from '@playwright/test';

import { openNotebook, reportIn, sharedLab } from './support/lab';
import { exampleNotebook } from './support/notebooks';

const lab = sharedLab();

test('the example runs through, and its report says the peak', async () => {
  test.setTimeout(240_000);
  const { page } = lab;
  await openNotebook(page, exampleNotebook('memtrack.ipynb'));
  await page.notebook.run();
  // Errors of cells, which would end the run.
  await expect(page.locator('.jp-OutputArea-output[data-mime-type*="stderr"]')).toHaveCount(0);

  const texts = await outputsOfReports(page);
  expect(texts.map(text => text.split(/[\n,]/)[0])).toEqual([
    expect.stringMatching(/^Peak [\d.]+ MiB in \w+ of \S+$|^Peak [\d.]+ MiB in \w+$/),
    expect.stringMatching(/^Peak [\d.]+ MiB in /),
    expect.stringMatching(/^Peak [\d.]+ MiB in /)
  ]);

  await page.getByRole('heading', { name: 'Watch it train' }).scrollIntoViewIfNeeded();
  const report = reportIn(page).first();
  await report.scrollIntoViewIfNeeded();
  // The text for terminals and the report say the same.
  await expect(report.getByRole('heading')).toHaveText(texts[0]?.split('\n')[0] ?? '');
  await expect(report.getByRole('heading')).toBeInViewport();
  await expect(report.getByText('decoder · 4 steps')).toBeVisible();
  await expect(report.getByRole('img', { name: /in all: parameters/ }).first()).toBeVisible();
  await expect(
    report.getByRole('treegrid').getByRole('rowheader', { name: /^decoder/ })
  ).toBeVisible();
  expect(lab.errors).toEqual([]);
});

/** The plain text of every output that is a report. */
function outputsOfReports(page: typeof lab.page): Promise<string[]> {
  return page.evaluate(() => {
    const { currentWidget } = window.jupyterapp.shell as unknown as {
      currentWidget: { context: { model: { toJSON(): INotebook } } };
    };
    return currentWidget.context.model
      .toJSON()
      .cells.flatMap(cell => cell.outputs ?? [])
      .filter(({ data }) => data?.['application/vnd.memtrack.report.v1+json'] !== undefined)
      .map(({ data }) => [data?.['text/plain']].flat().join(''));
  });
}

interface INotebook {
  readonly cells: readonly {
    readonly outputs?: readonly { readonly data?: Record<string, unknown> }[];
  }[];
}
