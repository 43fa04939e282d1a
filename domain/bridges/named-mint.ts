/** Reads on a chain whether a transaction that a person names has minted a burn. */
import type { JsonObject } from '../json.ts';

/** A burn, as its node has recorded it. */
export interface RecordedBurn {
  readonly config: JsonObject;
  readonly asset: string;
  /** In units of the asset. */
  readonly amount: string;
  readonly output: JsonObject;
}

/** A mint of such a burn: the outputs that complete the burn and the mint. */
export interface NamedMint {
  readonly burn: JsonObject;
  readonly mint: JsonObject;
}

/** Why a transaction proves no mint of a burn. */
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
   * The mints of such a burn in a transaction of its destination; at least one where `ok`. Of burns
   * with the same terms nothing on a chain says which one a mint is of.
   *
   * @throws ExecutorFault where the chain gives no answer, or the venue entries are not the burn's.
   */
  read(burn: RecordedBurn, transaction: string, signal: AbortSignal): Promise<NamedMints>;
}
