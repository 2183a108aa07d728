// Name, tags and note of a run, to be changed; each is saved by itself, as soon as it is left or entered.
import type { TranslationBundle } from '@jupyterlab/translation';

import type { RunChange } from '../../model/history/live';
import type { IRun } from '../../wire/runs';
import { button, element } from '../dom';

/** What the editor tells. */
export interface IRunEditorHost {
  change(change: RunChange): void;
  close(): void;
}

/** The form of one run. */
export class RunEditor {
  readonly node: HTMLElement;
  private readonly _name: HTMLInputElement;
  private readonly _tags: HTMLInputElement;
  private readonly _note: HTMLInputElement;

  constructor(
    trans: TranslationBundle,
    private readonly _host: IRunEditorHost
  ) {
    this._name = this._field(name => ({ type: 'rename', name }));
    this._tags = this._field(text => ({ type: 'tag', tags: tagsOf(text) }));
    this._note = this._field(note => ({ type: 'note', note }));
    const labelled = (label: string, field: HTMLElement): HTMLElement =>
      element('label', {}, element('span', {}, label), field);
    this.node = element(
      'div',
      { class: 'memtrack-History-editor' },
      labelled(trans.__('Name'), this._name),
      labelled(trans.__('Tags, with commas between'), this._tags),
      labelled(trans.__('Note'), this._note),
      button({ class: 'memtrack-Button' }, () => _host.close(), trans.__('Done'))
    );
    this.node.addEventListener('keydown', event => this._keydown(event));
  }

  /** Shows what is kept of `run`; a field that is being written in is left alone. */
  show({ name, tags, note }: IRun): void {
    const values: readonly [HTMLInputElement, string][] = [
      [this._name, name],
      [this._tags, tags.join(', ')],
      [this._note, note]
    ];
    for (const [field, value] of values) {
      if (field !== document.activeElement) {
        field.value = value;
      }
    }
  }

  focus(): void {
    this._name.focus();
  }

  private _field(changeOf: (text: string) => RunChange): HTMLInputElement {
    const field = element('input', { type: 'text', autocomplete: 'off' });
    field.addEventListener('change', () => this._host.change(changeOf(field.value.trim())));
    return field;
  }

  private _keydown(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      this._host.close();
    }
  }
}

function tagsOf(text: string): string[] {
  return text
    .split(/[,，]/)
    .map(tag => tag.trim())
    .filter(Boolean);
}
