/**
 * A send is over only when it is over by the database's clock and by that of the process that
 * looks, as after a failover to a server whose clock is ahead.
 */
import { pino } from 'pino';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { recover } from '../../activities/phases/recover.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import { submit } from '../../activities/phases/submit.ts';
import { resolve as resolveTransfer } from '../../api/capital-transfers/resolve.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import { resolve as resolveNode } from '../../api/movements/resolve.ts';
import { ExecutorFault, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { Database, SqlValue } from '../../prisma/client.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { dependencies } from '../api/support.ts';
import { transferDesk } from './capital-transfer-desk.ts';
import { storeBench, type StoreBench } from './support.ts';

const bench = storeBench();

/** How far the database's clock is ahead of this process's, for whoever reads it. */
let ahead_ms = 0;
let statements: string[] = [];
beforeEach(() => {
  ahead_ms = 0;
  statements = [];
});

const sql = async (text: TemplateStringsArray, ...values: readonly SqlValue[]) => {
  statements.push(text.join('?'));
  const rows = await bench.db.sql<{ readonly ms: number }>(text, ...values);
  return text.join('?').includes('clock_timestamp()')
    ? rows.map(({ ms }) => ({ ms: ms + ahead_ms }))
    : rows;
};
const database = (): Database =>
  new Proxy(bench.db, {
    get: (db, name) => {
      if (name === 'sql') return sql;
      const member: unknown = Reflect.get(db, name);
      return typeof member === 'function' ? (member.bind(db) as unknown) : member;
    },
  });

const EXECUTOR: ExecutorDescriptor = {
  executor_key: 'acme.payouts',
  kind: 'remote',
  action_types: ['acme_payout'],
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 5,
  in_process: false,
  sends: true,
  payees: [],
  not_payees: [],
  completion_assurances: ['provider_completed'],
};

const worker = (behind_ms = 0): PhaseDependencies => ({
  db: database(),
  log: pino({ level: 'silent' }),
  chains: [],
  executors: { get: () => undefined, describe: () => EXECUTOR },
  signers: { get: () => undefined },
  signing: createEvmSigning(createEvmChains([])),
  clocks: { differences: new Map([['database', -behind_ms]]) },
});

const REQUESTER = {
  caller: { client_id: null, key_id: null, role: 'operator' },
  request_id: 'a-request',
} as never;

const api = (): ApiDependencies => ({
  ...dependencies(),
  db: database(),
  executors: { list: () => [EXECUTOR] },
  transfers: { accounts: [], settleSeconds: () => 0, handOver: () => undefined },
});

/** The node of a movement under way, with these fields. */
async function node(request_state: string, fields: string): Promise<string> {
  const { movement_id } = await bench.movement({ unheld: true });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = '${request_state}', approval_status = 'approved'
     WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(`UPDATE movement_nodes SET ${fields} WHERE movement_id = $1::uuid`, movement_id);
  return movement_id;
}

async function nodeOf(movement_id: string) {
  const [row] = await bench.sql<{ state: string; left: number | null }>(
    `SELECT state, extract(epoch FROM send_not_after - svc_now())::float AS left
     FROM movement_nodes WHERE movement_id = $1::uuid`,
    movement_id,
  );
  return row;
}

/** By the database's clock the last send had to end five seconds ago. */
const OVER = "send_not_after = svc_now() - interval '5 seconds', submit_epoch = 7, amount = 3";

test.each([
  ['sent again', 9, 'READY'],
  ['failed', 1, 'FAILED'],
])(
  'a node is not %s while its send may be under way by the clock of the process',
  async (_what, most, state) => {
    const plan = JSON.stringify({ retry_policy: { max_attempts: most } });
    const movement_id = await node(
      'EXECUTING',
      `state = 'SUBMITTING', started_at = svc_now(), own_plan = own_plan || '${plan}', ${OVER}`,
    );
    const args = { movement_id, node_key: 'pay', attempt: 1 };
    const look = async () => {
      const outcome = { answer: { next_state: 'READY' } } as const;
      return recover.finish(worker(), args, await phaseRow(worker(), args), outcome);
    };
    ahead_ms = 45_000;
    const waits = await look().catch((error: unknown) => error);
    expect(waits).toMatchObject({ type: 'NOT_YET' });
    expect((waits as { nextRetryDelay: number }).nextRetryDelay).toBeGreaterThan(30_000);
    expect((await nodeOf(movement_id))?.state).toBe('SUBMITTING');
    // Whoever looks with a clock that is far behind leaves the next look to others.
    ahead_ms = 7_200_000;
    await expect(look()).rejects.toMatchObject({ nextRetryDelay: 60_000 });
    ahead_ms = 0;
    expect(await look()).toMatchObject({ state });
  },
);

test('a person cannot call a node failed while that is so', async () => {
  const movement_id = await node('MANUAL_INTERVENTION', `state = 'UNKNOWN', ${OVER}`);
  const says = () =>
    resolveNode(
      {
        params: { movement_id, node_key: 'pay' },
        body: { outcome: 'failed', reason: 'the statement', evidence: {} },
        requester: REQUESTER,
      },
      api(),
    );
  ahead_ms = 45_000;
  const refused = (await says().catch((error: unknown) => error)) as {
    readonly context: { readonly retry_after_seconds: number };
  };
  expect(refused).toMatchObject({ code: 'send_not_over' });
  expect(refused.context.retry_after_seconds).toBeGreaterThan(30);
  expect((await nodeOf(movement_id))?.state).toBe('UNKNOWN');
  ahead_ms = 0;
  expect(await says()).toMatchObject({ status: 200 });
  expect((await nodeOf(movement_id))?.state).toBe('FAILED');
});

describe('a capital transfer', () => {
  const LOST = {
    submit: () => Promise.reject(new ExecutorFault('unreachable', 'LOST', 'no answer')),
    find: () => Promise.resolve(null),
  };
  const deskOf = (behind_ms = 0) => {
    const clocks = new Map([['database', -behind_ms]]);
    return transferDesk({ db: database() } as StoreBench, LOST, 900, clocks);
  };

  test('is not sent again, or called failed, while its send may be under way', async () => {
    const desk = deskOf();
    const [id, other] = [await desk.made(), await desk.made()];
    for (const each of [id, other]) await desk.submit(each);
    const says = () =>
      resolveTransfer(
        {
          params: { transfer_id: other },
          body: { resolution: 'failed', reason: 'x' },
          requester: REQUESTER,
        },
        api(),
      );
    ahead_ms = 45_000;
    await expect(desk.look(id)).rejects.toMatchObject({ type: 'NOT_YET' });
    await expect(says()).rejects.toMatchObject({ code: 'invalid_state' });
    ahead_ms = 0;
    expect(await desk.look(id)).toMatchObject({ next: 'submit' });
    expect(await says()).toMatchObject({ body: { request_state: 'FAILED' } });
  });

  test('has its window longer by what the clock of the database is behind', async () => {
    for (const [behind_ms, least, most] of [
      [0, -60_000, 0],
      // Two seconds for the provider; the call that has ended does not end the window.
      [45_000, 30_000, 47_000],
    ] as const) {
      const desk = deskOf(behind_ms);
      const id = await desk.made();
      await desk.submit(id);
      const { send_left_ms } = await desk.row(id);
      expect(send_left_ms).toBeGreaterThan(least);
      expect(send_left_ms).toBeLessThanOrEqual(most);
    }
  });
});

test.each([
  ['short', { executor_key: EXECUTOR.executor_key }],
  ['long', {}],
] as const)(
  'a stored window is longer by what the clock of the database is behind, at the %s fence',
  async (which, bound) => {
    for (const [behind_ms, least, most] of [
      [0, -60, 5],
      [44_500, 30, 50],
    ] as const) {
      const movement_id = await node(
        'EXECUTING',
        `state = 'READY', amount = 3, preflight_passed = true, started_at = svc_now(),
          prepared_action = '{}'`,
      );
      const args = { movement_id, node_key: 'pay', attempt: 1, ...bound };
      await submit.begin(worker(behind_ms), args);
      const after = await nodeOf(movement_id);
      expect(after?.state).toBe('SUBMITTING');
      expect(statements.some((each) => each.includes('SELECT apply_transition'))).toBe(
        which === 'long',
      );
      expect(after?.left).toBeGreaterThan(least);
      expect(after?.left).toBeLessThanOrEqual(most);
    }
  },
);
