import type { Rule } from './rule.ts';

const section = 'Money is spent at most once';
const RERUN = 'test/faults/local-activity-rerun.test.ts';
const KILLED = 'test/faults/worker-killed.test.ts';
const UNKNOWN = 'test/faults/unknown-outcomes.test.ts';
const RUNS = 'test/http/movement-runs.test.ts';
const EVM = 'test/venues/evm/recover.test.ts';
const ENGINE = 'prisma/migrations/20261122000000_engine/migration.sql';
const WRITE_PATH = 'prisma/migrations/20261122000200_write_path/migration.sql';

export const moneyRules: readonly Rule[] = [
  {
    id: 'submit-has-one-attempt',
    section,
    rule: 'submit is never repeated by Temporal.',
    test: { file: 'test/architecture/single-writer.test.ts', name: 'submit has exactly one attempt' },
    broken: {
      file: 'workflows/activity-options.ts',
      find: '      heartbeatTimeout: HEARTBEAT,\n      retry: { maximumAttempts: 1 },',
      replace: '      heartbeatTimeout: HEARTBEAT,',
    },
  },
  {
    id: 'recorded-phases-call-nobody',
    section,
    rule: 'A phase that runs again returns what its row records and calls nobody.',
    test: { file: RERUN, name: 'returns what is recorded and calls nobody' },
    broken: {
      file: 'activities/phases/preflight.ts',
      find: "      return row.preflight_passed ? result('READY', 'continue') : null;",
      replace: '      return null;',
    },
  },
  {
    id: 'two-submits-send-once',
    section,
    rule: 'Of two submits of one node at once, one passes the fence.',
    test: { file: RERUN, name: 'two submits at once send once behind %s' },
    broken: {
      file: ENGINE,
      find: `'states', '["READY"]'::jsonb, 'attempt', n.attempt,`,
      replace: "'states', jsonb_build_array(n.state), 'attempt', n.attempt,",
    },
  },
  {
    id: 'fence-checks-max-amount',
    section,
    rule: 'An amount above `max_amount` fails its node, and nothing is sent.',
    test: { file: RUNS, name: 'fails when it is more than the template allows' },
    broken: { file: 'domain/plan/amount.ts', find: 'return limit !== null && compare(amount, limit) > 0;', replace: 'return false;' },
  },
  {
    id: 'recover-bumps-the-epoch',
    section,
    rule: 'Recovery bumps the epoch first, so that a worker that still lives can write nothing more.',
    test: { file: RERUN, name: 'can write nothing once a recovery has bumped the epoch' },
    broken: { file: ENGINE, find: "'set', jsonb_build_object('submit_epoch', n.submit_epoch + 1)))))", replace: "'set', '{}'::jsonb))))" },
  },
  {
    id: 'answers-are-written-under-the-epoch',
    section,
    rule: "A send's answer is written only under the epoch of its fence.",
    test: { file: RERUN, name: 'can write nothing once a recovery has bumped the epoch' },
    broken: {
      file: WRITE_PATH,
      find: "\n         OR n.submit_epoch <> coalesce((part ->> 'epoch')::integer, n.submit_epoch) THEN",
      replace: ' THEN',
    },
  },
  {
    id: 'overtaken-signers-store-nothing',
    section,
    rule: 'Signed bytes are stored under the epoch they were fenced with, and the nonce stays with its node.',
    test: { file: RERUN, name: 'stores no bytes when it is overtaken while it signs, and the nonce stays with the node' },
    broken: {
      file: 'store/evm-transactions.ts',
      find: "        AND n.submit_epoch = ${signed.epoch} AND n.state = 'SUBMITTING'\n",
      replace: '',
    },
  },
  {
    id: 'stored-bytes-are-sent-again',
    section,
    rule: 'A second send of an attempt uses the stored bytes and makes no new ones.',
    test: { file: RERUN, name: 'is sent again with the stored bytes, not with new ones' },
    broken: {
      file: 'activities/phases/sign.ts',
      find: '  if (transaction.raw_tx !== null && transaction.tx_hash !== null) return { raw_tx: transaction.raw_tx, tx_hash: transaction.tx_hash };\n',
      replace: '',
    },
  },
  {
    id: 'lost-answers-are-asked-about',
    section,
    rule: 'A submit that gave no answer is recovered by its key, and what landed is not sent again.',
    test: { file: KILLED, name: 'after the withdrawal was accepted and its answer lost' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: '    switch (answer.next_state) {',
      replace: "    switch ('READY') {",
    },
  },
  {
    id: 'unknown-is-never-sent-again',
    section,
    rule: 'What recovery cannot tell becomes UNKNOWN and MANUAL_INTERVENTION; nothing is sent again by itself.',
    test: { file: UNKNOWN, name: 'a retry while the venue is still silent is unknown again' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: '      return countFault(deps, row, fault, () => unknown(deps, row, fault.message));',
      replace: '      return countFault(deps, row, fault, () => notLanded(deps, row));',
    },
  },
  {
    id: 'retry-asks-first',
    section,
    rule: 'A retry of an UNKNOWN node asks about the earlier send before anything else.',
    test: { file: UNKNOWN, name: 'a retry asks about the earlier send first: landed is not sent again' },
    broken: { file: 'domain/actions/retry.ts', find: '{ recover_first: true,', replace: '{ recover_first: false,' },
  },
  {
    id: 'resolve-only-unknown',
    section,
    rule: 'A person can settle an UNKNOWN node and no other, once.',
    test: { file: UNKNOWN, name: 'only an unknown node can be resolved, and two people at once resolve it once' },
    broken: { file: 'domain/actions/resolve.ts', find: "node === undefined || node.state !== 'UNKNOWN'", replace: 'node === undefined' },
  },
  {
    id: 'bytes-are-checked-before-a-broadcast',
    section,
    rule: 'What was signed is decoded and must be the planned transfer, or nothing is broadcast.',
    test: { file: EVM, name: 'with bytes that are not the planned transfer: UNKNOWN, and they are never broadcast' },
    broken: { file: 'venues/evm/signed-transfer.ts', find: 'return verdict.ok ? {', replace: 'return verdict.ok || !verdict.ok ? {' },
  },
  {
    id: 'nonces-end-in-a-finalized-block',
    section,
    rule: 'A nonce stays with its node until another transaction has used it in a finalized block.',
    test: { file: EVM, name: 'is kept until that transaction is in a finalized block, then released and READY' },
    broken: {
      file: 'venues/evm/nonce-proof.ts',
      find: 'const last = await finalizedNumber(connection);',
      replace: 'const last = await connection.ask((client) => client.getBlockNumber());',
    },
  },
  {
    id: 'aborted-sends-send-nothing',
    section,
    rule: 'Nothing is sent after `send_not_after`.',
    test: { file: RERUN, name: 'sends nothing once its time to send is over' },
    broken: { file: 'activities/phases/submit.ts', find: '(deadline ?? 0) - performance.now()', replace: '600_000' },
  },
  {
    id: 'history-holds-no-money-data',
    section,
    rule: 'Outputs, amounts and addresses stay in Postgres and out of the history.',
    test: { file: RUNS, name: 'a history holds no amount, address or secret' },
    broken: {
      file: 'activities/phases/outcome.ts',
      find: "...result('COMPLETED', 'settled'),",
      replace: "...result('COMPLETED', 'settled', row.amount),",
    },
  },
  {
    id: 'only-safe-keys-are-sent-again',
    section,
    rule: '"Not found" is sent again only where a repeated key has no second effect; elsewhere it is UNKNOWN.',
    test: { file: 'test/faults/zombie-worker.test.ts', name: 'pays nothing twice' },
    broken: { file: 'activities/phases/recover.ts', find: '  if (!same_key_safe)\n', replace: '  if (settle_seconds < 0)\n' },
  },
  {
    id: 'venues-have-time-to-settle',
    section,
    rule: '"Not found" is believed only after the send\'s own limit and the venue\'s settle time.',
    test: { file: RERUN, name: 'is believed to have sent nothing only after the venue has had its time to settle' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: '(row.send_not_after_ms ?? 0) + settle_seconds * 1000',
      replace: '(row.send_not_after_ms ?? 0)',
    },
  },
  {
    id: 'looks-take-nothing-back',
    section,
    rule: 'What a first look behind a submit meets takes nothing back of the send.',
    test: { file: RERUN, name: 'a first look that %s takes nothing back of the send' },
    broken: { file: 'activities/phases/chain.ts', find: 'work().catch(() => null)', replace: 'work()' },
  },
  {
    id: 'untaken-calls-sent-nothing',
    section,
    rule: "A call that no worker of a team's queue took is known to have sent nothing.",
    test: {
      file: 'test/faults/team-worker.test.ts',
      name: 'a submit that nobody takes is known not to have begun, and is sent once somebody polls',
    },
    broken: {
      file: 'activities/phases/team.ts',
      find: "args.given.fault.kind === 'not_started'",
      replace: "args.given.fault.kind === 'rejected'",
    },
  },
  {
    id: 'keys-are-of-the-attempt',
    section,
    rule: 'The idempotency key is movement, node and attempt, and nothing that a repeat renews.',
    test: { file: KILLED, name: 'after the withdrawal was accepted and its answer lost' },
    broken: {
      file: 'activities/phases/context.ts',
      find: 'return `${row.movement_id}:${row.node_key}:${row.attempt}`;',
      replace: 'return `${row.movement_id}:${row.node_key}:${row.attempt}:${performance.now()}`;',
    },
  },
  {
    id: 'unsigned-nonces-are-taken-over',
    section,
    rule: "A claimed nonce whose bytes never existed is taken over by the lane's next send, so no lane stands still.",
    test: {
      file: 'test/faults/nonce-takeover.test.ts',
      name: 'a claimed nonce whose node has ended unsigned is taken over by the next send, and a retry gets one of its own',
    },
    broken: {
      file: 'prisma/migrations/20261121000100_functions/migration.sql',
      find: 'AND t.raw_tx IS NULL AND t.nonce >=',
      replace: 'AND false AND t.nonce >=',
    },
  },
  {
    id: 'allowlist-is-in-the-fence',
    section,
    rule: 'What a node pays is on the allowlist in the transaction that declares its send.',
    test: { file: 'test/store/allowlist.test.ts', name: 'refuses what is revoked or cools' },
    broken: {
      file: 'prisma/migrations/20261124000000_allowlist/migration.sql',
      find: "'require', jsonb_build_object('executors', jsonb_build_array(executor), 'addresses', addresses),",
      replace: "'require', jsonb_build_object('executors', jsonb_build_array(executor)),",
    },
  },
  {
    id: 'short-fence-is-for-plain-payees',
    section,
    rule: 'The fence in one statement passes no node on a chain: what such a node pays is read by the rule that knows every form.',
    test: { file: 'test/store/allowlist.test.ts', name: 'the fence in one statement' },
    broken: {
      file: 'prisma/migrations/20261124450000_plain_addresses/migration.sql',
      find: "    RETURN NULL;\n  END IF;\n  IF action <> 'cex_withdrawal'",
      replace: "    NULL;\n  END IF;\n  IF action <> 'cex_withdrawal'",
    },
  },
  {
    id: 'preparations-are-payees',
    section,
    rule: 'Whom an executor names in what it prepared or reported is somebody whom the node pays.',
    test: { file: 'test/domain/allowlist/destinations.test.ts', name: 'a payee is found however deep it is hidden' },
    broken: {
      file: 'domain/allowlist/destinations.ts',
      find: '...[prepared_action ?? {}, output ?? {}].flatMap(',
      replace: '...[output ?? {}].flatMap(',
    },
  },
];
