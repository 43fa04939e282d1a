/** The executors of the perps venue on a real chain, as a worker's phases would call them. */
import { keccak256, type Hex } from 'viem';
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import type { Running } from '../../../dev/simulators/kit/process.ts';
import { PERP_BRIDGE } from '../../../dev/simulators/perp/settings.ts';
import { startPerpVenue } from '../../../dev/simulators/perp/start.ts';
import { USDC_TOKEN } from '../../../dev/simulators/perp/transfers.ts';
import type {
  CallOptions,
  EvmUnsignedTransaction,
  ExecutionContext,
  ExecutionResult,
  Executor,
  StoredTransaction,
  SubmitJournal,
} from '../../../domain/executor.ts';
import type { PerpTerms } from '../../../domain/actions/terms.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { createEvmChains } from '../../../venues/evm/client.ts';
import { evmVenueSchema } from '../../../venues/list.ts';
import { createPerpClient, type PerpClient } from '../../../venues/perp/client.ts';
import { perpVenueSchema } from '../../../venues/perp/config.ts';
import { createPerpExecutors } from '../../../venues/perp/lane.ts';
import {
  TOKEN,
  WHALE,
  callerOf,
  low,
  startPerpChain,
  type PerpCaller,
  type PerpChainStack,
} from '../../dev/perp-stack.ts';

export const call = (): CallOptions => ({ signal: AbortSignal.timeout(20_000), requestId: 'test' });
export const HOUR = 3_600_000;

export interface Desk extends PerpChainStack {
  readonly url: string;
  readonly perp: PerpCaller;
  close(): Promise<void>;
}

export async function openDesk(): Promise<Desk> {
  const stack = await startPerpChain();
  const venue: Running = await startPerpVenue(stack.settings);
  return {
    ...stack,
    url: venue.url,
    perp: callerOf(venue.url),
    close: async () => {
      await venue.close();
      await stack.stop();
    },
  };
}

/** The entries of the venues file, with this master. */
export function entriesOf({ settings, url }: Pick<Desk, 'settings' | 'url'>, account: Hex) {
  const evm = evmVenueSchema.parse({
    venue_key: 'near',
    provider: 'evm',
    chain_id: settings.chainId,
    rpc_url: settings.rpcUrl,
    finality: 'finalized_tag',
    tokens: [{ asset: 'USDC', address: TOKEN }],
  });
  const perp = perpVenueSchema.parse({
    venue_key: 'perp',
    provider: 'perp',
    account_role: 'master',
    account,
    url,
    network: settings.network,
    chain_id: settings.chainId,
    asset: 'USDC',
    deposit_address: PERP_BRIDGE.address,
    token: USDC_TOKEN.Testnet,
  });
  return { evm, perp };
}

/** A master with its executors; `client` stands before the real one. */
export interface Master {
  readonly account: PrivateKeyAccount;
  readonly address: Hex;
  readonly deposit: Executor;
  readonly withdraw: Executor;
  readonly topUp: Executor;
}

export function masterOf(
  desk: Desk,
  account: PrivateKeyAccount,
  change: (client: PerpClient) => PerpClient = (client) => client,
): Master {
  const { evm, perp } = entriesOf(desk, account.address);
  const [deposit, withdraw, topUp] = createPerpExecutors({
    venue: perp,
    chains: createEvmChains([evm]),
    evmVenues: [evm],
    // Tests look again at once.
    client: change(createPerpClient(perp, { freshMs: 20 })),
  });
  if (deposit === undefined || withdraw === undefined || topUp === undefined)
    throw new Error('three executors are expected');
  return { account, address: low(account.address), deposit, withdraw, topUp };
}

export interface NodeTerms {
  readonly action_type: 'perp_deposit' | 'perp_withdraw' | 'agent_wallet_top_up';
  readonly amount: string;
  readonly config: JsonObject;
  /** What the context says of the venue beside the usual. */
  readonly perp?: Partial<PerpTerms>;
}

let lastNonce = 0;
export function nextNonce(): number {
  lastNonce = Math.max(lastNonce + 1, Date.now());
  return lastNonce;
}

export function contextOf(master: Master, terms: NodeTerms): ExecutionContext {
  const { action_type, amount, config, perp } = terms;
  return {
    movement_id: 'm',
    node_key: 'n',
    attempt: 1,
    idempotency_key: 'm:n:1',
    action_type,
    amount,
    config,
    asset: 'USDC',
    input_params: {},
    intent: {},
    completion_assurance: 'provider_completed',
    signer: { signer_key: 's', chain_family: 'evm', address: master.account.address },
    perp: {
      venue_key: 'perp',
      master_address: master.address,
      now_ms: Date.now(),
      ...(action_type === 'perp_deposit' ? {} : { action: { nonce: nextNonce() } }),
      ...perp,
    },
  };
}

export const withdrawal = (
  { settings }: Desk,
  amount: string,
  destination: string,
  perp?: Partial<PerpTerms>,
): NodeTerms => ({
  action_type: 'perp_withdraw',
  amount,
  config: { venue: 'perp', chain_id: settings.chainId, destination_address: destination },
  ...(perp === undefined ? {} : { perp }),
});

/** No transaction is stored, and no database was restored. */
export const NO_JOURNAL: SubmitJournal = {
  transactions: () => Promise.resolve([]),
  releaseNonce: () => Promise.resolve(false),
  displaced: () => Promise.resolve(false),
  held: () => Promise.resolve(null),
  accepted: () => Promise.resolve(),
};

/** The database was restored, and may have forgotten sends. */
export const RESTORED: SubmitJournal = {
  ...NO_JOURNAL,
  unknownNonces: () => Promise.resolve([]),
};

/** A node whose send is prepared and signed: what its row would hold. */
export interface Signed {
  readonly executor: Executor;
  /** As the phase builds it now; `later` says how many ms after the nonce. */
  context(later?: number): ExecutionContext;
  readonly nonce: number;
  send(): Promise<ExecutionResult>;
  observe(later?: number): Promise<ExecutionResult>;
  recover(later?: number, journal?: SubmitJournal): Promise<ExecutionResult>;
}

export async function signedBy(
  master: Master,
  executor: Executor,
  context: ExecutionContext,
): Promise<Signed> {
  const prepared = await executor.prepare(context, call());
  const { prepared_action, sign_request } = prepared;
  if (prepared_action === undefined || sign_request === undefined)
    throw new Error(`${String(prepared.error_code)}: ${String(prepared.error_message)}`);
  const signature = await master.account.signTypedData(
    sign_request.payload as unknown as Parameters<PrivateKeyAccount['signTypedData']>[0],
  );
  const nonce = context.perp?.action?.nonce ?? 0;
  let kept: Pick<ExecutionResult, 'external_ref' | 'output'> = {};
  const now = (later?: number): ExecutionContext => ({
    ...context,
    prior: {
      prepared_action,
      ...(kept.external_ref === undefined ? {} : { external_ref: kept.external_ref }),
      ...(kept.output === undefined ? {} : { output: kept.output }),
    },
    perp: {
      ...(context.perp as PerpTerms),
      now_ms: later === undefined ? Date.now() : nonce + later,
      action: { nonce, signature },
    },
  });
  const noted = (answer: ExecutionResult): ExecutionResult => {
    if (answer.next_state !== 'UNKNOWN') kept = { ...kept, ...answer };
    return answer;
  };
  return {
    executor,
    nonce,
    context: now,
    send: async () =>
      noted(
        await executor.submit(
          {
            context: now(),
            prepared_action,
            sign_result: { signature },
            journal: NO_JOURNAL,
          },
          { ...call(), notAfter: Date.now() + HOUR },
        ),
      ),
    observe: async (later) => noted(await executor.observe(now(later), call(), NO_JOURNAL)),
    recover: async (later, journal = NO_JOURNAL) =>
      noted(await executor.recover(now(later), call(), journal)),
  };
}

/** A deposit that is signed, sent and mined. */
export async function mined(
  { chain }: Desk,
  master: Master,
  context: ExecutionContext,
): Promise<{ readonly context: ExecutionContext; readonly journal: SubmitJournal; hash: Hex }> {
  const prepared = await master.deposit.prepare(context, call());
  const unsigned = prepared.sign_request?.payload as unknown as EvmUnsignedTransaction | undefined;
  if (unsigned === undefined) throw new Error(String(prepared.error_message));
  const account = privateKeyToAccount(WHALE.privateKey);
  const { client } = chain;
  const nonce = await client.getTransactionCount({ address: account.address, blockTag: 'pending' });
  const raw_tx = await account.signTransaction({
    type: 'eip1559',
    chainId: unsigned.chain_id,
    nonce,
    to: unsigned.to as Hex,
    value: BigInt(unsigned.value),
    data: unsigned.data as Hex,
    gas: BigInt(unsigned.gas),
    maxFeePerGas: BigInt(unsigned.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(unsigned.max_priority_fee_per_gas),
  });
  const hash = keccak256(raw_tx);
  const stored: StoredTransaction = {
    transaction_id: 't',
    claim: 't',
    kind: 'payment',
    chain_id: unsigned.chain_id,
    from: account.address,
    nonce,
    unsigned,
    age_seconds: 0,
    raw_tx,
    tx_hash: hash,
  };
  const journal = { ...NO_JOURNAL, transactions: () => Promise.resolve([stored]) };
  const prepared_action = prepared.prepared_action ?? {};
  const sent = await master.deposit.submit(
    { context, prepared_action, sign_result: { raw_tx, tx_hash: hash }, journal },
    call(),
  );
  await chain.mine(3);
  const prior = { prepared_action, external_ref: String(sent.external_ref) };
  return { context: { ...context, prior }, journal, hash };
}
