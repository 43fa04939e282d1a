/**
 * `cctp.mint`: brings a burn's message to its destination, with the attester's signatures. Whoever
 * was quicker has done it for us: a used nonce with its mint is the mint.
 */
import type { Address, Hash } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { ACT_EXECUTOR } from '../evm/act-executor.ts';
import type { EvmCall } from '../evm/call.ts';
import { readBalance, type EvmConnection } from '../evm/client.ts';
import { requireGas, unsignedOf } from '../evm/draft.ts';
import { failWhenRejected } from '../evm/errors.ts';
import { quoteGas, type GasQuote } from '../evm/fees.ts';
import { checkChains } from '../evm/health.ts';
import { TRANSFER_ASSURANCES } from '../evm/landed.ts';
import { readSigner } from '../evm/plan.ts';
import { searchedRecord } from '../evm/search-logs.ts';
import { sendSigned, stillUnderWay } from '../evm/send-signed.ts';
import { settleAct } from '../evm/settle.ts';
import { requireCaller } from './burn.ts';
import { readBurnt, type Burnt } from './burnt.ts';
import { byAnybody, byOthers, isNonceUsed, mintOfNonce, takes, type Looking } from './by-others.ts';
import { mintCall, mintOn } from './mint-act.ts';
import { askedAnew, attestedOf } from './mint-attestation.ts';
import type { Lane } from './plan.ts';

export const CCTP_MINT_DESCRIPTOR: ExecutorDescriptor = {
  ...ACT_EXECUTOR,
  executor_key: 'cctp.mint',
  action_types: ['cctp_mint'],
  provider: 'cctp',
  completion_assurances: TRANSFER_ASSURANCES,
};

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
      if (by !== undefined)
        return {
          next_state: 'SUBMITTED',
          ...(typeof by === 'string' ? { external_ref: by } : {}),
        };
      return sendSigned(
        chains,
        actOf(burnt, from, lookingOf(lane, input.context, 'observe')),
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

/** The act of a mint: who else has minted it is looked for before it is given up. */
export function actOf(burnt: Burnt, from: Address, looking: Looking) {
  const { plan } = burnt;
  return {
    chain_id: plan.destination.chain_id,
    act: mintOn(plan, from, (connection) => byAnybody(connection, plan, looking)),
  };
}

/** A recovery, which asks anew, goes by nothing that a look has searched before. */
function lookingOf(
  { search }: Lane,
  { completion_assurance, prior }: ExecutionContext,
  phase: 'observe' | 'recover',
): Looking {
  const { searched } = prior?.prepared_action ?? {};
  const { searched: later = searched, ...output } = prior?.output ?? {};
  const goesOn = phase === 'observe' && later !== undefined;
  return {
    assurance: completion_assurance,
    progress: { ...output, ...(goesOn ? { searched: later } : {}) },
    search,
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
  const connection = await lane.chains.open(plan.destination.chain_id, options);
  const mined = { burnt, from, connection, sends: null };
  if (await isNonceUsed(connection, plan)) return mined;
  // What is minted needs nobody who may mint it.
  requireCaller(plan.emitted.destination_caller, from);
  try {
    const attested = await attestedOf(lane, burnt, connection, options);
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
    return askedAnew(lane, burnt, options, {
      code: 'ATTESTATION_EXPIRED',
      why: 'the attestation has expired',
    });
  }
}

/**
 * What the messenger says of it. How far it is, is not reckoned here: what a chain calls the number
 * of a block is not everywhere what its nodes do.
 */
const EXPIRED = /message expired/i;

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
    const seen =
      burnt.minted_by !== null && (await takes(connection, plan, burnt.minted_by))
        ? ({ kind: 'found', hash: burnt.minted_by } as const)
        : await mintOfNonce(connection, plan, null, lane.search);
    const by =
      seen.kind === 'found'
        ? { minted_by: seen.hash }
        : // By somebody: the looks that follow go on with the search.
          { minted_by: null, searched: searchedRecord(seen.searched) };
    return { next_state: 'SUBMITTING', prepared_action: { ...facts, ...by } };
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
  const looking = lookingOf(lane, context, phase);
  const { prepared_action, external_ref } = context.prior ?? {};
  const by = prepared_action?.['minted_by'];
  if (by !== undefined) {
    const connection = await lane.chains.open(burnt.plan.destination.chain_id, call);
    const known = by ?? external_ref ?? null;
    return named(
      context,
      await byOthers(
        connection,
        burnt.plan,
        looking,
        typeof known === 'string' ? (known as Hash) : null,
      ),
    );
  }
  const settled = await settleAct(lane.chains, {
    ...actOf(burnt, readSigner(context), looking),
    from: readSigner(context),
    assurance: context.completion_assurance,
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
