/**
 * `cctp.mint`: sends a burn's message to its destination, with the attester's signatures. If
 * another account has already minted the burn, that mint completes the node.
 */
import type { Address, Hash } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import { isObject, type JsonObject } from '../../domain/json.ts';
import { createActExecutor, gasAside, type Drafting, type Ready } from '../evm/act-executor.ts';
import { actDescriptor, type Act, type ActInput, type At } from '../evm/act.ts';
import type { EvmVenue } from '../evm/config.ts';
import { TRANSFER_ASSURANCES } from '../evm/landed.ts';
import { searchedRecord, type SearchLimits } from '../evm/search-logs.ts';
import { ASK_EVERY_SECONDS } from './attester.ts';
import { requireCaller } from './burn.ts';
import { readBurnt, type Burnt } from './burnt.ts';
import { byAnybody, byOthers, isNonceUsed, mintOfNonce, takes, type Looking } from './by-others.ts';
import { mintCall, minted, mintProblem } from './mint-act.ts';
import { requestAttestation, attestedOf } from './mint-attestation.ts';
import type { Lane } from './plan.ts';

export const CCTP_MINT_DESCRIPTOR = actDescriptor({
  executor_key: 'cctp.mint',
  action_types: ['cctp_mint'],
  provider: 'cctp',
  completion_assurances: TRANSFER_ASSURANCES,
});

/**
 * Returns the act of a mint; `instead` looks for a mint by another account before the node fails.
 */
export function mintAct(venues: readonly EvmVenue[], search: SearchLimits | undefined): Act<Burnt> {
  return {
    descriptor: CCTP_MINT_DESCRIPTOR,
    noun: 'mint',
    read: (of) => readBurnt(of, venues),
    move: ({ plan }) => ({
      chain_id: plan.destination.chain_id,
      outflow: {
        token: plan.minted,
        amount: plan.amount,
        leaves_signer: false,
        pays_bridge: false,
      },
      // The payee is fixed by the burn, so it is not checked again.
      payee: { address: payeeOf(plan), field: 'burn_from', venue: null },
      // `readBurnt` has compared the venue entries with those of the burn.
      terms: null,
      path: null,
    }),
    effect: ({ plan }, { from, decimals, of, phase }) => ({
      call: null,
      problem: (unsigned) => mintProblem(plan, from, decimals, unsigned),
      did: (_signer, receipt) => minted(plan, decimals, receipt),
      instead: (connection) => byAnybody(connection, plan, lookingOf(search, of, phase)),
    }),
  };
}

function payeeOf({ emitted }: Burnt['plan']): Address {
  return `0x${emitted.mint_recipient.slice(26)}`;
}

/**
 * Returns where the search starts: observe continues outside the searched blocks. Recover searches
 * all blocks again, and then continues what a recover has started.
 */
function lookingOf(
  search: SearchLimits | undefined,
  { completion_assurance: assurance = 'provider_completed', prior }: ActInput,
  phase: At['phase'],
): Looking {
  const { searched } = prior?.prepared_action ?? {};
  const { searched: later = searched, ...output } = prior?.output ?? {};
  const goesOn =
    later !== undefined && (phase === 'observe' || (isObject(later) && later['by'] === phase));
  const progress = { ...output, ...(goesOn ? { searched: later } : {}) };
  return { assurance, phase, progress, search };
}

export function createMintExecutor(lane: Lane): Executor {
  const executor = createActExecutor(lane.chains, mintAct(lane.venues, lane.search), {
    facts: ({ plan, transaction }) => ({
      chain_id: plan.destination.chain_id,
      burn_transaction: transaction,
      message_nonce: plan.nonce,
      mint_recipient: payeeOf(plan),
    }),
    ready: (burnt, at) => mintReady(lane, burnt, at),
    completed: (_burnt, settled, { context }) => withBridgeFee(context, settled),
  });
  const look = async (
    phase: At['phase'],
    context: ExecutionContext,
    call: CallOptions,
  ): Promise<ExecutionResult | null> => {
    const { prepared_action, external_ref } = context.prior ?? {};
    const by = prepared_action?.['minted_by'];
    if (by === undefined) return null;
    const { plan } = readBurnt(context, lane.venues);
    const known = by ?? external_ref;
    const settled = await byOthers(
      await lane.chains.open(plan.destination.chain_id, call),
      plan,
      lookingOf(lane.search, context, phase),
      typeof known === 'string' ? (known as Hash) : null,
    );
    if (settled !== null)
      return settled.next_state === 'COMPLETED' ? withBridgeFee(context, settled) : settled;
    // That mint is gone, and nothing of this node was signed: recover answers READY, and the
    // service prepares the node anew.
    if (phase === 'recover') return null;
    throw new ExecutorFault(
      'server_error',
      'MINT_GONE',
      'the chain no longer shows the mint by another account, and the nonce of the burn is unused',
      { retryAfterSeconds: ASK_EVERY_SECONDS },
    );
  };
  return {
    ...executor,
    submit: async (input, call) => {
      const by = input.prepared_action['minted_by'];
      if (by === undefined) return executor.submit(input, call);
      // Another account has minted the burn, so there is nothing to send.
      return { next_state: 'SUBMITTED', ...(typeof by === 'string' ? { external_ref: by } : {}) };
    },
    observe: async (context, call, journal) =>
      (await look('observe', context, call)) ?? executor.observe(context, call, journal),
    recover: async (context, call, journal) =>
      (await look('recover', context, call)) ?? executor.recover(context, call, journal),
  };
}

async function mintReady(lane: Lane, burnt: Burnt, at: Drafting): Promise<Ready> {
  const { plan } = burnt;
  const { connection, from, call: options } = at;
  const done: Ready = { call: null, facts: () => mintedBy(lane, burnt, at) };
  if (await isNonceUsed(connection, plan)) return done;
  // Checked only now: a burn that is already minted needs no permitted caller.
  requireCaller(plan.emitted.destination_caller, from);
  const { message, attestation } = await attestedOf(lane, burnt, connection, options);
  return {
    call: mintCall(plan, message, attestation),
    async reverted(why) {
      // Another account may have minted the burn just now.
      if (await isNonceUsed(connection, plan)) return done;
      if (!EXPIRED.test(why.message)) throw why;
      return requestAttestation(lane, burnt, options, {
        code: 'ATTESTATION_EXPIRED',
        why: 'the attestation has expired',
      });
    },
  };
}

/**
 * Finds the transaction that minted the burn; `minted_by` is null if the search must go on later.
 * Nothing is sent either way, so a search that fails does not fail the node before its send: it is
 * observed, where the search is repeated and a person may name the transaction.
 */
async function mintedBy(
  { search }: Lane,
  { plan, minted_by: known }: Burnt,
  { connection }: Drafting,
): Promise<JsonObject> {
  try {
    if (known !== null && (await takes(connection, plan, known))) return { minted_by: known };
    const seen = await mintOfNonce(connection, plan, null, search);
    if (seen.kind === 'found') return { minted_by: seen.hash };
    if (seen.kind === 'unfinished')
      return { minted_by: null, searched: searchedRecord(seen.searched) };
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
  }
  return { minted_by: null };
}

/**
 * The messenger's revert text for an expired attestation. The expiry is not computed here: on some
 * chains a contract's block number differs from the endpoints'.
 */
const EXPIRED = /message expired/i;

/** Returns the result with the bridge's fee as the mint's fee, and with the gas cost apart. */
function withBridgeFee({ asset }: ExecutionContext, settled: ExecutionResult): ExecutionResult {
  const { bridge_fee_amount = '0', ...output } = gasAside(settled.output);
  return { ...settled, output: { ...output, fee_amount: bridge_fee_amount, fee_asset: asset } };
}
