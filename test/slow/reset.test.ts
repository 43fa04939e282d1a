/**
 * `workflow reset` to every resettable event of completed movements: whatever an operator of
 * Temporal runs again, no venue gets a new instruction and no row of the movement changes.
 */
import { isDeepStrictEqual } from 'node:util';
import { movementWorkflowId } from '../../domain/messages.ts';
import { assertConsistent, transfersOnChain } from '../support/evidence.ts';
import { eventually, WITHDRAW_TO_TREASURY, ownStack, type Created } from '../support/own-stack.ts';
import {
  compensation,
  edge,
  noop,
  passedOn,
  storeTemplate,
  transfer,
  withdrawal,
} from '../support/plans.ts';

/** Somebody whose balance nothing else changes. */
const PAYEE = '0x00000000000000000000000000000000000a11ce';
const own = ownStack({ allow: [PAYEE], env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1' } });

type Drive = (amount: string) => Promise<Created>;

interface Kind {
  readonly name: string;
  /** No other movement has it. */
  readonly amount: string;
  /** Its faults would touch others that run beside it. */
  readonly alone?: true;
  readonly drive: Drive;
}

/** Ten ways to COMPLETED. */
const KINDS: readonly Kind[] = [
  {
    name: 'a withdrawal and a transfer',
    amount: '31.01',
    drive: (amount) => completed(WITHDRAW_TO_TREASURY, amount),
  },
  {
    name: 'a gate that a person opened',
    amount: '31.02',
    drive: async (amount) => {
      const movement = await approved('starter/withdraw-with-gate', amount);
      await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
      await own.api.act('resume', movement.movement_id);
      return ended(movement);
    },
  },
  {
    name: 'a withdrawal alone',
    amount: '31.04',
    drive: async (amount) =>
      completed(await storeTemplate(own.api, [withdrawal(own.stack.chain, 'withdraw')]), amount),
  },
  {
    name: 'a transfer on the chain',
    amount: '31.03',
    drive: (amount) => completed('starter/treasury-transfer', amount),
  },
  {
    name: 'a withdrawal whose answer was lost',
    amount: '31.05',
    alone: true,
    drive: async (amount) => {
      const template = await storeTemplate(own.api, [withdrawal(own.stack.chain, 'withdraw')]);
      await own.venueFaults({ lose_answer_rate: 1, phases: ['submit'] });
      const movement = await approved(template, amount);
      await eventually(
        async () => ((await kindsOf(movement)).includes('node_recovered') ? true : null),
        { what: () => 'a recovery' },
      );
      await own.venueFaults(null);
      return ended(movement);
    },
  },
  {
    name: 'an unknown outcome that a person had looked at again',
    amount: '31.06',
    alone: true,
    drive: async (amount) => {
      const node = withdrawal(own.stack.chain, 'withdraw', {
        more: { retry_policy: { max_attempts: 1 } },
      });
      const template = await storeTemplate(own.api, [node]);
      await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
      const movement = await approved(template, amount);
      await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
      await own.venueFaults(null);
      await own.api.act('resume', movement.movement_id);
      return ended(movement);
    },
  },
  {
    name: 'a failure after a withdrawal, and its retry',
    amount: '31.07',
    alone: true,
    drive: async (amount) => {
      await own.api.expect(200, 'PATCH', '/executors/evm.transfer', { status: 'disabled' });
      const movement = await approved(WITHDRAW_TO_TREASURY, amount);
      await own.api.reaches(movement.movement_id, 'FAILED');
      await runCloses(movement);
      await own.api.expect(200, 'PATCH', '/executors/evm.transfer', { status: 'active' });
      await own.api.act('retry', movement.movement_id);
      return eventually(async () =>
        (await own.api.movement(movement.movement_id)).request_state === 'COMPLETED'
          ? movement
          : null,
      );
    },
  },
  {
    name: 'nodes without effects',
    amount: '31.08',
    drive: async (amount) =>
      completed(await storeTemplate(own.api, [noop('one'), noop('two'), noop('three')]), amount),
  },
  {
    name: 'a payment that is seen to arrive',
    amount: '31.09',
    drive: async (amount) => {
      const { chain } = own.stack;
      const config = {
        chain_id: chain.chainId,
        token_address: chain.tokens.USDC.address,
        address: PAYEE,
        min_increase: amount,
        baseline: 'movement_start',
      };
      const arrival = {
        node_key: 'arrival',
        node_kind: 'observe',
        action_type: 'evm_balance_observe',
        executor_selector: { action_type: 'evm_balance_observe', chain_family: 'evm' },
        config,
      };
      return completed(
        await storeTemplate(own.api, [
          withdrawal(chain, 'withdraw', { config: { destination_address: PAYEE } }),
          arrival,
        ]),
        amount,
      );
    },
  },
  {
    name: 'four payments and a compensation that was not needed',
    amount: '31.11',
    drive: async (amount) => {
      const { chain } = own.stack;
      const on = [
        passedOn(transfer(chain, 't1'), 'w1'),
        passedOn(transfer(chain, 't2'), 'w2'),
      ] as const;
      const nodes = [
        withdrawal(chain, 'w1'),
        on[0],
        withdrawal(chain, 'w2'),
        on[1],
        compensation('undo'),
      ];
      const edges = [
        edge('w1', 't1'),
        edge('t1', 'w2'),
        edge('w2', 't2'),
        edge('t2', 'undo', 'on_cancel'),
      ];
      return completed(
        await storeTemplate(own.api, nodes, { edges, assurance: 'destination_finalized' }),
        amount,
      );
    },
  },
];

async function approved(template: string, amount: string): Promise<Created> {
  const movement = await own.api.create(template, { amount });
  await own.api.approve(movement);
  return movement;
}

async function ended(movement: Created): Promise<Created> {
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  return movement;
}

const completed = async (template: string, amount: string): Promise<Created> =>
  ended(await approved(template, amount));

const kindsOf = async ({ movement_id }: Created): Promise<string[]> =>
  (await own.api.timeline(movement_id)).map(({ event_type }) => event_type);

function runCloses({ movement_id }: Created): Promise<true> {
  return eventually(
    async () => ((await own.runOf(movement_id))?.status === 'RUNNING' ? null : true),
    { what: () => 'the run to close' },
  );
}

/** The movement's rows in every table, save which run looked at it last. */
async function rowsOf({ movement_id }: Created): Promise<Record<string, unknown>> {
  const tables = [
    'movement_nodes',
    'timeline_events',
    'commands',
    'evm_transactions',
    'node_attempts',
    'artifacts',
    'reservations',
    'callbacks',
  ];
  const rows: [string, unknown][] = [
    [
      'movements',
      await own.query(
        `SELECT to_jsonb(m) - 'run_id' AS row FROM movements m WHERE movement_id = $1`,
        [movement_id],
      ),
    ],
    [
      'audit_events',
      await own.query(
        'SELECT to_jsonb(a) AS row FROM audit_events a WHERE entity_key = $1 ORDER BY event_id',
        [movement_id],
      ),
    ],
  ];
  for (const table of tables) {
    // When a nonce is seen to be final is up to a loop, and no matter of a run.
    const sql = `SELECT to_jsonb(t) - 'final_at' - 'mined_hash' AS row FROM ${table} t
      WHERE movement_id = $1 ORDER BY (to_jsonb(t) - 'final_at' - 'mined_hash')::text`;
    rows.push([table, await own.query(sql, [movement_id])]);
  }
  return Object.fromEntries(rows);
}

/** Every instruction that the venue and the chain got, also refused ones. */
async function instructions(): Promise<Record<string, unknown>> {
  const json = async (url: string): Promise<unknown> => (await fetch(url)).json();
  return {
    ledger: await json(`${own.stack.paperVenueUrl}/ledger`),
    balances: await json(`${own.stack.paperVenueUrl}/balances`),
    sent: await json(`${own.stack.chain.rpcUrl}/journal`),
    transfers: await transfersOnChain(own.stack.chain),
  };
}

interface Run {
  readonly run_id: string;
  readonly status: string;
  /**
   * Events of workflow tasks, at which the server may reset; `completed` are those where it always
   * can.
   */
  readonly points: readonly { readonly event: number; readonly completed: boolean }[];
}

/** Every run of the movement as it is now, oldest first. */
async function runsOf({ movement_id }: Created): Promise<readonly Run[]> {
  const workflow_id = movementWorkflowId(movement_id);
  const newest = (await own.runOf(movement_id))?.run_id;
  const listed = await eventually(
    async () => {
      const runs: { run_id: string; status: string; started: number }[] = [];
      for await (const run of own.temporal.workflow.list({
        query: `WorkflowId = "${workflow_id}"`,
      }))
        runs.push({ run_id: run.runId, status: run.status.name, started: run.startTime.getTime() });
      return runs.some((run) => run.run_id === newest && run.status !== 'RUNNING') ? runs : null;
    },
    { what: () => 'the runs to be listed' },
  );
  listed.sort((a, b) => a.started - b.started);
  const runs: Run[] = [];
  for (const { run_id, status } of listed) {
    const { events } = await own.temporal.workflow.getHandle(workflow_id, run_id).fetchHistory();
    const points = (events ?? []).flatMap((event) => {
      const isPoint =
        event.workflowTaskStartedEventAttributes != null ||
        event.workflowTaskCompletedEventAttributes != null ||
        event.workflowTaskTimedOutEventAttributes != null ||
        event.workflowTaskFailedEventAttributes != null;
      return isPoint
        ? [
            {
              event: Number(event.eventId),
              completed: event.workflowTaskCompletedEventAttributes != null,
            },
          ]
        : [];
    });
    runs.push({ run_id, status, points });
  }
  return runs;
}

/**
 * Resets one run to one event and waits for the run that this begins; answers how that one closed,
 * null where the server cannot reset.
 */
async function reset(
  { movement_id }: Created,
  run_id: string,
  event: number,
): Promise<string | null> {
  const workflowId = movementWorkflowId(movement_id);
  let runId: string;
  try {
    ({ runId } = await own.temporal.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId: run_id },
      reason: 'a test',
      requestId: `${movement_id}/${run_id}/${event}`,
      workflowTaskFinishEventId: event as never,
    }));
  } catch (error) {
    // A task that was scheduled and started in one write has no point between the two.
    if (error instanceof Error && error.message.includes('must be at the boundary')) return null;
    throw error;
  }
  const handle = own.temporal.workflow.getHandle(workflowId, runId);
  return eventually(
    async () => {
      const { status } = await handle.describe();
      return status.name === 'RUNNING' ? null : status.name;
    },
    {
      timeoutMs: 60_000,
      everyMs: 100,
      what: () => `the run that a reset to event ${event} began to close`,
    },
  );
}

describe('`workflow reset` of completed movements', () => {
  const movements = new Map<string, Created>();
  const rows = new Map<string, Record<string, unknown>>();
  const closed = new Map<string, string[]>();
  let before: Record<string, unknown>;

  beforeAll(async () => {
    // What is transferred without a withdrawal of its own.
    await completed(await storeTemplate(own.api, [withdrawal(own.stack.chain, 'fund')]), '100');
    const drive = async (kind: Kind): Promise<void> =>
      void movements.set(kind.name, await kind.drive(kind.amount));
    await Promise.all(KINDS.filter(({ alone }) => alone === undefined).map(drive));
    for (const kind of KINDS) if (kind.alone === true) await drive(kind);
    for (const [name, movement] of movements) {
      await runCloses(movement);
      rows.set(name, await rowsOf(movement));
    }
    before = await instructions();
    await Promise.all(
      [...movements].map(async ([name, movement]) => {
        const runs = await runsOf(movement);
        const ends: string[] = [];
        for (const run of runs) {
          for (const { event, completed: always } of run.points) {
            const end = await reset(movement, run.run_id, event);
            if (always && end === null)
              throw new Error(`no reset to event ${event} of ${run.run_id}`);
            if (end !== null) ends.push(end);
          }
        }
        closed.set(name, ends);
      }),
    );
  }, 300_000);

  test.each(KINDS)(
    '$name: every run that a reset began closed as COMPLETED, for that is what the movement is',
    ({ name }) => {
      const ends = closed.get(name) ?? [];
      expect(ends.length).toBeGreaterThanOrEqual(4);
      expect(new Set(ends)).toEqual(new Set(['COMPLETED']));
    },
  );

  test.each(KINDS)('$name: no row of it changed', async ({ name }) => {
    const movement = movements.get(name)!;
    expect(await rowsOf(movement)).toEqual(rows.get(name));
    assertConsistent(
      await own.api.movement(movement.movement_id),
      await own.api.timeline(movement.movement_id),
    );
  });

  test('no venue got a new instruction', async () => {
    const now = await instructions();
    expect(now['ledger']).toEqual(before['ledger']);
    expect(now['balances']).toEqual(before['balances']);
    expect(now['transfers']).toEqual(before['transfers']);
    expect(isDeepStrictEqual(now['sent'], before['sent'])).toBe(true);
  });
});
