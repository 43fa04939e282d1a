/**
 * `cctp.burn`: burns tokens on one chain, to be minted on another, and waits until the burn is
 * attested. Before the burn it checks everything that could prevent the mint.
 */
import type { Address, Hash, Hex } from 'viem';
import {
  ExecutorFault,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { createActExecutor, type ActLook } from '../evm/act-executor.ts';
import { padded } from '../evm/words.ts';
import { rejected } from '../node-plan.ts';
import { attestedBurn } from './attestation.ts';
import { ASK_EVERY_SECONDS } from './attester.ts';
import { burnAct } from './burn-act.ts';
import { ANYBODY, type BurnMessage } from './message.ts';
import type { BurnPlan, Lane } from './plan.ts';
import { requireFee, requireLane } from './route.ts';

/**
 * Returns the burn executor. It fails with the codes of every act, those of `readBurnPlan`,
 * `SIGNER_CALLER_MISMATCH`, `FEE_BELOW_MINIMUM`, `DESTINATION_TOKEN_MISSING` and `MINT_WOULD_FAIL`;
 * retryable `ALLOWANCE_INSUFFICIENT`.
 */
export function createBurnExecutor(lane: Lane): Executor {
  return createActExecutor(lane.chains, burnAct(lane.venues), {
    facts: (plan) => ({
      source_chain_id: plan.source.chain_id,
      destination_chain_id: plan.destination.chain_id,
      token_address: plan.token,
      mint_recipient: plan.mint_recipient,
      max_fee: plan.max_fee,
    }),
    async ready(plan, { connection, there, units, decimals, context: { minter } }) {
      if (minter !== undefined) requireCaller(plan.destination_caller, minter.address as Address);
      await requireLane(connection, there, plan, units);
      await requireFee(connection, plan, units, decimals);
      return { spender: plan.source.cctp.token_messenger };
    },
    completed: (plan, settled, look) => attested(lane, plan, settled, look),
  });
}

/** Returns the result of a mined burn: OBSERVING until the burn is attested. */
async function attested(
  lane: Lane,
  plan: BurnPlan,
  settled: ExecutionResult,
  { phase, context, call }: ActLook,
): Promise<ExecutionResult> {
  const { external_ref, output = {} } = settled;
  const waiting: ExecutionResult = {
    next_state: 'OBSERVING',
    retry_after_seconds: ASK_EVERY_SECONDS,
    output: { ...output, ...factsForMint(context) },
    ...(external_ref === undefined ? {} : { external_ref }),
  };
  if (external_ref === undefined) return waiting;
  const signed = await attestedBurn(
    lane,
    plan,
    external_ref as Hash,
    String(output['message']),
    call,
  ).catch((error: unknown) => {
    // Recover needs only the burn, which is proven; it does not wait for the attestation.
    if (phase === 'recover' && error instanceof ExecutorFault) return null;
    throw error;
  });
  if (signed === null) return waiting;
  const decimals = Number(context.prior?.prepared_action?.['decimals']);
  return {
    ...settled,
    output: {
      ...output,
      ...factsForMint(context),
      ...attestedFacts(signed.message, decimals),
      attested_message: signed.bytes.message,
      attestation: signed.bytes.attestation,
    },
  };
}

/** Returns the facts of the burn's prepare that its mint reads. */
function factsForMint({ prior }: ExecutionContext): JsonObject {
  const { destination_block: block, venue_entries: entries } = prior?.prepared_action ?? {};
  return {
    ...(typeof block === 'string' ? { destination_block: block } : {}),
    ...(typeof entries === 'string' ? { venue_entries: entries } : {}),
  };
}

/** Returns the facts that the attester adds to a burn's message. */
export function attestedFacts(attested: BurnMessage, decimals: number): JsonObject {
  return {
    message_nonce: attested.nonce,
    finality_executed: attested.finality_executed,
    ...(Number.isInteger(decimals)
      ? { fee_executed: fromBaseUnits(attested.fee_executed, decimals) }
      : {}),
  };
}

/**
 * Throws if only another account may mint the burn.
 *
 * @throws ExecutorFault `rejected` `SIGNER_CALLER_MISMATCH`.
 */
export function requireCaller(destinationCaller: Hex, minter: Address): void {
  if (destinationCaller === ANYBODY || destinationCaller === padded(minter)) return;
  throw rejected(
    'SIGNER_CALLER_MISMATCH',
    `only 0x${destinationCaller.slice(26)} may mint this burn, and the signer is ${minter}`,
  );
}
