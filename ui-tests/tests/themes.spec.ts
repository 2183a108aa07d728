import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';

import { chooseTab, openSaved, sharedLab } from './support/lab';
import { savedNotebook } from './support/notebooks';
import { Timeline } from './support/timeline';

const THEMES = ['JupyterLab Light', 'JupyterLab Dark', 'JupyterLab Dark High Contrast'];
const TABS = ['Layers', 'Source lines', 'Timeline', 'Ledger'];

const lab = sharedLab();
let report: Locator;

test.beforeAll(async () => {
  report = await openSaved(lab.page, savedNotebook('gpt2'));
});

for (const theme of THEMES) {
  test(`the chart follows the page to ${theme}`, async () => {
    const timeline = new Timeline(await chooseTab(report, 'Timeline'));
    await lab.page.theme.setTheme(theme);
    const expected = await coloursOfPage(timeline);
    // The same colours in legend and picture, and words in that of the page.
    await expect.poll(() => coloursOfPicture(timeline)).toEqual(expected);
    expect(new Set(expected.areas).size).toBe(expected.areas.length);
    expect(lab.errors).toEqual([]);
  });

  for (const tab of TABS) {
    test(`${tab} in ${theme} has no serious accessibility violation`, async () => {
      await lab.page.theme.setTheme(theme);
      await chooseTab(report, tab);
      const { violations } = await new AxeBuilder({ page: lab.page })
        .include('.memtrack-Report')
        .analyze();
      const serious = violations.filter(
        ({ impact }) => impact === 'serious' || impact === 'critical'
      );
      expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    });
  }
}

interface IColours {
  readonly areas: readonly string[];
  readonly text: string;
}

/** The colours of the legend's swatches, in order, and of the text around them. */
async function coloursOfPage({ legend }: Timeline): Promise<IColours> {
  return {
    areas: await legend
      .locator('.memtrack-Swatch')
      .evaluateAll(nodes => nodes.map(node => getComputedStyle(node).backgroundColor)),
    text: opaque(await legend.evaluate(node => getComputedStyle(node).color))
  };
}

/** The colours of the areas, in the order they are drawn, and of the name of the peak. */
async function coloursOfPicture({ picture }: Timeline): Promise<IColours> {
  const peak = picture.getByText(/^Peak/);
  return {
    areas: await picture
      .locator('.scatterlayer .fills path.js-fill')
      .evaluateAll(nodes => nodes.map(node => getComputedStyle(node).fill)),
    text: opaque(await peak.evaluate(node => getComputedStyle(node).fill))
  };
}

/** A colour without its transparency, which the picture keeps in another property. */
function opaque(colour: string): string {
  const [red, green, blue] = colour.match(/[\d.]+/g) ?? [];
  return `rgb(${red}, ${green}, ${blue})`;
}
