import type { Rule } from './rule.ts';

const section = 'Money is spent at most once';
const RERUN = 'test/faults/local-activity-rerun.test.ts';
const KILLED = 'test/faults/worker-killed.test.ts';
const UNKNOWN = 'test/faults/unknown-outcomes.test.ts';
const RUNS = 'test/http/movement-runs.test.ts';
const EVM = 'test/venues/evm/recover.test.ts';
const SENDS = 'test/domain/send/at-most-once.test.ts';
const WITHDRAWALS = 'test/venues/cex/withdrawal.test.ts';
const TRANSFERS = 'test/venues/cex/account-transfers.test.ts';

export const moneyRules: readonly Rule[] = [
  {
    id: 'answers-of-sends-are-kept',
    section,
    rule: 'The answer of a send that the database does not take is kept and written once it is back, as after a fail-over.',
    test: {
      file: RERUN,
      name: 'the answer of a send is kept and written once it is back, and no recovery is needed',
    },
    broken: {
      file: 'activities/phases/submit.ts',
      find: 'return whileAway(() => recordAnswer(deps, row, answer));',
      replace: 'return recordAnswer(deps, row, answer);',
    },
  },
  {
    id: 'lost-fences-are-found',
    section,
    rule: 'A fence whose answer was lost counts only while it stands in the database and no recovery has taken over.',
    test: {
      file: 'test/store/said-twice.test.ts',
      name: 'who sends, and who takes over from a sender, raises the epoch',
    },
    broken: {
      file: 'store/transition.ts',
      find: '\n          AND n.updated_at = e.occurred_at',
      replace: '',
    },
  },
  {
    id: 'found-fences-are-on-the-standby',
    section,
    rule: 'A fence that is found after a lost answer counts once the synchronous standby has it: a fail-over would else forget it.',
    test: {
      file: 'test/store/said-twice.test.ts',
      name: 'a fence whose answer was lost counts once the standby has it, too',
    },
    broken: {
      file: 'store/transition.ts',
      find: 'readKept(db, async () => {',
      replace: 'Promise.resolve().then(async () => {',
    },
  },
  {
    id: 'found-writes-are-on-the-standby',
    section,
    rule: 'A write that is found after a lost answer is answered for once the synchronous standby has it.',
    test: {
      file: 'test/api/lost-answers.test.ts',
      name: 'what a session that was ended has left behind counts once the standby has it',
    },
    broken: {
      file: 'store/faults.ts',
      find: "  await db.sql`SELECT pg_logical_emit_message(true, 'fund-movements', '')`;\n",
      replace: '',
    },
  },
  {
    id: 'what-was-read-ahead-passes-its-own-fence',
    section,
    rule: 'A node that was read by the write before it is sent only if its own fence finds the movement still at work.',
    test: {
      file: 'test/store/read-ahead.test.ts',
      name: 'a cancel after the read is seen at the fence: the next node is not sent',
    },
    broken: {
      file: 'activities/phases/fence-write.ts',
      find: ": ['EXECUTING', 'WAITING_MANUAL_ACTION'],",
      replace: ": ['CANCELLED', 'EXECUTING', 'WAITING_MANUAL_ACTION'],",
    },
  },
  {
    id: 'submit-has-one-attempt',
    section,
    rule: 'submit is never repeated by Temporal.',
    test: {
      file: 'test/architecture/single-writer.test.ts',
      name: 'submit has exactly one attempt',
    },
    broken: {
      file: 'workflows/activity-options.ts',
      find: '      heartbeatTimeout: HEARTBEAT,\n      retry: { maximumAttempts: 1 },',
      replace: '      heartbeatTimeout: HEARTBEAT,',
    },
  },
  {
    id: 'teams-are-called-once',
    section,
    rule: "A call of a team's own worker is never repeated by Temporal.",
    test: {
      file: 'test/architecture/single-writer.test.ts',
      name: 'so has each call of a team’s own worker, and the send of a capital transfer',
    },
    broken: {
      file: 'workflows/activity-options.ts',
      find: '    startToCloseTimeout: timeoutMs,\n    retry: { maximumAttempts: 1 },',
      replace: '    startToCloseTimeout: timeoutMs,',
    },
  },
  {
    id: 'a-look-is-no-acceptance',
    section,
    rule: 'An unknown outcome that a person has checked is looked up again, and counts as accepted only once it is found.',
    test: {
      file: 'test/faults/attention.test.ts',
      name: 'where nothing is found it is unknown again, though observe would wait for ever',
    },
    broken: {
      file: 'activities/phases/observe.ts',
      find: ' || isLookedFor(row)',
      replace: '',
    },
  },
  {
    id: 'recorded-phases-call-no-executor',
    section,
    rule: 'A phase that runs again returns what its row records, without calling an executor.',
    test: { file: RERUN, name: 'returns what is recorded and calls no executor' },
    broken: {
      file: 'activities/phases/preflight.ts',
      find: 'const isChecked = row.preflight_passed && row.wait_overdue_ms === null;',
      replace: 'const isChecked = false;',
    },
  },
  {
    id: 'records-of-a-team-run-again',
    section,
    rule: "The record of a team's answer that runs again says what the row records, and writes nothing.",
    test: { file: RERUN, name: 'of a submit that came to %s says the same and writes nothing' },
    broken: {
      file: 'activities/phases/team.ts',
      find: '  if (recorded !== null) return recorded;\n',
      replace: '',
    },
  },
  {
    id: 'two-submits-send-once',
    section,
    rule: 'Of two submits of one node at once, one passes the fence.',
    test: { file: RERUN, name: 'two submits at once send once behind $which' },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: `'states', '["READY"]'::jsonb, 'attempt', n.attempt,`,
      replace: "'states', jsonb_build_array(n.state), 'attempt', n.attempt,",
    },
  },
  {
    id: 'fence-checks-max-amount',
    section,
    rule: 'An amount above `max_amount` fails its node, and nothing is sent.',
    test: { file: RUNS, name: 'fails when it is more than the template allows' },
    broken: {
      file: 'domain/plan/amount.ts',
      find: 'return limit !== null && compare(amount, limit) > 0;',
      replace: 'return false;',
    },
  },
  {
    id: 'recover-bumps-the-epoch',
    section,
    rule: 'Recovery bumps the epoch first, so that a worker that still lives can write nothing more.',
    test: { file: RERUN, name: 'can write nothing once a recovery has bumped the epoch' },
    broken: {
      file: 'prisma/functions/phases.sql',
      find: "'set', jsonb_build_object('submit_epoch', n.submit_epoch + 1)))))",
      replace: "'set', '{}'::jsonb))))",
    },
  },
  {
    id: 'answers-are-written-under-the-epoch',
    section,
    rule: "A send's answer is written only under the epoch of its fence.",
    test: { file: RERUN, name: 'can write nothing once a recovery has bumped the epoch' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "\n         OR n.submit_epoch <> coalesce((part ->> 'epoch')::integer, n.submit_epoch)\n",
      replace: ' THEN',
    },
  },
  {
    id: 'accepted-is-written-under-the-epoch',
    section,
    rule: 'That a send was accepted is written only under the epoch of its fence, too.',
    test: {
      file: RERUN,
      name: 'can write nothing once a recovery has bumped the epoch, not even that it was accepted',
    },
    broken: {
      file: 'activities/phases/submit.ts',
      find: "const outcome = await writeNode(deps, row, {\n    moves: ['SUBMITTED'],",
      replace:
        "const outcome = await writeNode(deps, { ...row, epoch: row.epoch + 1 }, {\n    moves: ['SUBMITTED'],",
    },
  },
  {
    id: 'prepared-once',
    section,
    rule: 'What is prepared is stored once for an attempt: nothing is stored over it, and what is stored is what is sent.',
    test: {
      file: RERUN,
      name: 'an abandoned prepare that ends $when changes nothing of what $which sends',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: 'OR (n.prepared_action IS NOT NULL AND part',
      replace: 'OR (false AND part',
    },
  },
  {
    id: 'prepare-completes-nothing',
    section,
    rule: 'A prepare completes nothing: whatever moves money passes the fence.',
    test: {
      file: RERUN,
      name: 'a prepare that says COMPLETED completes nothing: what is sent passes the fence (chained: %s)',
    },
    broken: {
      file: 'activities/phases/prepare.ts',
      find: "if (answer.next_state !== 'SUBMITTING') return",
      replace:
        "if (answer.next_state !== 'SUBMITTING' && answer.next_state !== 'COMPLETED') return",
    },
  },
  {
    id: 'short-fence-asks-for-executors',
    section,
    rule: 'The short fence stops a node whose executor is disabled, as the long one does.',
    test: { file: RERUN, name: 'stops a node whose executor is disabled' },
    broken: {
      file: 'prisma/functions/fence.sql',
      find:
        "jsonb_build_object('executors', jsonb_build_array(executor),\n" + "        'addresses'",
      replace: "jsonb_build_object('addresses'",
    },
  },
  {
    id: 'fences-ask-first',
    section,
    rule: 'No fence lets a node through whose earlier send has to be looked up first.',
    test: { file: RERUN, name: 'stops a node whose earlier send recovery has to look for first' },
    broken: {
      file: 'activities/phases/submit.ts',
      find: "  if (row.recover_first) return result('READY', 'recover');\n",
      replace: '',
    },
  },
  {
    id: 'unsafe-keys-are-sent-once',
    section,
    rule: "A key that is not safe to repeat is sent once, also after an operator's retry.",
    test: {
      file: RERUN,
      name: "an unsafe key is not sent again, neither by itself nor after an operator's retry",
    },
    broken: {
      file: 'domain/send/not-found.ts',
      find: '  if (!send.same_key_safe) return',
      replace: '  if (!send.same_key_safe && !send.may_resend) return',
    },
  },
  {
    id: 'resends-wait',
    section,
    rule: 'Before a send is made again the run waits, and longer after each one.',
    test: { file: 'test/replay/replay.test.ts', name: 'every history replays' },
    broken: {
      file: 'workflows/node.ts',
      find:
        'await sleep(Math.max(result.delay_ms ?? 0, Math.min(30_000, 100 * 2 ** sends)), {\n' +
        '          summary: `${node.node_key}: before it is sent again`,\n' +
        '        });',
      replace: '',
    },
  },
  {
    id: 'overtaken-signers-store-nothing',
    section,
    rule: 'Signed bytes are stored under the epoch they were fenced with, and the nonce stays with its node.',
    test: {
      file: RERUN,
      name: 'stores no bytes when it is overtaken while it signs, and the nonce stays with the node',
    },
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
      find:
        'if (transaction.raw_tx !== null && transaction.tx_hash !== null)\n' +
        '    return { raw_tx: transaction.raw_tx, tx_hash: transaction.tx_hash };',
      replace: '',
    },
  },
  {
    id: 'signed-bytes-are-verified',
    section,
    rule: "A signer's answer is stored only if it is exactly the requested bytes, signed by the address of the fence, whichever backend it is.",
    test: { file: RERUN, name: 'is neither stored nor sent when it is a transaction %s' },
    broken: {
      file: 'activities/phases/sign.ts',
      find: 'const signed = await verifiedTransaction({ unsigned, nonce, address }, answer.raw_tx);',
      replace: 'const signed = answer;',
    },
  },
  {
    id: 'verified-is-who-signed',
    section,
    rule: 'A signature counts as verified only where the address that was meant recovers from it.',
    test: { file: 'test/signers/verify.test.ts', name: 'by another address is refused' },
    broken: {
      file: 'signers/verify.ts',
      find: 'if (by === null || !sameEvmAddress(by, address))',
      replace: 'if (by === null || address === null)',
    },
  },
  {
    id: 'verified-is-every-byte',
    section,
    rule: 'A signed transaction must equal, byte for byte, the one built from the request.',
    test: { file: 'test/signers/verify.test.ts', name: 'is refused when it is one %s' },
    broken: {
      file: 'signers/verify.ts',
      find: 'if (raw_tx !== answer.toLowerCase())',
      replace: "if (raw_tx === '0x')",
    },
  },
  {
    id: 'identity-is-fresh-at-the-fence',
    section,
    rule: 'The fence asks the signer for its address afresh: what it was a moment ago decides nothing.',
    test: {
      file: RERUN,
      name: 'no address before the fence is read again, and claims nothing',
    },
    broken: {
      file: 'activities/phases/signer.ts',
      find: "purpose === 'send' ? signer.identity() : signer.recentIdentity()",
      replace: 'signer.recentIdentity()',
    },
  },
  {
    id: 'claims-keep-their-account',
    section,
    rule: 'A nonce that was claimed for one address is never signed for once the signer has another.',
    test: {
      file: RERUN,
      name: 'under a nonce that was claimed for another address is not even requested',
    },
    broken: {
      file: 'activities/phases/sign.ts',
      find: 'if (!sameEvmAddress(transaction.from, address))',
      replace: "if (transaction.from === '')",
    },
  },
  {
    id: 'lost-answers-are-looked-up',
    section,
    rule: 'A submit that gave no answer is recovered by its key, and what landed is not sent again.',
    test: { file: KILLED, name: 'after the withdrawal was accepted and its answer lost' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: "  switch (answer.next_state) {\n    case 'COMPLETED':\n      return completeNode(deps, row, answer, movesTo(row, 'COMPLETED'), 'node_recovered');",
      replace:
        "  switch ('READY' as typeof answer.next_state) {\n    case 'COMPLETED':\n      return completeNode(deps, row, answer, movesTo(row, 'COMPLETED'), 'node_recovered');",
    },
  },
  {
    id: 'a-stop-calls-off-no-send',
    section,
    rule: 'A stopping worker waits for the sends under way and cancels none.',
    test: {
      file: 'test/faults/shutdown.test.ts',
      name: 'a submit under way ends first, and the process then ends with status 0',
    },
    broken: {
      file: 'activities/worker.ts',
      find: '    shutdownGraceTime: stopSeconds * 1_000,',
      replace: '    shutdownGraceTime: 5_000,',
    },
  },
  {
    id: 'a-stop-begins-no-send',
    section,
    rule: 'A stopping worker starts no send, even if its last checks are under way; another worker makes it, as the same attempt.',
    test: {
      file: 'test/faults/shutdown.test.ts',
      name: 'a send whose last questions outlast the stop is left to the next worker',
    },
    broken: {
      file: 'service/connect.ts',
      find: 'mayBegin: () => !leaving.left,',
      replace: 'mayBegin: () => true,',
    },
  },
  {
    id: 'no-way-of-sending-forgets-a-stop',
    section,
    rule: 'A process that stops declares no send, whatever way it would leave by.',
    test: { file: 'test/store/leaving.test.ts', name: 'no more: %s' },
    broken: {
      file: 'store/transition.ts',
      find: "moves.includes('SUBMITTING') || version !== undefined",
      replace: "moves.includes('SUBMITTING')",
    },
  },
  {
    id: 'unknown-is-never-sent-again',
    section,
    rule: 'What recovery cannot tell becomes UNKNOWN and MANUAL_INTERVENTION; nothing is sent again by itself.',
    test: { file: UNKNOWN, name: 'a retry while the venue is still silent is unknown again' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: 'person: () => unknownBySilence(deps, row, fault)',
      replace: 'person: () => notLanded(deps, row)',
    },
  },
  {
    id: 'accepted-is-never-timed-out',
    section,
    rule: 'What was accepted once and is not found is UNKNOWN, however late it is.',
    test: {
      file: 'test/faults/reads-that-fail.test.ts',
      name: 'is unknown: no time-out and no failure fires, and nothing is sent by itself',
    },
    broken: {
      file: 'domain/send/node.ts',
      find: 'accepted: row.submitted_ms !== null || isAccepted(row.state),',
      replace: 'accepted: row.submitted_ms !== null && !isLate(row),',
    },
  },
  {
    id: 'accepted-is-never-stopped',
    section,
    rule: 'What was accepted once and is to be sent again is UNKNOWN, and never FAILED, when it may not be.',
    test: {
      file: 'test/faults/reads-that-fail.test.ts',
      name: 'a retry that may not be sent now makes no failure of it, and no new key',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: '  if (row.submitted_ms === null) return stopUnaccepted(',
      replace: '  if (row.epoch >= 0) return stopUnaccepted(',
    },
  },
  {
    id: 'proof-opens-fences',
    section,
    rule: 'What waits for an unknown node is sent as soon as proof has moved that node.',
    test: {
      file: 'test/faults/reads-that-fail.test.ts',
      name: 'keeps others from being sent only until a proof moves it: then they are sent without a wake',
    },
    broken: {
      file: 'workflows/run-state.ts',
      find: 'wakes: () => this.wakeCount + this.proofs,',
      replace: 'wakes: () => this.wakeCount,',
    },
  },
  {
    id: 'signed-for-is-not-used',
    section,
    rule: 'After a restore a nonce is ours only once a transaction of ours is proven to have used it.',
    test: {
      file: 'test/store/lost-sends.test.ts',
      name: 'once a transaction of ours is proven to have used it, and not because one was signed for it',
    },
    broken: {
      file: 'prisma/functions/restore.sql',
      find: "AND t.final_at IS NULL AND (n.attempt > t.attempt OR n.state IN ('COMPLETED', 'FAILED'))",
      replace: 'AND t.raw_tx IS NOT NULL',
    },
  },
  {
    id: 'retry-asks-first',
    section,
    rule: 'A retry of an UNKNOWN node asks about the earlier send before anything else.',
    test: {
      file: UNKNOWN,
      name: 'a retry asks about the earlier send first: landed is not sent again',
    },
    broken: {
      file: 'domain/commands/retry.ts',
      find: '{\n' + '              recover_first: true,',
      replace: '{ recover_first: false,',
    },
  },
  {
    id: 'a-retry-after-a-restore-waits-for-lost-sends',
    section,
    rule: 'A retry after a restore waits until a send that the backup lacks can no longer be under way.',
    test: {
      file: 'test/store/lost-sends.test.ts',
      name: 'a retry after a restore keeps the time in which a lost send of it may still be under way',
    },
    broken: {
      file: 'domain/commands/retry.ts',
      find: '...(restored ? LOST_ATTEMPT : FRESH_ATTEMPT),',
      replace: '...FRESH_ATTEMPT,',
    },
  },
  {
    id: 'resolve-only-unknown',
    section,
    rule: 'A person can settle an UNKNOWN node, or one that is observed for longer than usual, and no other, once.',
    test: {
      file: UNKNOWN,
      name: 'only an unknown node can be resolved, and two people at once resolve it once',
    },
    broken: {
      file: 'domain/commands/resolve.ts',
      find: 'node === undefined || !isResolvable(node, resolution.outcome)',
      replace: 'node === undefined',
    },
  },
  {
    id: 'a-word-is-about-the-attempt-it-names',
    section,
    rule: "A person's word that names its attempt settles no other attempt.",
    test: {
      file: UNKNOWN,
      name: 'only an unknown node can be resolved, and two people at once resolve it once',
    },
    broken: {
      file: 'api/movements/resolve.ts',
      find: '        { attempt: attempt ?? 1 },\n',
      replace: '        {},\n',
    },
  },
  {
    id: 'a-word-without-an-attempt-is-about-the-first',
    section,
    rule: "A person's word that names no attempt settles the first one, and no later one.",
    test: { file: UNKNOWN, name: 'a word that names no attempt is about the first one' },
    broken: {
      file: 'api/movements/resolve.ts',
      find: '        { attempt: attempt ?? 1 },\n',
      replace: '        { attempt },\n',
    },
  },
  {
    id: 'resolve-waits-for-the-send',
    section,
    rule: "A person's word about a send counts only once its window and the executor's settle time are over.",
    test: { file: UNKNOWN, name: 'while the effect may still appear at the venue' },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "+ (asked ->> 'settle_seconds')::double precision",
      replace: '',
    },
  },
  {
    id: 'resolve-waits-for-the-nonce',
    section,
    rule: 'What was signed and may still be mined cannot be said to have failed.',
    test: { file: UNKNOWN, name: 'that it failed, while what was signed may still be mined' },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: 'AND t.raw_tx IS NOT NULL AND t.released_at IS NULL',
      replace: 'AND false',
    },
  },
  {
    id: 'restored-nodes-ask-first',
    section,
    rule: 'After a restore that lost commits, no open node is sent before its venue was queried for its key.',
    test: { file: 'test/faults/after-restore.test.ts', name: 'is found and not sent again' },
    broken: {
      file: 'prisma/functions/restore.sql',
      find: "recover_first = recover_first OR n.state IN ('BLOCKED', 'READY', 'SKIPPED'),",
      replace: 'recover_first = recover_first,',
    },
  },
  {
    id: 'lost-attempts-are-looked-up',
    section,
    rule: 'After a restore nothing is sent under a key while a later attempt of its node is known at its venue.',
    test: {
      file: 'test/faults/after-restore.test.ts',
      name: 'is not sent again under the key of an earlier attempt',
    },
    broken: {
      file: 'activities/phases/recover.ts',
      find: "if (found.next_state === 'READY') continue;",
      replace: 'continue;',
    },
  },
  {
    id: 'lost-retries-of-what-was-being-sent',
    section,
    rule: 'After a restore nothing that was being sent is sent again while its venue knows a later attempt.',
    test: {
      file: 'test/store/lost-sends.test.ts',
      name: 'is not sent again while its venue knows a later attempt',
    },
    broken: {
      file: 'activities/phases/recover.ts',
      find: "const unsettled = state === 'READY' || state === 'SUBMITTING' || state === 'UNKNOWN';",
      replace: "const unsettled = state === 'READY' || state === 'UNKNOWN';",
    },
  },
  {
    id: 'claims-without-bytes-prove-no-nonce',
    section,
    rule: 'After a restore a nonce that was claimed and not signed in the backup may have been used by what is lost.',
    test: {
      file: 'test/store/clauses.test.ts',
      name: 'nor is a claim below it that has no bytes',
    },
    broken: {
      file: 'prisma/functions/restore.sql',
      find: '(SELECT min(c.nonce) FROM evm_transactions c',
      replace: '(SELECT max(c.nonce) + 1 FROM evm_transactions c',
    },
  },
  {
    id: 'lost-paths-are-looked-up',
    section,
    rule: 'After a restore nothing is sent that would be too much beside what another way may have sent.',
    test: {
      file: 'test/faults/after-restore.test.ts',
      name: 'on another path is not sent too',
    },
    broken: {
      file: 'prisma/functions/flow.sql',
      find: 'IF used + coalesce(unasked, 0) <= most THEN RETURN NULL; END IF;',
      replace: 'RETURN NULL;',
    },
  },
  {
    id: 'accepted-is-not-failed-before-its-fence',
    section,
    rule: 'What was accepted once is not failed by a preflight or a prepare that refuses it later.',
    test: {
      file: 'test/faults/reads-that-fail.test.ts',
      name: 'nor does a preflight that refuses it',
    },
    broken: {
      file: 'activities/phases/preflight.ts',
      find:
        'return stopBeforeSend(\n' +
        '      deps,\n' +
        '      row,\n' +
        "      answer.error_code ?? 'PREFLIGHT_FAILED',\n" +
        "      answer.error_message ?? 'the executor refused',\n" +
        '    );',
      replace:
        "return (await import('./settle.ts')).failNode(deps, row, answer.error_code ?? 'PREFLIGHT_FAILED', answer.error_message ?? '', ['FAILED']);",
    },
  },
  {
    id: 'the-intent-names-what-the-plan-pays',
    section,
    rule: 'A create is refused whose intent names a payee that no node of its plan has, since built-in executors read the config alone.',
    test: {
      file: 'test/http/intent-fields.test.ts',
      name: 'several others has an issue for each, and so has its preview',
    },
    broken: {
      file: 'api/movements/plan.ts',
      find: '...requestRefusals(compiled.plan, deps),',
      replace: '',
    },
  },
  {
    id: 'to-take-back-is-no-send',
    section,
    rule: 'A plan that observes and takes an allowance back sends nothing, so nothing approves it automatically.',
    test: {
      file: 'test/domain/auto-approve.test.ts',
      name: 'is one that %s',
    },
    broken: {
      file: 'domain/plan/amount.ts',
      find: 'node.sends && !takesBack(node)',
      replace: 'node.sends',
    },
  },
  {
    id: 'of-several-payments-exactly-its-own',
    section,
    rule: 'Of a transaction that pays an address several times a node has exactly its amount.',
    test: {
      file: 'test/venues/evm/balance-observe.test.ts',
      name: 'takes exactly its amount of a transaction that pays several',
    },
    broken: {
      file: 'venues/evm/balance-observe.ts',
      find: 'free.length > 1 ? exact : free',
      replace: 'free',
    },
  },
  {
    id: 'a-reset-is-signed-by-whoever-allowed',
    section,
    rule: 'Only the replaced signer revokes its own allowances.',
    test: {
      file: 'test/store/allowances.test.ts',
      name: 'no one takes back what a replaced signer allowed, and nothing is made',
    },
    broken: {
      file: 'api/movements/reset-allowances.ts',
      find: 'if (open.length > 0 && able.length === 0) {',
      replace: 'if (open.length < 0) {',
    },
  },
  {
    id: 'plans-that-only-observe-ask-a-person',
    section,
    rule: 'Nothing approves automatically a plan that only observes.',
    test: {
      file: 'test/domain/auto-approve.test.ts',
      name: 'before what comes after it',
    },
    broken: {
      file: 'domain/auto-approve/free.ts',
      find: 'amount: request.only_observes',
      replace: 'amount: request.only_observes && amount === null',
    },
  },
  {
    id: 'increases-count-from-the-first-look',
    section,
    rule: 'What an observed address was paid before the first look counts for nothing, however late that becomes final.',
    test: {
      file: 'test/venues/evm/balance-observe.test.ts',
      name: 'counts nothing that was paid before',
    },
    broken: {
      file: 'venues/evm/baseline.ts',
      find: "return (await readBlock(connection, 'latest')).number;",
      replace: 'return settled;',
    },
  },
  {
    id: 'a-payment-that-may-be-anothers-is-a-persons',
    section,
    rule: 'A payment that may be that of another waiting node completes no node by itself.',
    test: {
      file: 'test/store/payments.test.ts',
      name: 'of two that wait for the same a payment completes none: a person must decide',
    },
    broken: {
      file: 'venues/evm/balance-observe.ts',
      find: 'open.length > 1 || rivals.length > 0',
      replace: 'open.length > 1 || rivals.length > 9',
    },
  },
  {
    id: 'what-was-claimed-of-a-balance-counts-no-more',
    section,
    rule: 'Of what an address has more of a coin, nothing counts for a node that another has claimed.',
    test: {
      file: 'test/store/payments.test.ts',
      name: "of the chain's own coin what another has claimed counts no more",
    },
    broken: {
      file: 'venues/evm/balance-observe.ts',
      find: '.reduce((rest, each) => subtract(rest, each.amount), total);',
      replace: '.reduce((rest) => rest, total);',
    },
  },
  {
    id: 'claims-before-a-baseline-take-nothing-off',
    section,
    rule: "A claim on a chain's own coin that ends with the block of a baseline is no part of what came since.",
    test: {
      file: 'test/store/payments.test.ts',
      name: "of the chain's own coin what came before the baseline is taken off no later increase",
    },
    broken: {
      file: 'venues/evm/balance-observe.ts',
      find: 'BigInt(until) > BigInt(since)',
      replace: 'BigInt(until) >= BigInt(since)',
    },
  },
  {
    id: 'what-was-claimed-of-a-coin-is-claimed-once',
    section,
    rule: "What a node has claimed of a chain's own coin completes no other node, whatever its executor reports.",
    test: {
      file: 'test/store/payments.test.ts',
      name: "a claim on the chain's own coin counts until its last block, and not behind it",
    },
    broken: {
      file: 'prisma/functions/claims.sql',
      find: 'o.until_block > c.since',
      replace: 'o.until_block < c.since',
    },
  },
  {
    id: 'claims-on-a-coin-end-with-their-block',
    section,
    rule: "A claim on a chain's own coin refuses no payment of later blocks.",
    test: {
      file: 'test/store/payments.test.ts',
      name: "a claim on the chain's own coin counts until its last block, and not behind it",
    },
    broken: {
      file: 'prisma/functions/claims.sql',
      find: 'o.until_block > c.since',
      replace: 'o.until_block >= c.since',
    },
  },
  {
    id: 'reported-payments-wait-for-their-block',
    section,
    rule: 'A payment that another node reported completes a node once its block is as deep as required, and not before.',
    test: {
      file: 'test/venues/evm/balance-observe.test.ts',
      name: 'takes what another node reported once its block is as deep as required, and not before',
    },
    broken: {
      file: 'venues/evm/balance-observe.ts',
      find: 'receipt.blockNumber > settled ||',
      replace: 'receipt.blockNumber > settled &&',
    },
  },
  {
    id: 'reported-payments-are-on-the-chain',
    section,
    rule: 'A payment that another node reported completes no node while its block is not on the chain.',
    test: {
      file: 'test/venues/evm/balance-observe.test.ts',
      name: 'takes nothing that another node reported of a block that the chain no longer has',
    },
    broken: {
      file: 'venues/evm/balance-observe.ts',
      find: '!(await isCanonical(connection, receipt))',
      replace: '(await isCanonical(connection, receipt)) === null',
    },
  },
  {
    id: 'payments-in-blocks-that-may-go-are-not-kept',
    section,
    rule: 'Of a search for payments only those in final blocks are kept; newer blocks are searched again.',
    test: {
      file: 'test/venues/evm/balance-observe.test.ts',
      name: 'keeps no payment of a block that is not final: the block may go, and the payment with it',
    },
    broken: {
      file: 'venues/evm/balance-observe.ts',
      find: 'to < final ? to : final',
      replace: 'to > final ? to : final',
    },
  },
  {
    id: 'transfers-are-those-of-their-reference',
    section,
    rule: 'A transfer that an exchange lists beside the requested one is not taken for it.',
    test: {
      file: 'test/venues/cex/account-transfers.test.ts',
      name: 'finds nothing of another reference, also where the exchange lists it',
    },
    broken: {
      file: 'venues/cex/dialects/binance/dialect.ts',
      find: 'found.push(...result.filter((each) => each.clientTranId === client));',
      replace: 'found.push(...result);',
    },
  },
  {
    id: 'deposits-are-of-their-transaction-and-asset',
    section,
    rule: 'A deposit of another transaction or asset that an exchange lists completes no node.',
    test: {
      file: 'test/venues/cex/deposit-observe.test.ts',
      name: 'is not one of another transaction or asset that the exchange lists beside it',
    },
    broken: {
      file: 'venues/cex/dialects/binance/dialect.ts',
      find: 'each.coin === asset && plainTransaction',
      replace: 'each.coin === asset || plainTransaction',
    },
  },
  {
    id: 'a-payment-that-was-passed-on-stays',
    section,
    rule: 'A payment is taken from the node that it completed only while nothing behind that node has started.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'where something behind it is %s, the payment stays',
    },
    broken: {
      file: 'domain/commands/reassign.ts',
      find: 'if (started.length > 0)',
      replace: 'if (started.length > 9)',
    },
  },
  {
    id: 'a-lost-send-keeps-the-payment',
    section,
    rule: 'A payment is not taken from before a node whose send was looked for and not found: under a new key it would pay twice.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'what may have been sent before counts as started: %s',
    },
    broken: {
      file: 'domain/commands/reassign.ts',
      find: 'submit_epoch === 0 &&',
      replace: 'submit_epoch < 9 &&',
    },
  },
  {
    id: 'a-send-lost-meanwhile-keeps-the-payment',
    section,
    rule: 'A send that is lost while a payment is reassigned is seen under the lock.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'a send that was lost while it is decided is seen under the lock',
    },
    broken: {
      file: 'domain/commands/reassign.ts',
      find: '        epoch: node.submit_epoch,\n',
      replace: '',
    },
  },
  {
    id: 'what-names-no-amount-is-not-reassigned',
    section,
    rule: 'A claim that names no amount completes no other node.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'what names no amount is not reassigned as one of one',
    },
    broken: {
      file: 'domain/claims.ts',
      find: 'claims.every(({ source }) => source !== of.action_type);',
      replace: 'claims.every(({ source }) => source !== of.asset);',
    },
  },
  {
    id: 'a-payment-stays-in-its-asset',
    section,
    rule: 'A deposit of one asset completes no node that waits for another asset in the same account.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'a deposit is reassigned within an account, where it is named',
    },
    broken: {
      file: 'domain/claims.ts',
      find: '? [venue, asset]',
      replace: '? [venue]',
    },
  },
  {
    id: 'a-payment-stays-on-its-chain',
    section,
    rule: 'A payment of one chain completes no node that waits on another chain, at whatever address.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'a place that is not named is no place: %s',
    },
    broken: {
      file: 'domain/claims.ts',
      find: ': [chain_id, address, token_address ?? asset];',
      replace: ': [address, token_address ?? asset];',
    },
  },
  {
    id: 'what-is-reopened-is-covered',
    section,
    rule: 'A skipped node that a reassignment reopens draws only what no other has reserved since.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'what was skipped draws again only where that is covered',
    },
    broken: {
      file: 'api/movements/reassign.ts',
      find: 'released: { ...decided.released, take: takeAt(deps) },',
      replace: 'released: decided.released,',
    },
  },
  {
    id: 'what-is-reassigned-is-forgotten',
    section,
    rule: 'Values that a later node has derived from a payment are cleared once another node claims the payment.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'what its payment had opened and closed is as before, and nothing of it is left',
    },
    broken: {
      file: 'domain/commands/reassign.ts',
      find: 'set: { ...nextAttempt(node), amount: null },',
      replace: 'set: {},',
    },
  },
  {
    id: 'a-completed-node-keeps-its-claims',
    section,
    rule: 'Another node gets a payment only in the write that returns its holder to waiting.',
    test: {
      file: 'test/store/reassign.test.ts',
      name: 'no write takes what a completed node keeps',
    },
    broken: {
      file: 'prisma/functions/claims.sql',
      find: "AND state = 'COMPLETED') THEN",
      replace: "AND state = 'FAILED') THEN",
    },
  },
  {
    id: 'baselines-are-the-templates',
    section,
    rule: 'From which balance an increase is counted, no caller says.',
    test: { file: 'test/domain/plan/bounds.test.ts', name: 'a caller may not say' },
    broken: { file: 'domain/plan/bounds.ts', find: "  'baseline_amount',\n", replace: '' },
  },
  {
    id: 'people-see-the-payee-that-is-read',
    section,
    rule: 'The payee that people are shown is the one that the executor reads.',
    test: {
      file: 'test/domain/allowlist/destinations.test.ts',
      name: 'people are shown the payee that is read',
    },
    broken: {
      file: 'domain/allowlist/destinations.ts',
      find: "typeof read === 'string' ? [read, unpadded(read)] : []",
      replace: '[].length > 0 ? [read] : []',
    },
  },
  {
    id: 'bytes-are-checked-before-a-broadcast',
    section,
    rule: 'What was signed is decoded and must be the planned transfer, or nothing is broadcast.',
    test: {
      file: EVM,
      name: 'with bytes that are not the planned transfer: UNKNOWN, and they are never broadcast',
    },
    broken: {
      file: 'venues/evm/signed-bytes.ts',
      find: 'return verdict.ok ? {',
      replace: 'return verdict.ok || !verdict.ok ? {',
    },
  },
  {
    id: 'nonces-end-in-a-finalized-block',
    section,
    rule: 'A nonce stays with its node until another transaction has used it in a finalized block.',
    test: {
      file: EVM,
      name: 'is kept until that transaction is in a finalized block, then released and READY',
    },
    broken: {
      file: 'venues/evm/nonce-proof.ts',
      find: 'const last = await finalizedNumber(connection);',
      replace: 'const last = await connection.ask((client) => client.getBlockNumber());',
    },
  },
  {
    id: 'failures-take-two-endpoints',
    section,
    rule: 'A transaction is not failed on the word of one endpoint where two are bound: a retry would pay again.',
    test: {
      file: 'test/venues/evm/endpoints.test.ts',
      name: 'a revert that one endpoint alone shows fails no payment: a retry would pay again',
    },
    broken: {
      file: 'venues/evm/landed.ts',
      find: 'agreements.every(Boolean)',
      replace: 'agreements.some(Boolean)',
    },
  },
  {
    id: 'zero-value-versions-take-two-endpoints',
    section,
    rule: 'A payment does not count as cancelled on the word of one endpoint where two are bound.',
    test: {
      file: 'test/venues/evm/endpoints.test.ts',
      name: 'a zero-value version that one endpoint alone shows ends no payment',
    },
    broken: {
      file: 'venues/evm/landed.ts',
      find: ' ||\n    !(await isAgreed(connection, receipt))',
      replace: '',
    },
  },
  {
    id: 'aborted-sends-send-nothing',
    section,
    rule: 'Nothing is sent after `send_not_after`.',
    test: { file: RERUN, name: 'sends nothing once its time to send is over' },
    broken: {
      file: 'domain/send/window.ts',
      find: 'return left > 0 ? Math.ceil(left) : null;',
      replace: 'return 600_000;',
    },
  },
  {
    id: 'suspended-senders-send-nothing',
    section,
    rule: 'The time in which the machine of a sender is suspended counts: the send window ends by the wall clock too.',
    test: {
      file: SENDS,
      name: 'whose machine sleeps behind the fence sends nothing that was believed lost meanwhile',
    },
    broken: {
      file: 'domain/send/window.ts',
      find: ', deadline.wall_ms - now.wall_ms',
      replace: '',
    },
  },
  {
    id: 'requests-end-with-their-send',
    section,
    rule: 'A request that is made within a send has no time of its own beyond the last moment of the send.',
    test: {
      file: 'test/activities/leaving.test.ts',
      name: 'within a send opens no new window for its last request',
    },
    broken: {
      file: 'platform/deadline.ts',
      find: 'Math.min(own.wall_ms, notAfter)',
      replace: 'own.wall_ms',
    },
  },
  {
    id: 'a-send-has-one-last-moment',
    section,
    rule: 'The last moment of a send is of the reading that judged it, so that a suspension in between moves nothing.',
    test: {
      file: 'test/activities/leaving.test.ts',
      name: 'right before its call keeps the last moment that was read with the time left',
    },
    broken: {
      file: 'activities/call.ts',
      find: 'endingBy(options, left, now.wall_ms)',
      replace: 'endingBy(options, left)',
    },
  },
  {
    id: 'late-connections-write-nothing',
    section,
    rule: 'A request is written only if its time is not over once its connection is there.',
    test: {
      file: 'test/platform/outgoing-call.test.ts',
      name: 'a call whose machine is suspended while it connects is written only within its time',
    },
    broken: {
      file: 'platform/outgoing/in-time.ts',
      find: '        check();\n',
      replace: '',
    },
  },
  {
    id: 'submits-over-http-carry-their-last-moment',
    section,
    rule: 'A submit over HTTP carries the last moment to send, so that an executor can hold to it.',
    test: {
      file: 'test/executors/remote.test.ts',
      name: 'submit alone carries the last moment to send',
    },
    broken: {
      file: 'executors/remote.ts',
      find: "phase === 'submit' ? withLastMoment(call) : call",
      replace: 'call',
    },
  },
  {
    id: 'history-holds-no-money-data',
    section,
    rule: 'Outputs, amounts and addresses stay in Postgres and out of the history, but for the amount that a run is called by.',
    test: {
      file: RUNS,
      name: 'a history holds no address or secret, and its amount only in its name',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: "return { ...result('COMPLETED', 'settled'), advance };",
      replace: "return { ...result('COMPLETED', 'settled', row.amount), advance };",
    },
  },
  {
    id: 'only-safe-keys-are-sent-again',
    section,
    rule: '"Not found" is sent again only where a repeated key has no second effect; elsewhere it is UNKNOWN.',
    test: { file: 'test/faults/zombie-worker.test.ts', name: 'pays nothing twice' },
    broken: {
      file: 'domain/send/not-found.ts',
      find: '  if (!send.same_key_safe) return',
      replace: '  if (send.settle_seconds < 0) return',
    },
  },
  {
    id: 'venues-have-time-to-settle',
    section,
    rule: '"Not found" is believed only after the send\'s own limit and the venue\'s settle time.',
    test: {
      file: RERUN,
      name: 'is believed to have sent nothing only after the venue has had its time to settle',
    },
    broken: {
      file: 'domain/send/not-found.ts',
      find: 'send_left_ms / 1000 + settle_seconds',
      replace: 'send_left_ms / 1000',
    },
  },
  {
    id: 'windows-reach-the-take',
    section,
    rule: "The window of a call that waits in a team's queue reaches to the last moment at which it may be taken and made.",
    test: {
      file: SENDS,
      name: 'is made once at a time, believed lost only when it is, and always comes to an end',
    },
    broken: {
      file: 'domain/send/node.ts',
      find: "kind === 'task_queue' ? TAKE_SECONDS : 0",
      replace: '0',
    },
  },
  {
    id: 'both-take-over-under-an-epoch',
    section,
    rule: 'Whoever takes over from a sender, of a transfer too, raises the epoch, and the sender writes nothing more.',
    test: {
      file: SENDS,
      name: 'is made once at a time, believed lost only when it is, and always comes to an end',
    },
    broken: {
      file: 'domain/send/epoch.ts',
      find: 'return { epoch: epoch + 1, ...(is_over',
      replace: 'return { epoch, ...(is_over',
    },
  },
  {
    id: 'resends-ask-again',
    section,
    rule: 'A transfer that a look wants sent again is not when, until its fence, its time is over or its provider has shown it.',
    test: {
      file: 'test/store/capital-transfers.test.ts',
      name: 'is not sent again when, since the look that found nothing, %s',
    },
    broken: {
      file: 'domain/capital-transfers/send.ts',
      find: "  return afterTransferNotFound(row, provider).next === 'send';",
      replace: '  return true;',
    },
  },
  {
    id: 'old-transfers-are-not-sent',
    section,
    rule: 'A capital transfer that was never sent within the time of a confirmation fails, and is not sent after a freeze or an outage.',
    test: { file: 'test/store/capital-transfers.test.ts', name: 'fails, and moves nothing' },
    broken: {
      file: 'activities/capital-transfers/submit.ts',
      find: "return row.state === 'CREATED' && row.age_ms > pendingSeconds * 1000;",
      replace: 'return false;',
    },
  },
  {
    id: 'the-fence-knows-the-age-of-a-transfer',
    section,
    rule: 'The fence of a capital transfer compares its age itself, so that a process that stood still sends no old one.',
    test: {
      file: 'test/store/capital-transfers.test.ts',
      name: 'passes no fence, however old the look at its age is',
    },
    broken: {
      file: 'prisma/functions/capital-transfers.sql',
      find: "make_interval(secs => (doc ->> 'within_age_seconds')::double precision)",
      replace: "interval '1 year'",
    },
  },
  {
    id: 'looks-take-nothing-back',
    section,
    rule: 'What a first look behind a submit meets takes nothing back of the send.',
    test: { file: RERUN, name: 'a first look that %s takes nothing back of the send' },
    broken: {
      file: 'activities/phases/chain.ts',
      find: '  } catch {\n    return null;\n  }',
      replace: '  } finally {\n  }',
    },
  },
  {
    id: 'untaken-calls-sent-nothing',
    section,
    rule: "A call that no worker of a team's queue took is known to have sent nothing.",
    test: {
      file: 'test/faults/team-worker.test.ts',
      name: 'a submit that no worker takes never started, and is sent once a worker polls',
    },
    broken: {
      file: 'activities/phases/team.ts',
      find: "args.given.fault.kind === 'not_started'",
      replace: "args.given.fault.kind === 'rejected'",
    },
  },
  {
    id: 'lost-calls-of-a-venue-are-not-repeated',
    section,
    rule: "A call on a venue's queue is made again only if no worker took it; after a send that a worker took and lost, recovery looks for it.",
    test: {
      file: 'test/workflows/venue-queue.test.ts',
      name: 'a send that a worker took and lost is never sent again: recovery looks for it',
    },
    broken: {
      file: 'workflows/phases.ts',
      find: "return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';",
      replace: 'return cause instanceof TimeoutFailure;',
    },
  },
  {
    id: 'late-answers-are-no-missing-connection',
    section,
    rule: 'A program calls a write not sent only if no connection was made, however late its answer is.',
    test: {
      file: 'test/clients/node-fetch.test.ts',
      name: 'ends with the connection: a write whose answer is late may have been taken',
    },
    broken: {
      file: 'clients/command-line/node-fetch.ts',
      find: "socket.once(isTls ? 'secureConnect' : 'connect', stop).once('close', stop);",
      replace: "socket.once('close', stop);",
    },
  },
  {
    id: 'writes-try-no-likely-prefix',
    section,
    rule: 'The client sends a write under the prefix that the service names, never under one that is only likely: another server may answer there.',
    test: {
      file: 'test/clients/retries.test.ts',
      name: 'is never tried with a write: that is sent once, under the prefix of the service',
    },
    broken: {
      file: 'clients/http/client.ts',
      find: 'if (writes) known ??= await readPrefix(signal);',
      replace: 'if (writes) known ??= likely;',
    },
  },
  {
    id: 'keys-are-of-the-attempt',
    section,
    rule: 'The idempotency key is movement, node and attempt, and nothing that a repeat renews.',
    test: { file: KILLED, name: 'after the withdrawal was accepted and its answer lost' },
    broken: {
      file: 'activities/phases/context.ts',
      find: 'idempotency_key: sendKey(row.movement_id, row),',
      replace: 'idempotency_key: `${sendKey(row.movement_id, row)}:${performance.now()}`,',
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
      file: 'prisma/functions/lanes.sql',
      find: 'AND t.raw_tx IS NULL AND t.replaces IS NULL AND t.nonce >=',
      replace: 'AND false AND t.nonce >=',
    },
  },
  {
    id: 'allowlist-is-in-the-fence',
    section,
    rule: 'What a node pays is on the allowlist in the transaction that declares its send.',
    test: { file: 'test/store/allowlist.test.ts', name: 'refuses what is revoked or cools' },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: 'jsonb_build_array(executor),\n' + "        'addresses', addresses,",
      replace: 'jsonb_build_array(executor),',
    },
  },
  {
    id: 'draws-stay-within-the-approved',
    section,
    rule: 'What is drawn stays within the approved outflow, in the transaction that declares the send.',
    test: {
      file: 'test/store/flow.test.ts',
      name: 'of what the dearest way has another node that %s',
    },
    broken: {
      file: 'prisma/functions/flow.sql',
      find: '    WHEN may_have_sent(n) OR is_abandoned(n) THEN coalesce(moved_amount(n), 0)\n',
      replace: '',
    },
  },
  {
    id: 'allowances-draw-the-unpulled-rest',
    section,
    rule: 'An allowance draws its amount beyond what its spender surely pulls.',
    test: { file: 'test/store/flow.test.ts', name: 'that a burn pulls is drawn by the burn' },
    broken: {
      file: 'prisma/functions/flow.sql',
      find: "SELECT CASE WHEN n.pays = 'spender'\n",
      replace: "SELECT CASE WHEN n.pays = 'nobody'\n",
    },
  },
  {
    id: 'an-allowance-of-0-goes',
    section,
    rule: 'An allowance is taken back however much of the approved outflow is used up.',
    test: { file: 'test/store/flow.test.ts', name: 'of 0 takes one back' },
    broken: {
      file: 'prisma/functions/flow.sql',
      find: "(flow_problems.flow ->> 'amount')::numeric = 0 THEN",
      replace: "(flow_problems.flow ->> 'amount')::numeric < 0 THEN",
    },
  },
  {
    id: 'who-may-pull-is-listed',
    section,
    rule: 'Only an allowance of 0 needs no spender on the allowlist.',
    test: { file: 'test/faults/allowances.test.ts', name: 'an allowance of 0 takes one back' },
    broken: {
      file: 'domain/plan/amount.ts',
      find: "    compare(amount, '0') === 0",
      replace: "    compare(amount, '0') >= 0",
    },
  },
  {
    id: 'pulls-wait-for-their-allowance',
    section,
    rule: 'A node that is readied beside its allowance waits for it and does not fail.',
    test: {
      file: 'test/faults/allowances.test.ts',
      name: 'a retried burn waits for its allowance though another node is between them',
    },
    broken: {
      file: 'activities/phases/before-send.ts',
      find: 'fault.code === ALLOWANCE_INSUFFICIENT && ',
      replace: "fault.code === '' && ",
    },
  },
  {
    id: 'a-cancel-takes-allowances-back',
    section,
    rule: 'A cancel of the plan of a proposal, or of the starter over the bridge, takes its allowance back.',
    test: {
      file: 'test/domain/agents/blueprint.test.ts',
      name: 'is held to what every template is held to',
    },
    broken: {
      file: 'domain/actions/blueprints/parts.ts',
      find: "config: { ...config, amount: '0' }",
      replace: "config: { ...config, amount: '1' }",
    },
  },
  {
    id: 'open-allowances-are-seen',
    section,
    rule: 'What a movement allowed and its nodes did not pull is open until the owner allows the spender something else.',
    test: { file: 'test/store/allowances.test.ts', name: 'what its nodes have not pulled is open' },
    broken: {
      file: 'prisma/functions/allowances.sql',
      find: "    AND (EXISTS (SELECT FROM node_attempts a WHERE a.outcome = 'COMPLETED'",
      replace: '    AND (EXISTS (SELECT FROM node_attempts a WHERE true',
    },
  },
  {
    id: 'allowances-of-abandoned-nodes-are-open-once-landed',
    section,
    rule: 'An allowance whose node was abandoned is open once it has landed.',
    test: {
      file: 'test/store/allowances.test.ts',
      name: 'an abandoned allowance is open once it has landed, and no sooner',
    },
    broken: {
      file: 'prisma/functions/allowances.sql',
      find: "(n.state = 'COMPLETED' OR is_abandoned(n))",
      replace: "n.state = 'COMPLETED'",
    },
  },
  {
    id: 'abandoned-resets-count-once-landed',
    section,
    rule: 'An `approve` whose node was abandoned replaces an earlier allowance once it has landed, and no sooner.',
    test: {
      file: 'test/store/allowances.test.ts',
      name: 'an abandoned allowance is open once it has landed, and no sooner',
    },
    broken: {
      file: 'prisma/functions/allowances.sql',
      find: '\n        AND n.landed_late_at IS NOT NULL AND n.next_late_look IS NULL))',
      replace: '))',
    },
  },
  {
    id: 'abandoned-pulls-are-not-allowed-anew',
    section,
    rule: 'What an abandoned node may have pulled is not left of an allowance that was reset.',
    test: {
      file: 'test/store/allowances.test.ts',
      name: 'what an abandoned node may have pulled stays open, and is not allowed anew',
    },
    broken: {
      file: 'prisma/functions/allowances.sql',
      find: 'AND (s.landed OR l.later IS NOT NULL)',
      replace: 'AND s.landed',
    },
  },
  {
    id: 'abandoned-pulls-stay-open',
    section,
    rule: 'What an abandoned node was to pull stays open until it lands or its allowance is replaced.',
    test: {
      file: 'test/store/allowances.test.ts',
      name: 'what an abandoned node may have pulled stays open, and is not allowed anew',
    },
    broken: {
      file: 'prisma/functions/allowances.sql',
      find: 'AND (s.landed OR l.later IS NOT NULL)',
      replace: 'AND true',
    },
  },
  {
    id: 'abandoned-nodes-need-no-allowance',
    section,
    rule: 'A retry after a reset allows nothing for an abandoned node.',
    test: {
      file: 'test/domain/commands/retry.test.ts',
      name: 'a retry after a reset allows nothing for an abandoned node',
    },
    broken: {
      file: 'domain/commands/retry.ts',
      find: "      if (state === 'FAILED' && error_code === ABANDONED) return '0';\n",
      replace: '',
    },
  },
  {
    id: 'allowed-anew-is-what-was-left',
    section,
    rule: 'A retry after a reset allows what was left, and never the whole again.',
    test: { file: 'test/store/allowances.test.ts', name: 'a retry after a reset allows' },
    broken: {
      file: 'domain/commands/retry.ts',
      find: "amount: stillPulled(snapshot, each.node_key, resets.get(each.node_key) ?? '0'),",
      replace: 'amount: null,',
    },
  },
  {
    id: 'completed-stays-completed',
    section,
    rule: 'Nothing but an allowance, or a look whose payment is another node’s, runs again once it has completed.',
    test: { file: 'test/store/allowances.test.ts', name: 'a retry after a reset allows' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "n.pays <> 'spender' AND",
      replace: 'false AND',
    },
  },
  {
    id: 'passed-on-is-what-was-sent',
    section,
    rule: 'Nodes together pass on no more than the node before them was proven to send.',
    test: {
      file: 'test/store/flow.test.ts',
      name: 'lets nodes together pass on what the node before them sent',
    },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: ",\n        'flow', jsonb_build_object('node_key', key, 'amount', n.amount)),",
      replace: '),',
    },
  },
  {
    id: 'short-fence-is-for-plain-payees',
    section,
    rule: 'The fence in one statement passes no node on a chain: what such a node pays is read by the rule that knows every form.',
    test: { file: 'test/store/allowlist.test.ts', name: 'the fence in one statement' },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: "IF pays = 'declared' THEN",
      replace: "IF pays <> 'exchange' THEN",
    },
  },
  {
    id: 'preparations-are-payees',
    section,
    rule: 'Whom an executor names in what it prepared or reported is somebody whom the node pays.',
    test: {
      file: 'test/domain/allowlist/destinations.test.ts',
      name: 'a payee is found however deep it is hidden',
    },
    broken: {
      file: 'domain/allowlist/destinations.ts',
      find: '...[prepared_action ?? {}, output ?? {}].flatMap(',
      replace: '...[output ?? {}].flatMap(',
    },
  },
  {
    id: 'approvers-see-where-it-goes',
    section,
    rule: 'Every field of a node’s config that decides where money goes or how much is in what its approver is shown.',
    test: {
      file: 'test/clients/approver-sees.test.ts',
      name: 'each field that decides where or how much is shown',
    },
    broken: {
      file: 'domain/plan/send-terms.ts',
      find: "destination_venue: of('destination_venue'),",
      replace: 'destination_venue: null,',
    },
  },
  {
    id: 'a-command-is-approved-by-its-plan',
    section,
    rule: '`fundctl` approves a change request that acts on movements only where the plan of each has the hash that the request names.',
    test: {
      file: 'test/clients/fundctl-answers.test.ts',
      name: 'is not approved where %s, but shown and rejected',
    },
    broken: {
      file: 'clients/fundctl/changes-view.ts',
      find: 'if (read.hash !== plan_hash)',
      replace: "if (read.hash === '')",
    },
  },
  {
    id: 'guards-know-the-whole-of-a-type',
    section,
    rule: 'The facts of an action type are consistent: a bridge transfer is pulled, tied to its signer and checked on the chain where it arrives.',
    test: {
      file: 'test/domain/actions/specs.test.ts',
      name: 'the members of %s that imply each other agree',
    },
    broken: {
      file: 'domain/actions/bridge-c.ts',
      find: "payees: { strict: 'destination_chain_id' },",
      replace: "payees: 'chain',",
    },
  },
  {
    id: 'of-an-unknown-type-the-worst-is-held',
    section,
    rule: 'An unknown action type counts as sending, and pays only the payees that its executor declares.',
    test: {
      file: 'test/domain/actions/specs.test.ts',
      name: 'of a built-in type no declaration counts, of a team’s own nothing else',
    },
    broken: {
      file: 'domain/actions/built-in.ts',
      find: "payees: 'declared',",
      replace: "payees: 'none',",
    },
  },
  {
    id: 'nothing-decides-by-the-name-of-a-type',
    section,
    rule: 'What an action type is stands in its spec: no guard compares its name, which another type would pass.',
    test: {
      file: 'test/architecture/action-names.test.ts',
      name: 'no code but what serves a type or makes its nodes names an action type',
    },
    broken: {
      file: 'domain/plan/amount.ts',
      find: 'specOf(action_type).allowance &&',
      replace: "action_type === 'evm_erc20_approve' &&",
    },
  },
  {
    id: 'a-withdrawal-keeps-its-account',
    section,
    rule: 'What was prepared for an exchange account is not sent from another one that its venue key means by then.',
    test: { file: WITHDRAWALS, name: 'gets nothing that was prepared for the account of before' },
    broken: {
      file: 'venues/cex/withdrawal.ts',
      find: '    requirePreparedEntries(prepared_action[TERMS], memberEntry(account));\n',
      replace: '',
    },
  },
  {
    id: 'another-account-proves-nothing',
    section,
    rule: 'A look at another account than the one that a withdrawal was sent from proves nothing.',
    test: { file: WITHDRAWALS, name: 'proves nothing about a send of before' },
    broken: {
      file: 'venues/cex/withdrawal.ts',
      find: '  requireSameEntries(context.prior?.prepared_action?.[TERMS], memberEntry(account));\n',
      replace: '',
    },
  },
  {
    id: 'a-transfer-within-keeps-its-accounts',
    section,
    rule: 'A transfer within an exchange is looked for between the accounts that it was prepared for, or not at all.',
    test: {
      file: TRANSFERS,
      name: 'is not sent, and a look proves nothing, once a key means another account',
    },
    broken: {
      file: 'venues/cex/internal-transfer.ts',
      find: '    requireSameEnds(accounts, context);\n',
      replace: '',
    },
  },
  {
    id: 'accounts-before-what-they-refuse',
    section,
    rule: 'A look for a transfer within an exchange compares the accounts before it reads what they would refuse, which else would count as a look.',
    test: {
      file: TRANSFERS,
      name: 'is not looked for at accounts that would refuse it either (%s)',
    },
    broken: {
      file: 'venues/cex/internal-transfer.ts',
      find: '    requireSameEnds(accounts, context);\n    const { source, transfer } = plan(accounts, context);\n',
      replace:
        '    const { source, transfer } = plan(accounts, context);\n    requireSameEnds(accounts, context);\n',
    },
  },
  {
    id: 'another-master-is-another-account',
    section,
    rule: 'A withdrawal from a sub-account is bound to its master, too: another master may have a sub-account of the same name.',
    test: {
      file: WITHDRAWALS,
      name: 'is another one, too, where a sub-account has another master',
    },
    broken: {
      file: 'venues/cex/withdrawal.ts',
      find: '[TERMS]: memberEntry(account),',
      replace: '[TERMS]: memberEntry({ ...account, master: null }),',
    },
  },
  {
    id: 'a-changed-file-of-the-process-is-noticed',
    section,
    rule: 'A look proves nothing about a node whose process with the keys means another account than the one it was prepared for.',
    test: {
      file: 'test/venues/cex/served.test.ts',
      name: 'no look for a withdrawal at %s can see it',
    },
    broken: {
      file: 'venues/cex/served/forward.ts',
      find: 'return atRecorded(context.prior?.prepared_action?.[TERMS], () => run(context, call, phase));',
      replace: 'return run(context, call, phase);',
    },
  },
  {
    id: 'a-changed-file-of-the-process-of-transfers-is-noticed',
    section,
    rule: 'A look proves nothing about a capital transfer whose process with the keys means other accounts than it was created for.',
    test: {
      file: 'test/venues/cex/served.test.ts',
      name: 'no look for a capital transfer can see it',
    },
    broken: {
      file: 'venues/cex/account-transfers.ts',
      find: 'return atRecorded(order.venue_entries, () => calls.find(order, call));',
      replace: 'return calls.find(order, call);',
    },
  },
  {
    id: 'a-silent-process-proves-nothing',
    section,
    rule: 'Where the keys of an account are in another process, the service compares the accounts of a send before it calls that process, whose silence else would count as a look.',
    test: { file: 'test/venues/cex/served.test.ts', name: 'no withdrawal at %s is looked for' },
    broken: {
      file: 'venues/cex/served/forward.ts',
      find: '    requireAccounts(accounts, context);\n',
      replace: '',
    },
  },
  {
    id: 'a-silent-process-of-transfers-proves-nothing',
    section,
    rule: 'The silence of a process with the keys proves nothing about a transfer within the exchange that was made between other accounts.',
    test: {
      file: 'test/venues/cex/served.test.ts',
      name: 'no transfer within the exchange is looked for',
    },
    broken: {
      file: 'venues/cex/executors.ts',
      find: 'accounts, requireSameEnds)',
      replace: 'accounts, () => undefined)',
    },
  },
  {
    id: 'a-capital-transfer-keeps-its-accounts',
    section,
    rule: 'A capital transfer is sent between the accounts that its venue keys meant when it was created, or not at all.',
    test: {
      file: TRANSFERS,
      name: 'sends and believes nothing of a transfer once the key of %s means another account',
    },
    broken: {
      file: 'venues/cex/account-transfers.ts',
      find: 'if (!areOther(made, now(order))) return',
      replace: 'if (!areOther(made, now(order)) || order.amount.length > 0) return',
    },
  },
  {
    id: 'a-withdrawal-is-paid-on-its-network',
    section,
    rule: 'A withdrawal that its exchange shows on another network than ordered is not completed.',
    test: { file: 'test/venues/cex/dialects.test.ts', name: 'is left to a person: %s' },
    broken: {
      file: 'venues/cex/withdrawal.ts',
      find: "  if (network !== null && network.toLowerCase() !== order.network.toLowerCase()) return 'network';\n",
      replace: '',
    },
  },
  {
    id: 'a-withdrawal-is-paid-with-its-tag',
    section,
    rule: 'A withdrawal that its exchange shows with another tag than ordered is not completed.',
    test: { file: 'test/venues/cex/dialects.test.ts', name: 'is left to a person: %s' },
    broken: {
      file: 'venues/cex/withdrawal.ts',
      find: "return tag !== null && tag !== order.tag ? 'tag' : null;",
      replace: 'return null;',
    },
  },
  {
    id: 'a-withdrawal-is-paid-in-full',
    section,
    rule: 'A withdrawal for which another amount than ordered left the account is not completed.',
    test: {
      file: WITHDRAWALS,
      name: 'of which %s was paid, which is neither the amount nor the amount less the fee, is left to a person',
    },
    broken: {
      file: 'venues/cex/withdrawal.ts',
      find: '    if (dialect.fee_on_top !== true) requireWhole(record, { order, context });\n',
      replace: '',
    },
  },
  {
    id: 'a-booking-is-short-by-a-fee-at-most',
    section,
    rule: 'A withdrawal that is a booking within the exchange is not completed with less than ordered, but for a fee that is bounded.',
    test: {
      file: WITHDRAWALS,
      name: 'within the exchange of %s, with the fee limit %s, is short by more than a fee',
    },
    broken: {
      file: 'venues/cex/withdrawal.ts',
      find: ' && compare(record.net_amount, least) >= 0',
      replace: '',
    },
  },
];
