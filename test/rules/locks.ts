import type { Rule } from './rule.ts';

const section = 'One write path, one lock order';
const STORE = 'test/store/write-path.test.ts';
const FUNCTIONS = 'prisma/migrations/20261121000100_functions/migration.sql';
const ENGINE = 'prisma/migrations/20261122000000_engine/migration.sql';
const AUTO_APPROVE = 'prisma/migrations/20261124100000_auto_approve/migration.sql';
const BUDGETS = 'test/store/budget.test.ts';
const HOLDS = 'test/store/holds.test.ts';
const WITHDRAWABLE = 'prisma/migrations/20261124400000_withdrawable/migration.sql';
const WRITE_PATH = 'prisma/migrations/20261122000200_write_path/migration.sql';

export const lockRules: readonly Rule[] = [
  {
    id: 'one-writer-of-states',
    section,
    rule: 'A state column is written by store/transition.ts alone.',
    test: {
      file: 'test/architecture/single-writer.test.ts',
      name: 'store/transition.ts, and for transfers store/transfer-steps.ts, is the only writer of a state',
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
    test: { file: STORE, name: 'that asks for a move which no table has is a defect, and reaches no database' },
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
      file: WRITE_PATH,
      find: "WHEN doc ? 'states' AND NOT (doc -> 'states') ? m.request_state THEN 'movement_state'",
      replace: '',
    },
  },
  {
    id: 'refusals-are-recorded',
    section,
    rule: 'A refusal is a result and not an exception, so its audit row is committed, and nothing else.',
    test: { file: STORE, name: 'is a result, and of it nothing but its audit row is written' },
    broken: {
      file: WRITE_PATH,
      find: "  IF refusal IS NOT NULL THEN\n    PERFORM write_audit(doc -> 'refused_audit', at);",
      replace: '  IF refusal IS NOT NULL THEN',
    },
  },
  {
    id: 'sequences-are-counters-under-the-lock',
    section,
    rule: 'Timeline sequences are a counter in the locked row of the movement: no gaps, no repeats.',
    test: { file: STORE, name: 'give a timeline without gaps and without repeats' },
    broken: {
      file: WRITE_PATH,
      find: "INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid FOR UPDATE;",
      replace: "INTO m FROM movements WHERE movement_id = (doc ->> 'movement_id')::uuid;",
    },
  },
  {
    id: 'holds-are-counters',
    section,
    rule: "A pool's hold is a counter that is added to in place, so holds taken at once add up exactly.",
    test: { file: STORE, name: 'add their holds up exactly' },
    broken: { file: FUNCTIONS, find: 'DO UPDATE SET held = p.held + excluded.held;', replace: 'DO UPDATE SET held = excluded.held;' },
  },
  {
    id: 'pools-are-locked-by-key',
    section,
    rule: 'Pools are locked in the order of their keys, so two movements never wait for each other.',
    test: { file: STORE, name: 'that name pools in opposite orders never wait for each other' },
    broken: {
      file: FUNCTIONS,
      find: "              ORDER BY value ->> 'venue_key', value ->> 'account_type', value ->> 'asset' LOOP",
      replace: '              LOOP',
    },
  },
  {
    id: 'inserts-that-conflict-read-again',
    section,
    rule: 'An idempotent insert that met a conflict answers with what a second statement finds.',
    test: { file: STORE, name: 'that create with one key make one movement, and each is told which' },
    broken: {
      file: ENGINE,
      find: ' ON CONFLICT (client_scope, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING;',
      replace: ';',
    },
  },
  {
    id: 'conflicts-are-run-again',
    section,
    rule: 'Deadlocks and serialization failures are run again in the store.',
    test: { file: STORE, name: 'a deadlock or a serialization failure is run again' },
    broken: { file: 'store/faults.ts', find: "new Set(['40001', '40P01'])", replace: "new Set(['never'])" },
  },
  {
    id: 'windows-are-summed-under-the-lock',
    section,
    rule: "A policy's window is summed by whoever holds its row, in a statement after the one that waited for it.",
    test: { file: BUDGETS, name: 'creates at once fill the window exactly' },
    broken: {
      file: AUTO_APPROVE,
      find: 'FROM auto_approve_policies WHERE policy_id = policy FOR NO KEY UPDATE;',
      replace: 'FROM auto_approve_policies WHERE policy_id = policy;',
    },
  },
  {
    id: 'budgets-follow-reservations',
    section,
    rule: "A policy's budget is taken, consumed and released with the movement's reservation, whoever changes that.",
    test: { file: BUDGETS, name: 'whatever happens to movements in whatever order, the budget is what the contract says' },
    broken: {
      file: AUTO_APPROVE,
      find: 'UPDATE budget_reservations SET status = NEW.reservation_status,',
      replace: "UPDATE budget_reservations SET status = 'consumed',",
    },
  },
  {
    id: 'holds-are-covered',
    section,
    rule: 'A hold is taken only where the snapshot covers it beside all that is held and all that ended since.',
    test: { file: HOLDS, name: 'whatever happens in whatever order, pools hold what open movements may spend' },
    broken: { file: WITHDRAWABLE, find: '  IF held + ended > b.withdrawable THEN', replace: '  IF held > b.withdrawable THEN' },
  },
  {
    id: 'holds-end-with-their-movement',
    section,
    rule: 'What ends a movement takes its holds from their pools in the same write, once.',
    test: { file: HOLDS, name: 'whatever happens in whatever order, pools hold what open movements may spend' },
    broken: {
      file: FUNCTIONS,
      find: "  FOR hold IN SELECT * FROM reservations WHERE movement_id = movement AND status = 'held'\n",
      replace: '  FOR hold IN SELECT * FROM reservations WHERE movement_id = movement\n',
    },
  },
  {
    id: 'outdated-decisions-write-nothing',
    section,
    rule: 'An automatic approval whose policy changed since it was decided writes nothing, and is decided again.',
    test: { file: BUDGETS, name: 'a policy that changed since it was asked decides nothing' },
    broken: { file: AUTO_APPROVE, find: " AND revision = (guard ->> 'revision')::integer;", replace: ';' },
  },
];
