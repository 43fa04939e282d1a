/**
 * Milliseconds between requests in a series, such as the pages of a list. The service allows one
 * operator 20 requests a second, and other reads and writes of this page need some of them.
 */
const APART_MS = 120;
let free = 0;

/** Resolves when the next request of a series may be sent; rejects when the signal aborts. */
export function paced(signal?: AbortSignal): Promise<void> {
  // A monotonic clock: if a person set the wall clock back, requests would wait for that long.
  const now = performance.now();
  const wait = free - now;
  free = Math.max(free, now) + APART_MS;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(0, wait));
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('The read was ended.', 'AbortError'));
    });
  });
}
