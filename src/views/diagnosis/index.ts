// The explanation of an error under the reader's own traceback: the answer, why, and what to do. It
// knows no kernel: what it advises is code to copy.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import type { Text } from '../../wire';
import { textIn } from '../../wire';
import type { IDiagnosis } from '../../wire/diagnosis';
import { element } from '../dom';
import { isPlainKey, keepOwnKeys } from '../ownkeys';
import { Copying } from './copying';
import { neededSection, numbersSection } from './figures';
import { holdersSection } from './holders';
import { nextSection } from './next';
import { DevicePicture } from './picture';
import { remediesSection } from './remedies';
import { restParts } from './rest';
import { contradictionSection, whySection } from './why';
import { placeParts } from './words';

/** Shows one diagnosis. */
export class DiagnosisWidget extends Widget {
  private readonly _trans: TranslationBundle;
  private readonly _language: string;
  private readonly _keys: IDisposable;
  private _copying: Copying;
  private _picture: DevicePicture;

  constructor(options: DiagnosisWidget.IOptions) {
    super();
    this._trans = options.trans;
    this._language = options.language;
    this._copying = new Copying(this._trans);
    this._picture = new DevicePicture(this._trans);
    // The small parts that views share are styled as those of a report.
    this.addClass('memtrack-Report');
    this.addClass('memtrack-Diagnosis');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this._trans.__('Explanation of the error'));
    this._keys = keepOwnKeys(this.node, isPlainKey);
  }

  /** Show `diagnosis` in place of what was shown. */
  setDiagnosis(diagnosis: IDiagnosis): void {
    const trans = this._trans;
    const say = (text: Text): string => textIn(text, this._language);
    this._clear();
    this.toggleClass('memtrack-mod-none', diagnosis.kind === 'none');
    this._copying = new Copying(trans);
    this._picture = new DevicePicture(trans);
    const facts = [
      neededSection(diagnosis, trans),
      numbersSection(diagnosis, trans),
      holdersSection(diagnosis, say, trans)
    ].filter(part => part !== undefined);
    const sections = [
      whySection(diagnosis, say, trans),
      contradictionSection(diagnosis.contradictions, say, trans),
      this._picture.show(diagnosis),
      facts.length === 0
        ? undefined
        : element('div', { class: 'memtrack-Diagnosis-facts' }, ...facts),
      remediesSection(diagnosis, this._copying, say, trans),
      nextSection(diagnosis, this._copying, say, trans),
      ...restParts(diagnosis, say, trans)
    ].filter(part => part !== undefined);
    this.node.replaceChildren(this._head(diagnosis, say), ...sections, this._copying.status);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._clear();
      this._keys.dispose();
      super.dispose();
    }
  }

  private _clear(): void {
    this._copying.dispose();
    this._picture.dispose();
  }

  private _head(diagnosis: IDiagnosis, say: (text: Text) => string): HTMLElement {
    const answer = say(diagnosis.headline);
    const headline = element(
      'div',
      { class: 'memtrack-Diagnosis-headline', role: 'heading', 'aria-level': '3', dir: 'auto' },
      answer
    );
    const place = placeParts(diagnosis.place, answer, this._trans);
    return element(
      'div',
      { class: 'memtrack-Diagnosis-head' },
      headline,
      ...(place.length === 0
        ? []
        : [
            element(
              'ul',
              { class: 'memtrack-Diagnosis-place', 'aria-label': this._trans.__('Where') },
              ...place.map(part => element('li', { dir: 'auto' }, part))
            )
          ])
    );
  }
}

/** A namespace for `DiagnosisWidget` statics. */
export namespace DiagnosisWidget {
  /** The options of a diagnosis. */
  export interface IOptions {
    readonly trans: TranslationBundle;
    /** The reader's language, such as `zh_CN`. */
    readonly language: string;
  }
}
