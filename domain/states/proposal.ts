/** The lifecycle of a template proposal; every state but `submitted` is final. */
import type { TransitionTable } from './table.ts';

export const PROPOSAL_STATUSES = ['submitted', 'auto_promoted', 'rejected', 'expired'] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

export const PROPOSAL_TABLE: TransitionTable<ProposalStatus> = {
  entity: 'template proposal',
  moves: {
    // The service or an administrator promotes a proposal.
    submitted: ['auto_promoted', 'rejected', 'expired'],
    auto_promoted: [],
    rejected: [],
    expired: [],
  },
};
