/** The stored facts of the perps venue: its master account, bound strategies, and agents. */
import type { AgentWalletState } from '../states/agent-wallet.ts';

/** The venue's networks, by the names that callers use. */
export const PERP_NETWORKS = ['mainnet', 'testnet'] as const;
export type PerpNetworkName = (typeof PERP_NETWORKS)[number];

/** The one account that pays for everything on the perps venue. */
export interface PerpMaster {
  /** In lower case. */
  readonly master_address: string;
  readonly signer_key: string;
  readonly network: PerpNetworkName;
  readonly label: string | null;
  readonly created_at: string;
}

/** The perps venue's facts about one strategy. */
export interface PerpBinding {
  readonly strategy_id: string;
  /** In lower case; null: the strategy uses the master's own account. */
  readonly sub_account_address: string | null;
  /** A decimal; null: no limit. */
  readonly max_agent_balance: string | null;
  readonly paused: boolean;
  /** Reason of the last change of `paused`, to true or to false. */
  readonly pause_reason: string | null;
  readonly paused_changed_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A wallet that may sign orders for a strategy. */
export interface AgentWallet {
  readonly wallet_id: string;
  readonly strategy_id: string;
  readonly agent_name: string;
  readonly signer_key: string;
  /** In lower case. */
  readonly address: string;
  readonly valid_until: string;
  readonly state: AgentWalletState;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** When the venue was first seen to list the wallet. */
  readonly approved_at: string | null;
}

/** What an account of the perps venue held when it was read. */
export interface PerpAccount {
  readonly withdrawable: string;
  readonly account_value: string;
  readonly open_positions: number;
  readonly checked_at: string;
}
