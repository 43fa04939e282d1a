/**
 * The facts of an action type. Each type has one complete `ActionSpec` in
 * `domain/actions/<family>.ts`; guards, plans and routes only read it.
 */

/** The built-in action types; all others are an executor team's own. */
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
  /** What its nodes sign: a transaction of their chain, or a message to the perps venue. */
  readonly signs: 'transaction' | 'venue_message' | null;
  /** Whether its nodes move funds. */
  readonly sends: boolean;
  /** Whether its nodes only wait or do nothing, whatever their executor. */
  readonly idle: boolean;
  /** Whether it lets a contract pull, and moves nothing by itself. */
  readonly allowance: boolean;
  /** Whether only a route of its own makes movements with it. */
  readonly reserved: boolean;
  /** Which token its nodes move, to be compared with their asset; null: no token. */
  readonly token: TokenSpec | null;
  /** The pool that its funds leave, on which they are held. */
  readonly pool: PoolSpec;
  /** Whom it pays: the payees that the allowlist must hold. */
  readonly payees: PayeeSpec;
  /** Where its amount comes from: config, reference or intent, or what its first leg has sent. */
  readonly amount: 'plan' | 'first_leg';
  /** The field of its output that says how much of its amount was sent. */
  readonly sent: 'submitted_amount' | 'received_amount';
  /** Which contract pulls what it sends: the burner on its chain, or the carrier of its asset. */
  readonly puller: 'burner' | 'carrier' | null;
  /** Its part in a crossing between chains. */
  readonly crossing: CrossingSpec | null;
  /** Rules for a plan with it, in addition to those for every node. */
  readonly checks: readonly PlanCheck[];
  /** What its completion rests on, where that is something that arrived. */
  readonly claim: ClaimSpec | null;
  /** Where it looks for payments that others send; null: it does not. */
  readonly watches: 'chain' | 'account' | null;
  /** Why a node that has sent nothing stays with a signer that was replaced; null: it follows. */
  readonly signerTie: 'perp_master' | 'allowance' | null;
  /** What a send of it needs beyond its plan (activities/requirements); null: nothing. */
  readonly requires: RequirementSpec | null;
  /** Values that its executor uses where the config has none. */
  readonly defaults: Readonly<Partial<Record<DefaultField, string>>>;
  /** Its part in a route's transport; null: it carries nothing out of its venue. */
  readonly transport: TransportFamily | null;
  /** Which end of a route its `venue` is. */
  readonly venue: 'source' | 'destination';
  /**
   * Seconds from the send, or from the first look of a node that sends nothing, to the proven end.
   * A node that takes longer is shown to a person; nothing ends it.
   */
  readonly usualSeconds: number;
}

/**
 * Which token the node moves: the config's token on the chain that the field `chain` names
 * (`native`: the chain's own coin; `optional`: that coin where the config names no token); or the
 * token of the venue entry of a bridge, or of a venue that is paid into from a chain.
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
 * `own`: for a team's executor, the venue's account where the config names one, else the signer's
 * holdings on the config's chain. Otherwise the signer's holdings on the chain that this field
 * names.
 */
export type PoolSpec =
  'account' | 'exchange' | { readonly account: string } | 'own' | 'chain_id' | 'source_chain_id';

/**
 * `bridge_path`: the bridge registry must hold its path as usable. `minter`: the signer of its
 * burn's mint must be known. `perp`: the perps venue must allow this to the account.
 */
export type RequirementSpec =
  | { readonly kind: 'bridge_path' }
  | { readonly kind: 'minter' }
  | { readonly kind: 'perp'; readonly as: 'deposit' | 'withdrawal' | 'top_up' };

/**
 * `exchange`: an address that an exchange pays. `chain`: every address that it receives. `spender`:
 * also the contract that may pull. `sub_account`: the sub-account of the movement's strategy, which
 * the fence requires. `declared`: what a team's executor declares. `strict`: it arrives on another
 * chain than it leaves from, and the allowlist row must name that chain, which this field of the
 * config holds.
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
 * The bridges. `entry`: the name of the bridge's part in a chain's entry of the venues file.
 * `paths`: an attester signs what crosses between any two chains that have it (`attested`), or the
 * bridge registry says which paths may be used (`registered`).
 */
export const LANES = {
  burn_and_mint: { entry: 'cctp', paths: 'attested' },
  bridge_c: { entry: 'bridge_c', paths: 'registered' },
} as const;
export type BridgeLane = keyof typeof LANES;
export type LanePaths = (typeof LANES)[BridgeLane]['paths'];
export const BRIDGE_LANES = Object.keys(LANES) as readonly BridgeLane[];

/**
 * The first leg sends; the second brings it to the other chain, as a mint by sending, as an observe
 * node by looking.
 */
export type CrossingSpec =
  | {
      readonly lane: BridgeLane;
      readonly leg: 1;
      /**
       * Fields of its output that the second leg needs: without any one of them the second leg
       * brings nothing.
       */
      readonly records: readonly string[];
      /**
       * The reason reported for an edge that pays although nothing proves that the bridge brought
       * the funds.
       */
      readonly unbrought: 'mint_failure_pays' | 'delivery_failure_pays';
    }
  | {
      readonly lane: BridgeLane;
      readonly leg: 2;
      /** The field by which it names its first leg, whose asset it has. */
      readonly names: 'burn_from' | 'match_from';
    };

/** Checks that `domain/executable.ts` implements. */
export type PlanCheck =
  'caller_has_second_leg' | 'first_leg_known' | 'amount_of_first_leg' | 'no_time_out';

/** What a completion rests on, and how that is identified. */
export interface ClaimSpec {
  /** Where the arrival is named; the first of these that is present counts. */
  readonly named: readonly ClaimName[];
  /** When a completion needs a claim: always, or once its output has this field. */
  readonly required: 'always' | 'attested_message' | 'packet' | 'payments';
}

/**
 * Where the arrival is named: in the node's output; `matched_`: in the record of the node that this
 * one names; `external_ref`: in the node's own reference.
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

/** The families of agents' proposals that have blueprints. */
export const PROTOCOL_FAMILIES = [
  'onchain_transfer',
  'cctp',
  'bridge_c',
  'cex_withdrawal',
  'perp_deposit',
  'perp_withdraw',
] as const;
export type ProtocolFamily = (typeof PROTOCOL_FAMILIES)[number];

/** How long a transfer within a venue or on a chain usually takes. */
export const TRANSFER_SECONDS = 600;
export const HOUR_SECONDS = 3_600;
