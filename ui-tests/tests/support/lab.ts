// One page of JupyterLab for a file of tests, and what the tests do in it again and again.
import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import { galata } from '@jupyterlab/galata';
import type { ConsoleMessage, Locator, Page } from '@playwright/test';
import { expect, test } from '@playwright/test';

/** Settings by plugin id. */
export type Settings = Record<string, Record<string, unknown>>;

/** How a page is opened. */
export interface ILabOptions {
  readonly settings?: Settings;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** A page that the tests of a file share. */
export interface ILab {
  readonly page: IJupyterLabPageFixture;
  /** Errors of the page and of its console since it was opened. */
  readonly errors: readonly string[];
}

/** Opens a page before the tests of a file, closes it and its kernels after them. */
export function sharedLab(options: ILabOptions = {}): ILab {
  const errors: string[] = [];
  let page: IJupyterLabPageFixture | undefined;
  let runners: { readonly sessions: string[] } = { sessions: [] };

  test.beforeAll(async ({ browser, baseURL }) => {
    const opened = await galata.newPage({
      baseURL: baseURL ?? '',
      browser,
      autoGoto: false,
      mockSettings: { ...galata.DEFAULT_SETTINGS, ...options.settings },
      waitForApplication: async lab => {
        await lab.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
      }
    });
    page = opened.page;
    collectErrors(page, errors);
    await page.setViewportSize(options.viewport ?? { width: 1300, height: 900 });
    await page.goto();
    const { sessions } = opened;
    runners = {
      get sessions() {
        return [...(sessions?.keys() ?? [])];
      }
    };
  });
  test.afterAll(async ({ request }) => {
    await galata.Mock.clearRunners(request, runners.sessions, 'sessions');
    await page?.context().close();
  });
  return {
    get page() {
      if (page === undefined) {
        throw new Error('The page is opened before the first test.');
      }
      return page;
    },
    errors
  };
}

/** Adds to `errors` what goes wrong in `page` from now on. */
export function collectErrors(page: Page, errors: string[]): void {
  page.on('pageerror', error => errors.push(error.stack ?? error.message));
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error') {
      errors.push(`${message.text()} (${message.location().url})`);
    }
  });
}

/** Opens the notebook at `path`; one that asks for a kernel gets none. */
export async function openNotebook(page: Page, path: string): Promise<void> {
  await page.evaluate(
    async file =>
      void (await window.jupyterapp.commands.execute('docmanager:open', {
        path: file,
        factory: 'Notebook'
      })),
    path
  );
}

/** Opens a saved notebook, without a kernel, and returns its report. */
export async function openSaved(page: Page, path: string): Promise<Locator> {
  await openNotebook(page, path);
  await refuseKernel(page);
  const report = page.locator('.memtrack-Report');
  await expect(report.getByRole('tab', { name: /^(Timeline|时间线)$/ })).toBeVisible();
  return report;
}

/** Answers the question for a kernel, in either language, with none. */
export async function refuseKernel(page: Page): Promise<void> {
  const none = page.getByRole('dialog').getByRole('button', { name: /^(No Kernel|无内核)$/ });
  await none.click();
}

/** The reports of a page, in the order of their cells; as one locator where there is one. */
export function reportIn(page: Page): Locator {
  return page.getByRole('region', { name: 'Memory report' });
}

/** Runs the cell in row `index` of the open notebook, to its end unless `waits` is false. */
export async function runCell(
  page: IJupyterLabPageFixture,
  index: number,
  { waits = true } = {}
): Promise<void> {
  await page.notebook.runCell(index, { inplace: true, wait: waits });
}

/** Chooses a tab of `report` and returns its panel. */
export async function chooseTab(report: Locator, name: string): Promise<Locator> {
  await report.getByRole('tab', { name }).click();
  return report.getByRole('tabpanel', { name });
}
