// Checks of what our own code promises. A failure is our bug: it stops with its context.

/** Throws unless `condition` holds; `message` says what was promised. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new Error(`memtrack: ${message}`);
  }
}

/** Marks a case that the types rule out; the compiler objects when a new variant reaches it. */
export function assertUnreachable(value: never): never {
  throw new Error(`memtrack: unexpected ${JSON.stringify(value)}`);
}

/** Returns `items[index]`, which the caller knows to exist: no silent `undefined` in arithmetic. */
export function at<T>(items: ArrayLike<T>, index: number): T {
  const item = items[index];
  if (item === undefined) {
    throw new Error(`memtrack: index ${index} outside ${items.length} items`);
  }
  return item;
}
