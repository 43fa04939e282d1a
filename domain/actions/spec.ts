/**
 * Facts about action types. Each type has one complete `ActionSpec` in
 * `domain/actions/<family>.ts`; guards, plans and routes only read it.
 */

/** The built-in action types. Every other type belongs to an executor team. */
export const ACTION_NAMES = [
  'cex_withdrawal',
  'cex_internal_transfer',
  'cex_deposit_observe',
  'evm_native_transfer',
  'evm_erc20_transfer',
  'evm_erc20_approve',
  'evm_balance_observe',
  'cctp_burn',
  'cctp_mint',
  'bridge_c_send',
  'bridge_c_observe',
  'perp_deposit',
  'perp_withdraw',
  'agent_wallet_top_up',
  'manual_gate',
  'noop',
] as const;
export type ActionName = (typeof ACTION_NAMES)[number];

/**
 * The facts of one action type. No field is optional, so a type with a missing fact does not
 * compile: a guard without that fact would let the type pass.
 */
export interface ActionSpec {
  /**
   * What nodes of this type sign: a transaction of their chain, or a message to the perps venue;
   * null: nothing.
   */
  readonly signs: 'transaction' | 'venue_message' | null;
  /** Whether nodes of this type move funds. */
  readonly sends: boolean;
  /** Whether nodes of this type only wait or do nothing, whatever their executor is. */
  readonly idle: boolean;
  /** Whether a node only allows a contract to pull funds, and moves nothing by itself. */
  readonly allowance: boolean;
  /** Whether movements with this type can be created only by their own API route. */
  readonly reserved: boolean;
  /** Which token the nodes move; it is compared with their asset. Null: no token. */
  readonly token: TokenSpec | null;
  /** The pool that the funds leave. The amount is reserved on this pool. */
  readonly pool: PoolSpec;
  /** Whom the node pays: the payees that must be on the allowlist. */
  readonly payees: PayeeSpec;
  /**
   * Where the amount comes from: the plan (config, reference or intent), or what the first leg of
   * the bridge transfer sent.
   */
  readonly amount: 'plan' | 'first_leg';
  /** The output field that holds how much of the amount was sent. */
  readonly sent: 'submitted_amount' | 'received_amount';
  /**
   * Which contract pulls the sent funds: the burner on the chain, or the carrier of the asset;
   * null: none.
   */
  readonly puller: 'burner' | 'carrier' | null;
  /** The node's part in a transfer between two chains; null: funds stay on one chain or venue. */
  readonly crossing: CrossingSpec | null;
  /** Rules for a plan that contains this type, in addition to the rules for every node. */
  readonly checks: readonly PlanCheck[];
  /** The arrival (message, delivery or payment) that proves a completion; null: none is needed. */
  readonly claim: ClaimSpec | null;
  /** Where the node looks for payments that others send; null: nowhere. */
  readonly watches: 'chain' | 'account' | null;
  /**
   * Why a node that has sent nothing keeps a signer that was replaced; null: the node takes the new
   * signer.
   */
  readonly signerTie: 'perp_master' | 'allowance' | null;
  /** What a send needs in addition to its plan (activities/requirements); null: nothing. */
  readonly requires: RequirementSpec | null;
  /** Values that the executor uses for fields that the config does not have. */
  readonly defaults: Readonly<Partial<Record<DefaultField, string>>>;
  /** The transport family of a route with this type; null: it carries nothing out of its venue. */
  readonly transport: TransportFamily | null;
  /** Whether `venue` in the config is the source or the destination of a route. */
  readonly venue: 'source' | 'destination';
  /**
   * Usual seconds from the send until the outcome is proven; for a node that sends nothing, from
   * its first check. A node that takes longer is shown to an operator, and continues.
   */
  readonly usualSeconds: number;
}

/**
 * Which token the node moves. An object: the config's token on the chain in the config field that
 * `chain` names (`native`: the chain's own coin; `optional`: that coin if the config names no
 * token). `bridge` and `deposit_venue`: the token of the bridge or of the deposit venue, from the
 * venues file.
 */
export type TokenSpec =
  | {
      readonly chain: 'chain_id' | 'source_chain_id';
      readonly named: 'token' | 'native' | 'optional';
    }
  | 'bridge'
  | 'deposit_venue'
  | 'first_leg';

/**
 * `account`: the venue's account of the config's type. `exchange`: the account that an exchange
 * withdraws from. An object: the account of this type at a venue that is paid into from a chain.
 * `own`: for a team's executor, the venue's account if the config names one, else the signer's
 * holdings on the config's chain. Otherwise: the signer's holdings on the chain that this config
 * field names.
 */
export type PoolSpec =
  'account' | 'exchange' | { readonly account: string } | 'own' | 'chain_id' | 'source_chain_id';

/**
 * `bridge_path`: the bridge registry must show the node's path as usable. `minter`: the signer of
 * the burn's mint must be known. `perp`: the perps venue must allow this action for the account.
 */
export type RequirementSpec =
  | { readonly kind: 'bridge_path' }
  | { readonly kind: 'minter' }
  | { readonly kind: 'perp'; readonly as: 'deposit' | 'withdrawal' | 'top_up' };

/**
 * `exchange`: an address that an exchange pays. `chain`: every address in the executor's input.
 * `spender`: also the contract that may pull. `sub_account`: the sub-account of the movement's
 * strategy, which the last check before a send requires. `declared`: what a team's executor
 * declares. `strict`: the funds arrive on another chain than they leave; the allowlist row must
 * name the arrival chain, which this config field holds.
 */
export type PayeeSpec =
  | 'none'
  | 'sub_account'
  | 'exchange'
  | 'chain'
  | 'spender'
  | 'declared'
  | { readonly strict: 'chain_id' | 'destination_chain_id' };

/**
 * The bridges. `entry`: the bridge's field in a chain's entry of the venues file. `paths`: with
 * `attested`, every pair of chains that have the bridge is a path, and an attester signs each
 * transfer; with `registered`, the bridge registry lists the usable paths.
 */
export const LANES = {
  burn_and_mint: { entry: 'cctp', paths: 'attested' },
  bridge_c: { entry: 'bridge_c', paths: 'registered' },
} as const;
export type BridgeLane = keyof typeof LANES;
export type LanePaths = (typeof LANES)[BridgeLane]['paths'];
export const BRIDGE_LANES = Object.keys(LANES) as readonly BridgeLane[];

/**
 * A bridge transfer has two legs. The first leg sends on the source chain. The second leg completes
 * the transfer on the other chain: by a mint, or by observing the delivery.
 */
export type CrossingSpec =
  | {
      readonly lane: BridgeLane;
      readonly leg: 1;
      /**
       * Output fields that the second leg needs. If any of them is missing, the second leg cannot
       * complete the transfer.
       */
      readonly records: readonly string[];
      /**
       * The reason that rejects a plan in which an edge leads to a paying node before the bridge is
       * proven to have delivered the funds.
       */
      readonly unbrought: 'mint_failure_pays' | 'delivery_failure_pays';
    }
  | {
      readonly lane: BridgeLane;
      readonly leg: 2;
      /**
       * The config field that names the first leg. The second leg has the asset of its first leg.
       */
      readonly names: 'burn_from' | 'match_from';
    };

/** Extra plan rules, by name. `domain/executable.ts` implements them. */
export type PlanCheck =
  'caller_has_second_leg' | 'first_leg_known' | 'amount_of_first_leg' | 'no_time_out';

/** The arrival that a completion needs as proof, and how that arrival is identified. */
export interface ClaimSpec {
  /** Places where the arrival is named; the first that is present counts. */
  readonly named: readonly ClaimName[];
  /** When a completion needs a claim: always, or once the node's output has this field. */
  readonly required: 'always' | 'attested_message' | 'packet' | 'payments';
  /**
   * The output fields in which a person who completes the node names its claim, so that it can be
   * read at its source; empty: only `mint_tx_hashes` names it.
   */
  readonly stated: readonly string[];
}

/**
 * Where the arrival is named. Most names: in the node's output. `matched_`: in the record of the
 * node that this node names. `external_ref`: in the node's own reference.
 */
export type ClaimName =
  | 'payments'
  | 'message'
  | 'matched_message'
  | 'message_nonce'
  | 'packet'
  | 'matched_packet'
  | 'guid'
  | 'ledger_hash'
  | 'external_ref';

export type DefaultField = 'max_fee' | 'finality' | 'destination_account_type';

export const TRANSPORT_FAMILIES = [
  'cex_withdrawal',
  'onchain_transfer',
  'bridge',
  'perp',
  'mixed',
] as const;
export type TransportFamily = (typeof TRANSPORT_FAMILIES)[number];

/** The protocol families of agents' proposals for which blueprints exist. */
export const PROTOCOL_FAMILIES = [
  'onchain_transfer',
  'cctp',
  'bridge_c',
  'cex_withdrawal',
  'perp_deposit',
  'perp_withdraw',
] as const;
export type ProtocolFamily = (typeof PROTOCOL_FAMILIES)[number];

/** Usual time of a transfer within a venue or on one chain. */
export const TRANSFER_SECONDS = 600;
export const HOUR_SECONDS = 3_600;
