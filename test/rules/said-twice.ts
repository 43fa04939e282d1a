import type { Rule } from './rule.ts';

const section = 'Said twice';
const PAIRS = 'test/store/said-twice.test.ts';

/** What TypeScript says before and SQL says under its locks; each pair is compared. */
export const saidTwiceRules: readonly Rule[] = [
  {
    id: 'twice-what-may-be-drawn',
    section,
    rule: 'What may still be drawn: `sumOf` of domain/plan/flow.ts, `sum_of`.',
    test: {
      file: 'test/store/flow.test.ts',
      name: 'the sum of what may still be drawn is that of the plan, less the ways that outcomes have closed',
    },
    broken: {
      file: 'prisma/functions/flow.sql',
      find: "CASE WHEN state = 'FAILED' THEN 0 ELSE",
      replace: "CASE WHEN state = 'CANCELLED' THEN 0 ELSE",
    },
  },
  {
    id: 'twice-outflows',
    section,
    rule: 'What an outflow says of an asset: `outflowIn` of domain/plan/flow.ts, `outflow_in`.',
    test: {
      file: 'test/store/flow.test.ts',
      name: 'an outflow says the same of an asset in the database',
    },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: 'LIMIT 1) ELSE 0 END',
      replace: 'LIMIT 1) ELSE 1 END',
    },
  },
  {
    id: 'twice-the-allowlist',
    section,
    rule: 'Whether an address may be paid: `problemOf` of domain/allowlist/match.ts, `address_problem`.',
    test: {
      file: 'test/store/allowlist.test.ts',
      name: 'an address is judged by the fence as by the rule',
    },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: 'IF a.chain_id IS NULL AND coalesce(',
      replace: 'IF a.chain_id IS NOT NULL AND coalesce(',
    },
  },
  {
    id: 'twice-limits',
    section,
    rule: 'Whether an amount is within `max_amount`: domain/plan/amount.ts, `within_max_amount`.',
    test: { file: PAIRS, name: 'an amount is within a plan’s limits' },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: "THEN (value #>> '{}')::numeric ELSE 0 END)",
      replace: "THEN (value #>> '{}')::numeric END)",
    },
  },
  {
    id: 'twice-payees',
    section,
    rule: 'Whom a node pays, where that is plain: domain/allowlist/destinations.ts, `plain_addresses`.',
    test: { file: PAIRS, name: 'whom the short fence finds is whom the long one finds' },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: "movement_intent ->> 'destination_address' IS NULL\n",
      replace: 'true\n',
    },
  },
  {
    id: 'twice-facts',
    section,
    rule: 'What is known of an action type: domain/plan/node-facts.ts, the columns of a node.',
    test: {
      file: 'test/store/action-types.test.ts',
      name: 'the row of a node says what the pure rule says',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "f ->> 'tied_by', (f ->> 'may_send')",
      replace: "'nothing', (f ->> 'may_send')",
    },
  },
  {
    id: 'twice-claims',
    section,
    rule: 'What a completion must claim: `claimsOf` of domain/claims.ts, `needs_claim`.',
    test: {
      file: 'test/store/action-types.test.ts',
      name: 'a completion is refused without a claim where it could say one, and nowhere else',
    },
    broken: {
      file: 'prisma/functions/claims.sql',
      find: "'^output\\.(.+)$'",
      replace: "'^outputs\\.(.+)$'",
    },
  },
  {
    id: 'twice-pools',
    section,
    rule: 'Whose pool is a signer’s: `onChainVenueKey` of domain/plan/tokens.ts, `pool_of_successor`.',
    test: { file: PAIRS, name: 'a pool belongs to the successor of its signer' },
    broken: {
      file: 'prisma/functions/signer-lifecycle.sql',
      find: "|| ':' || new_key))",
      replace: "|| '.' || new_key))",
    },
  },
  {
    id: 'twice-open-sends',
    section,
    rule: 'For how long a send may still land: `unsettledSeconds` of domain/send/not-found.ts, `unsettled_send`.',
    test: { file: PAIRS, name: 'a send may still land for so long' },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "FROM n.send_not_after - at) + (asked ->> 'settle_seconds')::double precision + ahead;",
      replace: 'FROM n.send_not_after - at);',
    },
  },
  {
    id: 'twice-epochs',
    section,
    rule: 'Who raises the epoch: domain/send/epoch.ts, `try_fence` and `take_over`.',
    test: { file: PAIRS, name: 'who sends, and who takes over from a sender, raises the epoch' },
    broken: {
      file: 'prisma/functions/phases.sql',
      find: "jsonb_build_object('submit_epoch', n.submit_epoch + 1)",
      replace: "jsonb_build_object('submit_epoch', n.submit_epoch + 2)",
    },
  },
  {
    id: 'twice-codes',
    section,
    rule: 'Which codes no waiting changes: `AMOUNTS_DIFFER` of domain/attention.ts, `waits_in_vain`.',
    test: { file: PAIRS, name: 'a code means that waiting changes nothing' },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: "'CLAIM_MISSING', 'PAYMENT_AMBIGUOUS'), false)",
      replace: "'CLAIM_MISSING'), false)",
    },
  },
  {
    id: 'twice-at-venue',
    section,
    rule: 'Which codes say that the venue has the send: `AT_VENUE_CODES` of domain/send/at-venue.ts, `is_at_venue`.',
    test: { file: PAIRS, name: 'a code means that the venue has the send' },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "    'DEPOSIT_AMOUNT_MISMATCH'), false)",
      replace: "    'DEPOSIT_NOT_CREDITED'), false)",
    },
  },
  {
    id: 'twice-words',
    section,
    rule: 'The words of stops, of what ties a node to a signer, and the window of the perps venue’s nonces: `STOPS`, `KEPT_REASONS`, `WINDOW_MS`; `send_stops`, `signer_tie`, `unsettled_send`.',
    test: { file: PAIRS, name: 'the database uses the words of the rules' },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "interval '49 hours'",
      replace: "interval '48 hours'",
    },
  },
  {
    id: 'twice-states',
    section,
    rule: 'Which states and kinds there are: domain/states/, the checks of their columns.',
    test: { file: PAIRS, name: 'a column takes the words of its list and no others' },
    broken: {
      file: 'domain/states/capital-transfer.ts',
      find: "  'CREATED',\n",
      replace: "  'CREATED',\n  'LOST',\n",
    },
  },
  {
    id: 'twice-the-perps-venue',
    section,
    rule: 'Whether a node may use the perps venue: `perpProblem` of domain/perps/ready.ts, `perp_problem`.',
    test: { file: 'test/store/perp-fence.test.ts', name: 'the database says what the rule says' },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: "    reason := 'STRATEGY_NOT_BOUND';",
      replace: "    reason := 'STRATEGY_PAUSED';",
    },
  },
];
