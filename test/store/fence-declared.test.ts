/**
 * The fence holds a node to what its executor's entry declares now, whatever it declared when the
 * plan was made.
 */
import { pino } from 'pino';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { submit } from '../../activities/phases/submit.ts';
import { LEAST_ASSURANCES, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { storeBench } from './support.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';

const bench = storeBench();

function entry(more: Partial<ExecutorDescriptor>): ExecutorDescriptor {
  return {
    executor_key: 'acme.payouts',
    kind: 'remote',
    action_types: ['acme_report'],
    same_key_safe: true,
    settle_seconds: 0,
    timeout_seconds: 5,
    in_process: false,
    sends: true,
    not_payees: [],
    completion_assurances: LEAST_ASSURANCES,
    ...more,
  };
}

/**
 * A worker that has read this entry of the registry. Nothing else of it is used before the fence.
 */
function worker(descriptor: ExecutorDescriptor): PhaseDependencies {
  return {
    db: bench.db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: {
      get: () => undefined,
      describe: (key) => (key === descriptor.executor_key ? descriptor : undefined),
    },
    signers: { get: () => undefined },
    signing: createEvmSigning(createEvmChains([])),
  };
}

const node = (action_type: string, config: JsonObject = {}): TemplateNode => ({
  node_key: 'pay',
  node_kind: 'action',
  action_type,
  has_side_effect: true,
  config,
});

/** The node of a movement under way, prepared and ready to be sent. */
async function ready(shaped: TemplateNode, executorSends: boolean): Promise<string> {
  const { movement_id } = await bench.movement({
    shape: { nodes: [shaped], edges: [] },
    executor_sends: executorSends,
  });
  await bench.approve(movement_id);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'READY', amount = 3, preflight_passed = true,
      started_at = svc_now(), prepared_action = '{}'
     WHERE movement_id = $1::uuid`,
    movement_id,
  );
  return movement_id;
}

async function sends(movement_id: string, descriptor: ExecutorDescriptor): Promise<string> {
  const args = { movement_id, node_key: 'pay', attempt: 1, executor_key: descriptor.executor_key };
  const step = await submit.begin(worker(descriptor), args);
  const [row] = await bench.sql<{ state: string; error_code: string | null }>(
    "SELECT state, error_code FROM movement_nodes WHERE movement_id = $1::uuid AND node_key = 'pay'",
    movement_id,
  );
  expect('next' in step).toBe(row?.state !== 'SUBMITTING');
  return row?.error_code ?? row?.state ?? '';
}

describe('a node that was approved as one that moves nothing', () => {
  test('is sent while its executor says so', async () => {
    expect(await sends(await ready(node('acme_report'), false), entry({ sends: false }))).toBe(
      'SUBMITTING',
    );
  });

  test('is not sent once its executor is declared to move funds', async () => {
    const moves = entry({ payees: [] });
    expect(await sends(await ready(node('acme_report'), false), moves)).toBe(
      'APPROVED_OUTFLOW_EXCEEDED',
    );
    // Approved as one that does, it is.
    expect(await sends(await ready(node('acme_report'), true), moves)).toBe('SUBMITTING');
  });
});

describe('an executor that declares whom it pays in a built-in type', () => {
  const serving = (type: string): ExecutorDescriptor =>
    entry({ action_types: [type], payees: [{ field: 'account', family: 'cex' }] });

  test.each(['noop', 'cex_internal_transfer', 'cex_withdrawal'])(
    'sends no %s to a payee that is not on the list',
    async (type) => {
      await bench.sql(
        `INSERT INTO allowed_addresses (id, chain_family, address, reason, created_by, created_at,
          updated_at)
       SELECT gen_random_uuid(), 'cex', each, 'test', 'test', svc_now(), svc_now()
         FROM unnest(ARRAY['desk', 'iban']) AS each
       ON CONFLICT DO NOTHING`,
      );
      const pays = (account: string) =>
        ready(node(type, { destination_address: 'desk', account }), true);
      expect(await sends(await pays('somebody'), serving(type))).toBe('ADDRESS_NOT_ALLOWLISTED');
      expect(await sends(await pays('iban'), serving(type))).toBe('SUBMITTING');
    },
  );
});
