/** The operations that an agent's program may send: one table for each program. */

export interface AgentOperation {
  readonly method: 'GET' | 'POST';
  /** Path after the prefix; `{name}` stands for one segment. */
  readonly path: string;
  /** The operation changes data, and only once for each idempotency key. */
  readonly writes?: true;
  /** The operation can be called as a dry run. */
  readonly dryRun?: true;
}

export type AgentTable<Id extends string> = Readonly<Record<Id, AgentOperation>>;

/** Operations that write nothing. `recommendRoutes` is a POST only because it has a body. */
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

/** The write that starts every movement of an agent: a proposal. */
export const PROPOSE = {
  createTemplateProposal: {
    method: 'POST',
    path: '/agent-authorities/{authority_key}/template-proposals',
    writes: true,
  },
} as const satisfies AgentTable<string>;
