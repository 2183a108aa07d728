// The theme of the page as plain values, for drawings that cannot read CSS variables.
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

import { LINE_AREAS } from '../model/areas';
import { CATEGORY_IDS } from '../wire';
import { plainColour } from './colour';

/** Colours are `rgb()` or `rgba()`, lengths pixels. */
export interface ITheme {
  readonly text: string;
  readonly mutedText: string;
  readonly background: string;
  readonly line: string;
  readonly accent: string;
  readonly fontFamily: string;
  readonly fontSize: number;
  /** The colour of a category or of the area of a source line. */
  readonly category: (id: string) => string;
}

/** The CSS variable that holds the colour of a category or of a part of the ledger. */
export function colourVariable(id: string): string {
  return `--memtrack-${id.replace(/_/g, '-')}`;
}

/** Read the theme that holds at `host`, which has to be attached. */
export function readTheme(host: HTMLElement): ITheme {
  const probe = document.createElement('span');
  probe.style.display = 'none';
  // Forced colours would make every category alike.
  probe.style.setProperty('forced-color-adjust', 'none');
  host.append(probe);
  const resolve = (value: string): string => {
    probe.style.color = value;
    return plainColour(getComputedStyle(probe).color);
  };
  const categories = new Map<string, string>(
    [...CATEGORY_IDS, ...LINE_AREAS].map(id => [id, resolve(`var(${colourVariable(id)})`)])
  );
  const style = getComputedStyle(host);
  const theme = {
    text: resolve('var(--memtrack-text)'),
    mutedText: resolve('var(--memtrack-text-muted)'),
    background: resolve('var(--memtrack-background)'),
    line: resolve('var(--memtrack-line)'),
    accent: resolve('var(--memtrack-accent)'),
    fontFamily: style.fontFamily,
    fontSize: parseFloat(style.fontSize) || 13
  };
  probe.remove();
  return { ...theme, category: id => categories.get(id) ?? theme.mutedText };
}

// JupyterLab names its theme in attributes of the body, VS Code in a class and an attribute.
const THEME_ATTRIBUTES = [
  'class',
  'style',
  'data-jp-theme-name',
  'data-jp-theme-light',
  'data-vscode-theme-id'
];
const THEME_QUERIES = ['(forced-colors: active)', '(prefers-color-scheme: dark)'];

/** Call `changed` whenever the page or the system takes another theme, until disposed. */
export function watchTheme(changed: () => void): IDisposable {
  const observer = new MutationObserver(changed);
  for (const node of [document.body, document.documentElement]) {
    observer.observe(node, { attributes: true, attributeFilter: THEME_ATTRIBUTES });
  }
  const queries = THEME_QUERIES.map(query => window.matchMedia?.(query));
  queries.forEach(query => query?.addEventListener('change', changed));
  return new DisposableDelegate(() => {
    observer.disconnect();
    queries.forEach(query => query?.removeEventListener('change', changed));
  });
}
