// The layer table of a report, found by roles as a screen reader finds it.
import type { Locator, Page } from '@playwright/test';
import { expect } from '@playwright/test';

/** A layer table and its parts. */
export class LayerTable {
  readonly grid: Locator;
  readonly toolbar: Locator;
  readonly filter: Locator;
  /** What a screen reader is told. */
  readonly status: Locator;

  constructor(private readonly _panel: Locator) {
    this.grid = _panel.getByRole('treegrid', { name: 'Layers' });
    this.toolbar = _panel.getByRole('group', { name: 'Layer table' });
    this.filter = _panel.getByRole('searchbox', { name: 'Filter layers by path or type' });
    this.status = _panel.getByRole('status');
  }

  /** The lines of layers that are drawn, those of sums left out. */
  get rows(): Locator {
    return this.grid.locator('[role="row"][aria-posinset]');
  }

  /** The first line drawn whose name begins with `name`. */
  row(name: string): Locator {
    const header = this._panel.page().getByRole('rowheader', { name: new RegExp(`^${name}`) });
    return this.grid.getByRole('row').filter({ has: header }).first();
  }

  heading(name: string): Locator {
    return this.grid.getByRole('columnheader', { name, exact: true });
  }

  get headings(): Locator {
    return this.grid.getByRole('columnheader');
  }

  button(name: string): Locator {
    return this.toolbar.getByRole('button', { name, exact: true });
  }

  async sortBy(name: string): Promise<void> {
    await this.heading(name).getByRole('button').click();
  }

  /** Presses Copy and returns the lines of the clipboard, each as its cells. */
  async copied(page: Page): Promise<string[][]> {
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await this.button('Copy').click();
    await expect(this.status).toHaveText('Copied');
    return clipboardLines(page);
  }
}

/** The cells of the lines in the clipboard. */
export async function clipboardLines(page: Page): Promise<string[][]> {
  const text = await page.evaluate(() => navigator.clipboard.readText());
  return text
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'));
}
