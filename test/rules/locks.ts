import type { Rule } from './rule.ts';

const section = 'One write path, one lock order';
const REFERENCES = 'test/http/references.test.ts';
const STORE = 'test/store/write-path.test.ts';
const BUDGETS = 'test/store/budget.test.ts';
const HOLDS = 'test/store/holds.test.ts';
const LOCKS = 'test/store/locks.test.ts';

export const lockRules: readonly Rule[] = [
  {
    id: 'hidden-metadata-is-not-searched',
    section,
    rule: 'A key of metadata whose values are hidden is no filter: an answer would confirm a guess.',
    test: { file: REFERENCES, name: 'refuses %s of %s' },
    broken: {
      file: 'api/movements/schema.ts',
      find: '!Object.keys(pairs).some(isTelling)',
      replace: 'Object.keys(pairs).length > 0',
    },
  },
  {
    id: 'one-writer-of-states',
    section,
    rule: 'A state column is written by store/transition.ts alone.',
    test: {
      file: 'test/architecture/single-writer.test.ts',
      name: 'store/transition.ts, and for transfers store/capital-transfer-steps.ts, is the only writer of a state',
    },
    broken: {
      file: 'store/ping.ts',
      find: 'SELECT 1 AS one',
      replace: "UPDATE movements SET request_state = 'FAILED' WHERE false",
    },
  },
  {
    id: 'illegal-moves-cannot-be-written',
    section,
    rule: 'A move that no table of states has is refused before it reaches the database.',
    test: {
      file: STORE,
      name: 'that asks for a move which no table has is a defect, and reaches no database',
    },
    broken: {
      file: 'domain/states/table.ts',
      find: '  if (!allows(table, from, to)) throw new IllegalMove(table.entity, from, to);',
      replace: '  if (from === to) throw new IllegalMove(table.entity, from, to);',
    },
  },
  {
    id: 'moves-are-compare-and-set',
    section,
    rule: 'A move is written only where the movement still is in a state it may come from.',
    test: { file: STORE, name: 'let one of them approve, and hold once' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'",
      replace: '',
    },
  },
  {
    id: 'refusals-are-recorded',
    section,
    rule: 'A guarded refusal writes nothing but its one audit row, which is committed before it is answered.',
    test: {
      file: 'test/http/audit.test.ts',
      name: 'of ten who act at once one is heard, and each refusal is one record',
    },
    broken: {
      file: 'api/audit/refused.ts',
      find: 'await writeAudit(deps.db,',
      replace: 'void (deps.db,',
    },
  },
  {
    id: 'sequences-are-counters-under-the-lock',
    section,
    rule: 'Timeline sequences are a counter in the locked row of the movement: no gaps, no repeats.',
    test: { file: STORE, name: 'give a timeline without gaps and without repeats' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid FOR UPDATE;",
      replace: "INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid;",
    },
  },
  {
    id: 'holds-are-counters',
    section,
    rule: "A pool's hold is a counter that is added to in place, so holds taken at once add up exactly.",
    test: { file: STORE, name: 'add their holds up exactly' },
    broken: {
      file: 'prisma/functions/holds.sql',
      find: 'DO UPDATE SET held = p.held + change',
      replace: 'DO UPDATE SET held = greatest(change, 0)',
    },
  },
  {
    id: 'pools-are-locked-by-key',
    section,
    rule: 'Pools are locked in the order of their keys, so two movements never wait for each other.',
    test: { file: STORE, name: 'that name pools in opposite orders never wait for each other' },
    broken: {
      file: 'prisma/functions/holds.sql',
      find:
        'ORDER BY each ->> \'venue_key\' COLLATE "C", each ->> \'account_type\' COLLATE "C",\n' +
        '      each ->> \'asset\' COLLATE "C"',
      // An order, but another for each movement.
      replace: 'ORDER BY md5(each::text || m.movement_id)',
    },
  },
  {
    id: 'inserts-that-conflict-read-again',
    section,
    rule: 'An idempotent insert that met a conflict answers with what a second statement finds.',
    test: {
      file: STORE,
      name: 'that create with one key make one movement, and each answer names it',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: '  ON CONFLICT DO NOTHING;\n  -- The idempotency key or the reference is used.',
      replace: ';\n  -- The idempotency key or the reference is used.',
    },
  },
  {
    id: 'a-unique-reference-has-one-movement',
    section,
    rule: 'An external reference that is unique has one movement of its client, also of creates at once: the database says so.',
    test: { file: REFERENCES, name: 'has one movement of many creates at once' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "coalesce((d ->> 'unique_reference')::boolean, false), pairs)",
      replace: 'false, pairs)',
    },
  },
  {
    id: 'a-repeat-with-another-reference-is-none',
    section,
    rule: 'A repeat of a create with another external reference or other metadata is a conflict.',
    test: { file: REFERENCES, name: 'a repeat with' },
    broken: {
      file: 'api/movements/request.ts',
      find: '    ...withoutUndefined({ external_reference: body.external_reference }),\n',
      replace: '',
    },
  },
  {
    id: 'a-reference-has-no-twin-that-looks-the-same',
    section,
    rule: 'An external reference holds nothing that is not seen, so one invoice has one reference.',
    test: { file: REFERENCES, name: 'a create is refused for its' },
    broken: {
      file: 'api/movements/schema.ts',
      find: 'seenText(1, 128, referenceFault)',
      replace: 'printed(1, 128)',
    },
  },
  {
    id: 'a-body-is-read-as-it-was-written',
    section,
    rule: 'A body with a number that parsing rounds, or with a name twice in an object, is refused.',
    test: {
      file: 'test/api/http/body.test.ts',
      name: 'a number that cannot be held is refused by its place, never rounded',
    },
    broken: {
      file: 'api/http/body.ts',
      find: '  if (issues.length === 0) issues.push(...lossesIn(text).map(toIssue));\n',
      replace: '',
    },
  },
  {
    id: 'a-reference-is-no-part-of-the-plan',
    section,
    rule: 'External reference and metadata never enter the plan and its hash.',
    test: { file: REFERENCES, name: 'has the hash of the same plan without them' },
    broken: {
      file: 'api/movements/plan.ts',
      find: '{ intent: intentOf(body), input_params: body.input_params },',
      replace:
        '{ intent: intentOf(body), input_params: { ...body.input_params, ...Reflect.get(body, "metadata") } },',
    },
  },
  {
    id: 'a-plan-reads-back',
    section,
    rule: 'A plan that would be read back as another one than was hashed is not stored.',
    test: {
      file: 'test/store/plan-storage.test.ts',
      name: 'a plan that would be read back as another one is not stored',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: '  IF NOT whole THEN',
      replace: '  IF false THEN',
    },
  },
  {
    id: 'conflicts-are-run-again',
    section,
    rule: 'Deadlocks and serialization failures are run again in the store.',
    test: { file: STORE, name: 'a deadlock or a serialization failure is run again' },
    broken: {
      file: 'store/faults.ts',
      find: "new Set(['40001', '40P01'])",
      replace: "new Set(['never'])",
    },
  },
  {
    id: 'windows-are-summed-under-the-lock',
    section,
    rule: "A policy's window is summed by whoever holds its row, in a statement after the one that waited for it.",
    test: { file: BUDGETS, name: 'a create sums what another one took that has not committed' },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: 'FROM auto_approve_policies WHERE policy_id = policy FOR NO KEY UPDATE;',
      replace: 'FROM auto_approve_policies WHERE policy_id = policy;',
    },
  },
  {
    id: 'budgets-follow-movements',
    section,
    rule: "What a movement uses up of its policy's budget follows from its state and its nodes' after every change, whoever made it.",
    test: {
      file: BUDGETS,
      name: 'whatever happens to movements in whatever order, the budget is what the contract says',
    },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: 'share := least(row.amount, left_over);',
      replace: 'share := row.amount;',
    },
  },
  {
    id: 'holds-are-covered',
    section,
    rule: 'A hold is taken only where the snapshot covers it beside all that is held and all that ended since.',
    test: {
      file: HOLDS,
      name: 'whatever happens in whatever order, pools hold what open movements may spend',
    },
    broken: {
      file: 'prisma/functions/holds.sql',
      find: '  IF held + ended > b.withdrawable THEN',
      replace: '  IF held > b.withdrawable THEN',
    },
  },
  {
    id: 'holds-count-every-node',
    section,
    rule: 'Of nodes that draw from one pool each one is held.',
    test: {
      file: HOLDS,
      name: 'whatever happens in whatever order, pools hold what open movements may spend',
    },
    broken: {
      file: 'prisma/functions/holds.sql',
      find: "OR n.state IN ('COMPLETED',",
      replace:
        "OR EXISTS (SELECT 1 FROM movement_nodes o WHERE o.movement_id = m.movement_id AND o.position < n.position AND o.flow -> 'pool' = n.flow -> 'pool') OR n.state IN ('COMPLETED',",
    },
  },
  {
    id: 'retries-hold-what-is-open',
    section,
    rule: 'A retry holds what is still to be sent, and completed nodes not again.',
    test: {
      file: HOLDS,
      name: 'whatever happens in whatever order, pools hold what open movements may spend',
    },
    broken: {
      file: 'prisma/functions/holds.sql',
      find: "OR n.state IN ('COMPLETED',",
      replace:
        "OR n.state = 'COMPLETED' AND NOT EXISTS (SELECT 1 FROM movement_nodes o WHERE o.movement_id = m.movement_id AND o.attempt > 1) OR n.state IN (",
    },
  },
  {
    id: 'doubtful-sends-stay-held',
    section,
    rule: 'A cancel during the recovery of a send keeps its hold.',
    test: {
      file: HOLDS,
      name: 'whatever happens in whatever order, pools hold what open movements may spend',
    },
    broken: {
      file: 'prisma/functions/holds.sql',
      find: "OR n.state IN ('COMPLETED',",
      replace: "OR m.request_state = 'CANCELLED' AND n.recover_first OR n.state IN ('COMPLETED',",
    },
  },
  {
    id: 'holds-end-with-their-movement',
    section,
    rule: 'What ends a movement, or a node, takes from its pools in the same write what is drawn no more.',
    test: {
      file: 'test/store/write-path.test.ts',
      name: 'a movement that is %s holds for nodes that may have sent, and for no other',
    },
    broken: {
      file: 'prisma/functions/holds.sql',
      find: "\n      OR (m.request_state IN ('FAILED', 'COMPLETED') AND NOT may_have_sent(n)) THEN 0",
      replace: ' THEN 0',
    },
  },
  {
    id: 'outdated-decisions-write-nothing',
    section,
    rule: 'An automatic approval whose policy changed since it was decided writes nothing, and is decided again.',
    test: { file: BUDGETS, name: 'a policy that changed after its decision decides nothing' },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: " AND revision = (guard ->> 'revision')::integer;",
      replace: ';',
    },
  },
  {
    id: 'locks-are-proven',
    section,
    rule: 'Each lock that a function of the database takes has somebody who holds what it waits for.',
    test: { file: LOCKS, name: 'every lock of the functions has a case, and every case its lock' },
    broken: {
      file: 'prisma/functions/proposals.sql',
      find: 'WHERE proposal_id = id FOR UPDATE;',
      replace: 'WHERE proposal_id = id;',
    },
  },
  {
    id: 'one-decision-about-an-authority',
    section,
    rule: 'What is decided about an authority, its grants among it, waits for what is decided at the same time.',
    test: { file: LOCKS, name: 'every lock of the functions has a case, and every case its lock' },
    broken: {
      file: 'prisma/functions/proposals.sql',
      find: '  PERFORM lock_authority(p.authority_key);\n',
      replace: '',
    },
  },
  {
    id: 'retired-versions-make-no-movement',
    section,
    rule: 'Of a retired template version no movement is created, and so none is approved automatically, whatever a process remembers of it.',
    test: {
      file: 'test/store/clauses.test.ts',
      name: 'a create of a retired version is refused',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: '  IF retired THEN',
      replace: "  IF retired AND doc -> 'approval' IS NULL THEN",
    },
  },
  {
    id: 'a-retirement-waits-for-creates',
    section,
    rule: 'No movement is created of a version behind the answer that it is retired.',
    test: { file: LOCKS, name: 'every lock of the functions has a case, and every case its lock' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "(d ->> 'template_id')::uuid FOR SHARE;",
      replace: "(d ->> 'template_id')::uuid;",
    },
  },
  {
    id: 'locks-name-what-they-lock',
    section,
    rule: 'A lock of a number is that of everybody else who takes it.',
    test: { file: LOCKS, name: 'is waited for by whoever comes second: $name' },
    broken: {
      file: 'prisma/functions/cutover.sql',
      find: 'pg_advisory_xact_lock_shared(7203118846)',
      replace: 'pg_advisory_xact_lock_shared(7203118847)',
    },
  },
];
