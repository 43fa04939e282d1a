/** Connects the commands to the streams and signals of the real process. */
import { environment } from './environment.ts';
import { Interrupted } from './exit.ts';
import type { Io } from './io.ts';

/** Returns the process's streams and signals. A first Ctrl-C aborts, a second exits immediately. */
export function processIo(env: NodeJS.ProcessEnv = environment()): Io {
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => {
    if (interrupted.signal.aborted) process.exit(signal === 'SIGTERM' ? 143 : 130);
    interrupted.abort(new Interrupted());
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  // EPIPE is no error: a reader such as `head` closed the pipe after it had enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  // A closed stderr only loses messages: the request continues, and the exit status has its result.
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
