/** Nodes of the perps venue before their fence, and workers that bring them through it. */
import { hashTypedData, type Hex } from 'viem';
import { privateKeyToAccount, setSignEntropy, sign } from 'viem/accounts';
import { pino } from 'pino';
import { PERP_BRIDGE } from '../../dev/simulators/perp/settings.ts';
import { USDC_TOKEN } from '../../dev/simulators/perp/transfers.ts';
import { contextOf, type PhaseDependencies } from '../../activities/phases/context.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import { submit } from '../../activities/phases/submit.ts';
import type { CallOptions, ExecutorDescriptor } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ChainEntry } from '../../domain/plan/tokens.ts';
import type { Signer } from '../../domain/signer.ts';
import type { Signing } from '../../domain/signing.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import type { PerpClient } from '../../venues/perp/client.ts';
import { perpVenueSchema } from '../../venues/perp/config.ts';
import { createPerpExecutors, perpActs } from '../../venues/perp/lane.ts';
import { someone } from '../dev/perp-stack.ts';
import { inActivity } from '../support/activity-environment.ts';
import { BURNING, type StoreBench } from './support.ts';

export const CHAIN_ID = 31_337;
const KEY: Hex = `0x${'7'.repeat(64)}`;
export const MASTER = privateKeyToAccount(KEY);
export const OTHER = someone('is no master');
export const PAID = someone('is paid').address.toLowerCase();
export const SUB = someone('is a sub-account').address.toLowerCase();
export const TOKEN = someone('is a token').address;

export const VENUE = perpVenueSchema.parse({
  venue_key: 'perp',
  provider: 'perp',
  account_role: 'master',
  account: MASTER.address,
  url: 'http://127.0.0.1:9',
  network: 'Testnet',
  chain_id: CHAIN_ID,
  deposit_address: PERP_BRIDGE.address,
  token: USDC_TOKEN.Testnet,
});

export const CHAIN: ChainEntry = {
  ...BURNING,
  venue_key: 'near',
  chain_id: CHAIN_ID,
  tokens: [{ asset: 'USDC', address: TOKEN }],
  deposit_venues: [{ venue_key: 'perp', asset: 'USDC', deposit_address: PERP_BRIDGE.address }],
};

/** A venue that is never reached, unless a test says otherwise. */
const SILENT = {
  send: () => Promise.reject(new Error('nothing is sent here')),
} as unknown as PerpClient;

export interface WorkerTerms {
  readonly client?: PerpClient;
  /** Whose key signs; the master's when left out. */
  readonly address?: Hex;
  /** The executor of the node is a team's own. */
  readonly foreign?: boolean;
}

setSignEntropy(true);

/** Signs another signature each time, each of them right; transactions not at all. */
function signerOf(address: Hex): Signer {
  return {
    descriptor: { signer_key: 'master', backend: 'local', chain_family: 'evm' },
    identity: () => Promise.resolve(address),
    recentIdentity: () => Promise.resolve(address),
    signEvmTransaction: () => Promise.reject(new Error('it signs no transactions')),
    signEvmTypedData: async (payload) => ({
      signature: await sign({
        hash: hashTypedData(payload as never),
        privateKey: KEY,
        to: 'hex',
      }),
    }),
    close: () => Promise.resolve(),
  } as Signer;
}

export function workerOf(
  { db }: Pick<StoreBench, 'db'>,
  { client = SILENT, address = MASTER.address, foreign = false }: WorkerTerms = {},
): PhaseDependencies {
  const chains = createEvmChains([]);
  const executors = createPerpExecutors({ venue: VENUE, chains, evmVenues: [], client });
  const signing = createEvmSigning(chains, [perpActs(VENUE, [])]);
  // The chain of a deposit is none of these tests': what may be signed for it is tested on one.
  const offChain: Signing = {
    ...signing,
    check: (node, question, call) =>
      node.node.action_type === 'perp_deposit'
        ? Promise.resolve(null)
        : signing.check(node, question, call),
    nextNonce: () => Promise.resolve(0),
  };
  const find = (key: string) => executors.find(({ descriptor }) => descriptor.executor_key === key);
  const described = (descriptor: ExecutorDescriptor | undefined): ExecutorDescriptor | undefined =>
    descriptor === undefined || !foreign ? descriptor : { ...descriptor, kind: 'remote' };
  return {
    db,
    log: pino({ level: 'silent' }),
    chains: [CHAIN],
    signing: offChain,
    executors: { get: find, describe: (key) => described(find(key)?.descriptor) },
    signers: { get: () => signerOf(address) },
  };
}

export const call = (): CallOptions => ({ signal: AbortSignal.timeout(5_000) });

const EXECUTORS: Readonly<Record<string, string>> = {
  perp_deposit: 'perp.deposit',
  perp_withdraw: 'perp.withdraw',
  agent_wallet_top_up: 'perp.top_up',
};

const CONFIGS: Readonly<Record<string, JsonObject>> = {
  perp_deposit: {
    venue: 'perp',
    chain_id: CHAIN_ID,
    token_address: TOKEN,
    destination_address: PERP_BRIDGE.address,
  },
  perp_withdraw: { venue: 'perp', chain_id: CHAIN_ID, destination_address: PAID },
  agent_wallet_top_up: { venue: 'perp', sub_account_address: SUB },
};

/** A transfer of nothing. */
export function transferTo(address: string): string {
  return `0xa9059cbb${address.slice(2).padStart(64, '0')}${'0'.repeat(64)}`;
}

/** An unsigned transaction, of which nothing but its form is looked at here. */
const UNSIGNED = {
  chain_id: CHAIN_ID,
  to: TOKEN,
  value: '0',
  gas: '60000',
  data: transferTo(PERP_BRIDGE.address),
  max_fee_per_gas: '2',
  max_priority_fee_per_gas: '1',
};

export interface PerpNode {
  readonly movement_id: string;
  readonly node_key: 'pay';
  readonly attempt: 1;
}

/** The master account and whom it may pay. */
export async function openMaster(bench: StoreBench): Promise<void> {
  await bench.sql(
    `INSERT INTO perp_master (master_address, signer_key, network, created_at)
     VALUES ($1, 'master', 'testnet', svc_now())`,
    MASTER.address.toLowerCase(),
  );
  await bench.sql(
    `INSERT INTO allowed_addresses (id, chain_family, address, chain_id, reason, created_by,
       created_at, updated_at)
     SELECT gen_random_uuid(), 'evm', each, $2, 'test', 'test', svc_now(), svc_now()
     FROM unnest($1::text[]) AS each ON CONFLICT DO NOTHING`,
    [PAID, PERP_BRIDGE.address.toLowerCase()],
    CHAIN_ID,
  );
}

export async function bindStrategy(
  bench: StoreBench,
  strategy: string,
  { sub = null, paused = false }: { readonly sub?: string | null; readonly paused?: boolean } = {},
): Promise<void> {
  await bench.sql(
    `INSERT INTO perp_bindings (strategy_id, sub_account_address, paused, created_at, updated_at)
     VALUES ($1, $2, $3, svc_now(), svc_now())`,
    strategy,
    sub,
    paused,
  );
}

export async function pause(bench: StoreBench, strategy: string, paused = true): Promise<void> {
  await bench.sql('UPDATE perp_bindings SET paused = $2 WHERE strategy_id = $1', strategy, paused);
}

export interface NodeTerms {
  readonly strategy?: string;
  readonly amount?: string;
  readonly config?: JsonObject;
}

/** A node of a movement under way, before its preflight. */
export async function newNode(
  bench: StoreBench,
  action_type: string,
  { strategy, amount = '11', config = {} }: NodeTerms = {},
): Promise<PerpNode> {
  const { movement_id } = await bench.movement({
    amount,
    ...(strategy === undefined ? {} : { strategy_id: strategy }),
    shape: {
      nodes: [
        {
          node_key: 'pay',
          node_kind: 'action',
          action_type,
          has_side_effect: true,
          config: { ...CONFIGS[action_type], ...config },
        },
      ],
      edges: [],
    },
  });
  await bench.approve(movement_id);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'READY', signer_binding = '{"signer_key": "master"}',
       executor_binding = jsonb_build_object('executor_key', $2::text),
       own_plan = jsonb_set(own_plan, '{executor_binding}', jsonb_build_object('executor_key', $2::text))
     WHERE movement_id = $1::uuid`,
    movement_id,
    EXECUTORS[action_type] ?? 'acme.payouts',
  );
  return { movement_id, node_key: 'pay', attempt: 1 };
}

/** The same behind preflight and prepare. */
export async function prepared(
  bench: StoreBench,
  action_type: string,
  terms: NodeTerms & { readonly deps?: PhaseDependencies } = {},
): Promise<PerpNode> {
  const node = await newNode(bench, action_type, terms);
  const { deps = workerOf(bench), amount = '11' } = terms;
  const row = await phaseRow(deps, node);
  const context = await contextOf(deps, row, amount, 'prepare');
  const nonce = context.perp?.action?.nonce;
  const act =
    nonce === undefined
      ? null
      : perpActs(VENUE, [])(
          {
            node: row.node,
            executor: undefined,
            intent: row.plan.intent,
            input_params: {},
            amount,
            ...(context.perp ? { perp: context.perp } : {}),
          },
          MASTER.address,
        );
  const request =
    act !== null && 'typed_data' in act
      ? { kind: 'evm_typed_data', payload: act.typed_data }
      : { kind: 'evm_transaction', payload: UNSIGNED };
  const message = act !== null && 'typed_data' in act ? act.typed_data['message'] : {};
  await bench.sql(
    `UPDATE movement_nodes SET amount = $2::numeric, preflight_passed = true, started_at = svc_now(),
       prepared_action = $3::jsonb, sign_request = $4::jsonb
     WHERE movement_id = $1::uuid`,
    node.movement_id,
    amount,
    JSON.stringify({ nonce: nonce ?? 0, message }),
    JSON.stringify(request),
  );
  return node;
}

/** Where the node stands: its error code, else its state. */
export async function standing(bench: StoreBench, { movement_id }: PerpNode): Promise<string> {
  const [row] = await bench.sql<{ state: string; error_code: string | null }>(
    'SELECT state, error_code FROM movement_nodes WHERE movement_id = $1::uuid',
    movement_id,
  );
  return row?.error_code ?? row?.state ?? '';
}

/** Asks for its fence, and says where it stands then. */
export async function fenced(
  bench: StoreBench,
  node: PerpNode,
  deps: PhaseDependencies = workerOf(bench),
): Promise<string> {
  await inActivity(() => submit.begin(deps, node));
  return standing(bench, node);
}
