// One device: its name and figures, its bar, its last minutes, its warnings and its processes.
import { together } from '../../base/bytes';
import { bytesIn } from '../../model/gpus/figures';
import { deviceParts } from '../../model/gpus/parts';
import { warningsOf } from '../../model/gpus/warnings';
import type { IGpuDevice } from '../../wire/gpus';
import { button, element } from '../dom';
import { setText } from '../settext';
import { GpuBar } from './bar';
import type { ILineServices } from './processline';
import { ProcessTable } from './processtable';
import { Spark } from './spark';
import { warningText } from './words';

let cards = 0;

/** A card that lives as long as its device. */
export class DeviceCard {
  readonly node: HTMLElement;
  private readonly _title = element('span', { class: 'memtrack-Gpu-title' });
  private readonly _name = element('span', { class: 'memtrack-Gpu-name' });
  private readonly _free = element('span', { class: 'memtrack-Gpu-free' });
  private readonly _facts = element('div', { class: 'memtrack-Gpu-facts' });
  private readonly _status = element('div', { class: 'memtrack-Gpu-status', role: 'status' });
  private readonly _warnings = element('ul', { class: 'memtrack-Gpu-warnings' });
  private readonly _body: HTMLElement;
  private readonly _fold: HTMLButtonElement;
  private readonly _bar: GpuBar;
  private readonly _memory: Spark;
  private readonly _busy: Spark;
  private readonly _table: ProcessTable;
  private _device: IGpuDevice | undefined;

  constructor(private readonly _services: ILineServices) {
    const { model, trans } = _services;
    const id = `memtrack-gpu-${(cards += 1)}`;
    this._bar = new GpuBar(model, trans);
    this._memory = new Spark('used', trans.__('Memory'));
    this._busy = new Spark('utilisation', trans.__('Busy'));
    this._table = new ProcessTable(_services);
    this._fold = button({ class: 'memtrack-Gpu-fold', 'aria-controls': id }, () => {
      if (this._device !== undefined) {
        model.fold(this._device.uuid, !model.isFolded(this._device.uuid));
      }
    });
    this._fold.append(this._title);
    this._body = element(
      'div',
      { id, class: 'memtrack-Gpu-body' },
      this._facts,
      this._status,
      element('div', { class: 'memtrack-Gpu-sparks' }, this._memory.node, this._busy.node),
      this._warnings,
      this._table.node
    );
    const heading = element('h3', {}, this._fold);
    const head = element('div', { class: 'memtrack-Gpu-head' }, heading, this._name, this._free);
    this.node = element('section', { class: 'memtrack-Gpu' }, head, this._bar.node, this._body);
  }

  update(device: IGpuDevice): void {
    this._device = device;
    const { model, trans, say } = this._services;
    const { units } = model.settings;
    const now = model.state?.time ?? 0;
    const parts = deviceParts(device, model.current);
    const isFolded = model.isFolded(device.uuid);
    const isInstance = device.parent !== undefined;
    const name = isInstance ? profileOf(device) : trans.__('GPU %1', device.index);
    this.node.setAttribute('aria-label', `${name} ${device.name}`);
    this.node.classList.toggle('memtrack-mod-instance', isInstance);
    this._title.textContent = name;
    // Instances of one kind differ by their UUID alone, which also is what CUDA calls them.
    this._name.textContent = isInstance ? device.uuid : device.name.replace(/^NVIDIA /, '');
    this._name.title = `${device.name}\n${device.uuid}`;
    this._free.textContent = trans.__(
      '%1 free of %2',
      bytesIn(units, device.free),
      bytesIn(units, device.total)
    );
    this._fold.setAttribute('aria-expanded', `${!isFolded}`);
    this._body.hidden = isFolded;
    this._bar.update(device, parts);
    if (isFolded) {
      return;
    }
    this._tellFacts(device);
    this._status.hidden = device.status === undefined;
    setText(this._status, device.status === undefined ? '' : statusText(device, say));
    this._drawHistory(device, now);
    this._warn(device, now);
    this._table.update(device, parts, now);
  }

  private _tellFacts(device: IGpuDevice): void {
    const { trans } = this._services;
    const { temperatureC, powerW, powerLimitW, bandwidth } = device;
    const watts = (value: number): string => `${Math.round(value)}`;
    const facts = [
      temperatureC === undefined ? '' : `${Math.round(temperatureC)} °C`,
      powerW === undefined
        ? ''
        : powerLimitW === undefined
          ? `${watts(powerW)} W`
          : trans.__('%1 of %2 W', watts(powerW), watts(powerLimitW)),
      bandwidth === undefined ? '' : trans.__('memory bus %1 %', Math.round(bandwidth))
    ].filter(text => text !== '');
    facts.forEach((fact, index) => {
      const node = this._facts.children[index] ?? this._facts.appendChild(element('span'));
      setText(node, fact);
    });
    while (this._facts.childElementCount > facts.length) {
      this._facts.lastElementChild?.remove();
    }
  }

  private _drawHistory(device: IGpuDevice, now: number): void {
    const { model, trans } = this._services;
    const { units, historyMinutes } = model.settings;
    const history = model.historyOf(device.uuid);
    const used = bytesIn(units, device.used);
    const highest = bytesIn(units, history.highest('used') ?? device.used);
    this._memory.update(history, {
      most: device.total,
      now,
      text: used,
      description: trans.__(
        'Memory in use over the last %1 min: now %2, at most %3',
        historyMinutes,
        used,
        highest
      )
    });
    const { utilisation } = device;
    this._busy.node.hidden = utilisation === undefined;
    if (utilisation !== undefined) {
      this._busy.update(history, {
        most: 100,
        now,
        text: `${Math.round(utilisation)} %`,
        description: trans.__(
          'Busy over the last %1 min: now %2 %, at most %3 %',
          historyMinutes,
          Math.round(utilisation),
          Math.round(history.highest('utilisation') ?? utilisation)
        )
      });
    }
  }

  /** Says each warning once: a line stays the same node while its words are the same. */
  private _warn(device: IGpuDevice, now: number): void {
    const { model, trans } = this._services;
    const devices = model.state?.devices ?? [];
    const texts = warningsOf(device, devices, model.settings, now).map(warning =>
      together(warningText(warning, model.settings.units, trans))
    );
    texts.forEach((text, index) => {
      const line = this._warnings.children[index] ?? this._warnings.appendChild(element('li'));
      setText(line, text);
    });
    while (this._warnings.childElementCount > texts.length) {
      this._warnings.lastElementChild?.remove();
    }
    this._warnings.hidden = texts.length === 0;
  }
}

/** Returns `MIG 3g.40gb` of an instance that the driver calls `NVIDIA H100 80GB HBM3 MIG 3g.40gb`. */
function profileOf({ name }: IGpuDevice): string {
  return /MIG .+/.exec(name)?.[0] ?? name;
}

function statusText({ status }: IGpuDevice, say: ILineServices['say']): string {
  return status === undefined ? '' : `${say(status.message)} ${say(status.advice)}`.trim();
}
