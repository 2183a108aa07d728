// The device at the moment of the failure, with what was asked for drawn where it would have begun.
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { formatBytes } from '../../base/bytes';
import type { IDiagnosis } from '../../wire/diagnosis';
import type { ILedgerPart } from '../../wire';
import { CATEGORY_IDS } from '../../wire';
import { element } from '../dom';
import { LedgerBar } from '../ledger/bar';
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

/** A request: its own size, and what the allocator asks the device for when no free block serves. */
interface IAsked {
  readonly requested: number;
  readonly wanted: number;
}

/** The bar of a device and the request beyond what is free of it. */
export class DevicePicture implements IDisposable {
  private readonly _device: LedgerBar;
  private readonly _limit: LedgerBar;

  constructor(private readonly _trans: TranslationBundle) {
    this._device = new LedgerBar(_trans, 'fitting');
    this._limit = new LedgerBar(_trans, 'fitting');
  }

  get isDisposed(): boolean {
    return this._device.isDisposed;
  }

  dispose(): void {
    this._device.dispose();
    this._limit.dispose();
  }

  /** Returns the section that shows `diagnosis`; undefined where the device is not known. */
  show(diagnosis: IDiagnosis): HTMLElement | undefined {
    const { parts, numbers } = diagnosis;
    const total = sumOf(parts);
    if (total === 0) {
      return undefined;
    }
    const asked = askedOf(diagnosis);
    const limit = limitedParts(parts, numbers.get('allowed'));
    const trans = this._trans;
    return section(
      'picture',
      trans.__('The device at that moment'),
      this._bar(this._device, parts, limit === undefined ? asked : undefined),
      this._legend(parts, total),
      ...(limit === undefined
        ? []
        : [
            element(
              'p',
              { class: 'memtrack-Picture-answer' },
              trans.__('PyTorch in this process may have %1 of it', formatBytes(sumOf(limit)))
            ),
            this._bar(this._limit, limit, asked)
          ]),
      ...(asked === undefined ? [] : [this._answer(asked, limit, parts)])
    );
  }

  /** `bar` with `parts` and, in its place, the request. */
  private _bar(
    bar: LedgerBar,
    parts: readonly ILedgerPart[],
    asked: IAsked | undefined
  ): HTMLElement {
    const total = sumOf(parts);
    bar.ledger = { total, allocated: 0, parts, rounding: 0 };
    const place = askedPlace(parts, total, asked?.wanted ?? 0);
    const device = element('div', {}, bar.node);
    device.style.width = `${100 * place.device}%`;
    const box = element('div', { class: 'memtrack-Picture' }, device);
    if (asked !== undefined) {
      box.append(askedNode(place));
    }
    return box;
  }

  /** What is unknown of tensors is only their kind. */
  private _nameOf(id: string): string {
    return id === 'unknown' ? this._trans.__('tensors of unknown kind') : partName(id, this._trans);
  }

  /** Every part by name: the names in the bar itself are those that fit. The bar says it aloud. */
  private _legend(parts: readonly ILedgerPart[], total: number): HTMLElement {
    const items = parts
      .filter(({ bytes }) => bytes > 0)
      .map(({ id, bytes, certainty }) => {
        const figure = `${certainty === 'estimated' ? '~' : ''}${formatBytes(bytes)}`;
        return element('li', {}, swatch(id), `${this._nameOf(id)} ${figure}`);
      });
    return element(
      'ul',
      { class: 'memtrack-Picture-legend', 'aria-hidden': 'true' },
      ...items,
      element('li', {}, this._trans.__('%1 in all', formatBytes(total)))
    );
  }

  /** What was asked against what was left, of the limit if there is one. */
  private _answer(
    { requested, wanted }: IAsked,
    limit: readonly ILedgerPart[] | undefined,
    parts: readonly ILedgerPart[]
  ): HTMLElement {
    const trans = this._trans;
    const [bytes, whole] = [formatBytes(requested), formatBytes(wanted)];
    const what =
      whole === bytes
        ? trans.__('%1 asked for', bytes)
        : trans.__('%1 asked for; the allocator wants %2 for it', bytes, whole);
    const left =
      limit === undefined
        ? this._ofDevice(wanted, freeOf(parts))
        : this._ofLimit(wanted, freeOf(limit));
    return element(
      'p',
      { class: 'memtrack-Picture-answer' },
      element('span', { class: 'memtrack-Swatch memtrack-mod-asked', 'aria-hidden': 'true' }),
      `${what} · ${left}`
    );
  }

  private _ofDevice(wanted: number, free: number): string {
    if (free === 0) {
      return this._trans.__('the device has nothing free');
    }
    return wanted > free
      ? this._trans.__('%1 more than the device has free', formatBytes(wanted - free))
      : this._trans.__('the device has %1 free', formatBytes(free));
  }

  private _ofLimit(wanted: number, left: number): string {
    return wanted > left
      ? this._trans.__('%1 more than the limit leaves', formatBytes(wanted - left))
      : this._trans.__('the limit leaves %1', formatBytes(left));
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
  const end = Math.min(start + asked, MOST * total);
  const whole = Math.max(total, end);
  return {
    device: total / whole,
    left: start / whole,
    width: (end - start) / whole,
    isCut: start + asked > end
  };
}

function askedNode({ left, width, isCut }: IAskedPlace): HTMLElement {
  const node = element('span', {
    class: `memtrack-Picture-asked${isCut ? ' memtrack-mod-cut' : ''}`,
    'aria-hidden': 'true'
  });
  node.style.left = `${100 * left}%`;
  node.style.width = `${100 * width}%`;
  return node;
}

function askedOf(diagnosis: IDiagnosis): IAsked | undefined {
  const requested = requestedBytes(diagnosis);
  const wanted = diagnosis.needed.segment ?? requested;
  return wanted === undefined ? undefined : { requested: requested ?? wanted, wanted };
}

/** What PyTorch holds and may hold yet under its limit; undefined where the device is the limit. */
function limitedParts(
  parts: readonly ILedgerPart[],
  allowed: number | undefined
): readonly ILedgerPart[] | undefined {
  const counted: readonly string[] = [...CATEGORY_IDS, 'cache'];
  const held = parts.filter(({ id }) => counted.includes(id));
  const left = (allowed ?? 0) - sumOf(held);
  if (allowed === undefined || allowed >= sumOf(parts) || left < 0) {
    return undefined;
  }
  return [...held, { id: 'free', bytes: left, certainty: 'measured', details: [] }];
}

function sumOf(parts: readonly ILedgerPart[]): number {
  return parts.reduce((sum, part) => sum + part.bytes, 0);
}

function freeOf(parts: readonly ILedgerPart[]): number {
  return parts.find(part => part.id === 'free')?.bytes ?? 0;
}
