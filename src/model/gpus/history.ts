// The last minutes of a device, in memory of constant size. Where samples come faster than there is
// room for, the highest of a stretch stays: peaks are the point.

const CAPACITY = 600;
// Two samples further apart are not joined by a line: nobody looked in between.
const GAP_MS = 5000;

/** A run of samples without a gap: times in ms, values of what was asked. */
export interface IStretch {
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** Which figure of a sample. */
export type Measure = 'used' | 'utilisation';

/** Used bytes and utilisation of one device over the last `spanMs`. */
export class History {
  private readonly _times = new Float64Array(CAPACITY);
  private readonly _values: Readonly<Record<Measure, Float64Array>> = {
    used: new Float64Array(CAPACITY),
    utilisation: new Float64Array(CAPACITY)
  };
  private _first = 0;
  private _length = 0;
  private _slot = NaN;

  constructor(private _spanMs: number) {}

  get spanMs(): number {
    return this._spanMs;
  }

  /** A longer span keeps what is there; a shorter one forgets what is older. */
  set spanMs(spanMs: number) {
    this._spanMs = spanMs;
    this._slot = NaN;
    this._forget(this.latest);
  }

  get length(): number {
    return this._length;
  }

  /** The time of the newest sample; NaN without one. */
  get latest(): number {
    return this._length === 0 ? NaN : (this._times[this._place(this._length - 1)] ?? NaN);
  }

  /** Adds a sample; one that is not newer than the last is ignored. */
  push(time: number, used: number, utilisation: number | undefined): void {
    if (time <= this.latest) {
      return;
    }
    const slot = Math.floor((time * (CAPACITY - 1)) / this._spanMs);
    const isSame = slot === this._slot;
    this._slot = slot;
    if (!isSame) {
      this._forget(time);
      if (this._length === CAPACITY) {
        this._drop();
      }
      this._length += 1;
    }
    const place = this._place(this._length - 1);
    const highest = (old: number, value: number): number =>
      isSame && !(value > old) && !Number.isNaN(old) ? old : value;
    this._times[place] = time;
    for (const [name, value] of [
      ['used', used],
      ['utilisation', utilisation ?? NaN]
    ] as const) {
      this._values[name][place] = highest(this._values[name][place] ?? NaN, value);
    }
  }

  /** Returns the samples of a figure, oldest first, in stretches without a gap. */
  stretches(measure: Measure, gapMs = GAP_MS): readonly IStretch[] {
    const found: { times: number[]; values: number[] }[] = [];
    let last = -Infinity;
    for (let index = 0; index < this._length; index++) {
      const place = this._place(index);
      const time = this._times[place] ?? NaN;
      const value = this._values[measure][place] ?? NaN;
      if (Number.isNaN(value)) {
        last = -Infinity;
        continue;
      }
      if (time - last > gapMs) {
        found.push({ times: [], values: [] });
      }
      last = time;
      found[found.length - 1]?.times.push(time);
      found[found.length - 1]?.values.push(value);
    }
    return found;
  }

  /** Returns the highest value of a figure; undefined without one. */
  highest(measure: Measure): number | undefined {
    const values = this.stretches(measure).flatMap(stretch => stretch.values);
    return values.length === 0 ? undefined : Math.max(...values);
  }

  private _forget(now: number): void {
    while (this._length > 0 && now - (this._times[this._first] ?? NaN) > this._spanMs) {
      this._drop();
    }
  }

  private _drop(): void {
    this._first = (this._first + 1) % CAPACITY;
    this._length -= 1;
  }

  private _place(index: number): number {
    return (this._first + index) % CAPACITY;
  }
}
