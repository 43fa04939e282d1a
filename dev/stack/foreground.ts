/** Exit statuses by the convention of shells: 128 plus the signal's number. */
const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/**
 * A second Ctrl-C within this time is the same one: npm repeats the signal that the terminal has
 * already sent.
 */
const SAME_SIGNAL_MS = 1_000;

/** A program that runs in the foreground until a signal stops it. */
export interface Foreground {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Exit status of the first signal; null while there was none. */
  readonly status: number | null;
  /** Resolves at the first signal. */
  readonly stopped: Promise<void>;
}

/**
 * Turns Ctrl-C, SIGTERM and SIGHUP into an orderly stop. A deliberate second signal calls `hurry`;
 * this process still waits until its parts have ended.
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
  // Without these handlers a closed terminal would end this process with an error before its parts
  // have stopped.
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
