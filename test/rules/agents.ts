import type { Rule } from './rule.ts';

const section = 'Agents propose';
const LIMITS = 'test/http/agent-limits.test.ts';
const PROPOSALS = 'test/http/agent-proposals.test.ts';
const STORE = 'test/store/proposals.test.ts';
const SWEEP = 'test/http/agent-sweep.test.ts';
const SQL = 'prisma/functions/proposals.sql';

export const agentRules: readonly Rule[] = [
  {
    id: 'outflow-decides-for-agents',
    section,
    rule: 'A movement of an agent moves in no asset more than its authority covers, by the outflow of its compiled plan.',
    test: {
      file: LIMITS,
      name: 'never moves more than the authority says in any asset, whatever it writes',
    },
    broken: {
      file: 'domain/agents/authority.ts',
      find: '.filter(({ amount, limit }) => amount === null || compare(amount, limit) > 0);',
      replace: '.filter(({ amount, limit }) => amount !== null && compare(amount, limit) > 10);',
    },
  },
  {
    id: 'proposals-within-their-limits',
    section,
    rule: 'Of any number of proposals at once none beyond the authority’s limits is promoted by the service.',
    test: {
      file: LIMITS,
      name: 'of 1,000 at once none goes beyond the limits of its moment, and versions are as few as the rule says',
    },
    broken: {
      file: 'domain/agents/authority.ts',
      find: 'most === null || compare(requested_notional, most) > 0',
      replace: 'most === null || Number(requested_notional) > Number(most)',
    },
  },
  {
    id: 'judged-by-the-limits-of-now',
    section,
    rule: 'A promotion is written by the limits that the authority has then.',
    test: { file: STORE, name: 'what was decided by other limits is not written' },
    broken: {
      file: SQL,
      find: "  IF authority_limits(p.authority_key) IS DISTINCT FROM doc -> 'limits' THEN\n    RETURN jsonb_build_object('outcome', 'outdated');\n  END IF;\n  at := svc_now();",
      replace: '  at := svc_now();',
    },
  },
  {
    id: 'versions-are-used-again',
    section,
    rule: 'Of one plan there are never two versions where one covers the amount.',
    test: {
      file: STORE,
      name: 'versions of one plan are never two for one amount, whoever else registers some',
    },
    broken: {
      file: SQL,
      find: '  IF FOUND THEN\n    p.template_id := known.template_id;',
      replace: '  IF FOUND AND false THEN\n    p.template_id := known.template_id;',
    },
  },
  {
    id: 'retired-versions-are-not-used-again',
    section,
    rule: 'A proposal never becomes a template version that is retired.',
    test: {
      file: 'test/store/clauses.test.ts',
      name: 'the version of a proposal is an active one',
    },
    broken: {
      file: SQL,
      find: "  WHERE v.status = 'active' AND k.status",
      replace: '  WHERE k.status',
    },
  },
  {
    id: 'expired-is-never-promoted',
    section,
    rule: 'A proposal whose time is over by the database’s clock is never promoted.',
    test: { file: STORE, name: 'a promotion that comes too late writes that the time was over' },
    broken: {
      file: SQL,
      find: "  IF p.status = 'submitted' AND p.expires_at <= at THEN",
      replace: '  IF false THEN',
    },
  },
  {
    id: 'agents-wait-for-a-person',
    section,
    rule: 'A movement of an agent is never approved automatically, whatever template and policies say.',
    test: {
      file: PROPOSALS,
      name: 'waits for a person, also where the template and a policy would approve it',
    },
    broken: {
      file: 'api/movements/auto-approval.ts',
      find: "  if (requester.caller.role === 'agent') return",
      replace: "  if (requester.caller.role === 'agent' && strategy_id === null) return",
    },
  },
  {
    id: 'policies-name-an-agents-versions',
    section,
    rule: 'Of a key that an agent makes versions of, a policy approves the versions that it names and no others.',
    test: {
      file: 'test/domain/auto-approve.test.ts',
      name: 'allows of an agent’s key the version that it names, and none where it names none',
    },
    broken: {
      file: 'domain/auto-approve/policy.ts',
      find: '? !isAgentsTemplate(template_key)',
      replace: '? template_key.length > 0',
    },
  },
  {
    id: 'grants-are-what-was-promoted',
    section,
    rule: 'Beyond its limits an agent moves only what an administrator has promoted of that version.',
    test: {
      file: STORE,
      name: 'only what an administrator has promoted is granted, and no more than that',
    },
    broken: {
      file: 'store/proposals.ts',
      find: "      WHERE template_id = ${templateId}::uuid AND promotion_mode = 'admin'",
      replace: '      WHERE template_id = ${templateId}::uuid',
    },
  },
  {
    id: 'agents-see-their-own',
    section,
    rule: 'No route tells an agent anything of another namespace.',
    test: { file: SWEEP, name: 'learns nothing of others from %s' },
    broken: {
      file: 'api/agents/promote.ts',
      find: "    caller.role !== 'agent' ||\n    (found",
      replace: "    caller.role === 'agent' ||\n    (found",
    },
  },
  {
    id: 'search-finds-an-agent-its-own',
    section,
    rule: 'The search tells an agent nothing of another namespace, whatever text it sends.',
    test: {
      file: 'test/http/search.test.ts',
      name: 'an agent finds what is of its namespace, and nothing of another one',
    },
    broken: {
      file: 'store/search.ts',
      find: 'OFFSET 0) m\n        WHERE ${agent}::text IS NULL OR m.agent = ${agent}',
      replace: 'OFFSET 0) m',
    },
  },
  {
    id: 'search-keys-of-own-client',
    section,
    rule: 'The search finds an idempotency key for its own client alone.',
    test: {
      file: 'test/http/search.test.ts',
      name: 'a key is found by its own client alone',
    },
    broken: {
      file: 'store/search.ts',
      find: 'WHERE m.client_scope = ${scope} AND m.idempotency_key = ${text}',
      replace: 'WHERE m.idempotency_key = ${text}',
    },
  },
  {
    id: 'attempts-make-one-movement',
    section,
    rule: 'A bridge attempt makes one movement, however often it is repeated and wherever it broke off.',
    test: {
      file: 'test/faults/bridge-attempt.test.ts',
      name: 'a kill %s leaves no half: a repeat with the key ends it, with one movement',
    },
    broken: {
      file: 'api/agents/bridge-attempt.ts',
      find: "    row.movement_id ?? (row.status === 'auto_promoted' ? await make(row, requester, deps) : null);",
      replace:
        "    row.movement_id ?? (!repeated && row.status === 'auto_promoted' ? await make(row, requester, deps) : null);",
    },
  },
];
