/**
 * The fence holds a node to what its executor's entry declares now, whatever it declared when the
 * plan was made.
 */
import { pino } from 'pino';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { preflight } from '../../activities/phases/preflight.ts';
import { heldNow } from '../../activities/phases/stops.ts';
import { submit } from '../../activities/phases/submit.ts';
import { LEAST_ASSURANCES, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { SignerFault, type Signer } from '../../domain/signer.ts';
import { createLocalSigner } from '../../signers/local.ts';
import { readPhase } from '../../store/phases.ts';
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
function worker(
  descriptor: ExecutorDescriptor,
  signers: PhaseDependencies['signers'] = { get: () => undefined },
): PhaseDependencies {
  return {
    db: bench.db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: {
      get: () => undefined,
      describe: (key) => (key === descriptor.executor_key ? descriptor : undefined),
    },
    signers,
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

async function sends(
  movement_id: string,
  descriptor: ExecutorDescriptor,
  signers?: PhaseDependencies['signers'],
): Promise<string> {
  const args = { movement_id, node_key: 'pay', attempt: 1, executor_key: descriptor.executor_key };
  const step = await submit.begin(worker(descriptor, signers), args);
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

describe('an undeclared address that may be the one of a signer of the plan', () => {
  const OTHER = `0x${'9'.repeat(40)}`;
  const LISTED = `0x${'8'.repeat(40)}`;
  const WAITS = { type: 'SIGNER_UNREACHABLE' };
  const descriptor = entry({ payees: [] });
  const key = createLocalSigner({ signer_key: 'own', chain_family: 'evm' }, `0x${'5'.repeat(64)}`);
  const ownAddress = async (): Promise<string> => (await key.identity()) ?? '';

  /** The signer, which does not answer the first call. */
  function silentOnce(): PhaseDependencies['signers'] {
    let calls = 0;
    const identity: Signer['identity'] = () => {
      calls += 1;
      return calls === 1
        ? Promise.reject(new SignerFault('SIGNER_UNREACHABLE', 'it is down'))
        : key.identity();
    };
    return { get: () => ({ ...key, identity }) };
  }

  /** A node that is bound to the signer and names the address in a field of its own. */
  async function naming(address: string): Promise<string> {
    const movement_id = await ready(node('acme_report', { note: address }), true);
    await bench.sql(
      `UPDATE movement_nodes SET signer_binding = '{"signer_key": "own"}'
       WHERE movement_id = $1::uuid`,
      movement_id,
    );
    return movement_id;
  }

  const shown = async (movement_id: string): Promise<unknown> =>
    (
      await bench.sql(
        'SELECT state, error_code, unanswered FROM movement_nodes WHERE movement_id = $1::uuid',
        movement_id,
      )
    )[0];
  const WAITING = { state: 'READY', error_code: 'SIGNER_UNREACHABLE', unanswered: 1 };

  test('is waited for at the fence, and the node is sent once the signer answers', async () => {
    const [id, signers] = [await naming(await ownAddress()), silentOnce()];
    await expect(sends(id, descriptor, signers)).rejects.toMatchObject(WAITS);
    expect(await shown(id)).toEqual(WAITING);
    expect(await sends(id, descriptor, signers)).toBe('SUBMITTING');
  });

  test('is refused once the signer has answered that it is not its own', async () => {
    const [id, signers] = [await naming(OTHER), silentOnce()];
    await expect(sends(id, descriptor, signers)).rejects.toMatchObject(WAITS);
    expect(await sends(id, descriptor, signers)).toBe('ADDRESS_NOT_ALLOWLISTED');
  });

  test('is not waited for where the allowlist has it', async () => {
    await bench.sql(
      `INSERT INTO allowed_addresses (id, chain_family, address, reason, created_by, created_at,
         updated_at)
       VALUES (gen_random_uuid(), 'evm', $1, 'test', 'test', svc_now(), svc_now())`,
      LISTED,
    );
    expect(await sends(await naming(LISTED), descriptor, silentOnce())).toBe('SUBMITTING');
  });

  test('is waited for in preflight', async () => {
    const id = await naming(await ownAddress());
    await bench.sql(
      'UPDATE movement_nodes SET preflight_passed = false WHERE movement_id = $1::uuid',
      id,
    );
    const args = { movement_id: id, node_key: 'pay', attempt: 1 };
    const signers = silentOnce();
    const begin = (): Promise<object> => preflight.begin(worker(descriptor, signers), args);
    await expect(begin()).rejects.toMatchObject(WAITS);
    expect(await shown(id)).toEqual(WAITING);
    expect(await begin()).toHaveProperty('context');
  });

  test('holds back what is signed for now, and for good once the signer has answered', async () => {
    const [own, signers] = [await ownAddress(), silentOnce()];
    const held = async (id: string) => {
      const row = await readPhase(bench.db, id, 'pay');
      return heldNow(worker(descriptor, signers), row!, 'repeat_unaccepted', own);
    };
    const [paysSelf, paysOther] = [await naming(own), await naming(OTHER)];
    expect(await held(paysSelf)).toMatchObject({ ends: false });
    expect(await held(paysSelf)).toBeNull();
    expect(await held(paysOther)).toMatchObject({ ends: true });
  });
});
