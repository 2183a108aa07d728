// How long to wait before the next attempt: longer each time, and not for all pages at once.

/** Waiting times that double from `firstMs` to `mostMs`, each shortened by up to a quarter by chance. */
export class Backoff {
  private _attempts = 0;

  constructor(
    private readonly _firstMs: number,
    private readonly _mostMs: number,
    private readonly _chance: () => number = Math.random
  ) {}

  /** Returns how long to wait now. */
  next(): number {
    const full = Math.min(this._mostMs, this._firstMs * 2 ** this._attempts);
    this._attempts += 1;
    return Math.round(full * (1 - this._chance() / 4));
  }

  /** It worked: the next failure begins anew. */
  reset(): void {
    this._attempts = 0;
  }
}
