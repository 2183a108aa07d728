// All devices of the server, one under the other, kept up to date with as few changes as can be.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import type { GpuModel } from '../../model/gpus/model';
import { textIn } from '../../wire';
import { Copying } from '../diagnosis/copying';
import { element } from '../dom';
import { setText } from '../settext';
import type { IGpuActions } from './actions';
import { DeviceCard } from './device';
import { explanationOf, isLate } from './empty';
import { ExplanationView } from './explanation';
import type { ILineServices } from './processline';
import { OwnFigures } from './remote';

/** What the view is made with. */
export interface IGpusOptions {
  readonly model: GpuModel;
  readonly actions: IGpuActions;
  readonly trans: TranslationBundle;
  readonly language: string;
}

/** Shows a `GpuModel`. Updates come together, once a frame. */
export class GpusView extends Widget {
  private readonly _services: ILineServices;
  private readonly _cards = new Map<string, DeviceCard>();
  private readonly _list = element('div', { class: 'memtrack-Gpus-list' });
  private readonly _old = element('p', { class: 'memtrack-Gpus-old', role: 'status' });
  private readonly _explanation: ExplanationView;
  private readonly _own: OwnFigures;
  private readonly _copying: Copying;

  constructor(options: IGpusOptions) {
    super();
    const { model, actions, trans, language } = options;
    this._copying = new Copying(trans);
    this._services = {
      model,
      actions,
      trans,
      copying: this._copying,
      say: text => textIn(text, language)
    };
    this._explanation = new ExplanationView(trans, this._copying, () => actions.retry());
    this._own = new OwnFigures(this._services);
    this.addClass('memtrack-Gpus');
    this.node.tabIndex = -1;
    this.node.append(
      this._old,
      this._own.node,
      this._explanation.node,
      this._list,
      this._copying.status
    );
    model.changed.connect(this._onChanged, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._services.model.changed.disconnect(this._onChanged, this);
      this._copying.dispose();
      super.dispose();
    }
  }

  /** What came before the view was there is shown at once: the next may be a minute away. */
  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.update();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.update();
  }

  protected override onUpdateRequest(message: Message): void {
    super.onUpdateRequest(message);
    const { model, trans, say } = this._services;
    const explanation = explanationOf(model, trans, say);
    this._explanation.update(explanation);
    this._list.hidden = explanation !== undefined;
    this._tellOld();
    this._own.update();
    if (explanation === undefined) {
      this._updateCards();
    }
  }

  /** Figures of before a connection was lost, or of a driver that is silent, say so. */
  private _tellOld(): void {
    const { model, trans, say } = this._services;
    const { state, problem } = model;
    const isLost = state !== undefined && problem !== undefined && isLate(problem);
    const isIll =
      state !== undefined &&
      state.status.id !== 'ok' &&
      state.devices.some(({ status }) => status === undefined);
    this._old.hidden = !isLost && !isIll;
    const time = new Date(state?.time ?? 0).toLocaleTimeString();
    if (isLost) {
      setText(
        this._old,
        problem.id === 'slow'
          ? trans.__('Waiting for the server; figures are of %1.', time)
          : trans.__('The server does not answer; figures are of %1. It is tried again.', time)
      );
    } else if (isIll && state !== undefined) {
      setText(this._old, `${say(state.status.message)} ${say(state.status.advice)}`.trim());
    }
    this._list.classList.toggle('memtrack-mod-old', isLost);
  }

  private _updateCards(): void {
    const { devices } = this._services.model;
    const uuids = new Set(devices.map(({ uuid }) => uuid));
    for (const [uuid, card] of this._cards) {
      if (!uuids.has(uuid)) {
        card.node.remove();
        this._cards.delete(uuid);
      }
    }
    devices.forEach((device, index) => {
      const card = this._cards.get(device.uuid) ?? new DeviceCard(this._services);
      this._cards.set(device.uuid, card);
      if (this._list.children[index] !== card.node) {
        this._list.insertBefore(card.node, this._list.children[index] ?? null);
      }
      card.update(device);
    });
  }

  private _onChanged(): void {
    if (this.isVisible) {
      this.update();
    }
  }
}
