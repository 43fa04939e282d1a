/** The lifecycle of an agent wallet of the perps venue. */
import type { TransitionTable } from './table.ts';

export const AGENT_WALLET_STATES = ['pending', 'active', 'expired', 'replaced', 'refused'] as const;
export type AgentWalletState = (typeof AGENT_WALLET_STATES)[number];

export const AGENT_WALLET_TABLE: TransitionTable<AgentWalletState> = {
  entity: 'agent wallet',
  moves: {
    pending: ['active', 'expired', 'refused'],
    active: ['expired', 'replaced'],
    // An address belongs to one wallet for ever, so no state leads back to active.
    expired: [],
    replaced: [],
    refused: [],
  },
};
