/**
 * Whose movements are worked on first while they wait for a worker, and how fast a venue with a
 * task queue of its own is called. An executor counts what arrives and when.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { freePort } from '../../dev/stack/ports.ts';
import { movementWorkflowId } from '../../domain/messages.ts';
import {
  completed,
  defineExecutor,
  notLanded,
  passed,
  prepared,
  type JsonObject,
} from '../../executor-kit/define.ts';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import { settleEach } from '../../platform/at-once.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';
import { storeTemplate, type PlanNode } from '../support/plans.ts';

const FLOOD = 200;
const FEW = 10;
const TAKES_MS = 200;
/** Of a venue's queue: 12 activities at 2 a second, of which a burst of 2 starts at once. */
const RATE = { per_second: 2, slots: 5 };
const RATED = 12;

/** What arrived, in order. */
let paid: { readonly movement: string; readonly at: number }[] = [];

const payer = defineExecutor<JsonObject>({
  name: 'takes its time',
  prepared: z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>,
  preflight: async () => passed(),
  prepare: async () => prepared({}),
  submit: async ({ context }) => {
    paid.push({ movement: context.movement_id, at: performance.now() });
    await sleep(TAKES_MS);
    return completed({ external_ref: context.idempotency_key });
  },
  observe: async ({ idempotency_key }) => completed({ external_ref: idempotency_key }),
  recover: async () => notLanded(),
  cancel: async () => completed(),
});

const pay = (config: object = {}): PlanNode => ({
  node_key: 'pay',
  node_kind: 'action',
  action_type: 'acme_pay',
  has_side_effect: true,
  config,
});

async function start(url: string, env: Record<string, string>): Promise<OwnStack> {
  return startOwnStack({
    split: true,
    temporalConfig: ['matching.enableFairness=true'],
    env: { SVC_WORKER_SLOTS: '4', ...env },
    executors: () => [
      { executor_key: 'acme.pay', kind: 'remote', url, action_types: ['acme_pay'], payees: [] },
    ],
  });
}

async function approved(
  own: OwnStack,
  template: string,
  strategies: readonly string[],
): Promise<readonly Created[]> {
  const outcomes = await settleEach(strategies, 8, async (strategy) => {
    const movement = await own.api.create(template, { amount: '1', strategy });
    await own.api.approve(movement);
    return movement;
  });
  return outcomes.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}

/**
 * While no worker runs, creates a flood of one strategy and then a few movements of another.
 * Returns how many of the flood were paid before the last of the few, and the key of a run.
 */
async function floodedBefore(own: OwnStack): Promise<{ before: number; key: string }> {
  paid = [];
  const template = await storeTemplate(own.api, [pay()], { assurance: 'provider_completed' });
  await own.stack.stopChild('worker');
  const flood = await approved(
    own,
    template,
    Array.from({ length: FLOOD }, () => 'flood'),
  );
  const few = await approved(
    own,
    template,
    Array.from({ length: FEW }, () => 'few'),
  );
  const ids = new Set(few.map(({ movement_id }) => movement_id));
  const lastId = few.at(-1)?.movement_id ?? '';
  await eventually(() => own.runOf(lastId), {
    what: () => 'the last run to be started',
  });
  const { priority } = await own.temporal.workflow
    .getHandle(movementWorkflowId([...ids][0] ?? ''))
    .describe();
  await own.stack.startChild('worker');
  await eventually(async () => (paid.length === flood.length + few.length ? true : null), {
    timeoutMs: 120_000,
    what: () => `all to be paid; ${String(paid.length)} were`,
  });
  const last = paid.findLastIndex(({ movement }) => ids.has(movement));
  const before = paid.slice(0, last).filter(({ movement }) => !ids.has(movement)).length;
  return { before, key: priority?.fairnessKey ?? '' };
}

/** Answers with enough on every account; what is paid there takes no balance. */
function balancesServer(): Server {
  const [available, withdrawable, total] = ['1000', '1000', '1000'];
  const pool = { account_type: 'SPOT', asset: 'USDC', available, withdrawable, total };
  return createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ balances: [pool] }));
  });
}

let served: ServedExecutor;
beforeAll(async () => {
  served = await serveExecutor(payer, { port: 0, log: () => undefined });
});
afterAll(async () => {
  await served?.stop();
});

describe('with a share for each strategy', () => {
  let own: OwnStack;
  let folder: string;
  const balances = balancesServer();
  beforeAll(async () => {
    const port = await freePort([]);
    await new Promise<void>((resolve) => balances.listen(port, '127.0.0.1', resolve));
    folder = mkdtempSync(join(tmpdir(), 'fairness-'));
    const file = join(folder, 'venues.json');
    const venue = {
      provider: 'paper',
      account_role: 'master',
      url: `http://127.0.0.1:${String(port)}`,
    };
    const venues = [
      { ...venue, venue_key: 'rated', account: 'rated', queue: RATE },
      { ...venue, venue_key: 'unrated', account: 'unrated' },
    ];
    writeFileSync(file, JSON.stringify({ venues }));
    own = await start(served.url, { SVC_STRATEGY_SHARES_CSV: '*=1', SVC_VENUES_FILE: file });
  }, 180_000);
  afterAll(async () => {
    await own?.close();
    balances.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('ten movements are paid in turns with a flood of another strategy', async () => {
    // Fair is one of each in turn: 10 of the flood, and what runs at once. The rest is slack.
    const { before, key } = await floodedBefore(own);
    expect(key).toBe('few');
    expect(before).toBeLessThan(60);
  }, 240_000);

  const queueOf = async ({ movement_id }: Created): Promise<string | null | undefined> => {
    const { events } = await own.temporal.workflow
      .getHandle(movementWorkflowId(movement_id))
      .fetchHistory();
    const scheduled = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: one }) => one ?? [],
    );
    return scheduled[0]?.taskQueue?.name;
  };

  /** Returns within how many milliseconds movements of the venue arrived, and on which queue. */
  async function arrivalsAt(venue: string): Promise<{ ms: number; queue: unknown }> {
    paid = [];
    const template = await storeTemplate(own.api, [pay({ venue })], {
      assurance: 'provider_completed',
    });
    const made = await approved(
      own,
      template,
      Array.from({ length: RATED }, () => venue),
    );
    for (const { movement_id } of made) await own.api.reaches(movement_id, 'COMPLETED');
    expect(paid).toHaveLength(RATED);
    const times = paid.map(({ at }) => at);
    const [first] = made;
    return {
      ms: Math.max(...times) - Math.min(...times),
      queue: first === undefined ? null : await queueOf(first),
    };
  }

  test('a venue with a queue is called at its rate, and completes', async () => {
    const { ms, queue } = await arrivalsAt('rated');
    expect(queue).toBe('fund-movements/venue/rated');
    // A burst starts at once, and each of the others takes its part of a second.
    const { per_second } = RATE;
    expect(ms).toBeGreaterThan(((RATED - 1 - per_second) / per_second) * 1_000 - 500);
  }, 120_000);

  test('a venue without one shares the queue of all', async () => {
    expect((await arrivalsAt('unrated')).queue).toBe('fund-movements');
  }, 120_000);
});

describe('without a share', () => {
  let own: OwnStack;
  beforeAll(async () => {
    own = await start(served.url, {});
  }, 180_000);
  afterAll(async () => {
    await own?.close();
  });

  test('no run has a key, and the later movements wait for the flood', async () => {
    const { before, key } = await floodedBefore(own);
    expect(key).toBe('');
    expect(before).toBeGreaterThan(60);
  }, 240_000);
});
