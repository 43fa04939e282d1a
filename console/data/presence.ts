/**
 * Tells whether a person uses this page. Reads that an event, a timer, a restored connection or a
 * focused window causes are marked as background, so that they do not keep the session alive.
 */

/** A read counts as caused by a person for this long after the last input. */
const CAUSES_MS = 10_000;
const ACTS = ['pointerdown', 'keydown', 'wheel', 'touchmove', 'click', 'input'] as const;

/**
 * Time of the last input by `performance.now()`, in milliseconds; 0 is when the page opened, which
 * counts as input.
 */
let lastAct = 0;

/** Records input events of a person; ignores events that scripts create. */
export function watchPresence(): void {
  for (const act of ACTS)
    window.addEventListener(
      act,
      ({ isTrusted }) => {
        if (isTrusted) lastAct = performance.now();
      },
      { capture: true, passive: true },
    );
}

/** Returns whether a read that starts now is not caused by a person. */
export function isBackground(): boolean {
  return performance.now() - lastAct > CAUSES_MS;
}
