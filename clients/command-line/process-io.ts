/** This process as commands see it. */
import { environment } from './environment.ts';
import { Interrupted } from './exit.ts';
import type { Io } from './io.ts';

/** The streams and signals of this process; the first Ctrl-C aborts, the second ends it at once. */
export function processIo(env: NodeJS.ProcessEnv = environment()): Io {
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => {
    if (interrupted.signal.aborted) process.exit(signal === 'SIGTERM' ? 143 : 130);
    interrupted.abort(new Interrupted());
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  // A reader that has seen enough, as `head` has, is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  // What ends there is only less to read: the request goes on, and how it ended is the exit status.
  process.stderr.on('error', () => undefined);
  const terminalWidth =
    process.stdout.isTTY === true ? process.stdout.columns : process.stderr.columns;
  return {
    env,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    terminal: {
      in: process.stdin.isTTY === true,
      out: process.stdout.isTTY === true,
      err: process.stderr.isTTY === true,
    },
    ...(terminalWidth === undefined ? {} : { columns: terminalWidth }),
    read: async () => {
      let text = '';
      process.stdin.setEncoding('utf8');
      for await (const chunk of process.stdin) text += String(chunk);
      return text;
    },
    signal: interrupted.signal,
  };
}
