// The device at the moment of the failure, with what was asked for drawn where it would have begun.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { formatBytes } from '../../base/bytes';
import type { IDiagnosis, INeeded } from '../../wire/diagnosis';
import type { ILedgerPart } from '../../wire';
import { element } from '../dom';
import { DeviceBar } from '../ledger/devicebar';
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
    this._bar = new DeviceBar(_trans, 'every');
  }

  get isDisposed(): boolean {
    return this._bar.isDisposed;
  }

  dispose(): void {
    this._bar.dispose();
  }

  /** Returns the section that shows `diagnosis`; undefined where the device is not known. */
  show({ parts, needed }: IDiagnosis): HTMLElement | undefined {
    const total = parts.reduce((sum, part) => sum + part.bytes, 0);
    if (total === 0) {
      return undefined;
    }
    this._bar.ledger = { total, allocated: 0, parts, rounding: 0 };
    const asked = needed.segment ?? needed.requested;
    const place = askedPlace(parts, total, asked ?? 0);
    const device = element('div', {}, this._bar.node);
    device.style.width = `${100 * place.device}%`;
    const box = element('div', { class: 'memtrack-Picture' }, device);
    if (asked === undefined) {
      return section('picture', this._trans.__('The device at that moment'), box);
    }
    box.append(this._asked(place));
    return section(
      'picture',
      this._trans.__('The device at that moment'),
      box,
      this._legend(needed, asked, freeOf(parts))
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

  private _legend(needed: INeeded, asked: number, free: number): HTMLElement {
    const trans = this._trans;
    const bytes = formatBytes(needed.requested ?? asked);
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
      { class: 'memtrack-Picture-legend' },
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
