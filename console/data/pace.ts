/**
 * Requests in a row, such as the pages of a list, not faster than the service answers one operator:
 * 20 a second, of which other reads and writes of this page need some.
 */
const APART_MS = 120;
let free = 0;

/** Resolves when the next one may be sent; rejects with the signal. */
export function paced(signal?: AbortSignal): Promise<void> {
  // By no clock that a person sets: after one was put back nothing would be sent for that long.
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
