/** A process of the service beside a stack that runs none: its signals, its end, its log. */
import { spawn } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { built } from '../../dev/bootstrap/programs.mjs';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import type { ServiceRole } from '../../dev/stack/service.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import { eventually, Stop } from './eventually.ts';

export interface ServiceProcess {
  readonly role: ServiceRole;
  readonly pid: number;
  readonly apiPort: number;
  readonly apiUrl: string;
  readonly opsPort: number;
  /** What `/readyz` says, with its status; null while the listener is not there. */
  readiness(): Promise<{ readonly httpStatus: number; readonly status: string } | null>;
  signal(name: NodeJS.Signals): void;
  /** As if the process that started it had gone. */
  abandon(): void;
  /** Fulfilled at its end: its exit status, null where a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Lines of its log so far. */
  lines(): readonly Readonly<Record<string, unknown>>[];
}

/** Starts one and waits until it is ready; it ends with the process that started it. */
export async function startServiceProcess(
  stack: Stack,
  role: ServiceRole,
  options: {
    readonly settings?: Readonly<Record<string, string>>;
    readonly apiPort?: number;
    readonly opsPort?: number;
    /** The program of another build; this one's when left out. */
    readonly program?: string;
  } = {},
): Promise<ServiceProcess> {
  const taken = Object.values(stack.ports);
  const apiPort = options.apiPort ?? (await freePort(taken));
  const opsPort = options.opsPort ?? (await freePort([...taken, apiPort]));
  const child = spawn(process.execPath, [options.program ?? built('main'), role], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...stack.env,
      SVC_PORT: String(apiPort),
      SVC_OPS_PORT: String(opsPort),
      ...options.settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  // Stays open: the process may outlive the stack, and with it the folder, by a moment.
  const log = openSync(join(stack.dataDir, 'logs', `${role}-${String(child.pid)}.log`), 'a');
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => {
      text += part.toString('utf8');
      writeSync(log, part);
    });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const started: ServiceProcess = {
    role,
    pid: child.pid ?? 0,
    apiPort,
    apiUrl: `http://127.0.0.1:${String(apiPort)}`,
    opsPort,
    readiness: async () => {
      try {
        const answer = await fetch(`http://127.0.0.1:${String(opsPort)}/readyz`);
        const { status } = (await answer.json()) as { readonly status: string };
        return { httpStatus: answer.status, status };
      } catch {
        return null;
      }
    },
    signal: (name) => void child.kill(name),
    abandon: () => child.disconnect(),
    ended,
    lines: () => text.split('\n').flatMap(parsed),
  };
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Stop(`the ${role} did not start:\n${text}`);
      return (await started.readiness())?.httpStatus === 200 ? true : null;
    },
    { timeoutMs: 120_000, what: () => `the ${role} to be ready:\n${text}` },
  );
  return started;
}

function parsed(line: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return [JSON.parse(line) as Readonly<Record<string, unknown>>];
  } catch {
    return [];
  }
}
