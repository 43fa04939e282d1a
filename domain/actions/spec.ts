/**
 * What everything here knows of an action type. One complete `ActionSpec` a type stands in
 * `domain/actions/<family>.ts`; guards, plans and routes only read it.
 */

/** The action types that the service itself serves; others are an executor team's own. */
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
 * The facts of one action type. None is optional: a type of which one is missing does not compile,
 * since a guard that knows nothing of a type would let it pass.
 */
export interface ActionSpec {
  /** What its nodes sign: a transaction of their chain, or a message to the perps venue. */
  readonly signs: 'transaction' | 'venue_message' | null;
  /** Whether its nodes move funds. */
  readonly sends: boolean;
  /** Whether its nodes only wait or do nothing, whoever runs them. */
  readonly idle: boolean;
  /** Whether it lets a contract pull, and moves nothing by itself. */
  readonly allowance: boolean;
  /** Whether movements with it are made through a route of its own alone. */
  readonly reserved: boolean;
  /** What says which token its nodes move, to be compared with their asset; null: no token. */
  readonly token: TokenSpec | null;
  /** From where its funds leave, which is the pool that is held. */
  readonly pool: PoolSpec;
  /** Whom it pays: the payees that the allowlist must hold. */
  readonly payees: PayeeSpec;
  /** Whether config, reference or intent say its amount, or what its first leg has sent. */
  readonly amount: 'plan' | 'first_leg';
  /** The field of its output that says how much of its amount was sent. */
  readonly sent: 'submitted_amount' | 'received_amount';
  /** Which contract pulls what it sends: what burns on its chain, or what carries its asset. */
  readonly puller: 'burner' | 'carrier' | null;
  /** Its part in a crossing between chains. */
  readonly crossing: CrossingSpec | null;
  /** What a plan with it has to hold to beside what holds of every node. */
  readonly checks: readonly PlanCheck[];
  /** What its completion rests on, where that is something that arrived. */
  readonly claim: ClaimSpec | null;
  /** Where it looks for payments that others send; null: it does not. */
  readonly watches: 'chain' | 'account' | null;
  /** Why a node that has sent nothing stays with a signer that was replaced; null: it follows. */
  readonly signerTie: 'perp_master' | 'allowance' | null;
  /** What a send of it needs beyond its plan (activities/requirements); null: nothing. */
  readonly requires: RequirementSpec | null;
  /** The value that its executor acts on where the config is silent. */
  readonly defaults: Readonly<Partial<Record<DefaultField, string>>>;
  /** Its part in a route's transport; null: it carries nothing out of its venue. */
  readonly transport: TransportFamily | null;
  /** Which end of a route its `venue` is. */
  readonly venue: 'source' | 'destination';
  /**
   * Seconds from the send, or from the first look of a node that sends nothing, to the proven end.
   * Whoever waits longer is shown to a person; it ends nothing.
   */
  readonly usualSeconds: number;
}

/**
 * The config's token on the chain of a field (`native`: the chain's own coin; `optional`: that coin
 * where no token is named), or the token of the venue entry of a bridge or of a venue that is paid
 * into from a chain.
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
 * `own`: as a team's executor reads it, the
 * venue's account where the config names one, else what the signer has on the config's chain. Else
 * what the signer has on the chain of this field.
 */
export type PoolSpec =
  'account' | 'exchange' | { readonly account: string } | 'own' | 'chain_id' | 'source_chain_id';

/**
 * `bridge_path`: the bridge registry holds its path usable. `minter`: who signs the mint of its
 * burn is known. `perp`: the perps venue's account may do this.
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
 * What is known of each lane. `entry`: what a chain's entry in the venues file calls its part.
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

/** The first leg sends, the second brings: a mint by itself, an observe node by looking. */
export type CrossingSpec =
  | {
      readonly lane: BridgeLane;
      readonly leg: 1;
      /** What of its output the second leg goes by: without any of it, that brings nothing. */
      readonly records: readonly string[];
      /** What is said of an edge that pays although nothing says that it was brought. */
      readonly unbrought: 'mint_failure_pays' | 'delivery_failure_pays';
    }
  | {
      readonly lane: BridgeLane;
      readonly leg: 2;
      /** The field by which it names its first leg, whose asset it has. */
      readonly names: 'burn_from' | 'match_from';
    };

/** Rules that `domain/executable.ts` has for a type. */
export type PlanCheck =
  'caller_has_second_leg' | 'first_leg_known' | 'amount_of_first_leg' | 'no_time_out';

/** What a completion is said to rest on, and by what it is known. */
export interface ClaimSpec {
  /** Where what has arrived is named: the first of these that says anything counts. */
  readonly named: readonly ClaimName[];
  /** Without a claim no completion counts, or none whose output has this field. */
  readonly required: 'always' | 'attested_message' | 'packet' | 'payments';
}

/** Of the output, of what the node recorded that this one names (`matched_`), or beside both. */
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

/** The families of agents' proposals that there are blueprints for. */
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
