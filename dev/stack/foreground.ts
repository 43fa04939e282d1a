/** Exit statuses by the convention of shells: 128 and the signal's number. */
const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** A second Ctrl-C this soon is the same one: npm repeats what the terminal has already sent. */
const SAME_SIGNAL_MS = 1_000;

/** A program that runs in the foreground until a signal stops it. */
export interface Foreground {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Exit status of the first signal; null while there was none. */
  readonly status: number | null;
  /** Fulfilled by the first signal. */
  readonly stopped: Promise<void>;
}

/**
 * Turns Ctrl-C, SIGTERM and SIGHUP into an orderly stop. A second one, when it is meant, calls
 * `hurry`; it never ends this process before its parts are gone.
 */
export function takeSignals(hurry: () => void): Foreground {
  const abort = new AbortController();
  let status: number | null = null;
  let first = 0;
  const stopped = new Promise<void>((resolve) => {
    for (const name of Object.keys(STATUS) as (keyof typeof STATUS)[]) {
      process.on(name, () => {
        if (status !== null) {
          if (Date.now() - first > SAME_SIGNAL_MS) hurry();
          return;
        }
        status = STATUS[name];
        first = Date.now();
        abort.abort(new Error(`Stopped by ${name}.`));
        resolve();
      });
    }
  });
  // A closed terminal must not end this process with an unhandled error before its parts stopped.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  return {
    signal: abort.signal,
    stopped,
    get status() {
      return status;
    },
  };
}
