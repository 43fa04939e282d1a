/** A send whose outcome a person leaves open: what follows from it, and what when it lands late. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { startLaneTender } from '../../activities/relays/lanes.ts';
import { lookForAbandoned } from '../../activities/relays/late-looks.ts';
import { landedLate } from '../../domain/commands/landed-late.ts';
import { resolve, type Outcome } from '../../domain/commands/resolve.ts';
import { retryableNode } from '../../domain/commands/retry.ts';
import {
  ExecutorFault,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import type { EdgeType } from '../../domain/graph/types.ts';
import { walk } from '../../domain/graph/walk.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { SignedLook, SignedNode } from '../../domain/signing.ts';
import { toWalk } from '../../domain/snapshot.ts';
import { takeLanes } from '../../store/lanes.ts';
import { noteLateLook, takeLateLooks } from '../../store/late-looks.ts';
import { readFigures } from '../../store/metrics.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { readSnapshot } from '../../store/movements.ts';
import { readPhase } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { verifyReservations } from '../../tools/reservations/verify.ts';
import type { EvmChains } from '../../venues/evm/client.ts';
import { eventually } from '../support/eventually.ts';
import { approvalOf, paying, storeBench } from './support.ts';

const bench = storeBench();

const PERSON = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};
const edge = (to: string, edge_type: EdgeType) => ({
  ...{ from: 'pay', to, edge_type, priority: 0 },
  ...{ join_key: null, condition_expr: null },
});
const PAY = paying('pay', { venue: 'v', asset: 'USDC' });
const shapeOf = (pay: TemplateNode) => ({
  nodes: [pay, paying('then', {}), paying('instead', {})],
  edges: [edge('then', 'on_success'), edge('instead', 'on_failure')],
});

const set = (id: string, what: string): Promise<unknown> =>
  bench.sql(
    `UPDATE movement_nodes SET ${what} WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    id,
  );
async function payOf<T>(id: string, columns: string): Promise<T | undefined> {
  const [row] = await bench.sql<T>(
    `SELECT ${columns} FROM movement_nodes n WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    id,
  );
  return row;
}

/** A movement whose node `pay` is in this state, as if it had been sent so long ago. */
async function sent(state: string, ago = '10 minutes', pay = PAY): Promise<string> {
  const { movement_id } = await bench.movement({ shape: shapeOf(pay) });
  await applyTransition(bench.db, {
    ...approvalOf(movement_id),
    set: { approval_status: 'approved' },
  });
  const wanted = state === 'UNKNOWN' ? 'MANUAL_INTERVENTION' : 'EXECUTING';
  await bench.sql(
    'UPDATE movements SET request_state = $2 WHERE movement_id = $1::uuid',
    movement_id,
    wanted,
  );
  await set(movement_id, `state = '${state}', submitted_at = now() - interval '${ago}'`);
  return movement_id;
}

async function says(id: string, outcome: Outcome) {
  const word = { node_key: 'pay', outcome, reason: 'nothing answers', evidence: {} };
  const said = resolve(
    await readSnapshot(bench.db, id),
    { ...word, settle_seconds: 0, ahead_seconds: 0 },
    PERSON,
  );
  return said === null ? null : applyTransition(bench.db, said);
}

async function abandoned(pay = PAY): Promise<string> {
  const id = await sent('UNKNOWN', undefined, pay);
  expect(await says(id, 'abandoned')).toMatchObject({ ok: true });
  return id;
}

test('no edge follows from an abandoned node, and the movement fails', async () => {
  const id = await abandoned();
  expect(await payOf(id, 'state, error_code')).toEqual({
    state: 'FAILED',
    error_code: 'ABANDONED',
  });
  const snapshot = await readSnapshot(bench.db, id);
  expect(snapshot.state).toBe('EXECUTING');
  expect(walk(toWalk(snapshot))).toMatchObject({
    ready: [],
    skip: ['then', 'instead'],
    state: 'FAILED',
    failure: { node_key: 'pay', error_code: 'ABANDONED' },
  });
  const [row] = await bench.sql<{ stopped: boolean }>(
    `SELECT (movement_view($1::uuid, now()) #> '{nodes,0,ended_by_stop}')::boolean AS stopped`,
    id,
  );
  expect(row).toEqual({ stopped: true });
});

test('an abandoned node is never retried', async () => {
  const id = await abandoned();
  const snapshot = await readSnapshot(bench.db, id);
  expect(retryableNode({ ...snapshot, state: 'FAILED' })).toBeUndefined();
  const again = await applyTransition(bench.db, {
    movement_id: id,
    nodes: [{ node_key: 'pay', from: 'FAILED', moves: ['READY'], attempt: 1, set: { attempt: 2 } }],
    timeline: [],
  });
  expect(again).toMatchObject({ ok: false, reason: 'node_state' });
});

test('what is abandoned counts as sent, and holds nothing', async () => {
  const id = await abandoned();
  expect(await payOf(id, 'sent_amount(n)::float AS sent')).toEqual({ sent: 3 });
  const rows = await bench.sql<object>(
    `SELECT node_key, status, amount::float AS amount FROM reservations
      WHERE movement_id = $1::uuid ORDER BY status`,
    id,
  );
  expect(rows).toEqual([
    { node_key: 'pay', status: 'consumed', amount: 3 },
    { node_key: null, status: 'released', amount: 3 },
  ]);
  expect(await verifyReservations(bench.db)).toMatchObject({ ok: true, faults: 0 });
});

test('an overdue node can be abandoned, and never be called failed', async () => {
  const early = await sent('OBSERVING', '59 minutes');
  expect([await says(early, 'abandoned'), await says(early, 'failed')]).toEqual([null, null]);
  for (const state of ['SUBMITTED', 'OBSERVING']) {
    const id = await sent(state, '61 minutes');
    expect(await says(id, 'failed')).toMatchObject({ ok: false, reason: 'send_still_open' });
    expect(await says(id, 'completed')).toBeNull();
    expect(await says(id, 'abandoned')).toMatchObject({ ok: true });
  }
  // Its usual time is an hour, and completed counts from another one on.
  const [nearly, later] = [
    await sent('OBSERVING', '119 minutes'),
    await sent('OBSERVING', '121 minutes'),
  ];
  expect(await says(nearly, 'completed')).toBeNull();
  expect(await says(later, 'completed')).toMatchObject({ ok: true });
});

describe('a late look', () => {
  const never = new AbortController().signal;
  const due = (id: string): Promise<unknown> =>
    set(id, "next_late_look = now() - interval '1 second'");
  const taken = async () =>
    (
      await takeLateLooks(bench.db, {
        called: ['acme.payouts'],
        followed: [],
        pauseSeconds: 60,
        limit: 50,
      })
    ).map(({ movement_id }) => movement_id);
  // What other tests have abandoned.
  beforeEach(() => bench.sql('UPDATE movement_nodes SET next_late_look = NULL'));

  interface Answers {
    readonly observed?: ExecutionResult | Error;
    /** What the chain shows of a signed payment; called as `chain`. */
    readonly shown?: ExecutionResult;
    readonly kind?: ExecutorDescriptor['kind'];
    readonly ending?: AbortSignal;
  }

  /** Two turns at once with an executor that answers or throws this; returns what was called. */
  async function turn(
    recovered: ExecutionResult | Error,
    {
      observed = recovered,
      shown = { next_state: 'READY' },
      kind = 'local',
      ending = never,
    }: Answers = {},
  ): Promise<readonly string[]> {
    const called: string[] = [];
    const isReading = async (journal: SubmitJournal): Promise<void> => {
      expect(await journal.held({ address: '0x1', accepted: true })).not.toBeNull();
      expect(journal.nextVersion).toBeUndefined();
    };
    const answer =
      (phase: string, of: ExecutionResult | Error) =>
      async (_context: unknown, _call: unknown, journal: SubmitJournal) => {
        called.push(phase);
        await isReading(journal);
        if (of instanceof Error) throw of;
        return of;
      };
    const descriptor = { executor_key: 'acme.payouts', timeout_seconds: 5, kind };
    const executor = {
      descriptor,
      recover: answer('recover', recovered),
      observe: answer('observe', observed),
    } as unknown as Executor;
    const options = {
      db: bench.db,
      log: pino({ level: 'silent' }),
      chains: [],
      signers: { get: () => undefined },
      executors: {
        list: () => [executor.descriptor],
        get: () => (kind === 'task_queue' ? undefined : executor),
        describe: () => executor.descriptor,
      },
      signing: {
        check: () => Promise.reject(new Error('nothing is signed')),
        nextNonce: () => Promise.reject(new Error('nothing is signed')),
        settle: async (_node: SignedNode, { journal }: SignedLook) => {
          called.push('chain');
          await isReading(journal);
          return shown;
        },
      },
      pauseMs: 60_000,
    };
    await Promise.all([lookForAbandoned(options, ending), lookForAbandoned(options, ending)]);
    return called;
  }
  const late = (id: string) =>
    bench.sql<object>(
      `SELECT data FROM timeline_events
        WHERE movement_id = $1::uuid AND event_type = 'node_recovered'`,
      id,
    );

  test('brings a landing into attention, once', async () => {
    const id = await abandoned();
    await bench.sql(
      `UPDATE movements SET request_state = 'FAILED', ended_at = now(), acknowledged_at = now(),
          error_code = 'ABANDONED', error_message = 'node pay failed' WHERE movement_id = $1::uuid`,
      id,
    );
    const attention = async () => (await readMovement(bench.db, id))?.attention ?? null;
    expect(await turn({ next_state: 'READY' })).toEqual(['recover']);
    // The next look is a minute away.
    expect(await turn({ next_state: 'COMPLETED' })).toEqual([]);
    await due(id);
    expect(await turn({ next_state: 'OBSERVING' })).toEqual(['recover', 'observe']);
    expect([await late(id), await attention()]).toEqual([[], null]);
    await due(id);
    // As after an earlier attempt whose late landing a person has seen.
    await set(id, 'landed_late_at = now(), landing_seen_at = now()');
    const landed = { next_state: 'COMPLETED', external_ref: 'tx-9' } as const;
    expect(await turn({ next_state: 'SUBMITTED' }, { observed: landed })).toEqual([
      'recover',
      'observe',
    ]);
    expect(await late(id)).toEqual([{ data: { late: true, external_ref: 'tx-9' } }]);
    expect(await attention()).toMatchObject({
      reason: 'landed_late',
      node_key: 'pay',
      external_ref: 'tx-9',
    });
    expect(await payOf(id, 'state, error_code, external_ref, next_late_look')).toEqual({
      ...{ state: 'FAILED', error_code: 'ABANDONED' },
      ...{ external_ref: 'tx-9', next_late_look: null },
    });
    expect(await turn(landed)).toEqual([]);
    await set(id, 'landing_seen_at = now()');
    expect(await attention()).toBeNull();
  });

  test('that a second process makes of the same node writes nothing', async () => {
    const id = await abandoned();
    const row = await readPhase(bench.db, id, 'pay');
    const landed = landedLate(row!, { next_state: 'COMPLETED', external_ref: 'tx-1' });
    expect(await applyTransition(bench.db, landed)).toMatchObject({ ok: true });
    expect(await applyTransition(bench.db, landed)).toMatchObject({ ok: false });
    expect(await late(id)).toHaveLength(1);
  });

  const RECORD = 'record-7';
  test.each<[string, ExecutionResult]>([
    [
      'with a fee above its limit',
      {
        next_state: 'UNKNOWN',
        error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT',
        error_message: 'a fee of 2',
        external_ref: RECORD,
      },
    ],
    [
      'of another amount',
      {
        next_state: 'UNKNOWN',
        error_code: 'WITHDRAWAL_MISMATCH',
        error_message: '5 was sent',
        external_ref: RECORD,
      },
    ],
    [
      'twice',
      {
        next_state: 'UNKNOWN',
        error_code: 'WITHDRAWAL_DUPLICATED',
        error_message: 'the exchange shows 2 withdrawals under one client id',
        external_ref: RECORD,
      },
    ],
    [
      'twice within its exchange',
      {
        next_state: 'UNKNOWN',
        error_code: 'TRANSFER_DUPLICATED',
        error_message: 'the exchange shows 2 transfers under one reference',
        external_ref: RECORD,
      },
    ],
    [
      'with another amount in the ledger',
      {
        next_state: 'OBSERVING',
        error_code: 'LEDGER_ROW_MISMATCH',
        error_message: '5 left the account',
        external_ref: RECORD,
      },
    ],
    [
      'and was credited with another amount',
      {
        next_state: 'OBSERVING',
        error_code: 'DEPOSIT_AMOUNT_MISMATCH',
        error_message: '5 was credited',
        external_ref: RECORD,
      },
    ],
  ])('notes what landed %s', async (_how, answer) => {
    const id = await abandoned();
    await turn(answer);
    const { next_state: _state, ...difference } = answer;
    expect(await late(id)).toEqual([{ data: { late: true, ...difference } }]);
    expect(await payOf(id, 'external_ref, landed_late_at IS NOT NULL AS landed')).toEqual({
      external_ref: answer.external_ref ?? null,
      landed: true,
    });
  });

  test.each<[string, ExecutionResult]>([
    ['nothing that it could name', { next_state: 'UNKNOWN', error_code: 'WITHDRAWAL_MISMATCH' }],
    ['two that are not paid', { next_state: 'UNKNOWN', error_code: 'TRANSFER_DUPLICATED' }],
    [
      'another doubt',
      { next_state: 'UNKNOWN', error_code: 'WITHDRAWAL_AMBIGUOUS', external_ref: RECORD },
    ],
    ['no credit so far', { next_state: 'OBSERVING', error_code: 'DEPOSIT_NOT_CREDITED' }],
    ['an end', { next_state: 'FAILED', error_code: 'WITHDRAWAL_MISMATCH', external_ref: RECORD }],
  ])('goes on after %s', async (_what, answer) => {
    const id = await abandoned();
    await turn(answer);
    expect(await late(id)).toEqual([]);
    await due(id);
    expect(await taken()).toEqual([id]);
  });

  test('believes no completion of less than the plan requires', async () => {
    const config = { ...PAY.config, completion_assurance: 'destination_finalized' };
    const id = await abandoned({ ...PAY, config });
    await turn({ next_state: 'COMPLETED', assurance: 'destination_credited' });
    expect(await late(id)).toEqual([]);
    await due(id);
    await turn({ next_state: 'COMPLETED', assurance: 'destination_finalized' });
    expect(await late(id)).toHaveLength(1);
  });

  const SEEN: TemplateNode = {
    node_key: 'pay',
    node_kind: 'observe',
    action_type: 'evm_balance_observe',
    has_side_effect: false,
    config: {},
  };
  const arrival = (external_ref?: string): ExecutionResult => ({
    next_state: 'COMPLETED',
    ...(external_ref === undefined ? {} : { external_ref }),
  });

  test('believes no completion that names no arrival, or the arrival of another node', async () => {
    const id = await abandoned(SEEN);
    await turn(arrival());
    expect(await late(id)).toEqual([]);
    const [others, own] = [randomUUID(), randomUUID()];
    await bench.sql(
      `INSERT INTO payments (source, reference, amount, claimed, created_at)
       VALUES ('evm_balance_observe', $1, 1, 1, now())`,
      others,
    );
    await bench.sql(
      `INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, created_at)
       VALUES ('evm_balance_observe', $1, $2::uuid, 'pay', 1, now())`,
      others,
      await sent('COMPLETED'),
    );
    await due(id);
    await turn(arrival(others));
    expect(await late(id)).toEqual([]);
    await due(id);
    await turn(arrival(own));
    expect(await late(id)).toEqual([{ data: { late: true, external_ref: own } }]);
  });

  describe('for which something was signed for a team', () => {
    const signed = (id: string): Promise<unknown> =>
      set(id, `sign_request = '{"kind": "evm_typed_data", "payload": {}}'`);
    const completed = arrival('word');

    test.each(['remote', 'task_queue'] as const)(
      'looks at the chain, and calls no executor (%s)',
      async (kind) => {
        const id = await abandoned();
        await signed(id);
        for (const next_state of ['OBSERVING', 'FAILED', 'READY'] as const) {
          await due(id);
          expect(await turn(completed, { kind, shown: { next_state } })).toEqual(['chain']);
        }
        expect(await late(id)).toEqual([]);
        await due(id);
        const shown = { next_state: 'COMPLETED', external_ref: '0xmined' } as const;
        expect(await turn({ next_state: 'READY' }, { kind, shown })).toEqual(['chain']);
        expect(await late(id)).toEqual([{ data: { late: true, external_ref: '0xmined' } }]);
      },
    );

    test('calls an executor of our own, which reads the chain itself', async () => {
      const id = await abandoned();
      await signed(id);
      expect(await turn(completed)).toEqual(['recover']);
      expect(await late(id)).toHaveLength(1);
    });

    test('but on a task queue without a signature is not made', async () => {
      const id = await abandoned();
      expect(await turn(completed, { kind: 'task_queue' })).toEqual([]);
      expect(await taken()).toEqual([id]);
    });
  });

  describe('that fails', () => {
    const fault = new ExecutorFault('rejected', 'PERMISSION_DENIED', 'the key reads no history');
    const failing = async (): Promise<number> =>
      (await readFigures(bench.db, 300)).late_looks_failing;
    const isNoted = async (id: string): Promise<boolean | undefined> =>
      (await payOf<{ noted: boolean }>(id, 'late_fault_since IS NOT NULL AS noted'))?.noted;

    test('for an hour is counted, until one is answered', async () => {
      const id = await abandoned();
      // Without the failure the next look would be a day away.
      await set(id, "completed_at = now() - interval '24 days'");
      expect(await turn(fault)).toEqual(['recover']);
      expect([await isNoted(id), await failing()]).toEqual([true, 0]);
      const next = await payOf<{ minutes: number }>(
        id,
        'extract(epoch FROM next_late_look - now())::float / 60 AS minutes',
      );
      expect(next?.minutes).toBeGreaterThan(25);
      expect(next?.minutes).toBeLessThanOrEqual(30);
      await set(id, "late_fault_since = late_fault_since - interval '61 minutes'");
      await due(id);
      // A later failure does not start the hour anew.
      expect(await turn(fault)).toEqual(['recover']);
      expect(await failing()).toBe(1);
      await due(id);
      expect(await turn({ next_state: 'READY' })).toEqual(['recover']);
      expect([await isNoted(id), await failing()]).toEqual([false, 0]);
    });

    test('with an error of the code is noted, and fails the turn', async () => {
      const id = await abandoned();
      await expect(turn(new TypeError('a bug'))).rejects.toThrow('a bug');
      expect(await isNoted(id)).toBe(true);
    });

    test('because the process stops is not noted', async () => {
      const id = await abandoned();
      expect(await turn(fault, { ending: AbortSignal.abort() })).toEqual(['recover']);
      expect(await isNoted(id)).toBe(false);
    });

    test('is noted where what it reports proves no landing', async () => {
      const config = { ...PAY.config, completion_assurance: 'destination_finalized' };
      const id = await abandoned({ ...PAY, config });
      await turn({ next_state: 'COMPLETED', assurance: 'destination_credited' });
      expect(await isNoted(id)).toBe(true);
    });

    test.each(['HISTORY_TOO_OLD', 'WITHDRAWAL_AMBIGUOUS', 'ACTION_UNPROVEN'])(
      'is noted where the outcome stays open (%s), until an answer says otherwise',
      async (error_code) => {
        const id = await abandoned();
        await set(id, "completed_at = now() - interval '48 days'");
        const open = { next_state: 'UNKNOWN', error_code } as const;
        for (let look = 0; look < 2; look += 1) {
          await due(id);
          expect(await turn(open)).toEqual(['recover']);
          expect(await isNoted(id)).toBe(true);
          // More looks would find no more: a twenty-fourth of its age.
          expect(await payOf(id, "next_late_look > now() + interval '1 day' AS is_rested")).toEqual(
            { is_rested: true },
          );
        }
        await due(id);
        expect(await turn({ next_state: 'READY' })).toEqual(['recover']);
        expect(await isNoted(id)).toBe(false);
      },
    );

    test('since its entry has changed is noted, and not repeated soon', async () => {
      const id = await abandoned();
      await set(id, "completed_at = now() - interval '48 days'");
      await due(id);
      const changed = new ExecutorFault('not_yet', 'VENUE_ENTRY_CHANGED', 'another account');
      expect(await turn(changed)).toEqual(['recover']);
      expect(await isNoted(id)).toBe(true);
      expect(await payOf(id, "next_late_look > now() + interval '1 day' AS is_rested")).toEqual({
        is_rested: true,
      });
    });

    test('after another process has seen the landing changes nothing', async () => {
      const id = await abandoned();
      const row = await readPhase(bench.db, id, 'pay');
      await applyTransition(bench.db, landedLate(row!, { next_state: 'COMPLETED' }));
      await noteLateLook(bench.db, row!, 'unsettled', 60);
      expect(await payOf(id, 'late_fault_since, next_late_look')).toEqual({
        late_fault_since: null,
        next_late_look: null,
      });
    });
  });

  test('pauses longer the longer ago it was abandoned', async () => {
    const id = await abandoned();
    const pause = async (): Promise<number> => {
      await due(id);
      expect(await taken()).toEqual([id]);
      const row = await payOf<{ seconds: number }>(
        id,
        'extract(epoch FROM next_late_look - now())::float AS seconds',
      );
      return Math.round((row?.seconds ?? 0) / 10) * 10;
    };
    expect(await pause()).toBe(60);
    await set(id, "completed_at = now() - interval '1 day'");
    expect(await pause()).toBe(3_600);
  });

  /** A nonce lane in which nonce 7 was signed for the node; its address is the payment's hash. */
  async function signedAtNonce(id: string): Promise<string> {
    const address = `0x${randomUUID().replaceAll('-', '')}00000000`;
    await bench.sql(
      'INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES (1, $1, 20)',
      address,
    );
    await bench.sql(
      `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce,
         movement_id, node_key, attempt, unsigned, raw_tx, tx_hash, created_at)
       VALUES (gen_random_uuid(), 'k', 1, $1, 7, $2::uuid, 'pay', 1, '{}', $1, $1, svc_now())`,
      address,
      id,
    );
    return address;
  }

  test('leaves a node with an open nonce to its lane, which knows of it', async () => {
    const id = await abandoned();
    const address = await signedAtNonce(id);
    expect(await taken()).toEqual([]);
    const claims = async () =>
      (await takeLanes(bench.db, 0, 10)).flatMap((lane) =>
        lane.claims.map(({ nonce, ended, abandoned: is }) => ({ nonce, ended, is })),
      );
    expect(await claims()).toEqual([{ nonce: 7, ended: true, is: true }]);
    // An earlier attempt may have landed late, too.
    await set(id, 'landed_late_at = now(), landing_seen_at = now()');
    expect(await claims()).toEqual([{ nonce: 7, ended: true, is: true }]);
    await set(id, 'next_late_look = NULL');
    expect(await claims()).toEqual([{ nonce: 7, ended: true, is: false }]);
    await set(id, 'next_late_look = now()');
    await bench.sql('UPDATE evm_transactions SET final_at = now() WHERE address = $1', address);
    expect(await taken()).toEqual([id]);
  });

  /** A chain whose final block 100 has this transaction in block 90. */
  function chainWith(mined: string, status: 'success' | 'reverted'): EvmChains {
    const client = {
      getTransactionCount: () => Promise.resolve(20),
      getBlock: () => Promise.resolve({ number: 100n }),
      getTransactionReceipt: ({ hash }: { readonly hash: string }) =>
        Promise.resolve(
          hash === mined ? { transactionHash: hash, blockNumber: 90n, status } : null,
        ),
    };
    const ask = (question: (of: typeof client) => unknown) => Promise.resolve(question(client));
    const connection = { venue: { finality: { confirmations: null } }, ask, find: ask };
    return { chainIds: () => [1], open: () => Promise.resolve(connection) } as unknown as EvmChains;
  }

  test.each([
    ['the payment', 'payment', 'success'],
    ['the payment, which moved nothing', 'payment', 'reverted'],
    ['a zero-value transaction', 'cancel', 'success'],
  ] as const)(
    'is made by the nonce lane while its nonce is open: %s was mined',
    async (_what, mined, status) => {
      const id = await abandoned();
      const payment = await signedAtNonce(id);
      const cancel = `${payment}cc`;
      await bench.sql(
        `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce,
         movement_id, node_key, attempt, kind, replaces, unsigned, raw_tx, tx_hash, created_at)
       SELECT gen_random_uuid(), signer_key, chain_id, address, nonce, movement_id, node_key,
         attempt, 'cancel', transaction_id, '{}', $2, $2, created_at + interval '1 second'
       FROM evm_transactions WHERE address = $1`,
        payment,
        cancel,
      );
      const loop = startLaneTender({
        db: bench.db,
        log: pino({ level: 'silent' }),
        chains: chainWith(mined === 'payment' ? payment : cancel, status),
        signers: { get: () => undefined },
        mayReplace: () => Promise.resolve({ why: 'nothing is replaced' }),
        pauseMs: 20,
      });
      try {
        await eventually(async () => {
          const [claim] = await bench.sql<{ final_at: Date | null }>(
            'SELECT final_at FROM evm_transactions WHERE address = $1 AND replaces IS NULL',
            payment,
          );
          return claim?.final_at ?? null;
        });
      } finally {
        await loop.stop();
      }
      const landed = mined === 'payment' && status === 'success';
      expect(await late(id)).toEqual(
        landed ? [{ data: { late: true, external_ref: payment } }] : [],
      );
      expect(await payOf(id, 'landed_late_at IS NOT NULL AS landed')).toEqual({ landed });
      expect(await taken()).toEqual(landed ? [] : [id]);
    },
  );
});
