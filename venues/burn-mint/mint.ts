/**
 * `cctp.mint`: brings a burn's message to its destination, with the attester's signatures. Whoever
 * was quicker has done it for us: a used nonce with its mint is the mint.
 */
import { toEventSelector, type Address, type Hash, type Hex } from 'viem';
import { depthFor, shownAt } from '../../domain/chains/assurance-table.ts';
import {
  ExecutorFault,
  type CallOptions,
  type CompletionAssurance,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readDecimal } from '../../domain/money.ts';
import { ACT_EXECUTOR } from '../evm/act-executor.ts';
import { readBalance, readReceipt, type EvmConnection } from '../evm/client.ts';
import type { EvmCall } from '../evm/call.ts';
import type { EvmVenue } from '../evm/config.ts';
import { requireGas, unsignedOf } from '../evm/draft.ts';
import { failWhenRejected } from '../evm/errors.ts';
import { quoteGas, type GasQuote } from '../evm/fees.ts';
import { findLog } from '../evm/find-log.ts';
import { checkChains } from '../evm/health.ts';
import { isCanonical, observing, settledNumber, TRANSFER_ASSURANCES } from '../evm/landed.ts';
import { readSigner } from '../evm/plan.ts';
import { sendSigned, stillUnderWay } from '../evm/send-signed.ts';
import { settleAct } from '../evm/settle.ts';
import { ASK_EVERY_SECONDS, type Attested } from './attester.ts';
import { attestationOf, requireCaller } from './burn.ts';
import { MESSAGE_TRANSMITTER } from './contracts.ts';
import { readMessage } from './message.ts';
import { mintCall, minted, mintOn, type MintPlan } from './mint-act.ts';
import { readBurnPlan, rejected, type Lane, type LaneVenue } from './plan.ts';

export const CCTP_MINT_DESCRIPTOR: ExecutorDescriptor = {
  ...ACT_EXECUTOR,
  executor_key: 'cctp.mint',
  action_types: ['cctp_mint'],
  provider: 'cctp',
  completion_assurances: TRANSFER_ASSURANCES,
};

/** What the burn's node has recorded, as far as a mint needs it. */
interface Burnt {
  readonly plan: MintPlan;
  readonly transaction: Hash;
  readonly source: LaneVenue;
  /** The bytes that the source's transmitter emitted. */
  readonly message: string;
  /** As it was signed for when the burn was completed. */
  readonly attested: Attested;
}

/** The burn that a mint completes, as its node or a sign check knows it. */
export interface MintOf {
  readonly asset: string;
  readonly matched?: ExecutionContext['matched'];
}

/** It holds no state of its own: the journal, the chains and the attester do. */
export function createMintExecutor(lane: Lane): Executor {
  const { chains, venues } = lane;
  return {
    descriptor: CCTP_MINT_DESCRIPTOR,
    preflight: (context, call) =>
      failWhenRejected(async () => {
        await draft(lane, context, call);
        return null;
      }),
    prepare: (context, call) => failWhenRejected(() => prepare(lane, context, call)),
    submit: async (input, call) => {
      const burnt = readBurnt(input.context, venues);
      const from = readSigner(input.context);
      // Somebody was quicker, so there is nothing to send.
      const by = input.prepared_action['minted_by'];
      if (typeof by === 'string') return { next_state: 'SUBMITTED', external_ref: by };
      return sendSigned(
        chains,
        actOf(burnt, from, input.context.completion_assurance),
        input,
        call,
      );
    },
    observe: (context, call, journal) => settle(lane, context, call, journal, 'observe'),
    recover: (context, call, journal) => settle(lane, context, call, journal, 'recover'),
    cancel: (context) => Promise.resolve(stillUnderWay(context.prior?.external_ref)),
    health: (call) => checkChains(chains, call),
  };
}

/**
 * @throws ExecutorFault `rejected` `BURN_UNKNOWN` where the burn has recorded nothing to mint.
 */
export function readBurnt({ asset, matched }: MintOf, venues: readonly EvmVenue[]): Burnt {
  const output = matched?.output;
  const transaction = matched?.external_ref;
  if (output === undefined || transaction === undefined)
    throw rejected('BURN_UNKNOWN', 'config.burn_from names no burn that is completed');
  const { message, submitted_amount: burnt, max_fee, destination_block: since } = output;
  const { attested_message: signed, attestation } = output;
  const nonce = typeof signed === 'string' ? readMessage(signed) : null;
  const reading = typeof message === 'string' ? readMessage(message) : null;
  const amount = readDecimal(burnt);
  if (
    reading?.ok !== true ||
    nonce?.ok !== true ||
    amount === null ||
    typeof message !== 'string' ||
    typeof attestation !== 'string'
  )
    throw rejected('BURN_UNKNOWN', 'the burn has recorded no message that could be minted');
  const plan = readBurnPlan(
    {
      asset,
      amount,
      config: {
        source_chain_id: output['source_chain_id'] ?? null,
        destination_chain_id: output['destination_chain_id'] ?? null,
        token_address: `0x${reading.message.burn_token.slice(26)}`,
        mint_recipient: output['mint_recipient'] ?? null,
        max_fee: max_fee ?? '0',
      },
    },
    venues,
  );
  return {
    plan: {
      destination: plan.destination,
      minted: plan.minted,
      emitted: reading.message,
      amount,
      nonce: nonce.message.nonce,
      since: typeof since === 'string' && /^[0-9]+$/.test(since) ? BigInt(since) : 0n,
    },
    transaction: transaction as Hash,
    source: plan.source,
    message,
    attested: { message: signed as Hex, attestation: attestation as Hex },
  };
}

/** The act of a mint: who else has minted it is looked for before it is given up. */
export function actOf(burnt: Burnt, from: Address, assurance: CompletionAssurance) {
  const { plan } = burnt;
  return {
    chain_id: plan.destination.chain_id,
    act: mintOn(plan, from, (connection) => byAnybody(connection, plan, assurance)),
  };
}

interface Drafted {
  readonly burnt: Burnt;
  readonly from: Address;
  readonly connection: EvmConnection;
  /** Null where somebody else has brought the message. */
  readonly sends: { readonly call: EvmCall; readonly quote: GasQuote } | null;
}

async function draft(
  lane: Lane,
  context: ExecutionContext,
  options: CallOptions,
): Promise<Drafted> {
  const burnt = readBurnt(context, lane.venues);
  const { plan } = burnt;
  const from = readSigner(context);
  requireCaller(plan.emitted.destination_caller, from);
  const connection = await lane.chains.open(plan.destination.chain_id, options);
  const mined = { burnt, from, connection, sends: null };
  if (await isNonceUsed(connection, plan)) return mined;
  try {
    const attested = await attestedOf(lane, burnt, options);
    const call = mintCall(plan, attested.message, attested.attestation);
    const quote = await quoteGas(connection, from, call);
    const holds = await readBalance(connection, { owner: from, token: null });
    requireGas(connection, { call, quote, holds });
    return { burnt, from, connection, sends: { call, quote } };
  } catch (error) {
    if (!(error instanceof ExecutorFault) || error.code !== 'TRANSACTION_WOULD_REVERT') throw error;
    // Somebody was quicker just now.
    if (await isNonceUsed(connection, plan)) return mined;
    if (!EXPIRED.test(error.message)) throw error;
    await lane.attester.attestAnew(burnt.source.cctp, plan.nonce, options);
    throw new ExecutorFault(
      'not_yet',
      'ATTESTATION_EXPIRED',
      'the attestation has expired, and another one is asked for',
      { retryAfterSeconds: ASK_EVERY_SECONDS },
    );
  }
}

/**
 * What the messenger says of it. How far it is, is not reckoned here: what a chain calls the number
 * of a block is not everywhere what its nodes do.
 */
const EXPIRED = /message expired/i;

/**
 * The newest attestation of the burn's message: the attester's, where it can be asked, since it may
 * have been renewed; else the one that the burn was completed with.
 */
async function attestedOf(
  { attester }: Lane,
  { source, transaction, message, attested, plan }: Burnt,
  call: CallOptions,
): Promise<Attested> {
  try {
    const found = attestationOf(await attester.messagesOf(source.cctp, transaction, call), message);
    return found?.ok === true && found.attested.message.nonce === plan.nonce
      ? found.attested.bytes
      : attested;
  } catch (error) {
    if (error instanceof ExecutorFault) return attested;
    throw error;
  }
}

async function prepare(
  lane: Lane,
  context: ExecutionContext,
  options: CallOptions,
): Promise<ExecutionResult> {
  const { burnt, from, connection, sends } = await draft(lane, context, options);
  const { plan } = burnt;
  const facts = {
    chain_id: plan.destination.chain_id,
    burn_transaction: burnt.transaction,
    message_nonce: plan.nonce,
    mint_recipient: `0x${plan.emitted.mint_recipient.slice(26)}`,
    from_address: from,
    amount: plan.amount,
    asset: context.asset,
  };
  if (sends === null) {
    const by = await mintOfNonce(connection, plan);
    return {
      next_state: 'SUBMITTING',
      prepared_action: { ...facts, minted_by: by },
    };
  }
  return {
    next_state: 'SUBMITTING',
    prepared_action: facts,
    sign_request: {
      kind: 'evm_transaction',
      payload: unsignedOf(plan.destination.chain_id, sends.call, sends.quote),
    },
  };
}

async function settle(
  lane: Lane,
  context: ExecutionContext,
  call: CallOptions,
  journal: SubmitJournal,
  phase: 'observe' | 'recover',
): Promise<ExecutionResult> {
  const burnt = readBurnt(context, lane.venues);
  const assurance = context.completion_assurance;
  const by = context.prior?.prepared_action?.['minted_by'];
  if (typeof by === 'string') {
    const connection = await lane.chains.open(burnt.plan.destination.chain_id, call);
    return named(context, await byOthers(connection, burnt.plan, assurance, by as Hash));
  }
  const settled = await settleAct(lane.chains, {
    ...actOf(burnt, readSigner(context), assurance),
    from: readSigner(context),
    assurance,
    call,
    journal,
    phase,
  });
  return named(context, settled);
}

/** What the bridge took is the fee of a mint; what its gas cost stands beside it. */
function named({ asset }: ExecutionContext, settled: ExecutionResult): ExecutionResult {
  if (settled.next_state !== 'COMPLETED' || settled.output === undefined) return settled;
  const { bridge_fee_amount, fee_amount, fee_asset, ...output } = settled.output;
  return {
    ...settled,
    output: {
      ...output,
      ...(fee_amount === undefined ? {} : { gas_fee_amount: fee_amount }),
      ...(fee_asset === undefined ? {} : { gas_fee_asset: fee_asset }),
      fee_amount: bridge_fee_amount ?? '0',
      fee_asset: asset,
    } as JsonObject,
  };
}

async function isNonceUsed(
  connection: EvmConnection,
  { destination, nonce }: MintPlan,
): Promise<boolean> {
  const used = await connection.ask((client) =>
    client.readContract({
      address: destination.cctp.message_transmitter,
      abi: MESSAGE_TRANSMITTER,
      functionName: 'usedNonces',
      args: [nonce],
    }),
  );
  return used > 0n;
}

/**
 * Null where as many endpoints as an absence takes show that the nonce is not used; the mint that
 * used it otherwise.
 */
async function byAnybody(
  connection: EvmConnection,
  plan: MintPlan,
  assurance: CompletionAssurance,
): Promise<ExecutionResult | null> {
  const used = await connection.witnesses((one) => isNonceUsed(one, plan));
  return used.some(Boolean) ? byOthers(connection, plan, assurance, null) : null;
}

/**
 * COMPLETED with the mint that used the nonce, once its block is deep enough; OBSERVING before.
 * `known` is where it was seen before.
 */
async function byOthers(
  connection: EvmConnection,
  plan: MintPlan,
  assurance: CompletionAssurance,
  known: Hash | null,
): Promise<ExecutionResult> {
  const before = known === null ? null : await readReceipt(connection, known);
  const hash =
    before !== null && (await isCanonical(connection, before))
      ? before.transactionHash
      : await mintOfNonce(connection, plan);
  const receipt = before?.transactionHash === hash ? before : await readReceipt(connection, hash);
  if (receipt === null) throw unseen();
  const depth = depthFor(assurance);
  if (
    receipt.blockNumber > (await settledNumber(connection, depth)) ||
    !(await isCanonical(connection, receipt))
  )
    return observing(connection, { tx_hash: hash });
  const did = minted(plan, await connection.decimals(plan.minted), receipt);
  if (!did.ok)
    throw new ExecutorFault('protocol', did.error_code, `${did.error_message} (${hash})`);
  return {
    next_state: 'COMPLETED',
    external_ref: hash,
    output: { tx_hash: hash, block_number: receipt.blockNumber.toString(), ...did.output },
    assurance: shownAt(depth, TRANSFER_ASSURANCES),
  };
}

const RECEIVED = toEventSelector('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)');
/**
 * The transaction that brought the message, looked for in the blocks in which that was possible.
 *
 * @throws ExecutorFault `server_error` `MINT_UNSEEN` where the nonce is used and nothing shows by
 *   what: asked again.
 */
async function mintOfNonce(
  connection: EvmConnection,
  { destination, since, nonce }: MintPlan,
): Promise<Hash> {
  const found = await findLog(connection, {
    address: destination.cctp.message_transmitter,
    topics: [RECEIVED, null, nonce],
    since,
  });
  if (found !== null) return found;
  throw unseen();
}

function unseen(): ExecutorFault {
  return new ExecutorFault(
    'server_error',
    'MINT_UNSEEN',
    'the message was brought by somebody, and the endpoint does not show by what',
    { retryAfterSeconds: ASK_EVERY_SECONDS },
  );
}
