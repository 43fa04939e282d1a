/**
 * What the runs with --rolling and --failover have in common: processes of the service over a stack
 * of their own, and a desk that pays slowly and must never get a send twice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts, type PortName } from '../../dev/stack/ports.ts';
import { ANY_FREE_PORTS, startStack, type Stack } from '../../dev/stack/stack.ts';
import { NOTICED_SECONDS } from '../support/balancer.ts';
import { eventually } from '../support/eventually.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { signedFetch } from '../support/signed-fetch.ts';
import { deskEntry, deskNode, openSlowDesk, type SlowDesk } from '../support/slow-desk.ts';
import type { RunOptions } from './options.ts';
import type { Accepted } from './rolling-sums.ts';

export interface DeskRun {
  readonly stack: Stack;
  readonly desk: SlowDesk;
  /** Killed at the end, whatever is in it then. */
  readonly processes: ServiceProcess[];
  readonly options: RunOptions;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Runs `what`, which answers the number of contradictions, on a stack without a service. */
export async function runAtDesk(
  { options, signal, say }: Pick<DeskRun, 'options' | 'signal' | 'say'>,
  started: (stack: Stack) => void,
  what: (run: DeskRun) => Promise<number>,
): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'desk-run-'));
  const desk = await openSlowDesk(options.submitSeconds * 1_000);
  const processes: ServiceProcess[] = [];
  let stack: Stack | null = null;
  let found: number | null = null;
  try {
    const ports = await choosePorts(ANY_FREE_PORTS, Object.keys(ANY_FREE_PORTS) as PortName[]);
    stack = await startStack({
      settings: { dataDir, ports },
      service: false,
      restart: false,
      more: { executors: [deskEntry(desk.url, options.submitSeconds + 20)] },
      signal,
      log: say,
      env: { SVC_RATE_LIMIT_ENABLED: 'false', SVC_DRAIN_SECONDS: String(NOTICED_SECONDS) },
    });
    started(stack);
    found = await what({ stack, desk, processes, options, signal, say });
    return found;
  } finally {
    for (const each of processes) each.signal('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await stack?.stop();
    await desk.close();
    const keep = (options.keep || found !== 0) && !signal.aborted;
    if (keep) say(`Logs and data: ${dataDir}`);
    else rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A template whose nodes send one after the other. */
export function sendsOf(template_key: string, nodes: readonly string[]): object {
  return {
    template_key,
    version: 1,
    name: 'Slow sends, one after the other',
    nodes: nodes.map((key) => deskNode(key)),
    edges: nodes.slice(1).map((to, index) => ({ from: nodes[index], to, edge_type: 'on_success' })),
    completion_policy: { completion_assurance: 'provider_completed' },
  };
}

/** Keys of the nodes of such a template. */
export function nodeKeys(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `pay${String(index + 1)}`);
}

/** An amount of its own for each movement, by which a payment is recognised. */
export function amountOf(serial: number): string {
  return `1.${String(serial).padStart(5, '0')}1`;
}

/** Sends one request with the administrator's key; rejects without an answer in time. */
export async function send(
  { stack, signal }: Pick<DeskRun, 'stack' | 'signal'>,
  url: string,
  request: {
    readonly method: string;
    readonly body: object | undefined;
    readonly timeoutMs: number;
  },
): Promise<{ readonly status: number; readonly text: string }> {
  const { method, body, timeoutMs } = request;
  const answer = await signedFetch(stack.keys.admin, url, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Does `work` so many times, `workers` at a time. */
export async function repeat(
  times: number,
  workers: number,
  work: () => Promise<void>,
): Promise<void> {
  let left = times;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (left-- > 0) await work();
    }),
  );
}

/** So many readers, each of which reads one movement after the other until `over` aborts. */
export async function readInTurns(
  readers: number,
  accepted: readonly Accepted[],
  over: AbortSignal,
  read: (movementId: string) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: readers }, async () => {
      for (let turn = 0; !over.aborted; turn += 1) {
        await read((accepted[turn % accepted.length] as Accepted).movement_id);
        await sleep(20);
      }
    }),
  );
}

export function sendsUnderWay({ payments }: SlowDesk): number {
  return payments.filter(({ answered }) => !answered).length;
}

/** Waits until half of the movements send, or a hundred. */
export async function untilSendsAreUnderWay({ desk, options }: DeskRun): Promise<void> {
  await eventually(
    async () => (sendsUnderWay(desk) >= Math.min(options.movements / 2, 100) ? true : null),
    { timeoutMs: 120_000, what: () => 'sends to be under way' },
  );
}

/** Waits for the end of each; what ends other than COMPLETED, in words. */
export async function endsOf(
  movementIds: readonly string[],
  stateOf: (movementId: string) => Promise<unknown>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const id of movementIds) {
    for (;;) {
      const state = await stateOf(id);
      if (state === 'COMPLETED') break;
      if (state !== 'EXECUTING' && state !== 'APPROVED') {
        found.push(`${id} is ${String(state)} at the end`);
        break;
      }
      await sleep(500, undefined, { signal });
    }
  }
  return found;
}
