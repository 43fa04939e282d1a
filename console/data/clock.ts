/**
 * Measures how far this machine's clock is from the service's, by the `Date` header of each
 * response.
 */
import { ClientUsageError } from '../../clients/http/errors.ts';
import { createStore, useStore } from './store.ts';

/**
 * With a larger difference the service refuses signatures (`SVC_AUTH_MAX_SKEW_SECONDS`, 60 by
 * default).
 */
const MOST_SECONDS = 45;
/** Seconds that this machine's clock is ahead; 0 while the service accepts its signatures. */
const ahead = createStore(0);

/** Calls `fetch` and compares the response's `Date` header with this machine's clock. */
export const fetchByClock: typeof fetch = async (...call) => {
  const answer = await fetch(...call);
  const date = Date.parse(answer.headers.get('date') ?? '');
  const seconds = Number.isNaN(date) ? 0 : Math.round((Date.now() - date) / 1000);
  ahead.set(Math.abs(seconds) > MOST_SECONDS ? seconds : 0);
  return answer;
};

/**
 * Returns the seconds that this machine's clock is ahead of the service's; 0 while the service
 * accepts signatures.
 */
export function secondsAhead(): number {
  return ahead.get();
}

/** Returns why nothing can be signed, as a sentence; null while the clocks agree. */
export function useWrongClock(): string | null {
  const seconds = useStore(ahead);
  return seconds === 0 ? null : wrongClock(seconds);
}

/**
 * Throws while the service would refuse signatures, so that no such request is sent. The service
 * must have responded before, since its response carries its time.
 */
export function assertClock(): void {
  const seconds = ahead.get();
  if (seconds !== 0) throw new ClientUsageError(wrongClock(seconds));
}

/** Returns the clock difference as a sentence. */
export function wrongClock(seconds: number): string {
  const side = seconds > 0 ? 'ahead of' : 'behind';
  return `This machine’s clock is ${String(Math.abs(seconds))} seconds ${side} the service’s, so its signatures are refused. Set the clock.`;
}

/** Sends a request, to read the service's time again; ignores a failure. */
export async function askTime(): Promise<void> {
  await fetchByClock('/console/', { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
}
