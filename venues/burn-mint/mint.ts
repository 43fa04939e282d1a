/**
 * `cctp.mint`: brings a burn's message to its destination, with the attester's signatures. Whoever
 * was quicker has done it for us: a used nonce with its mint is the mint.
 */
import type { Address, Hash } from 'viem';
import {
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import { createActExecutor, gasAside, type Drafting, type Ready } from '../evm/act-executor.ts';
import { actDescriptor, type Act, type ActInput, type At } from '../evm/act.ts';
import type { EvmVenue } from '../evm/config.ts';
import { TRANSFER_ASSURANCES } from '../evm/landed.ts';
import { searchedRecord, type SearchLimits } from '../evm/search-logs.ts';
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

/** Who else has minted it is looked for before it is given up. */
export function mintAct(venues: readonly EvmVenue[], search: SearchLimits | undefined): Act<Burnt> {
  return {
    descriptor: CCTP_MINT_DESCRIPTOR,
    noun: 'mint',
    read: (of) => readBurnt(of, venues),
    move: ({ plan }) => ({
      chain_id: plan.destination.chain_id,
      outflow: {
        ...{ token: plan.minted, amount: plan.amount },
        ...{ leaves_signer: false, pays_bridge: false },
      },
      // What is burnt is minted, whoever the payee is.
      payee: { address: payeeOf(plan), field: 'burn_from', venue: null },
      // Its reading goes by those of its burn.
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

/** A recovery, which starts anew, goes by nothing that a look has searched before. */
function lookingOf(
  search: SearchLimits | undefined,
  { completion_assurance: assurance = 'provider_completed', prior }: ActInput,
  phase: At['phase'],
): Looking {
  const { searched } = prior?.prepared_action ?? {};
  const { searched: later = searched, ...output } = prior?.output ?? {};
  const goesOn = phase === 'observe' && later !== undefined;
  return { assurance, progress: { ...output, ...(goesOn ? { searched: later } : {}) }, search };
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
    completed: (_burnt, settled, { context }) => named(context, settled),
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
    return settled.next_state === 'COMPLETED' ? named(context, settled) : settled;
  };
  return {
    ...executor,
    submit: async (input, call) => {
      const by = input.prepared_action['minted_by'];
      if (by === undefined) return executor.submit(input, call);
      // Somebody was quicker, so there is nothing to send.
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
  // What is minted needs nobody who may mint it.
  requireCaller(plan.emitted.destination_caller, from);
  const { message, attestation } = await attestedOf(lane, burnt, connection, options);
  return {
    call: mintCall(plan, message, attestation),
    async reverted(why) {
      // Somebody was quicker just now.
      if (await isNonceUsed(connection, plan)) return done;
      if (!EXPIRED.test(why.message)) throw why;
      return requestAttestation(lane, burnt, options, {
        code: 'ATTESTATION_EXPIRED',
        why: 'the attestation has expired',
      });
    },
  };
}

/** Who has minted it; null where the looks that follow go on with the search. */
async function mintedBy(
  { search }: Lane,
  { plan, minted_by: known }: Burnt,
  { connection }: Drafting,
) {
  if (known !== null && (await takes(connection, plan, known))) return { minted_by: known };
  const seen = await mintOfNonce(connection, plan, null, search);
  return seen.kind === 'found'
    ? { minted_by: seen.hash }
    : { minted_by: null, searched: searchedRecord(seen.searched) };
}

/**
 * What the messenger says of it. How far it is, is not reckoned here: what a chain calls the number
 * of a block is not everywhere what its nodes do.
 */
const EXPIRED = /message expired/i;

/** What the bridge took is the fee of a mint; what its gas cost stands beside it. */
function named({ asset }: ExecutionContext, settled: ExecutionResult): ExecutionResult {
  const { bridge_fee_amount = '0', ...output } = gasAside(settled.output);
  return { ...settled, output: { ...output, fee_amount: bridge_fee_amount, fee_asset: asset } };
}
