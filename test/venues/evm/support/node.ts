/** A transfer node driven as the service drives it: prepare, fence, sign, store, submit. */
import type {
  CallOptions,
  EvmUnsignedTransaction,
  ExecutionContext,
  ExecutionResult,
  Executor,
  JournaledTransaction,
  SubmitJournal,
  UnknownNonce,
} from '../../../../domain/executor.ts';
import type { Held } from '../../../../domain/send/stops.ts';
import type { JsonObject } from '../../../../domain/json.ts';
import { createLocalSigner } from '../../../../signers/local.ts';
import { createEvmChains } from '../../../../venues/evm/client.ts';
import { evmVenueSchema } from '../../chain-schema.ts';
import { createEvmTransferExecutor } from '../../../../venues/evm/transfer.ts';
import { CHAIN_ID, type TestChain } from './chain.ts';

export const call = (): CallOptions => ({ signal: AbortSignal.timeout(20_000) });

export class MemoryJournal implements SubmitJournal {
  entries: JournaledTransaction[] = [];
  released: number[] = [];
  /**
   * As of a restored database that knows no transaction of the account's first nonces, when set.
   */
  unknownNonces?: (
    account: { readonly from: string },
    count: number,
  ) => Promise<readonly UnknownNonce[]>;
  transactions(): Promise<readonly JournaledTransaction[]> {
    return Promise.resolve(this.entries);
  }
  /** Hashes that something outside has taken. */
  taken: string[] = [];
  /** What holds back what nothing has taken. */
  stop: Held | null = null;
  held({ accepted }: { readonly accepted: boolean }): Promise<Held | null> {
    return Promise.resolve(accepted ? null : this.stop);
  }
  accepted(tx_hash: string): Promise<void> {
    this.taken.push(tx_hash);
    return Promise.resolve();
  }
  releaseNonce(transaction: JournaledTransaction): Promise<boolean> {
    this.released.push(transaction.nonce);
    return Promise.resolve(true);
  }
  displaced(): Promise<boolean> {
    return Promise.resolve(this.released.length > 0);
  }
}

export const chainsOf = (chain: Pick<TestChain, 'url'>, extra: Record<string, unknown> = {}) =>
  createEvmChains([
    evmVenueSchema.parse({
      venue_key: 'local',
      provider: 'evm',
      chain_id: CHAIN_ID,
      rpc_url: chain.url,
      poll_interval_seconds: 0.1,
      ...extra,
    }),
  ]);

export const executorOf = (
  chain: Pick<TestChain, 'url'>,
  extra?: Record<string, unknown>,
): Executor => createEvmTransferExecutor(chainsOf(chain, extra));

export interface Account {
  readonly key: string;
  readonly address: string;
}

/** One of a chain. */
export interface FundedAccount extends Account {
  /** The next nonce of its mined transactions. */
  nonce(): Promise<number>;
}

export function contextOf(
  account: Account,
  config: JsonObject,
  changes: Partial<ExecutionContext> = {},
): ExecutionContext {
  return {
    movement_id: '01890000-0000-7000-8000-000000000000',
    node_key: 'pay',
    attempt: 1,
    idempotency_key: '01890000-0000-7000-8000-000000000000:pay:1',
    action_type:
      config['token_address'] === undefined ? 'evm_native_transfer' : 'evm_erc20_transfer',
    asset: 'TST',
    amount: '25',
    config: { chain_id: CHAIN_ID, ...config },
    input_params: {},
    intent: {},
    completion_assurance: 'destination_credited',
    signer: { signer_key: 'test', chain_family: 'evm', address: account.address },
    ...changes,
  };
}

export interface Driven {
  readonly journal: MemoryJournal;
  readonly signed: { readonly raw_tx: string; readonly tx_hash: string };
  submit(): Promise<ExecutionResult>;
}

/**
 * Everything up to the send: afterwards nonce, bytes and hash are stored, as after a crash right
 * there.
 */
export async function driveToSend(
  executor: Executor,
  context: ExecutionContext,
  account: FundedAccount,
  nonce?: number,
): Promise<Driven> {
  const prepared = await executor.prepare(context, call());
  if (prepared.sign_request === undefined)
    throw new Error(`prepare answered ${JSON.stringify(prepared)}`);
  const unsigned = prepared.sign_request.payload as JsonObject & EvmUnsignedTransaction;
  const used = nonce ?? (await account.nonce());
  const signer = createLocalSigner({ signer_key: 'test', chain_family: 'evm' }, account.key);
  const signed = await signer.signEvmTransaction(unsigned, used);
  const journal = new MemoryJournal();
  journal.entries.push({
    transaction_id: 'first',
    claim: 'first',
    kind: 'payment',
    age_seconds: 0,
    chain_id: unsigned.chain_id,
    from: account.address,
    nonce: used,
    unsigned,
    ...signed,
  });
  const prepared_action = prepared.prepared_action ?? {};
  return {
    journal,
    signed,
    submit: () =>
      executor.submit({ context, prepared_action, sign_result: { ...signed }, journal }, call()),
  };
}
