// What can be wrong with a payload that somebody else wrote.

/**
 * Why a payload cannot be shown: `version`: written by another major version; `malformed`: not laid
 * out as promised; `corrupt`: its binary part does not unpack.
 */
export type WireErrorKind = 'version' | 'malformed' | 'corrupt';

/** A payload that cannot be shown: `where` is the place in it, such as `views[0].timeline.cuts`. */
export class WireError extends Error {
  constructor(
    readonly kind: WireErrorKind,
    readonly where: string,
    readonly problem: string
  ) {
    super(where ? `${where}: ${problem}` : problem);
    this.name = 'WireError';
  }
}

/** Returns the error of a value at `where` that is not what the schema says. */
export function malformed(where: string, problem: string): WireError {
  return new WireError('malformed', where, problem);
}
