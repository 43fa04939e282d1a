/** The operations that an agent's program may send: one table for each program. */

export interface AgentOperation {
  readonly method: 'GET' | 'POST';
  /** Under the prefix; `{name}` is one segment. */
  readonly path: string;
  /** It changes something, once for each idempotency key. */
  readonly writes?: true;
  /** Has a dry run. */
  readonly dryRun?: true;
}

export type AgentTable<Id extends string> = Readonly<Record<Id, AgentOperation>>;

/** Reads. A recommendation is a POST, since it has a body; it writes nothing. */
export const READS = {
  whoami: { method: 'GET', path: '/whoami' },
  getAgentAuthority: { method: 'GET', path: '/agent-authorities/{authority_key}' },
  listRoutes: { method: 'GET', path: '/route-catalog' },
  recommendRoutes: { method: 'POST', path: '/routes/recommend' },
  getBalances: { method: 'GET', path: '/balances' },
  listMovements: { method: 'GET', path: '/movements' },
  getMovement: { method: 'GET', path: '/movements/{movement_id}' },
  getTemplateProposal: { method: 'GET', path: '/template-proposals/{proposal_id}' },
} as const satisfies AgentTable<string>;

/** The write that every movement of an agent starts with. */
export const PROPOSE = {
  createTemplateProposal: {
    method: 'POST',
    path: '/agent-authorities/{authority_key}/template-proposals',
    writes: true,
  },
} as const satisfies AgentTable<string>;
