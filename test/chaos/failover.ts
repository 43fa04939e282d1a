/**
 * `npm run chaos -- --failover`: the primary of the database is killed under movements whose sends
 * must not be repeated and under callers that go on all the time, and its synchronous standby is
 * promoted by the script that operators have. Every request that failed is repeated with its key
 * until it is answered. Then the old primary comes back and processes are started that meet it
 * first. What should have been paid is computed from what callers were answered, and held against
 * the books of the desk that paid.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../../dev/stack/stack.ts';
import { openBalancer } from '../support/balancer.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { addStandby, query, type Standby } from '../support/standby.ts';
import { auditFaults } from './audit.ts';
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
import { longestGap } from './failover-sums.ts';
import { conclude } from './report.ts';
import { rollingContradictions, type Accepted } from './rolling-sums.ts';

/** Sends of a movement, one after the other: enough that all movements outlast the fail-over. */
const NODES = 4;
/** Between the end of the primary and the script: whoever starts it has to notice. */
const NOTICED_MS = 2_000;
/** After the standby was promoted, and after the old primary is back, callers go on for so long. */
const AROUND_MS = 3_000;
/** Longest that callers may be without an answer. */
const MOST_SECONDS = 15;
const READERS = 2;
const CREATORS = 2;
/** Between two movements of one creator, and before a failed request is sent again. */
const PAUSE_MS = 300;
const AGAIN_MS = 200;

/** Runs on a stack with a standby; returns the number of contradictions. */
export async function failOver(run: DeskRun): Promise<number> {
  const standby = await addStandby(run.stack);
  try {
    return await killAndPromote(run, standby);
  } finally {
    await standby.close();
  }
}

async function killAndPromote(run: DeskRun, standby: Standby): Promise<number> {
  const { stack, desk, processes, options, signal, say } = run;
  const settings = { SVC_DATABASE_URL: standby.serviceUrl };
  for (const role of ['api', 'api', 'worker', 'worker'] as const)
    processes.push(await startServiceProcess(stack, role, { settings }));
  const balancer = await openBalancer(processes.slice(0, 2));
  const caller = createCallers(`${balancer.url}/v3`, stack, signal);
  try {
    const started = performance.now();
    const seconds = (since = started): string => ((performance.now() - since) / 1_000).toFixed(1);
    await caller.templates();
    await caller.createAll(options.movements);
    await untilSendsAreUnderWay(run);
    const over = new AbortController();
    const talking = caller.goOn(over.signal);
    // From then on sends end all the time, also while there is no primary.
    await sleep(options.submitSeconds * 1_000, undefined, { signal });

    const answered = (): number => desk.payments.length - sendsUnderWay(desk);
    const before = answered();
    const busy = sendsUnderWay(desk);
    const killed = performance.now();
    await stack.kill('postgres');
    await sleep(NOTICED_MS, undefined, { signal });
    const kept = answered() - before;
    await standby.failOver();
    say(
      `  the primary was killed after ${seconds()} s with ${String(busy)} sends under way, of which ${String(kept)} ended while there was none; the standby was promoted ${seconds(killed)} s later`,
    );
    // Whoever is served again goes on for a while.
    await caller.servedSince(killed);
    say(`  reads and writes were answered again after ${seconds()} s`);
    await sleep(AROUND_MS, undefined, { signal });

    await standby.startFirst();
    say(`  the old primary was started again after ${seconds()} s`);
    const [fenced] = await counted(standby.first);
    const newApi = await startServiceProcess(stack, 'api', { settings });
    processes.push(newApi);
    processes.push(await startServiceProcess(stack, 'worker', { settings }));
    const newcomer = createCallers(`${newApi.apiUrl}/v3`, stack, signal);
    await newcomer.createAll(CREATORS, 'failover/one');
    caller.take(newcomer);
    over.abort();
    await talking;
    say(`  processes that met it first have served after ${seconds()} s`);

    const ids = caller.accepted.map(({ movement_id }) => movement_id);
    const found = [
      ...(kept === 0 ? ['no send ended while there was no primary: nothing was shown'] : []),
      ...caller.complaints,
      ...(await endsOf(ids, caller.stateOf, signal)),
      ...rollingContradictions(caller.accepted, desk.payments),
    ];
    const [after] = await counted(standby.first);
    if (fenced?.standby !== true || after?.standby !== true || fenced.movements !== after.movements)
      found.push('the old primary was written to');
    const [now] = await counted(standby.second);
    if (now?.movements !== String(caller.accepted.length))
      found.push(
        `there are ${String(now?.movements)} movements of ${String(caller.accepted.length)} creates`,
      );
    const bad = await query<{ name: string; to_state: string }>(
      standby.second,
      `SELECT movement_id || ' ' || node_key AS name, to_state FROM timeline_events
       WHERE to_state IN ('UNKNOWN', 'MANUAL_INTERVENTION', 'FAILED')`,
    );
    found.push(...bad.map(({ name, to_state }) => `${name} became ${to_state}`));
    found.push(...(await auditFaults(stack, standby.second)));
    const gaps = { reads: longestGap(caller.reads), writes: longestGap(caller.writes) };
    for (const [what, gap] of Object.entries(gaps)) {
      const length = (gap / 1_000).toFixed(1);
      say(`  ${what}: from the last success before to the first after, ${length} s`);
      if (gap > MOST_SECONDS * 1_000) found.push(`no ${what} for ${length} s`);
    }
    const failures = [...caller.failures].map(([what, count]) => `${what} ${String(count)}`);
    say(
      `  ${String(ids.length)} movements, ${String(desk.payments.length)} sends of ${String(options.submitSeconds)} s, ${String(caller.requests())} requests; failed and repeated: ${failures.join(', ') || 'none'}; ${seconds()} s`,
    );
    return conclude(found);
  } finally {
    await balancer.close();
  }
}

const counted = (url: string): Promise<{ standby: boolean; movements: string }[]> =>
  query(url, 'SELECT pg_is_in_recovery() AS standby, count(*)::text AS movements FROM movements');

type Body = Readonly<Record<string, unknown>>;

/** Callers that repeat what failed, with its key, until it is answered. */
function createCallers(base: string, stack: Stack, signal: AbortSignal) {
  const accepted: Accepted[] = [];
  const complaints: string[] = [];
  /** When requests were answered as they should be. */
  const [reads, writes]: number[][] = [[], []];
  const failures = new Map<string, number>();
  let requests = 0;
  let serial = 0;
  /** Null where it failed in a way that is repeated. */
  const ask = async (
    expected: readonly number[],
    method: string,
    path: string,
    body?: object,
  ): Promise<Body | null> => {
    requests += 1;
    let failure: string;
    try {
      const request = { method, body, timeoutMs: 10_000 };
      const { status, text } = await send({ stack, signal }, base + path, request);
      if (expected.includes(status)) {
        (method === 'GET' ? reads : writes)?.push(performance.now());
        return JSON.parse(text) as Body;
      }
      const code = /"error":"(\w+)"/.exec(text)?.[1] ?? 'without a word of the service';
      failure = `${String(status)} ${code}`;
      if (status < 500) {
        complaints.push(`${method} ${path} answered ${String(status)}: ${text}`);
        return {};
      }
    } catch (error) {
      signal.throwIfAborted();
      failure = error instanceof Error && error.name === 'TimeoutError' ? 'late' : 'no answer';
    }
    failures.set(failure, (failures.get(failure) ?? 0) + 1);
    await sleep(AGAIN_MS, undefined, { signal });
    return null;
  };
  const untilAnswered = async (...request: Parameters<typeof ask>): Promise<Body> => {
    for (;;) {
      const answer = await ask(...request);
      if (answer !== null) return answer;
    }
  };
  const stateOf = async (id: string): Promise<unknown> =>
    (await untilAnswered([200], 'GET', `/movements/${id}`))['request_state'];
  /** An approval has no key: whoever got no answer looks first. */
  const approve = async (id: string, compiled_plan_hash: unknown): Promise<void> => {
    const body = { compiled_plan_hash, approver_id: 'failover' };
    while ((await ask([200], 'POST', `/movements/${id}/approve`, body)) === null)
      if ((await stateOf(id)) !== 'PENDING_APPROVAL') return;
  };
  const create = async (template: string, nodes: readonly string[]): Promise<void> => {
    serial += 1;
    const amount = amountOf(serial);
    const made = await untilAnswered([200, 201], 'POST', '/movements', {
      template_key: template,
      template_version: 1,
      strategy_id: 'failover',
      intent: { asset: 'USDC', amount },
      idempotency_key: randomUUID(),
    });
    const movement_id = String(made['movement_id']);
    accepted.push({ movement_id, amount, nodes });
    await approve(movement_id, made['compiled_plan_hash']);
  };
  const templates = { 'failover/many': nodeKeys(NODES), 'failover/one': nodeKeys(1) };
  return {
    accepted,
    complaints,
    reads: reads ?? [],
    writes: writes ?? [],
    failures,
    requests: () => requests,
    stateOf,
    async templates() {
      for (const [key, nodes] of Object.entries(templates))
        await untilAnswered([201], 'POST', '/plan-templates', sendsOf(key, nodes));
    },
    createAll: (count: number, template: keyof typeof templates = 'failover/many') =>
      repeat(count, CREATORS, () => create(template, templates[template])),
    /** Creates and reads until `over` aborts. */
    async goOn(over: AbortSignal) {
      await Promise.all([
        readInTurns(READERS, accepted, over, stateOf),
        ...Array.from({ length: CREATORS }, async () => {
          while (!over.aborted) {
            await create('failover/one', templates['failover/one']);
            await sleep(PAUSE_MS);
          }
        }),
      ]);
    },
    /** Counts what another has created as its own. */
    take(other: {
      readonly accepted: readonly Accepted[];
      readonly complaints: readonly string[];
    }) {
      accepted.push(...other.accepted);
      complaints.push(...other.complaints);
    },
    /** Waits until something was read and something was written since then. */
    async servedSince(since: number) {
      const isServed = (times: readonly number[] = []): boolean => (times.at(-1) ?? 0) > since;
      while (!isServed(reads) || !isServed(writes)) await sleep(50, undefined, { signal });
    },
  };
}
