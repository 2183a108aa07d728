// What axe finds, in every theme of JupyterLab.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** The themes that JupyterLab ships. */
export const THEMES = [
  'JupyterLab Light',
  'JupyterLab Dark',
  'JupyterLab Dark High Contrast'
] as const;

/** The rules broken in what `selector` finds, with the nodes that break them. */
export async function violationsIn(page: Page, selector: string): Promise<unknown[]> {
  const { violations } = await new AxeBuilder({ page }).include(selector).analyze();
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}
