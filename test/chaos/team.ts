/**
 * A team's worker beside the service: the example of a task-queue executor as a process that can be
 * killed, and its books.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { built } from '../../dev/bootstrap/programs.mjs';
import type { JournalEntry } from '../../executor-kit/submit-journal.ts';

const TASK_QUEUE = 'fault-run-payouts';
const READY_MS = 60_000;
/** A team's supervisor starts again what has ended by itself, as while Temporal is away. */
const AGAIN_MS = 500;

const secretFile = (dataDir: string): string => join(dataDir, 'team.secret');

/** Its entry of the registry file, whose secret is made in the data folder. */
export function teamExecutor(dataDir: string): object {
  writeFileSync(secretFile(dataDir), randomBytes(32).toString('hex'), { mode: 0o600 });
  return { ...TEAM_EXECUTOR, result_secret_file: secretFile(dataDir) };
}

const TEAM_EXECUTOR = {
  executor_key: 'team.payouts',
  kind: 'task_queue',
  task_queue: TASK_QUEUE,
  action_types: ['team_payout'],
  timeout_seconds: 2,
  settle_seconds: 1,
  same_key_safe: true,
  payees: [],
};

/** What the desk's books say of one key. */
export interface TeamOrder {
  readonly key: string;
  readonly asset: string;
  readonly amount: string;
  /** Times that it was taken down. */
  readonly taken: number;
  /** Withdrawn before it was paid. */
  readonly withdrawn: boolean;
}

export interface Team {
  /** Starts it and waits until it works. */
  start(): Promise<void>;
  /** SIGKILL; it stays down until it is started again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  orders(): readonly TeamOrder[];
}

/** The worker of a stack, with its books and its output under the data folder. */
export function createTeam(dataDir: string, temporalAddress: string): Team {
  const data = join(dataDir, 'team');
  mkdirSync(data, { recursive: true });
  const log = openSync(join(dataDir, 'logs', 'team.log'), 'a');
  let child: ChildProcess | null = null;
  let wanted = false;
  // A run that is broken off leaves no process behind.
  process.once('exit', () => child?.kill('SIGKILL'));

  const begin = async (): Promise<void> => {
    const args = [
      '--task-queue',
      TASK_QUEUE,
      '--temporal-address',
      temporalAddress,
      '--data',
      data,
      '--delay-ms',
      '300',
      '--result-secret-file',
      secretFile(dataDir),
    ];
    const started = spawn(process.execPath, [built('executor-task-queue'), ...args], {
      stdio: ['ignore', 'pipe', log],
    });
    child = started;
    started.once('exit', () => {
      if (child === started) child = null;
      if (wanted)
        void sleep(AGAIN_MS)
          .then(() => (wanted && child === null ? begin() : undefined))
          .catch(() => undefined);
    });
    const stopWaiting = new AbortController();
    const gone = once(started, 'exit', { signal: stopWaiting.signal }).then(([code]) => {
      throw new Error(`the team's worker ended with ${String(code)}`);
    });
    if (started.stdout === null) throw new Error('the worker has no output');
    await Promise.race([once(started.stdout, 'data'), gone]).finally(() => stopWaiting.abort());
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    wanted = false;
    const running = child;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    running.kill(signal);
    await gone;
  };
  return {
    start: async () => {
      wanted = true;
      for (const limit = Date.now() + READY_MS; ; await sleep(AGAIN_MS)) {
        try {
          if (child === null) await begin();
          return;
        } catch (error) {
          if (Date.now() > limit) throw error;
        }
      }
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGKILL'),
    orders: () => readOrders(join(data, 'orders.jsonl')),
  };
}

/** Every order ever taken down, from the desk's own journal. */
function readOrders(file: string): readonly TeamOrder[] {
  const orders = new Map<string, TeamOrder>();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  for (const line of lines) {
    const { key, state, intention } = JSON.parse(line) as JournalEntry;
    const before = orders.get(key);
    const { asset, amount } = intention as { readonly asset: string; readonly amount: string };
    orders.set(key, {
      key,
      asset,
      amount,
      taken: (before?.taken ?? 0) + (state === 'INTENDED' ? 1 : 0),
      withdrawn: state === 'FAILED',
    });
  }
  return [...orders.values()];
}
