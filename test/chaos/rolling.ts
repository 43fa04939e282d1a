/**
 * `npm run chaos -- --rolling`: two APIs behind a balancer and two workers are restarted one after
 * the other, under movements whose sends take long and must not be repeated. What should have been
 * paid is computed from what callers were answered, and held against the books of the desk that
 * paid.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Stack } from '../../dev/stack/stack.ts';
import { NOTICED_SECONDS, openBalancer } from '../support/balancer.ts';
import { startServiceProcess } from '../support/service-process.ts';
import {
  amountOf,
  endsOf,
  nodeKeys,
  readInTurns,
  repeat,
  send,
  sendsOf,
  sendsUnderWay,
  untilSendsAreUnderWay,
  type DeskRun,
} from './desk-run.ts';
import { conclude } from './report.ts';
import { rollingContradictions, type Accepted } from './rolling-sums.ts';

/** Sends of a movement, one after the other: enough that all movements outlast the restarts. */
const NODES = 7;
/** Between two movements that callers go on to create while processes are restarted. */
const TRICKLE_MS = 1_000;
/** Readers beside them, each of which asks again as soon as it is answered. */
const READERS = 4;
const CREATORS = 8;

/**
 * Restarts two APIs, then two workers; each gives way to its successor. Returns the number of
 * contradictions.
 */
export async function rollingRestart(run: DeskRun): Promise<number> {
  const { stack, desk, processes, options, signal, say } = run;
  for (const role of ['api', 'api', 'worker', 'worker'] as const)
    processes.push(await startServiceProcess(stack, role));
  const balancer = await openBalancer(processes.slice(0, 2));
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  const caller = createCallers(`${balancer.url}/v3`, stack, signal);
  try {
    await caller.templates();
    const started = performance.now();
    const seconds = (): string => ((performance.now() - started) / 1_000).toFixed(1);
    await caller.createAll(options.movements);
    say(
      `  ${String(options.movements)} movements approved after ${seconds()} s, over ${balancer.kind}`,
    );
    await untilSendsAreUnderWay(run);
    const over = new AbortController();
    const talking = caller.goOn(over.signal);
    for (const [index, old] of processes.entries()) {
      const busy = sendsUnderWay(desk);
      const signalled = performance.now();
      old.signal('SIGTERM');
      const status = await old.ended;
      const took = ((performance.now() - signalled) / 1_000).toFixed(1);
      say(
        `  ${old.role} ${String(old.pid)} ended with status ${String(status)} after ${took} s; ${String(busy)} sends were under way`,
      );
      if (status !== 0) caller.complaints.push(`a ${old.role} ended with status ${String(status)}`);
      processes[index] = await startServiceProcess(stack, old.role, old);
      // As an operator does: the next one only once this one is used again.
      await sleep(NOTICED_SECONDS * 1_000, undefined, { signal });
    }
    say(`  everything was restarted after ${seconds()} s`);
    over.abort();
    await talking;
    await caller.allEnd();
    const { rows } = await pool.query<{ movement_id: string; node_key: string; to_state: string }>(
      `SELECT movement_id::text, node_key, to_state FROM timeline_events
       WHERE to_state IN ('UNKNOWN', 'MANUAL_INTERVENTION', 'FAILED')`,
    );
    const found = [
      ...caller.complaints,
      ...rows.map((row) => `${row.movement_id} ${row.node_key} became ${row.to_state}`),
      ...rollingContradictions(caller.accepted, desk.payments),
    ];
    say(
      `  ${String(caller.accepted.length)} movements, ${String(desk.payments.length)} sends of ${String(options.submitSeconds)} s, ${String(caller.requests())} requests, ${String(caller.failed())} failed, ${String(rows.length)} unknown; ${seconds()} s`,
    );
    return conclude(found);
  } finally {
    await pool.end();
    await balancer.close();
  }
}

/** Callers that repeat nothing: what fails once has failed. */
function createCallers(base: string, stack: Stack, signal: AbortSignal) {
  const accepted: Accepted[] = [];
  const complaints: string[] = [];
  let requests = 0;
  let failed = 0;
  let serial = 0;
  const ask = async (
    expected: number,
    method: string,
    path: string,
    body?: object,
  ): Promise<Readonly<Record<string, unknown>> | null> => {
    requests += 1;
    try {
      const request = { method, body, timeoutMs: 30_000 };
      const { status, text } = await send({ stack, signal }, base + path, request);
      if (status === expected) return JSON.parse(text) as Readonly<Record<string, unknown>>;
      complaints.push(`${method} ${path} answered ${String(status)}: ${text.slice(0, 200)}`);
    } catch (error) {
      signal.throwIfAborted();
      const cause = error instanceof Error ? String(error.cause ?? error.message) : String(error);
      complaints.push(`${method} ${path} failed: ${cause}`);
    }
    failed += 1;
    return null;
  };
  const create = async (template: string, nodes: readonly string[]): Promise<void> => {
    serial += 1;
    const amount = amountOf(serial);
    const intent = { asset: 'USDC', amount };
    const made = await ask(201, 'POST', '/movements', {
      template_key: template,
      template_version: 1,
      intent,
      strategy_id: 'rolling',
    });
    if (made === null) return;
    const { movement_id, compiled_plan_hash } = made as Record<string, string>;
    const path = `/movements/${String(movement_id)}/approve`;
    const approved = await ask(200, 'POST', path, { compiled_plan_hash, approver_id: 'rolling' });
    if (approved !== null) accepted.push({ movement_id: String(movement_id), amount, nodes });
  };
  const keys = nodeKeys(NODES);
  return {
    accepted,
    complaints,
    requests: () => requests,
    failed: () => failed,
    async templates() {
      for (const [template_key, nodes] of Object.entries({
        'rolling/many': keys,
        'rolling/one': ['pay1'],
      }))
        await ask(201, 'POST', '/plan-templates', sendsOf(template_key, nodes));
    },
    createAll: (count: number) => repeat(count, CREATORS, () => create('rolling/many', keys)),
    /** Creates a movement now and then, and reads all the time, until `over` aborts. */
    async goOn(over: AbortSignal) {
      const reading = readInTurns(READERS, accepted, over, (id) =>
        ask(200, 'GET', `/movements/${id}`),
      );
      while (!over.aborted) {
        await create('rolling/one', ['pay1']);
        await sleep(TRICKLE_MS);
      }
      await reading;
    },
    /** Waits until every movement is COMPLETED, or another end is a complaint. */
    async allEnd() {
      const ids = accepted.map(({ movement_id }) => movement_id);
      const stateOf = async (id: string): Promise<unknown> =>
        (await ask(200, 'GET', `/movements/${id}`))?.['request_state'];
      complaints.push(...(await endsOf(ids, stateOf, signal)));
    },
  };
}
