// The chart of both runs under its key.
import type { TranslationBundle } from '@jupyterlab/translation';
import { Panel, Widget } from '@lumino/widgets';

import { formatBytes } from '../../base/bytes';
import { buildTwoLines } from '../../draw/twolines';
import type { IComparison } from '../../wire/comparison';
import { Chart } from '../chart';
import { element } from '../dom';
import { sideName } from './words';

const HEIGHT_PX = 260;

/** Returns memory of both runs over their steps on one axis. */
export function comparedChart(
  { a, b, peak, lines }: IComparison,
  trans: TranslationBundle
): Widget {
  const words = {
    before: trans.__('before'),
    after: trans.__('after'),
    bytes: formatBytes,
    axis: trans.__('steps')
  };
  const chart = new Chart({
    heightPx: HEIGHT_PX,
    failed: trans.__('The chart could not be loaded.'),
    figure: canvas => buildTwoLines({ ...canvas, before: lines.a, after: lines.b, words })
  });
  chart.description = trans.__(
    'Memory over the steps: before up to %1, after up to %2',
    formatBytes(peak.before),
    formatBytes(peak.after)
  );
  const key = (kind: string, text: string): HTMLElement =>
    element('span', { class: `memtrack-Comparison-key memtrack-mod-${kind}`, dir: 'auto' }, text);
  const legend = element(
    'div',
    { class: 'memtrack-Keys' },
    key('before', trans.__('before: %1', sideName(a, trans))),
    key('after', trans.__('after: %1', sideName(b, trans)))
  );
  const panel = new Panel();
  panel.addWidget(new Widget({ node: legend }));
  panel.addWidget(chart);
  return panel;
}
