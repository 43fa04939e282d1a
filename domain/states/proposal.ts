/** The lifecycle of a template proposal; nothing leaves where it ends. */
import type { TransitionTable } from './table.ts';

export const PROPOSAL_STATUSES = ['submitted', 'auto_promoted', 'rejected', 'expired'] as const;
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

export const PROPOSAL_TABLE: TransitionTable<ProposalStatus> = {
  entity: 'template proposal',
  moves: {
    // Promoted by the service, or by an administrator.
    submitted: ['auto_promoted', 'rejected', 'expired'],
    auto_promoted: [],
    rejected: [],
    expired: [],
  },
};
