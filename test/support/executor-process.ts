/** A process with the keys of an exchange account, as `npm run executor` starts it. */
import { spawn } from 'node:child_process';
import { built } from '../../dev/bootstrap/programs.mjs';
import { ROOT } from '../../dev/stack/ports.ts';
import { eventually, Stop } from './eventually.ts';

export interface ExecutorProcess {
  /** Everything that it has written. */
  text(): string;
  kill(signal: NodeJS.Signals): void;
  /** Fulfilled at its end: its exit status, null where a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Starts it and waits until it listens. It has no settings of the service. */
export async function startExecutorProcess(args: readonly string[]): Promise<ExecutorProcess> {
  const child = spawn(process.execPath, [built('executor'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (text += part.toString('utf8')));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const started: ExecutorProcess = {
    text: () => text,
    kill: (signal) => void child.kill(signal),
    ended,
  };
  await eventually(
    () => {
      if (child.exitCode !== null) throw new Stop(`the executor did not start:\n${text}`);
      return Promise.resolve(text.includes('"listening"') ? true : null);
    },
    { what: () => `the executor to listen:\n${text}` },
  );
  return started;
}
