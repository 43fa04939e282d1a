/** Reads the facts about a completed burn that its mint needs, from the burn node's output. */
import type { Hash, Hex } from 'viem';
import type { ExecutionContext } from '../../domain/executor.ts';
import { readDecimal } from '../../domain/money.ts';
import type { EvmVenue } from '../evm/config.ts';
import { recordedBlock } from '../evm/landed.ts';
import { requireSameEntries } from '../same-entries.ts';
import { rejected } from '../node-plan.ts';
import type { Attested } from './attester.ts';
import { readMessage } from './message.ts';
import type { MintPlan } from './mint-act.ts';
import { entriesOf, readBurnPlan, type LaneVenue } from './plan.ts';

export interface Burnt {
  readonly plan: MintPlan;
  readonly transaction: Hash;
  readonly source: LaneVenue;
  /** The message bytes that the source chain's transmitter emitted. */
  readonly message: string;
  /** The attestation that completed the burn. */
  readonly attested: Attested;
  /**
   * The transaction that an operator named as the mint to complete the burn, not yet verified;
   * null: none.
   */
  readonly minted_by: Hash | null;
}

/** The parts of a mint's node that name its burn. */
export interface MintOf {
  readonly asset: string;
  readonly matched?: ExecutionContext['matched'];
}

/**
 * Returns the burn to mint.
 *
 * @throws ExecutorFault `rejected` `BURN_UNKNOWN` if the burn has recorded no message to mint;
 *   `not_yet` `VENUE_ENTRY_CHANGED` if the venue entries have changed since the burn.
 */
export function readBurnt({ asset, matched }: MintOf, venues: readonly EvmVenue[]): Burnt {
  const output = matched?.output;
  const transaction = matched?.external_ref;
  if (output === undefined || transaction === undefined)
    throw rejected('BURN_UNKNOWN', 'config.burn_from names no completed burn');
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
    throw rejected('BURN_UNKNOWN', 'the burn has recorded no message to mint');
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
  requireSameEntries(output['venue_entries'], entriesOf(plan));
  return {
    plan: {
      destination: plan.destination,
      minted: plan.minted,
      emitted: reading.message,
      amount,
      nonce: nonce.message.nonce,
      since: recordedBlock(since) ?? 0n,
    },
    transaction: transaction as Hash,
    source: plan.source,
    message,
    attested: { message: signed as Hex, attestation: attestation as Hex },
    minted_by: hashOf(output['mint_tx_hash']),
  };
}

function hashOf(value: unknown): Hash | null {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value) ? (value as Hash) : null;
}
