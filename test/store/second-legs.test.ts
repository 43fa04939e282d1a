/** A bridge's second leg in the database: what is on its way is brought, cancelled or not. */
import { pino } from 'pino';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { observe } from '../../activities/phases/observe.ts';
import { submit } from '../../activities/phases/submit.ts';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import { ExecutorFault, LEAST_ASSURANCES, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { readMovementView, readPhase } from '../../store/phases.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { dependencies, post, serve } from '../api/support.ts';
import { storeBench } from './support.ts';

const bench = storeBench();
beforeAll(async () => {
  await bench.sql(
    `INSERT INTO executors (executor_key, kind, action_types, created_at, updated_at)
      VALUES ('acme.payouts', 'local', '{cctp_mint}', now(), now())`,
  );
});

const ENTRY: ExecutorDescriptor = {
  executor_key: 'acme.payouts',
  kind: 'remote',
  action_types: ['cctp_mint'],
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 5,
  in_process: false,
  sends: true,
  not_payees: [],
  completion_assurances: LEAST_ASSURANCES,
};

/** A worker; nothing else of it is used before the fence. */
function worker(entry: ExecutorDescriptor): PhaseDependencies {
  return {
    db: bench.db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: { get: () => undefined, describe: () => entry },
    signers: { get: () => undefined },
    signing: createEvmSigning(createEvmChains([])),
  };
}

const node = (node_key: string, action_type: string, config = {}): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type,
  has_side_effect: true,
  config,
});

/** A cancelled movement whose burn has completed; `next`, behind it, is in this state. */
async function cancelled(next: TemplateNode, state: string): Promise<string> {
  const { movement_id } = await bench.movement({
    shape: {
      nodes: [node('burn', 'cctp_burn'), next],
      edges: [
        {
          from: 'burn',
          to: next.node_key,
          edge_type: 'on_success',
          priority: 0,
          join_key: null,
          condition_expr: null,
        },
      ],
    },
  });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'CANCELLED', approval_status = 'approved'
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = CASE node_key WHEN 'burn' THEN 'COMPLETED' ELSE $2 END,
       amount = 3, preflight_passed = true, started_at = svc_now(), prepared_action = '{}'
      WHERE movement_id = $1::uuid`,
    movement_id,
    state,
  );
  return movement_id;
}

const MINT = node('mint', 'cctp_mint', { burn_from: 'burn' });
/** The same of a node that brings nothing of another. */
const OTHER = node('mint', 'cctp_mint');

async function sent(of: TemplateNode, entry: ExecutorDescriptor): Promise<string> {
  const movement_id = await cancelled(of, 'READY');
  const { node_key } = of;
  await submit.begin(worker(entry), {
    movement_id,
    node_key,
    attempt: 1,
    executor_key: ENTRY.executor_key,
  });
  const [row] = await bench.sql<{ state: string }>(
    'SELECT state FROM movement_nodes WHERE movement_id = $1::uuid AND node_key = $2',
    movement_id,
    node_key,
  );
  return row?.state ?? '';
}

describe('after a cancel', () => {
  test.each([
    ['in one statement', {}],
    ['the long way', { payees: [{ field: 'account', family: 'cex' as const }] }],
  ])('the fence lets a mint through, and nothing else (%s)', async (_which, more) => {
    const entry = { ...ENTRY, ...more };
    expect(await sent(MINT, entry)).toBe('SUBMITTING');
    expect(await sent(OTHER, entry)).toBe('READY');
  });

  test('a mint that failed is for a person, and nothing else that did', async () => {
    const attention = async (of: TemplateNode) =>
      (await readMovement(bench.db, await cancelled(of, 'FAILED')))?.attention ?? null;
    expect(await attention(MINT)).toMatchObject({ reason: 'failed', node_key: 'mint' });
    expect(await attention(OTHER)).toBeNull();
  });
});

test('a run knows whose funds a node brings', async () => {
  const brings = async (of: TemplateNode) =>
    (await readMovementView(bench.db, await cancelled(of, 'BLOCKED')))?.nodes.map((each) => [
      each.node_key,
      each.brings,
    ]);
  expect(await brings(MINT)).toEqual([
    ['burn', null],
    ['mint', 'burn'],
  ]);
  expect(await brings(OTHER)).toEqual([
    ['burn', null],
    ['mint', null],
  ]);
});

test('where a delivery cannot be read a person must decide', async () => {
  const observed = async (action_type: string): Promise<string> => {
    const look = { ...node('arrive', action_type, { match_from: 'burn' }), node_kind: 'observe' };
    const movement_id = await cancelled(look as TemplateNode, 'OBSERVING');
    const row = await readPhase(bench.db, movement_id, 'arrive');
    if (row === null) throw new Error('there is no such node');
    const fault = new ExecutorFault('server_error', 'DELIVERY_BLOCKED', 'something else is there');
    const args = { movement_id, node_key: 'arrive', attempt: 1 };
    // What must be read again is thrown.
    await observe
      .finish({ ...worker(ENTRY), unansweredSeconds: 0 }, args, row, { fault })
      .catch(() => null);
    return (await readPhase(bench.db, movement_id, 'arrive'))?.state ?? '';
  };
  expect(await observed('bridge_c_observe')).toBe('UNKNOWN');
  expect(await observed('acme_look')).toBe('OBSERVING');
});

describe('a person who resolves a first leg as completed', () => {
  const OBSERVE: TemplateNode = {
    ...node('arrive', 'bridge_c_observe', { match_from: 'send' }),
    node_kind: 'observe',
  };
  const SEND = node('send', 'bridge_c_send');

  test.each([
    [
      'a burn without its message',
      ['output.attested_message and output.attestation', 'mint_tx_hashes'],
      [node('burn', 'cctp_burn'), MINT],
    ],
    ['a send without its packet', ['output.tx_hash'], [SEND, OBSERVE]],
  ])('names what is missing of %s', async (_what, missing, [first, second]) => {
    if (first === undefined || second === undefined) throw new Error('a bridge has two legs');
    const { movement_id } = await bench.movement({
      shape: {
        nodes: [first, second],
        edges: [
          {
            from: first.node_key,
            to: second.node_key,
            edge_type: 'on_success',
            priority: 0,
            join_key: null,
            condition_expr: null,
          },
        ],
      },
    });
    await bench.sql(
      `UPDATE movements SET request_state = 'MANUAL_INTERVENTION', approval_status = 'approved'
        WHERE movement_id = $1::uuid`,
      movement_id,
    );
    await bench.sql(
      `UPDATE movement_nodes SET state = 'UNKNOWN', amount = 3, output = '{"tx_hash": "0x01"}'
        WHERE movement_id = $1::uuid AND node_key = $2`,
      movement_id,
      first.node_key,
    );
    const api = await serve(createApi({ ...dependencies(), db: bench.db }, movementRoutes));
    try {
      const answer = await post(
        `${api.url}/v3/movements/${movement_id}/nodes/${first.node_key}/actions/resolve`,
        { outcome: 'completed', reason: 'seen on the explorer', evidence: { by: 'me' } },
      );
      expect(answer).toMatchObject({
        status: 422,
        body: { detail: { error: 'claim_missing', missing } },
      });
    } finally {
      await api.close();
    }
    const [row] = await bench.sql<{ state: string }>(
      'SELECT state FROM movement_nodes WHERE movement_id = $1::uuid AND node_key = $2',
      movement_id,
      first.node_key,
    );
    expect(row?.state).toBe('UNKNOWN');
  });
});
