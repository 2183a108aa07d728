// Why it happened: the causes with their evidence, and what in the message does not fit together.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ICause, IDiagnosis } from '../../wire/diagnosis';
import type { Text } from '../../wire';
import { element } from '../dom';
import { section } from './section';
import { POSSIBLE, SURE, confidenceText } from './words';

/** The cause that stands where none can be told: its title says so, and it has no confidence. */
const UNKNOWN = 'unknown';

/** Turns a sentence of the payload into one of the reader's language. */
export type Say = (text: Text) => string;

/** Returns the section of causes; undefined where there is nothing to explain. */
export function whySection(
  { causes: all, checks, kind }: IDiagnosis,
  say: Say,
  trans: TranslationBundle
): HTMLElement | undefined {
  // Beside a cause that can be told, that others cannot says nothing.
  const causes = all.filter(({ id }, index) => index === 0 || id !== UNKNOWN);
  if (causes.length === 0 && kind === 'none') {
    return undefined;
  }
  const hasEvidence = causes.some(({ evidence }) => evidence.length > 0);
  const shown = shownOf(causes);
  const nodes = causes.map((cause, index) =>
    element('li', {}, causeNode(cause, index === 0, say, trans))
  );
  const notice = noticeOf(causes, checks.length > 0, trans);
  return section(
    'why',
    trans.__('Why'),
    ...(notice === '' ? [] : [element('p', { class: 'memtrack-Diagnosis-note' }, notice)]),
    element(
      'ul',
      { class: `memtrack-Diagnosis-causes${hasEvidence ? '' : ' memtrack-mod-flat'}` },
      ...nodes.slice(0, shown),
      ...(shown < nodes.length ? [foldOf(nodes.slice(shown), trans)] : [])
    )
  );
}

/** How many causes stand by themselves; the others are too little likely to take their room. */
function shownOf(causes: readonly ICause[]): number {
  const likely = causes.filter(({ confidence }) => confidence >= POSSIBLE).length;
  return likely === 0 || causes.length - likely < 2 ? causes.length : likely;
}

function foldOf(nodes: readonly HTMLElement[], trans: TranslationBundle): HTMLElement {
  const title = trans._n('%1 less likely cause', '%1 less likely causes', nodes.length);
  return element(
    'li',
    {},
    element(
      'details',
      { class: 'memtrack-Diagnosis-rest' },
      element('summary', {}, title),
      element('ul', { class: 'memtrack-Diagnosis-causes' }, ...nodes)
    )
  );
}

/** Returns what contradicts itself; undefined where nothing does. */
export function contradictionSection(
  contradictions: readonly Text[],
  say: Say,
  trans: TranslationBundle
): HTMLElement | undefined {
  if (contradictions.length === 0) {
    return undefined;
  }
  const lines = contradictions.map(text => element('li', { dir: 'auto' }, say(text)));
  return section(
    'contradictions',
    trans.__('What does not fit together'),
    element('ul', { class: 'memtrack-Diagnosis-alert' }, ...lines)
  );
}

/** What the reader should know of the causes before any of them. */
function noticeOf(causes: readonly ICause[], hasChecks: boolean, trans: TranslationBundle): string {
  const [best] = causes;
  if (best === undefined) {
    return hasChecks
      ? trans.__('What is known does not tell the cause. The next check does.')
      : trans.__('What is known does not tell the cause.');
  }
  if (best.confidence >= SURE || best.id === UNKNOWN) {
    return '';
  }
  return hasChecks
    ? trans.__('No cause is sure. The next check tells more.')
    : trans.__('No cause is sure.');
}

/** One cause: with evidence it unfolds, without it is a line. */
function causeNode(
  { id, title, confidence, evidence }: ICause,
  isBest: boolean,
  say: Say,
  trans: TranslationBundle
): HTMLElement {
  const kind = isBest ? ' memtrack-mod-best' : '';
  const badge = element(
    'span',
    { class: `memtrack-Badge${confidence >= SURE ? ' memtrack-mod-sure' : ''}` },
    confidenceText(confidence, trans)
  );
  const head = [
    element('span', { class: 'memtrack-Cause-title', dir: 'auto' }, say(title)),
    ...(id === UNKNOWN ? [] : [' ', badge])
  ];
  if (evidence.length === 0) {
    return element('div', { class: `memtrack-Cause memtrack-mod-plain${kind}` }, ...head);
  }
  return element(
    'details',
    { class: `memtrack-Cause${kind}`, open: isBest ? '' : undefined },
    element('summary', {}, ...head),
    element('ul', {}, ...evidence.map(line => element('li', { dir: 'auto' }, say(line))))
  );
}
