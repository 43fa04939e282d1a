/**
 * One event stream for all tabs of this browser: the tab that holds a lock listens and forwards the
 * events to the others; when that tab closes, another takes the lock. Without a stream every tab
 * repeats its reads by time.
 */
import { readAgain } from './again.ts';
import { KINDS, type Change } from './changes.ts';
import { createStore } from './store.ts';

/** `behind`: there is no stream, so the page repeats its reads by time. */
export type Liveness = 'live' | 'behind' | 'offline';
export const liveness = createStore<Liveness>('behind');

const NAME = 'svc-console-stream';
const PATH = '/dashboard/stream';
const POLL_MS = 15_000;
/** A tab is `behind` when the listening tab has sent nothing for this long. */
const SILENCE_MS = 12_000;
const PULSE_MS = 4_000;
const REOPEN_MS = 10_000;
/**
 * The service sends something every 15 s, so a connection that is silent for this long is broken.
 */
const BROKEN_MS = 35_000;

type Message = { readonly pulse: Liveness } | { readonly change: Change };

/** Starts to receive changes; stops when the signal aborts. */
export function followChanges(signal: AbortSignal): void {
  const channel = new BroadcastChannel(NAME);
  let heard = 0;
  const take = (message: Message): void => {
    heard = Date.now();
    if ('pulse' in message) liveness.set(navigator.onLine ? message.pulse : 'offline');
    else readAgain(message.change);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => take(data);
  const send = (message: Message): void => {
    take(message);
    channel.postMessage(message);
  };
  const poll = setInterval(() => {
    if (Date.now() - heard > SILENCE_MS) liveness.set(navigator.onLine ? 'behind' : 'offline');
    if (liveness.get() !== 'live') readAgain(null);
  }, POLL_MS);
  const offline = (): void => liveness.set('offline');
  window.addEventListener('offline', offline, { signal });
  signal.addEventListener('abort', () => {
    clearInterval(poll);
    channel.close();
  });
  navigator.locks
    .request(NAME, { signal }, () => listen(send, signal))
    // The page closed while another tab held the lock.
    .catch(() => undefined);
}

/** Keeps the stream open until the signal aborts. */
function listen(send: (message: Message) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource | undefined;
    let state: Liveness = 'behind';
    // Uses both clocks: `performance.now()` may stop while the machine sleeps, and a person may set
    // the other.
    let heard = [performance.now(), Date.now()] as const;
    const say = (next: Liveness): void => {
      const isBack = next === 'live' && state !== 'live';
      state = next;
      send({ pulse: next });
      // No event reports changes that happened without a connection, so everything is read again.
      if (isBack) send({ change: { kind: 'reset', ids: {} } });
    };
    const open = (): void => {
      const made = new EventSource(PATH);
      source = made;
      const hears = (): void => {
        heard = [performance.now(), Date.now()];
      };
      hears();
      made.onopen = () => {
        hears();
        say('live');
      };
      made.onerror = () => say('behind');
      made.addEventListener('beat', hears);
      for (const kind of KINDS)
        made.addEventListener(kind, ({ data }: MessageEvent<string>) => {
          hears();
          send({ change: { kind, ids: idsOf(data) } });
        });
    };
    open();
    // A browser reconnects by itself after a lost connection, but not after a refusal, and not
    // while it has not noticed that the other end is gone.
    const reopen = setInterval(() => {
      const silentMs = Math.max(performance.now() - heard[0], Date.now() - heard[1]);
      const isBroken = silentMs > BROKEN_MS;
      if (isBroken) {
        source?.close();
        say('behind');
      }
      if (isBroken || source?.readyState === EventSource.CLOSED) open();
    }, REOPEN_MS);
    const pulse = setInterval(() => send({ pulse: state }), PULSE_MS);
    signal.addEventListener('abort', () => {
      clearInterval(pulse);
      clearInterval(reopen);
      source?.close();
      resolve();
    });
  });
}

function idsOf(data: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(data) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
