/** The names of reasons, causes and gates of signer rotations and retirements. */

/** Why a node keeps the signer that was rotated (prisma/functions/signer-lifecycle.sql). */
export const KEPT_REASONS = [
  'open_nonce',
  'in_flight',
  'passed_fence',
  'perp_master',
  'allowance',
  'destination_caller',
  'old_address',
  'passes_on',
  'no_room',
] as const;

/** Why a signer cannot replace another one, whatever their identities. */
export const ROTATION_CAUSES = [
  'same_signer',
  'old_not_active',
  'replacement_not_active',
  'chain_family_mismatch',
  // The replacement is not the perps venue's master account, so the funds of that account would
  // stay behind.
  'perp_master_account',
] as const;
export type RotationCause = (typeof ROTATION_CAUSES)[number];

/** The checks that a retirement has to pass, in this order. */
export const RETIREMENT_GATES = [
  'signer_not_deprecated',
  'inventory_unavailable',
  'balance_above_dust',
  'perp_master_account',
  'non_terminal_nodes',
  'open_nonces',
  'allowances_not_acknowledged',
] as const;

export const SIGNER_EVENTS = [
  'rotation_drilled',
  'rotated',
  'inventory',
  'allowances',
  'retirement_denied',
  'retired',
] as const;
export type SignerEventType = (typeof SIGNER_EVENTS)[number];

/** What a signer's account holds on one chain. */
export interface ChainHolding {
  /** Decimal chain id. */
  readonly chain: string;
  readonly asset: string;
  /** Null: the chain's native coin. */
  readonly token_address: string | null;
  /** In units of the asset; null when it is unknown: then `problem` explains why. */
  readonly amount: string | null;
  readonly problem: string | null;
}

export interface ChainHoldings {
  readonly balances: readonly ChainHolding[];
  /** How many nonces of the account are used: in final blocks, and in any block. */
  readonly used_nonces: readonly {
    readonly chain_id: number;
    readonly final: number;
    readonly mined: number;
  }[];
}

/** The amount that a spender may take from the account. */
export interface Allowance {
  readonly chain: string;
  readonly token_address: string;
  readonly spender: string;
  /** In units of the token. */
  readonly amount: string;
}

export interface AllowanceScan {
  /** No allowance in this list is zero. */
  readonly allowances: readonly Allowance[];
  /** Whether some spenders could not be searched for, or some allowance could not be read. */
  readonly unsupported_spender_not_checked: boolean;
}

/** A token and a spender that may have an allowance. */
export interface KnownSpender {
  readonly chain_id: number;
  readonly token_address: string;
  readonly spender: string;
}

/** Reads balances and allowances of accounts on the chains that this process is bound to. */
export interface AccountReader {
  chainIds(): readonly number[];
  holdings(address: string, chainIds: readonly number[]): Promise<ChainHoldings>;
  allowances(
    address: string,
    chainIds: readonly number[],
    known: readonly KnownSpender[],
  ): Promise<AllowanceScan>;
}
