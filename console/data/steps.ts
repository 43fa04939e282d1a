/**
 * Keeps a page through back and forward, which change the address before anything can stop them:
 * the router does not learn of these steps and goes on showing the page, and the address is put
 * back once no further step comes. A router's blocker puts it back step by step instead, and loses
 * count when two come at once.
 */

/** How long no further step comes before the address is put back, in milliseconds. */
const STEPS_END_AFTER = 100;

/** The place of the page in the browser's history, while steps are kept from the router. */
let home: number | null = null;
let isReleased = true;
let timer: number | undefined;

/** Must run before the router is made: a window's listeners run in the order of registration. */
export function watchSteps(): void {
  window.addEventListener('popstate', (event) => {
    if (home === null) return;
    event.stopImmediatePropagation();
    window.clearTimeout(timer);
    timer = window.setTimeout(putBack, STEPS_END_AFTER);
  });
}

/** Keeps the present page until the returned function is called. */
export function keepPage(): () => void {
  home ??= place();
  isReleased = false;
  return () => {
    isReleased = true;
    if (place() === home) home = null;
  };
}

/** Also after the release: the steps that came before it must not leave the page later. */
function putBack(): void {
  const steps = (home ?? 0) - (place() ?? home ?? 0);
  if (steps !== 0) window.history.go(steps);
  else if (isReleased) home = null;
}

/** Returns the place of the address in the browser's history, as the router numbers it. */
function place(): number | null {
  const { __TSR_index: index } = (window.history.state ?? {}) as { readonly __TSR_index?: unknown };
  return typeof index === 'number' ? index : null;
}
