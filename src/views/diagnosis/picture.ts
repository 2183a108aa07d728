// The device at the moment of the failure, with what was asked for drawn where it would have begun.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { formatBytes } from '../../base/bytes';
import type { IDiagnosis } from '../../wire/diagnosis';
import type { ILedgerPart } from '../../wire';
import { element } from '../dom';
import { DeviceBar } from '../ledger/devicebar';
import { partName } from '../names';
import { swatch } from '../swatch';
import { requestedBytes } from './figures';
import { section } from './section';

// A request of several devices would leave nothing of the device: it is cut at this many of it.
const MOST = 1.5;

/** Where the request lies, in shares of the whole picture. */
export interface IAskedPlace {
  /** The device itself, from 0 to here. */
  readonly device: number;
  readonly left: number;
  readonly width: number;
  /** Whether it goes on further than it is drawn. */
  readonly isCut: boolean;
}

/** The bar of a device and the request beyond what is free of it. */
export class DevicePicture implements IDisposable {
  private readonly _bar: DeviceBar;

  constructor(private readonly _trans: TranslationBundle) {
    this._bar = new DeviceBar(_trans, 'fitting');
  }

  get isDisposed(): boolean {
    return this._bar.isDisposed;
  }

  dispose(): void {
    this._bar.dispose();
  }

  /** Returns the section that shows `diagnosis`; undefined where the device is not known. */
  show(diagnosis: IDiagnosis): HTMLElement | undefined {
    const { parts, needed } = diagnosis;
    const total = parts.reduce((sum, part) => sum + part.bytes, 0);
    if (total === 0) {
      return undefined;
    }
    const requested = requestedBytes(diagnosis);
    const asked = needed.segment ?? requested;
    this._bar.ledger = { total, allocated: 0, parts, rounding: 0 };
    const place = askedPlace(parts, total, asked ?? 0);
    const device = element('div', {}, this._bar.node);
    device.style.width = `${100 * place.device}%`;
    const box = element('div', { class: 'memtrack-Picture' }, device);
    const about: HTMLElement[] = [];
    if (asked !== undefined) {
      box.append(this._asked(place));
      about.push(this._answer(requested ?? asked, asked, freeOf(parts)));
    }
    return section(
      'picture',
      this._trans.__('The device at that moment'),
      box,
      this._legend(parts, total),
      ...about
    );
  }

  /** Every part by name: the names in the bar itself are those that fit. The bar says it aloud. */
  private _legend(parts: readonly ILedgerPart[], total: number): HTMLElement {
    const items = parts
      .filter(({ bytes }) => bytes > 0)
      .map(({ id, bytes, certainty }) => {
        const figure = `${certainty === 'estimated' ? '~' : ''}${formatBytes(bytes)}`;
        return element('li', {}, swatch(id), `${partName(id, this._trans)} ${figure}`);
      });
    return element(
      'ul',
      { class: 'memtrack-Picture-legend', 'aria-hidden': 'true' },
      ...items,
      element('li', {}, this._trans.__('%1 in all', formatBytes(total)))
    );
  }

  private _asked({ left, width, isCut }: IAskedPlace): HTMLElement {
    const node = element('span', {
      class: `memtrack-Picture-asked${isCut ? ' memtrack-mod-cut' : ''}`,
      'aria-hidden': 'true'
    });
    node.style.left = `${100 * left}%`;
    node.style.width = `${100 * width}%`;
    return node;
  }

  /** What was asked against what was free; `asked` is that of the device, rounded up. */
  private _answer(requested: number, asked: number, free: number): HTMLElement {
    const trans = this._trans;
    const bytes = formatBytes(requested);
    const whole = formatBytes(asked);
    const what =
      whole === bytes
        ? trans.__('%1 asked', bytes)
        : trans.__('%1 asked, for which the allocator wants %2', bytes, whole);
    const short =
      free === 0
        ? trans.__('the device has nothing free')
        : asked > free
          ? trans.__('%1 more than the device has free', formatBytes(asked - free))
          : trans.__('the device has %1 free', formatBytes(free));
    return element(
      'p',
      { class: 'memtrack-Picture-answer' },
      element('span', { class: 'memtrack-Swatch memtrack-mod-asked', 'aria-hidden': 'true' }),
      `${what} · ${short}`
    );
  }
}

/** Returns where `asked` bytes lie: they begin where the device's free part does. */
export function askedPlace(
  parts: readonly ILedgerPart[],
  total: number,
  asked: number
): IAskedPlace {
  // Only at the end of the bar does what is free border on what is missing.
  const free = parts.at(-1)?.id === 'free' ? freeOf(parts) : 0;
  const start = total - free;
  const end = Math.min(start + asked, Math.max(MOST * total, total));
  const whole = Math.max(total, end);
  return {
    device: total / whole,
    left: start / whole,
    width: (end - start) / whole,
    isCut: start + asked > end
  };
}

function freeOf(parts: readonly ILedgerPart[]): number {
  return parts.find(part => part.id === 'free')?.bytes ?? 0;
}
