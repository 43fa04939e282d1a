/** Checks on the chain whether a transaction that a person names has minted a burn. */
import type { JsonObject } from '../json.ts';

/** A burn, as its node recorded it. */
export interface RecordedBurn {
  readonly config: JsonObject;
  readonly asset: string;
  /** Decimal string in units of the asset. */
  readonly amount: string;
  readonly output: JsonObject;
}

/** The mint of a recorded burn: the outputs that complete the burn node and the mint node. */
export interface NamedMint {
  readonly burn: JsonObject;
  readonly mint: JsonObject;
}

/** Why a transaction does not prove the mint of a burn. */
export type UnprovenMint =
  | 'burn_unrecorded'
  | 'not_found'
  | 'not_final'
  | 'endpoints_differ'
  | 'reverted'
  | 'before_burn'
  | 'no_mint'
  | 'another_message';

export type NamedMints =
  | { readonly ok: true; readonly mints: readonly NamedMint[] }
  | { readonly ok: false; readonly reason: UnprovenMint; readonly problem: string };

export interface MintReader {
  /**
   * Returns the mints in a transaction on the destination chain that match the burn; at least one
   * if `ok`. For burns with the same terms, the chain does not show which burn a mint belongs to.
   *
   * @throws ExecutorFault if the chain's endpoint does not answer, or the venue entries do not
   * match the burn.
   */
  read(burn: RecordedBurn, transaction: string, signal: AbortSignal): Promise<NamedMints>;
}
