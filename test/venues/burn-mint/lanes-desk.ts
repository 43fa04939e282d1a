/** The lane's executors on two real chains, with an attester that says what a test wants. */
import { concat, keccak256, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { withFields } from '../../../dev/simulators/bridge/attester/message.ts';
import { ATTESTERS } from '../../../dev/simulators/bridge/lanes.ts';
import type {
  CallOptions,
  EvmUnsignedTransaction,
  ExecutionContext,
  Executor,
  StoredTransaction,
  SubmitJournal,
} from '../../../domain/executor.ts';
import type { Attested } from '../../../venues/burn-mint/attester.ts';
import { createBurnExecutor } from '../../../venues/burn-mint/burn.ts';
import { burnMintActs } from '../../../venues/burn-mint/lane.ts';
import { createMintExecutor } from '../../../venues/burn-mint/mint.ts';
import type { Lane } from '../../../venues/burn-mint/plan.ts';
import { createEvmChains } from '../../../venues/evm/client.ts';
import { evmVenueSchema } from '../chain-schema.ts';
import { createEvmSigning } from '../../../venues/evm/signing.ts';
import { PAYEE, SIGNER, type TestChain, type TestLanes } from '../../dev/bridge-stack.ts';

export const call = (): CallOptions => ({ signal: AbortSignal.timeout(20_000), requestId: 'test' });

/** The attester's answers, and the requests that it got. */
export interface AttesterState {
  attested: readonly Attested[];
  /** Nonces for which a new attestation was requested. */
  anew: Hex[];
}

/**
 * The two executors and the fence's look; `near` and `far` are other addresses of the chains'
 * endpoints.
 */
export function executorsOf(
  lanes: TestLanes,
  says: AttesterState,
  more: {
    readonly near?: string;
    readonly far?: string;
    readonly search?: Lane['search'];
    /** What the venues file says of the far side's contracts beside the truth. */
    readonly changed?: Partial<Record<'token_messenger' | 'message_transmitter', Hex>>;
  } = {},
) {
  const venue = (chain: TestChain, rpc_url: string) =>
    evmVenueSchema.parse({
      venue_key: `chain-${String(chain.chainId)}`,
      provider: 'evm',
      chain_id: chain.chainId,
      rpc_url,
      finality: 'finalized_tag',
      tokens: [{ asset: 'USDB', address: chain.contracts.burnToken }],
      cctp: {
        domain: chain.domain,
        token_messenger: chain.contracts.tokenMessenger,
        message_transmitter: chain.contracts.messageTransmitter,
        attester_url: 'http://127.0.0.1:9',
        ...(chain === lanes.far ? more.changed : {}),
      },
    });
  const venues = [
    venue(lanes.near, more.near ?? lanes.near.rpcUrl),
    venue(lanes.far, more.far ?? lanes.far.rpcUrl),
  ];
  const lane: Lane = {
    chains: createEvmChains(venues),
    venues,
    ...(more.search === undefined ? {} : { search: more.search }),
    attester: {
      messagesOf: () => Promise.resolve(says.attested),
      reattest: (_venue, nonce) => {
        says.anew.push(nonce);
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    },
  };
  const signing = createEvmSigning(lane.chains, [burnMintActs(venues)]);
  return {
    burn: createBurnExecutor(lane),
    mint: createMintExecutor(lane),
    signing,
    chains: lane.chains,
    venues,
  };
}

const shared = {
  movement_id: 'm',
  attempt: 1,
  asset: 'USDB',
  amount: '2.5',
  input_params: {},
  intent: {},
  completion_assurance: 'provider_completed',
  signer: { signer_key: 's', chain_family: 'evm', address: SIGNER.address },
} as const;

export const burnContext = ({ near, far }: TestLanes): ExecutionContext => ({
  ...shared,
  node_key: 'burn',
  idempotency_key: 'm:burn:1',
  action_type: 'cctp_burn',
  config: {
    source_chain_id: near.chainId,
    destination_chain_id: far.chainId,
    token_address: near.contracts.burnToken,
    mint_recipient: PAYEE,
  },
});

export const mintContext = (matched: ExecutionContext['matched']): ExecutionContext => ({
  ...shared,
  node_key: 'mint',
  idempotency_key: 'm:mint:1',
  action_type: 'cctp_mint',
  config: { burn_from: 'burn' },
  ...(matched === undefined ? {} : { matched }),
});

/** A burn that is mined: what its node knows of it, and the message that it emitted. */
export interface Mined {
  readonly context: ExecutionContext;
  readonly journal: SubmitJournal;
  readonly message: Hex;
}

export async function burnt(
  lanes: TestLanes,
  { burn }: Pick<ReturnType<typeof executorsOf>, 'burn'>,
): Promise<Mined> {
  const { context, journal } = await mined(lanes, burn, burnContext(lanes));
  const seen = await burn.recover(context, call(), journal);
  return { context, journal, message: String(seen.output?.['message']) as Hex };
}

/** A send of the near chain that is prepared, signed and mined. */
export async function mined(
  lanes: TestLanes,
  executor: Executor,
  planned: ExecutionContext,
): Promise<Omit<Mined, 'message'>> {
  const prepared = await executor.prepare(planned, call());
  const unsigned = prepared.sign_request?.payload as unknown as EvmUnsignedTransaction;
  if (unsigned === undefined) throw new Error(String(prepared.error_message));
  const account = privateKeyToAccount(SIGNER.privateKey);
  const { client } = lanes.near;
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
    tx_hash: keccak256(raw_tx),
  };
  await client.sendRawTransaction({ serializedTransaction: raw_tx });
  await lanes.near.mine(1);
  const context = {
    ...planned,
    prior: { prepared_action: prepared.prepared_action ?? {} },
  };
  const journal = {
    transactions: () => Promise.resolve([stored]),
    releaseNonce: () => Promise.resolve(false),
    displaced: () => Promise.resolve(false),
    held: () => Promise.resolve(null),
    accepted: () => Promise.resolve(),
  };
  return { context, journal };
}

export const nonceOf = (text: string): Hex => keccak256(Buffer.from(text));

/** The message with this nonce, final and without a fee. */
export const filledIn = (message: Hex, nonce: Hex): Hex =>
  withFields(message, { nonce, finalityThresholdExecuted: 2_000n });

/** The signatures of these keys over the message, in the order of their addresses. */
export async function signatures(
  message: Hex,
  keys: readonly Hex[] = ATTESTERS.slice(0, 2).map(({ privateKey }) => privateKey),
): Promise<readonly Hex[]> {
  const accounts = keys
    .map((key) => privateKeyToAccount(key))
    .sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
  const hash = keccak256(message);
  return Promise.all(accounts.map((account) => account.sign({ hash })));
}

export async function attest(message: Hex, nonce: Hex): Promise<Attested> {
  const filled = filledIn(message, nonce);
  return { message: filled, attestation: concat(await signatures(filled)) };
}
