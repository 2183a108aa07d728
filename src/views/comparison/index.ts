// Two runs compared: the answer, both peaks, what moved them, and layers, time and settings in tabs.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Panel, Widget } from '@lumino/widgets';

import type { Text } from '../../wire';
import { textIn } from '../../wire';
import type { IComparison } from '../../wire/comparison';
import { element } from '../dom';
import { isPlainKey, keepOwnKeys } from '../ownkeys';
import { Tabs } from '../report/tabs';
import { comparedChart } from './chart';
import { comparedLayers } from './layers';
import { sidesOf } from './sides';
import { moversTable, pairsTable, phasesTable, settingsTable } from './tables';

type ComparisonTab = 'peak' | 'layers' | 'timeline' | 'settings';

/** Shows one comparison. */
export class ComparisonWidget extends Panel {
  private readonly _keys: IDisposable;

  constructor(
    comparison: IComparison,
    private readonly _options: ComparisonWidget.IOptions
  ) {
    super();
    const { trans } = _options;
    this.addClass('memtrack-Report');
    this.addClass('memtrack-Comparison');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Comparison of two runs'));
    this._keys = keepOwnKeys(this.node, isPlainKey);
    this.addWidget(new Widget({ node: this._head(comparison) }));
    this.addWidget(this._tabs(comparison));
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._keys.dispose();
      super.dispose();
    }
  }

  private _head(comparison: IComparison): HTMLElement {
    const { trans, language } = this._options;
    const say = (text: Text): string => textIn(text, language);
    const details = comparison.details.map(detail => element('li', { dir: 'auto' }, say(detail)));
    return element(
      'div',
      { class: 'memtrack-Comparison-head' },
      element(
        'div',
        { class: 'memtrack-Report-headline', role: 'heading', 'aria-level': '3', dir: 'auto' },
        say(comparison.sentence)
      ),
      ...(details.length === 0 ? [] : [element('ul', { class: 'memtrack-Details' }, ...details)]),
      sidesOf(comparison, trans)
    );
  }

  private _tabs(comparison: IComparison): Tabs<ComparisonTab> {
    const { trans } = this._options;
    const tabs = new Tabs<ComparisonTab>(
      [
        {
          id: 'peak',
          label: trans.__('What moved the peak'),
          create: () => this._peak(comparison)
        },
        { id: 'layers', label: trans.__('Layers'), create: () => this._layers(comparison) },
        {
          id: 'timeline',
          label: trans.__('Timeline'),
          create: () => comparedChart(comparison, trans)
        },
        {
          id: 'settings',
          label: trans.__('Settings and code'),
          create: () => tablesOf([settingsTable(comparison, trans)])
        }
      ],
      trans.__('Comparison of two runs'),
      element('div')
    );
    const { layers, lines, settings } = comparison;
    tabs.absent = [
      ...(layers.length === 0 ? ['layers' as const] : []),
      ...(lines.a.length + lines.b.length === 0 ? ['timeline' as const] : []),
      ...(settings.length === 0 ? ['settings' as const] : [])
    ];
    tabs.current = 'peak';
    return tabs;
  }

  private _peak(comparison: IComparison): Widget {
    const { trans } = this._options;
    const { movers, categories, ledger, phases } = comparison;
    const isDevice = ledger.length > categories.length;
    return tablesOf([
      ...(movers.length === 0 ? [] : [moversTable(comparison, trans)]),
      ...(categories.length === 0
        ? []
        : [pairsTable(categories, trans.__('What both peaks are made of'), trans)]),
      ...(phases.length === 0 ? [] : [phasesTable(phases, trans)]),
      ...(isDevice ? [pairsTable(ledger, trans.__('The device at both peaks'), trans)] : [])
    ]);
  }

  private _layers(comparison: IComparison): Widget {
    const { trans } = this._options;
    const table = comparedLayers(comparison, trans);
    if (comparison.omittedLayers === 0) {
      return table;
    }
    const panel = new Panel();
    panel.addWidget(
      new Widget({
        node: element(
          'p',
          { class: 'memtrack-Comparison-omitted' },
          trans._n(
            '%1 layer that changed least is left out of the notebook; run the cell again to see it.',
            '%1 layers that changed least are left out of the notebook; run the cell again to see them.',
            comparison.omittedLayers
          )
        )
      })
    );
    panel.addWidget(table);
    return panel;
  }
}

/** A namespace for `ComparisonWidget` statics. */
export namespace ComparisonWidget {
  /** The options of a comparison. */
  export interface IOptions {
    readonly trans: TranslationBundle;
    /** The reader's language, such as `zh_CN`. */
    readonly language: string;
  }
}

function tablesOf(tables: readonly HTMLElement[]): Widget {
  return new Widget({ node: element('div', { class: 'memtrack-Captioned-group' }, ...tables) });
}
