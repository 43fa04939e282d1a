/** The workflow code of this build, changed as another release may have changed it. */

/** Where a run at a gate waits, as its details in the Temporal UI say it: before and after. */
export const GATE_DETAILS = ['waits at gate ${node}', 'waits at the gate ${node}'] as const;

/** Returns code whose details read differently. No command of a run depends on them. */
export function compatibleBundle(code: string): string {
  const [before, after] = GATE_DETAILS;
  return changed(code, code.replace(before, after), 'the details of a gate');
}

/**
 * Returns code whose movement workflow begins with a timer, so that its commands come in another
 * order than in every history.
 */
export function incompatibleBundle(code: string): string {
  const broken = code.replace(
    /(\w+)\.CancellationScope\.nonCancellable\(\(\)\s*=>\s*(conduct\(movementId[^)]*\))\)/,
    '$1.CancellationScope.nonCancellable(() => $1.sleep(1).then(() => $2))',
  );
  return changed(code, broken, 'the start of the movement workflow');
}

function changed(before: string, after: string, what: string): string {
  if (after === before) throw new Error(`the bundle has changed: ${what} was not found`);
  return after;
}
