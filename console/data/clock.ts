/** How far this machine's clock is from the service's, by the date of each answer. */
import { ClientUsageError } from '../../clients/http/errors.ts';
import { createStore, useStore } from './store.ts';

/** Beyond it the service takes no signature (`SVC_AUTH_MAX_SKEW_SECONDS`, 60 by default). */
const MOST_SECONDS = 45;
/** Seconds that this machine is ahead; 0 while its signatures can be taken. */
const ahead = createStore(0);

/** `fetch`, which notes what time the service says it is. */
export const fetchByClock: typeof fetch = async (...call) => {
  const answer = await fetch(...call);
  const date = Date.parse(answer.headers.get('date') ?? '');
  const seconds = Number.isNaN(date) ? 0 : Math.round((Date.now() - date) / 1000);
  ahead.set(Math.abs(seconds) > MOST_SECONDS ? seconds : 0);
  return answer;
};

/** Seconds that this machine's clock is ahead of the service's; 0 where signatures are taken. */
export function secondsAhead(): number {
  return ahead.get();
}

/** Why nothing can be signed; null while the clocks agree. */
export function useWrongClock(): string | null {
  const seconds = useStore(ahead);
  return seconds === 0 ? null : wrongClock(seconds);
}

/**
 * Throws while no signature would be taken: called once the service has answered with its time, so
 * that nothing leaves which it refuses.
 */
export function assertClock(): void {
  const seconds = ahead.get();
  if (seconds !== 0) throw new ClientUsageError(wrongClock(seconds));
}

/** The difference as a sentence. */
export function wrongClock(seconds: number): string {
  const side = seconds > 0 ? 'ahead of' : 'behind';
  return `This machine’s clock is ${String(Math.abs(seconds))} seconds ${side} the service’s, so its signatures are refused. Set the clock.`;
}

/** Reads the service's time again. */
export async function askTime(): Promise<void> {
  await fetchByClock('/console/', { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
}
