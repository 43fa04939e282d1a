/** The vocabulary of signer rotations and retirements: reasons, causes and gates. */

/** Why a node stays with the signer that was rotated (prisma/functions/signer-lifecycle.sql). */
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

/** Why two signers cannot be rotated, whatever their identities. */
export const ROTATION_CAUSES = [
  'same_signer',
  'old_not_active',
  'replacement_not_active',
  'chain_family_mismatch',
  // The replacement is not the perps venue's master account, whose money would stay behind.
  'perp_master_account',
] as const;
export type RotationCause = (typeof ROTATION_CAUSES)[number];

/** What a retirement has to pass, in this order. */
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
  /** Null: the chain's own coin. */
  readonly token_address: string | null;
  /** In units of the asset; null where it is unknown, and `problem` says why. */
  readonly amount: string | null;
  readonly problem: string | null;
}

export interface ChainHoldings {
  readonly balances: readonly ChainHolding[];
  /** How many nonces of the account are used: in final blocks, and in any. */
  readonly used_nonces: readonly {
    readonly chain_id: number;
    readonly final: number;
    readonly mined: number;
  }[];
}

/** What a spender may take from the account. */
export interface Allowance {
  readonly chain: string;
  readonly token_address: string;
  readonly spender: string;
  /** In units of the token. */
  readonly amount: string;
}

export interface AllowanceScan {
  /** None of them zero. */
  readonly allowances: readonly Allowance[];
  /** Some spenders could not be searched for, or some allowance not be read. */
  readonly unsupported_spender_not_checked: boolean;
}

/** A pair that may have an allowance. */
export interface KnownSpender {
  readonly chain_id: number;
  readonly token_address: string;
  readonly spender: string;
}

/** Reads what accounts hold and allow on the chains that this process is bound to. */
export interface AccountReader {
  chainIds(): readonly number[];
  holdings(address: string, chainIds: readonly number[]): Promise<ChainHoldings>;
  allowances(
    address: string,
    chainIds: readonly number[],
    known: readonly KnownSpender[],
  ): Promise<AllowanceScan>;
}
