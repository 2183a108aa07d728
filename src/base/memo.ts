// Remembering one result: for answers that are asked again and again with the same question.

/** Returns `compute` with a memory of one: asked with the same arguments again, it does not compute. */
export function rememberLast<A extends readonly unknown[], R>(
  compute: (...inputs: A) => R
): (...inputs: A) => R {
  let last: { readonly inputs: A; readonly result: R } | undefined;
  return (...inputs) => {
    if (last === undefined || !isSame(last.inputs, inputs)) {
      last = { inputs, result: compute(...inputs) };
    }
    return last.result;
  };
}

function isSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}
