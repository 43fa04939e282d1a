/**
 * Whether a person is at this page. What the page reads because of an event, a timer, a connection
 * that came back or a window that has focus is no use of its session.
 */

/** What a person does causes reads for so long. */
const CAUSES_MS = 10_000;
const ACTS = ['pointerdown', 'keydown', 'wheel', 'touchmove', 'click', 'input'] as const;

/** Milliseconds of `performance.now()`; opening the page is an act as well. */
let lastAct = 0;

/** Follows what a person does, and no script. */
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

/** Whether what is read now is read for no person. */
export function isBackground(): boolean {
  return performance.now() - lastAct > CAUSES_MS;
}
