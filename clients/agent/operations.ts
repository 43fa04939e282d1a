/** What a program of an agent may ask of the service: a table of its own, and nothing beside it. */

export interface AgentOperation {
  readonly method: 'GET' | 'POST';
  /** Under the prefix; `{name}` is one segment. */
  readonly path: string;
  /** It changes something, once for each idempotency key. */
  readonly writes?: true;
  /** Can be asked what would happen. */
  readonly dryRun?: true;
}

export type AgentTable<Id extends string> = Readonly<Record<Id, AgentOperation>>;

/** What may be read; a recommendation is asked for with a body, and writes nothing. */
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

/** The one write of an agent that everything else begins with. */
export const PROPOSE = {
  createTemplateProposal: {
    method: 'POST',
    path: '/agent-authorities/{authority_key}/template-proposals',
    writes: true,
  },
} as const satisfies AgentTable<string>;
