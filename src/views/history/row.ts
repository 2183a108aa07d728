// One run as a row: what it was, what it needed, and what can be done with it; its texts unfold to edit.
import type { TranslationBundle } from '@jupyterlab/translation';

import { formatBytes, formatCount, formatDuration } from '../../base/bytes';
import type { RunChange } from '../../model/history/live';
import type { IRun } from '../../wire/runs';
import { button, element, svgElement } from '../dom';
import { RunEditor } from './editor';
import { commitText, runName, whenText } from './words';

/** What a row tells. */
export interface IRunRowHost {
  tick(run: IRun, isTicked: boolean): void;
  change(run: IRun, change: RunChange): void;
}

const COLUMNS = 8;
const SPARK = { width: 120, height: 22 } as const;

/** The rows of one run: itself and, unfolded, its editor. */
export class RunRow {
  private readonly _tick: HTMLInputElement;
  private readonly _name = element('span', { class: 'memtrack-History-name', dir: 'auto' });
  private readonly _tags = element('span', { class: 'memtrack-History-tags' });
  private readonly _cells = Array.from({ length: 6 }, () => element('td'));
  private readonly _buttons: Readonly<
    Record<'pin' | 'baseline' | 'edit' | 'delete', HTMLButtonElement>
  >;
  private readonly _actions = element('td', { class: 'memtrack-History-actions' });
  private readonly _editor: RunEditor;
  private readonly _head: HTMLElement;
  private readonly _fold: HTMLElement;
  private _run: IRun | undefined;

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _language: string,
    host: IRunRowHost
  ) {
    const trans = _trans;
    this._tick = element('input', { type: 'checkbox' });
    this._tick.addEventListener('change', () =>
      this._with(run => host.tick(run, this._tick.checked))
    );
    const act = (text: string, action: (run: IRun) => void): HTMLButtonElement =>
      button({ class: 'memtrack-Button' }, () => this._with(action), text);
    this._buttons = {
      pin: act(trans.__('Pin'), run => host.change(run, { type: run.pinned ? 'unpin' : 'pin' })),
      baseline: act(trans.__('Baseline'), run =>
        host.change(run, { type: run.baseline ? 'unbaseline' : 'baseline' })
      ),
      edit: act(trans.__('Edit'), () => this._edit(this._fold.hidden)),
      delete: act(trans.__('Delete'), run =>
        host.change(run, { type: run.deleted ? 'restore' : 'delete' })
      )
    };
    this._buttons.pin.title = trans.__('Keep its recording, however many come after');
    this._buttons.baseline.title = trans.__('What later runs of this model are compared with');
    this._actions.append(...Object.values(this._buttons));
    this._editor = new RunEditor(trans, {
      change: change => this._with(run => host.change(run, change)),
      close: () => {
        this._edit(false);
        this._buttons.edit.focus();
      }
    });
    this._fold = element(
      'tr',
      { class: 'memtrack-mod-detail' },
      element('td', { colspan: String(COLUMNS) }, this._editor.node)
    );
    this._fold.hidden = true;
    // Where there is little room the headings are not seen.
    const labels = ['', '', '', trans.__('Step'), trans.__('Parameters'), trans.__('Code')];
    this._cells.forEach((cell, index) => (cell.dataset.label = labels[index]));
    const label = element('label', {}, this._tick, this._name);
    this._head = element(
      'tr',
      {},
      element('th', { scope: 'row' }, label, this._tags),
      ...this._cells,
      this._actions
    );
  }

  get nodes(): readonly HTMLElement[] {
    return [this._head, this._fold];
  }

  show(run: IRun, isWritable: boolean, isTicked: boolean): void {
    const trans = this._trans;
    const isNew = run !== this._run;
    this._run = run;
    this._tick.checked = isTicked;
    this._tick.hidden = run.deleted;
    this._actions.hidden = !isWritable;
    if (!isNew) {
      return;
    }
    this._name.textContent = runName(run, trans);
    this._tags.replaceChildren(...this._marks(run));
    this._fill(run);
    const { pin, baseline, edit, delete: remove } = this._buttons;
    pin.setAttribute('aria-pressed', String(run.pinned));
    baseline.setAttribute('aria-pressed', String(run.baseline));
    pin.hidden = baseline.hidden = edit.hidden = run.deleted;
    remove.textContent = run.deleted ? trans.__('Restore') : trans.__('Delete');
    this._editor.show(run);
  }

  private _with(action: (run: IRun) => void): void {
    if (this._run !== undefined) {
      action(this._run);
    }
  }

  private _edit(isOpen: boolean): void {
    this._fold.hidden = !isOpen;
    this._buttons.edit.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) {
      this._editor.focus();
    }
  }

  private _marks(run: IRun): readonly HTMLElement[] {
    const trans = this._trans;
    const badge = (text: string, kind: string): HTMLElement =>
      element('span', { class: `memtrack-Badge memtrack-mod-${kind}`, dir: 'auto' }, text);
    return [
      ...(run.baseline ? [badge(trans.__('baseline'), 'baseline')] : []),
      ...(run.pinned ? [badge(trans.__('pinned'), 'pinned')] : []),
      ...(run.evidence === 'predicted' ? [badge(trans.__('predicted'), 'predicted')] : []),
      ...(run.state === 'failed' ? [badge(trans.__('failed'), 'failed')] : []),
      ...(run.state === 'interrupted' ? [badge(trans.__('interrupted'), 'interrupted')] : []),
      ...run.tags.map(tag => badge(tag, 'tag')),
      ...(run.note === ''
        ? []
        : [element('span', { class: 'memtrack-History-remark', dir: 'auto' }, run.note)])
    ];
  }

  private _fill(run: IRun): void {
    const [when, peak, spark, step, size, code] = this._cells;
    const number = 'memtrack-mod-number';
    fill(when, whenText(run.created, this._language), run.notebook);
    fill(peak, formatBytes(run.peak), this._bytesTitle(run), number);
    spark?.replaceChildren(sparkOf(run, this._trans));
    fill(step, run.stepNs === undefined ? '' : formatDuration(run.stepNs), '', number);
    fill(size, formatCount(run.parameters), run.parameters.toLocaleString(), number);
    fill(code, commitText(run, this._trans), run.commit);
  }

  private _bytesTitle({ peak, reserved, device }: IRun): string {
    const trans = this._trans;
    return [
      trans.__('%1 bytes', peak.toLocaleString()),
      reserved === undefined ? '' : trans.__('%1 reserved', formatBytes(reserved)),
      device
    ]
      .filter(Boolean)
      .join(' · ');
  }
}

function fill(cell: HTMLElement | undefined, text: string, title: string, kind?: string): void {
  if (cell !== undefined) {
    cell.textContent = text;
    cell.title = title;
    cell.className = kind ?? '';
  }
}

/** Memory over the run, from 0 to its own peak. */
function sparkOf({ spark, peak }: IRun, trans: TranslationBundle): SVGElement {
  const x = (index: number): string =>
    ((SPARK.width * index) / Math.max(1, spark.length)).toFixed(1);
  const y = (share: number): string => (1 + (SPARK.height - 2) * (1 - share)).toFixed(1);
  const steps = spark.map((share, index) => `L${x(index)} ${y(share)}H${x(index + 1)}`);
  return svgElement(
    'svg',
    {
      class: 'memtrack-History-spark',
      viewBox: `0 0 ${SPARK.width} ${SPARK.height}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': trans.__('Memory over the run, up to %1', formatBytes(peak))
    },
    svgElement('path', { d: `M0 ${SPARK.height}${steps.join('')}V${SPARK.height}Z` })
  );
}
