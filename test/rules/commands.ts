import type { Rule } from './rule.ts';

const section = 'Commands, wakes, versions';
const AWAY = 'test/faults/temporal-away.test.ts';
const RERUN = 'test/faults/local-activity-rerun.test.ts';
const CARRIED = 'test/faults/carried.test.ts';
const CUTOVER = 'test/faults/cutover.test.ts';
const ATTENTION = 'test/faults/attention.test.ts';
const GUARD = 'test/store/approval-guard.test.ts';
const STORE = 'test/store/write-path.test.ts';
const BURSTS = 'test/faults/bursts.test.ts';
const HAND_OVER = 'test/platform/handover.test.ts';
const APPROVALS = 'test/store/approval-rules.test.ts';
const CLAUSES = 'test/store/clauses.test.ts';
const CHANGES = 'test/http/change-requests.test.ts';
const PASSKEYS = 'test/http/passkeys.test.ts';
const SWEEPS = 'test/store/sweeps.test.ts';
const AT_VENUE = 'test/store/sends-at-venue.test.ts';
const NAMED_CLAIMS = 'test/store/named-claims.test.ts';
const CLOCK_AHEAD = 'test/store/clock-ahead.test.ts';

export const commandRules: readonly Rule[] = [
  {
    id: 'keys-in-headers-are-not-ignored',
    section,
    rule: 'A write that reads no idempotency key refuses the header with one, since its caller relies on a repeat that does nothing; one that only stops something does not.',
    test: {
      file: 'test/api/http/app.test.ts',
      name: 'is refused by a write that reads none, which would act again',
    },
    broken: {
      file: 'api/http/validate.ts',
      find: '...keyIssues(route, raw.idempotencyKey)',
      replace: '',
    },
  },
  {
    id: 'what-was-read-is-woken-again',
    section,
    rule: 'A movement that stands still after a load has read its commands is woken once more: the load may have been a frozen worker’s, which no run hears of.',
    test: {
      file: SWEEPS,
      name: 'wakes what a load of no run has read, once, and again after its next command',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: 'swept_at = CASE WHEN woken IS NULL THEN swept_at END',
      replace: 'swept_at = swept_at',
    },
  },
  {
    id: 'a-wake-in-doubt-is-sent-again',
    section,
    rule: 'A second wake counts as sent when Temporal has taken it, and only if no load has read a command meanwhile.',
    test: {
      file: SWEEPS,
      name: 'wakes again what was read while its wake was under way, and what Temporal did not take',
    },
    broken: {
      file: 'store/sweeps.ts',
      find: ' AND m.xmin::text = l.writer',
      replace: '',
    },
  },
  {
    id: 'an-approval-needs-its-people',
    section,
    rule: 'Under approval rules a movement is approved once, and only once, each rule has enough different people who may approve, whoever writes the approval.',
    test: {
      file: APPROVALS,
      name: 'no other way of approving passes a rule',
    },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: 'IF NOT quorum_of(counted) THEN\n    RAISE',
      replace: 'IF m.movement_id IS NULL THEN\n    RAISE',
    },
  },
  {
    id: 'changes-need-their-people',
    section,
    rule: 'With a rule for its kind, a change that lets more money go, or to more places, takes effect only once enough people have approved it, whoever writes it.',
    test: { file: CHANGES, name: 'waits for two people, and is made once: %s' },
    broken: {
      file: 'prisma/functions/change-requests.sql',
      find: 'NOT (quorum_of(approvals_of_change(c, svc_now()))',
      replace: 'NOT (c.rules IS NOT NULL',
    },
  },
  {
    id: 'what-is-approved-is-what-is-written',
    section,
    rule: 'A decided change request lets exactly the row pass that people approved.',
    test: {
      file: CHANGES,
      name: 'makes a request, and the change once it is approved and the command is run again',
    },
    broken: {
      file: 'prisma/functions/change-requests.sql',
      find: 'AND (r.row_before, r.row_after)\n      IS NOT DISTINCT FROM (ask_change.row_before, ask_change.row_after)',
      replace: '',
    },
  },
  {
    id: 'assertions-verify-before-a-send',
    section,
    rule: 'Under a rule that wants passkeys a worker sends nothing on approvals whose assertions do not verify.',
    test: {
      file: PASSKEYS,
      name: 'an approval with assertions that somebody else made up sends nothing',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "refusal := 'approval_not_proven';",
      replace: 'NULL;',
    },
  },
  {
    id: 'revoked-passkeys-count-no-longer',
    section,
    rule: 'What a passkey signed counts no longer, for what still waits, once it is revoked.',
    test: { file: PASSKEYS, name: 'a passkey that is revoked counts no longer' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "WHERE k.credential_id = a.evidence ->> 'credential_id' AND k.person = a.person\n            AND k.revoked_at IS NULL",
      replace: "WHERE k.credential_id = a.evidence ->> 'credential_id' AND k.person = a.person",
    },
  },
  {
    id: 'withdrawn-approvals-count-no-longer',
    section,
    rule: 'An approval that its person has withdrawn counts no longer.',
    test: {
      file: 'test/http/approval-rules.test.ts',
      name: 'an approval is withdrawn while it waits, and counts no longer; that of others stays',
    },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "AND w.decision = 'withdraw' AND w.at >= a.at\n            AND NOT is_compromised(w.key_id, NULL, w.at))",
      replace: 'AND false)',
    },
  },
  {
    id: 'compromised-keys-decide-nothing',
    section,
    rule: 'What a compromised key approved counts for nothing while it waits.',
    test: {
      file: 'test/http/dashboard-sessions.test.ts',
      name: 'has approved nothing that waits, also once the key has ended; what runs needs a person',
    },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "AND NOT is_compromised(a.key_id, a.evidence ->> 'credential_id', a.at)\n      ORDER BY a.at DESC LIMIT 1) d ON true) p",
      replace: 'ORDER BY a.at DESC LIMIT 1) d ON true) p',
    },
  },
  {
    id: 'compromised-approvals-need-a-person',
    section,
    rule: 'A movement that runs on an approval of a compromised key needs a person until it has ended.',
    test: {
      file: 'test/http/approval-rules.test.ts',
      name: 'what a compromised key has approved needs a person until it has ended',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: 'AND approved_by_compromised(m) THEN',
      replace: 'AND false THEN',
    },
  },
  {
    id: 'assertions-count-once',
    section,
    rule: 'An assertion of a passkey counts for one decision, and only with a counter above the last.',
    test: { file: PASSKEYS, name: 'a used assertion, and a counter that went back, are refused' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "WHERE d.evidence ->> 'nonce' = shown ->> 'nonce')",
      replace: 'WHERE false)',
    },
  },
  {
    id: 'fundadmin-verifies-approvals',
    section,
    rule: 'Under a rule that wants passkeys `fundadmin` makes no change on approvals whose assertions do not verify.',
    test: {
      file: CHANGES,
      name: 'makes no change under a rule for passkeys of approvals that do not verify',
    },
    broken: {
      file: 'prisma/functions/change-requests.sql',
      find: 'OR coalesce(c.proven_until > svc_now(), false)',
      replace: 'OR true',
    },
  },
  {
    id: 'decisions-are-as-they-were-made',
    section,
    rule: 'A decision that was altered, removed or invented is found without the service.',
    test: {
      file: PASSKEYS,
      name: 'a decision that is altered, removed or invented is found without the service',
    },
    broken: {
      file: 'tools/audit/decisions.ts',
      find: 'audited.hash !== decisionHash(decision) ||',
      replace: '',
    },
  },
  {
    id: 'authors-do-not-approve-their-changes',
    section,
    rule: 'Whoever wants a change does not count among those who approve it.',
    test: { file: CHANGES, name: 'waits for two people, and is made once: %s' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "(coalesce(c.person = who, false) OR is_or_was(who, c.author ->> 'client_id'))",
      replace: 'coalesce(c.person = who, false)',
    },
  },
  {
    id: 'fundadmin-names-who-acts',
    section,
    rule: 'Once an approval rule is in force, `fundadmin` changes something only with `--as <person>`.',
    test: {
      file: CHANGES,
      name: 'names who acts in every change once a rule is in force, also of another kind',
    },
    broken: {
      file: 'tools/acting.ts',
      find: 'if ((await listRules(db)).length === 0) return;',
      replace: 'return;',
    },
  },
  {
    id: 'what-fundadmin-did-its-person-did',
    section,
    rule: 'Who listed a payee with `fundadmin --as` does not count among those who approve a payment to it.',
    test: { file: APPROVALS, name: 'the author of a payee, or of the template, does not count' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "coalesce(id = 'fundadmin:' || who, false)",
      replace: 'false',
    },
  },
  {
    id: 'fee-caps-need-people',
    section,
    rule: 'A raise of a nonce lane’s fee caps waits under a rule for `signers`; to lower or end one does not.',
    test: {
      file: CHANGES,
      name: 'a raise of fee caps waits as it is, whatever its lane does; to end one does not wait',
    },
    broken: {
      file: 'prisma/migrations/20261129000066_fee_caps_need_people/migration.sql',
      find: 'WHEN (NEW.cap_raise IS NOT NULL AND NEW.cap_raised_until > svc_now()',
      replace: 'WHEN (false',
    },
  },
  {
    id: 'what-leads-a-movement-on-needs-its-people',
    section,
    rule: 'Opening a gate, a retry, a resolve or a reassign of a movement under approval rules needs fresh approvals.',
    test: {
      file: APPROVALS,
      name: 'a transition by the command %s waits under a rule, whoever writes it',
    },
    broken: {
      file: 'prisma/functions/change-requests.sql',
      find: "command NOT IN ('resume', 'retry', 'resolve')",
      replace: "command NOT IN ('resume', 'retry')",
    },
  },
  {
    id: 'change-requests-end-once',
    section,
    rule: 'A change request only ends, once; only the owner of the database changes something alone.',
    test: {
      file: GUARD,
      name: 'a change request only ends, once, and only the owner makes one alone',
    },
    broken: {
      file: 'prisma/functions/change-requests.sql',
      find: "TG_OP = 'DELETE' OR OLD.state <> 'open'",
      replace: "TG_OP = 'DELETE'",
    },
  },
  {
    id: 'a-person-counts-for-one-group',
    section,
    rule: 'Within a rule a person counts for one group.',
    test: {
      file: APPROVALS,
      name: 'never approved with fewer people than each rule asks, and always with enough',
    },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: 'FROM generate_series(1, (1 << jsonb_array_length(wanted)) - 1) AS chosen',
      replace:
        'FROM (SELECT 1 << x AS chosen FROM generate_series(0, jsonb_array_length(wanted) - 1) x) c',
    },
  },
  {
    id: 'rules-of-the-create-go-on-to-hold',
    section,
    rule: 'A rule that matched a movement when it was created holds for it even if it is changed or removed.',
    test: {
      file: APPROVALS,
      name: 'never approved with fewer people than each rule asks, and always with enough',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: 'PERFORM keep_rules_of(id, at);',
      replace: '',
    },
  },
  {
    id: 'limits-of-approval-add-up',
    section,
    rule: 'A limit over a time counts everything that one person created or that pays one payee.',
    test: {
      file: APPROVALS,
      name: 'a rule with conditions holds for what they name, and limits add up over time',
    },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "WHERE wanted ? 'within_seconds' AND",
      replace: 'WHERE false AND',
    },
  },
  {
    id: 'limits-add-up-by-payee',
    section,
    rule: 'A limit over a time counts what pays the same payee, whoever created it.',
    test: { file: CLAUSES, name: 'adds up what pays one payee, whoever makes it' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "a.value ->> 'address' = b.value ->> 'address'",
      replace: "a.value ->> 'address' <> b.value ->> 'address'",
    },
  },
  {
    id: 'limits-add-up-by-person',
    section,
    rule: 'A limit over a time counts what one person created with any of their identities.',
    test: { file: CLAUSES, name: 'adds up what one person makes with two clients' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "WHERE is_or_was(q, p.created_by ->> 'client_id'))",
      replace: "WHERE q = p.created_by ->> 'client_id')",
    },
  },
  {
    id: 'no-bound-is-above-every-limit',
    section,
    rule: 'A movement without a bound is above every limit of an approval rule.',
    test: { file: CLAUSES, name: 'is below all that has no bound' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: 'CASE WHEN bool_and(x.amount IS NOT NULL) THEN',
      replace: 'CASE WHEN bool_or(x.amount IS NOT NULL) THEN',
    },
  },
  {
    id: 'limits-count-every-outflow',
    section,
    rule: 'A limit over a time counts an asset of another movement’s outflow, whatever asset its intent names.',
    test: {
      file: CLAUSES,
      name: 'counts an asset of the outflow, whatever the intent of the other is in',
    },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "\n        OR o.outflow @> jsonb_build_array(jsonb_build_object('asset', wanted ->> 'asset')))",
      replace: ')',
    },
  },
  {
    id: 'limits-count-what-was-cancelled-late',
    section,
    rule: 'A limit over a time counts a movement that was cancelled after it had sent something.',
    test: { file: CLAUSES, name: 'counts what was cancelled after it had paid' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "(n.state NOT IN ('CANCELLED', 'SKIPPED') OR may_have_sent(n))",
      replace: "(n.state NOT IN ('CANCELLED', 'SKIPPED') AND may_have_sent(n))",
    },
  },
  {
    id: 'rules-of-an-asset-see-the-outflow',
    section,
    rule: 'An approval rule for an asset holds for a movement that moves the asset, whatever asset its intent names.',
    test: { file: CLAUSES, name: 'holds for an asset of the outflow alone' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "w -> 'assets' ? m.asset OR EXISTS (",
      replace: "w -> 'assets' ? m.asset AND EXISTS (",
    },
  },
  {
    id: 'authors-do-not-approve',
    section,
    rule: 'Whoever made a movement, listed its payee or wrote its template does not count, unless the rule allows it.',
    test: {
      file: APPROVALS,
      name: 'the author of a payee, or of the template, does not count',
    },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "WHEN NOT (rule -> 'payee_author_may_approve')::boolean AND EXISTS",
      replace: 'WHEN false AND EXISTS',
    },
  },
  {
    id: 'who-promotes-does-not-approve',
    section,
    rule: 'Whoever promoted an agent’s version does not count as an approver of its movements, unless the rule allows it.',
    test: { file: CLAUSES, name: 'is who promoted the version of an agent' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: "e.action = 'template_proposal.promote'",
      replace: "e.action = 'template_proposal.create'",
    },
  },
  {
    id: 'approvals-of-before-a-restore-do-not-count',
    section,
    rule: 'An approval of before the last restore does not count: what was withdrawn since may be lost.',
    test: { file: CLAUSES, name: 'counts no longer after a restore' },
    broken: {
      file: 'prisma/functions/approval-rules.sql',
      find: 'AND a.at > (SELECT max(since) FROM deployments) AND a.at <=',
      replace: 'AND a.at <=',
    },
  },
  {
    id: 'a-command-acts-on-the-node-it-names',
    section,
    rule: 'A resume or retry that names its node, attempt and state acts on no other.',
    test: {
      file: 'test/http/movement-actions.test.ts',
      name: 'that comes twice releases no second gate',
    },
    broken: {
      file: 'api/movements/act.ts',
      find: 'if (chosen !== undefined && differs(named, chosen))',
      replace: 'if (chosen === undefined && differs(named, named as NodeSnapshot))',
    },
  },
  {
    id: 'a-word-ends-no-usual-wait',
    section,
    rule: 'A person’s word ends a node that is UNKNOWN or observed for longer than usual, and no other.',
    test: {
      file: 'test/faults/silence.test.ts',
      name: 'an exchange withdrawal that stays pending',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: "  SELECT n.state = 'UNKNOWN' AND n.error_code IS DISTINCT FROM 'SEND_UNDER_WAY'\n",
      replace: '  SELECT true\n',
    },
  },
  {
    id: 'an-observed-send-is-never-called-failed',
    section,
    rule: 'A person can call no send failed that its run observes: the venue has not ended it.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'an overdue node can be abandoned, and never be called failed',
    },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "    CASE WHEN n.state IN ('SUBMITTED', 'OBSERVING')\n",
      replace: '    CASE WHEN false\n',
    },
  },
  {
    id: 'a-resume-takes-nothing-back',
    section,
    rule: 'A resume or a retry takes nothing back that the venue was found to have, also where it was decided before the look that found it.',
    test: {
      file: AT_VENUE,
      name: 'a %s takes back nothing of what the venue has, and only its answer does',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "      error_code = CASE WHEN looks_again AND state = 'UNKNOWN'\n",
      replace: "      error_code = CASE WHEN false AND looks_again AND state = 'UNKNOWN'\n",
    },
  },
  {
    id: 'a-resume-hides-no-changed-entry',
    section,
    rule: 'A resume or a retry does not hide that the looks of a send read another account.',
    test: { file: AT_VENUE, name: 'a %s of what no look can see lets nothing be called failed' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "OR error_code = 'VENUE_ENTRY_CHANGED')\n          THEN error_code\n",
      replace: 'OR false)\n          THEN error_code\n',
    },
  },
  {
    id: 'silence-hides-nothing-of-the-venue',
    section,
    rule: 'A look without an answer hides no code that says what the venue has.',
    test: {
      file: AT_VENUE,
      name: 'looks after a resume that find nothing new hide nothing of what the venue has',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: '    saysAtVenue(error_code) || (error_code',
      replace: '    (error_code',
    },
  },
  {
    id: 'a-short-history-takes-nothing-back',
    section,
    rule: 'That the history of a venue no longer reaches back far enough takes nothing back of what it has shown.',
    test: {
      file: AT_VENUE,
      name: 'a venue whose history is over by now takes nothing back of what it has shown',
    },
    broken: {
      file: 'activities/phases/recover.ts',
      find: "answer.next_state === 'UNKNOWN' && answer.error_code === HISTORY_TOO_OLD",
      replace: "answer.next_state === 'READY' && answer.error_code === HISTORY_TOO_OLD",
    },
  },
  {
    id: 'doubtful-answers-hide-nothing-of-the-venue',
    section,
    rule: 'An answer that is not believed takes nothing back of what the venue has, and is shown beside it.',
    test: {
      file: AT_VENUE,
      name: 'a FAILED that is not believed takes nothing back, and is shown beside what is known',
    },
    broken: {
      file: 'activities/phases/team.ts',
      find: 'STEPS[phase].finish(deps, args, row, { fault })',
      replace: "STEPS[phase].finish(deps, args, row, { answer: { next_state: 'UNKNOWN' } })",
    },
  },
  {
    id: 'refused-claims-are-shown',
    section,
    rule: 'That the claim of a completion is refused is shown at once, also of a send that is under way, which then is not called failed.',
    test: {
      file: AT_VENUE,
      name: 'a completion whose claim is refused (%s) is shown at once, and is never called failed',
    },
    broken: {
      file: 'domain/send/at-venue.ts',
      find: '  ...CLAIM_REFUSED,\n',
      replace: '',
    },
  },
  {
    id: 'stuck-lanes-are-shown',
    section,
    rule: 'That a nonce lane is stuck is shown at once, also of a send that is under way.',
    test: {
      file: AT_VENUE,
      name: 'a stuck nonce lane is shown at once, also of a send that is under way',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: 'return error_code === LANE_STUCK || saysAtVenue(error_code);',
      replace: 'return saysAtVenue(error_code);',
    },
  },
  {
    id: 'a-transfer-otherwise-is-no-silence',
    section,
    rule: 'Recovery of a transfer within an exchange whose record is not as planned says so, which no silence does.',
    test: {
      file: 'test/venues/cex/account-transfers.test.ts',
      name: 'leaves a record that is not as planned to a person, as a landing once it is paid (%s)',
    },
    broken: {
      file: 'venues/cex/internal-transfer.ts',
      find: "        'TRANSFER_MISMATCH',\n",
      replace: '',
    },
  },
  {
    id: 'a-send-at-its-venue-is-never-called-failed',
    section,
    rule: 'A person can call no send failed of which the last answer says that it is under way, or was paid.',
    test: {
      file: AT_VENUE,
      name: 'a late send that is under way is never called failed, also once its venue is silent',
    },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "      OR n.state = 'UNKNOWN' AND is_at_venue(n.error_code)\n",
      replace: '',
    },
  },
  {
    id: 'a-late-send-under-way-is-known-as-such',
    section,
    rule: 'A send that becomes UNKNOWN while its executor reports it as under way has a code of the service, so that no word is taken as if nothing were known.',
    test: {
      file: AT_VENUE,
      name: 'a late send that is under way is never called failed, also once its venue is silent',
    },
    broken: {
      file: 'activities/phases/recover.ts',
      find: '{ ...answer, ...underWay(answer) }',
      replace: "{ ...answer, error_code: 'RECOVERY_INCONCLUSIVE' }",
    },
  },
  {
    id: 'an-unseen-send-is-never-called-failed',
    section,
    rule: 'A person can call no send failed that its last look could not see, since its venue key means another account or bridge entry by then.',
    test: {
      file: AT_VENUE,
      name: 'what its last look could not see is never called failed, whoever read it before',
    },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "      WHEN n.state = 'UNKNOWN' AND n.error_code = 'VENUE_ENTRY_CHANGED'\n",
      replace: '      WHEN false\n',
    },
  },
  {
    id: 'an-unseen-send-is-shown-as-such',
    section,
    rule: 'An UNKNOWN node whose look cannot see its send says so, in place of what an executor reported before, and of nothing that its venue has.',
    test: {
      file: AT_VENUE,
      name: 'once its entry is back, a look at a venue that is %s leaves the word to the person',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: 'if (isUnseen || isShownAtOnce(code)) return fault;',
      replace: 'if (isShownAtOnce(code)) return fault;',
    },
  },
  {
    id: 'an-entry-that-is-back-leaves-the-word',
    section,
    rule: 'Once a venue key means the account of a send again, any answer of a look takes back that no look could see it, silence too.',
    test: {
      file: AT_VENUE,
      name: 'once its entry is back, a look at a venue that is %s leaves the word to the person',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: '    return !hasCompared(fault) || fault instanceof NotBelieved;\n',
      replace: '    return true;\n',
    },
  },
  {
    id: 'a-look-that-compared-nothing-is-none',
    section,
    rule: 'A look that may have ended before it compared the entries takes nothing back of one that could not see the send.',
    test: {
      file: AT_VENUE,
      name: 'a look that may have ended before it compared entries (%s) is none',
    },
    broken: {
      file: 'domain/send/at-venue.ts',
      find: "  'DESTINATION_TOKEN_MISSING',\n",
      replace: '',
    },
  },
  {
    id: 'a-process-elsewhere-is-no-look',
    section,
    rule: 'That the process with the keys means another account takes nothing back of a look that could not see the send.',
    test: {
      file: AT_VENUE,
      name: 'a look that may have ended before it compared entries (%s) is none',
    },
    broken: {
      file: 'domain/send/at-venue.ts',
      find: "  'VENUE_MISMATCH',\n",
      replace: '',
    },
  },
  {
    id: 'a-transfer-compares-or-keeps-it',
    section,
    rule: 'A look for a capital transfer that may have compared nothing takes nothing back of one that could not see it.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'a look that may have compared nothing (%s) takes nothing back',
    },
    broken: {
      file: 'activities/capital-transfers/look.ts',
      find: 'hasCompared(error) ? { isUnseen: false } : {}',
      replace: '{ isUnseen: false }',
    },
  },
  {
    id: 'a-defect-is-no-look-at-a-transfer',
    section,
    rule: 'A look for a capital transfer that a defect ends takes nothing back of one that could not see it.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'a look that a defect ends takes nothing back',
    },
    broken: {
      file: 'activities/capital-transfers/look.ts',
      find: 'isUnseen = row.error_code === VENUE_ENTRY_CHANGED',
      replace: 'isUnseen = false',
    },
  },
  {
    id: 'a-changed-entry-hides-no-stuck-lane',
    section,
    rule: 'A look that cannot see a send does not hide that its nonce lane is stuck.',
    test: {
      file: AT_VENUE,
      name: 'a stuck nonce lane is shown at once, also of a send that is under way',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: 'code === VENUE_ENTRY_CHANGED && !isShown;',
      replace: 'code === VENUE_ENTRY_CHANGED && !saysAtVenue(error_code);',
    },
  },
  {
    id: 'no-answer-says-unseen',
    section,
    rule: 'No answer of an executor keeps its node from being called failed by saying that no look could see the send.',
    test: {
      file: AT_VENUE,
      name: 'an answer cannot say that no look could see its send, which only a fault does',
    },
    broken: {
      file: 'activities/phases/settle.ts',
      find: '[...OWN_CODES, VENUE_ENTRY_CHANGED].includes(error_code)',
      replace: 'OWN_CODES.includes(error_code)',
    },
  },
  {
    id: 'late-looks-elsewhere-are-not-hurried',
    section,
    rule: 'A look for an abandoned send whose venue entry has changed is noted as failed, and not repeated soon.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'since its entry has changed is noted, and not repeated soon',
    },
    broken: {
      file: 'activities/relays/late-looks.ts',
      find: "isUnseen ? 'open' : 'unsettled'",
      replace: "'unsettled'",
    },
  },
  {
    id: 'an-unseen-send-comes-to-a-person',
    section,
    rule: 'A send that no look can see for long comes to a person, who may abandon it, and may not call it failed.',
    test: {
      file: AT_VENUE,
      name: 'what no look can see for long in %s comes to a person, who may abandon it',
    },
    broken: {
      file: 'activities/phases/recover.ts',
      find: 'shows, { person: () => unseen(deps, row, shows) });',
      replace: 'shows);',
    },
  },
  {
    id: 'an-unseen-send-shows-what-its-venue-has',
    section,
    rule: 'A send that no look can see for long still shows what its venue was found to have, which a later silence takes back no more.',
    test: { file: AT_VENUE, name: 'what no look can see for long still shows what its venue has' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: 'person: () => unseen(deps, row, shows)',
      replace: 'person: () => unseen(deps, row, fault)',
    },
  },
  {
    id: 'completed-under-way-waits-for-its-hour',
    section,
    rule: 'A send that is under way is completed by a person only once it takes an hour longer than usual, also where it is UNKNOWN.',
    test: {
      file: AT_VENUE,
      name: 'one that is under way is completed by a person from an hour beyond its usual time on',
    },
    broken: {
      file: 'domain/commands/resolve.ts',
      find: ' || error_code !== SEND_UNDER_WAY || resolvable === true',
      replace: ' || error_code !== SEND_UNDER_WAY || true',
    },
  },
  {
    id: 'a-pending-transfer-is-never-called-failed',
    section,
    rule: 'A person can call no capital transfer failed that the last answer of its provider shows as pending, whoever read it before that answer.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'not while the provider shows it as pending, also with a person, but once it shows no record of it',
    },
    broken: {
      file: 'prisma/functions/capital-transfers.sql',
      find: "doc ->> 'states_outcome' = 'failed' AND t.pending_at_provider",
      replace: 'false',
    },
  },
  {
    id: 'an-unseen-transfer-is-never-called-failed',
    section,
    rule: 'A person can call no capital transfer failed that its last look could not see, whoever read it before that look.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'it is never said to have failed, whoever has it and read it before',
    },
    broken: {
      file: 'prisma/functions/capital-transfers.sql',
      find: "doc ->> 'states_outcome' = 'failed' AND t.error_code = 'VENUE_ENTRY_CHANGED'",
      replace: 'false',
    },
  },
  {
    id: 'a-transfer-that-is-seen-again-is-free',
    section,
    rule: 'Any answer of a look at the accounts of a capital transfer takes back that no look could see it.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'any later answer ends that: %s',
    },
    broken: {
      file: 'domain/capital-transfers/step.ts',
      find: '[...SHOWN_OTHERWISE, VENUE_ENTRY_CHANGED].includes',
      replace: 'SHOWN_OTHERWISE.includes',
    },
  },
  {
    id: 'silence-keeps-a-pending-transfer',
    section,
    rule: 'A look without an answer takes nothing back of what the provider of a capital transfer has shown.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'not once it was shown as pending, by a look at a provider %s',
    },
    broken: {
      file: 'activities/capital-transfers/look.ts',
      find: '  return silent(deps, row, { why, reported: `${code}: ${message}`, ...seen });\n',
      replace:
        '  await noteAnswer(deps, row, null);\n  return unanswered(deps, row, { why, reported: code });\n',
    },
  },
  {
    id: 'a-transfer-no-longer-shown-settles-again',
    section,
    rule: 'A capital transfer that its provider has shown and no longer shows can be called failed once the settle time since then is over.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'not while the provider shows it as pending, also with a person, but once it shows no record of it',
    },
    broken: {
      file: 'store/capital-transfer-steps.ts',
      find: 'ELSE greatest(send_not_after, svc_now()) END',
      replace: 'ELSE send_not_after END',
    },
  },
  {
    id: 'a-transfer-shown-otherwise-is-a-persons',
    section,
    rule: 'A capital transfer that its provider shows twice, or otherwise than ordered, is a person’s at once, with what was shown, and is never called failed.',
    test: {
      file: 'test/store/capital-transfer-resolve.test.ts',
      name: 'is a person’s at once with %s, and never said to have failed',
    },
    broken: {
      file: 'activities/capital-transfers/look.ts',
      find: '  if (SHOWN_OTHERWISE.includes(code)) return otherwise(deps, row, error);\n',
      replace: '',
    },
  },
  {
    id: 'abandoned-fires-no-edge',
    section,
    rule: 'No edge of the plan follows from a node that a person abandoned.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'no edge follows from an abandoned node, and the movement fails',
    },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: '  SELECT is_abandoned(n) OR coalesce(',
      replace: '  SELECT coalesce(',
    },
  },
  {
    id: 'abandoned-is-never-retried',
    section,
    rule: 'A node that a person abandoned is never retried.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'an abandoned node is never retried',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "(n.state = 'FAILED' AND n.error_code = 'ABANDONED' AND",
      replace: '(false AND',
    },
  },
  {
    id: 'abandoned-counts-as-sent',
    section,
    rule: 'The amount of a node that a person abandoned stays counted as sent, and holds nothing.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'what is abandoned counts as sent, and holds nothing',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "n.state = 'COMPLETED' OR n.error_code = 'ABANDONED'",
      replace: "n.state = 'COMPLETED'",
    },
  },
  {
    id: 'a-late-landing-is-shown',
    section,
    rule: 'An abandoned send is looked for, and brings its movement into attention once it lands.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'brings a landing into attention, once',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: 'n.landed_late_at IS NOT NULL AND n.landing_seen_at IS NULL AS unseen',
      replace: 'false AS unseen',
    },
  },
  {
    id: 'a-late-landing-is-acknowledged-by-name',
    section,
    rule: 'Who acknowledges a failure acknowledges no landing that came after they had looked.',
    test: {
      file: 'test/store/late-landings.test.ts',
      name: 'a landing that came after a person had looked stays when the failure is acknowledged',
    },
    broken: {
      file: 'domain/commands/acknowledge.ts',
      find: '? each.landing === null',
      replace: '? true',
    },
  },
  {
    id: 'a-resolve-has-what-may-be-stated',
    section,
    rule: 'A resolve in attention has exactly the outcomes that a person may state now.',
    test: {
      file: 'test/domain/attention-offers.test.ts',
      name: 'of what may be stated, only what is possible now is offered',
    },
    broken: {
      file: 'domain/attention.ts',
      find: '      outcomes,\n',
      replace: "      outcomes: ['completed', 'failed', 'abandoned'],\n",
    },
  },
  {
    id: 'a-late-landing-hides-nothing',
    section,
    rule: 'A late landing hides no node that goes on, and no other reason hides the landing.',
    test: {
      file: 'test/store/late-landings.test.ts',
      name: 'in a movement that goes on, %s comes first, and the landing beside it',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: "'failed', 'landed_late'], r.why),",
      replace: "'failed', 'landed_late'], r.why) * (r.why <> 'landed_late')::integer,",
    },
  },
  {
    id: 'a-gate-hides-no-other-reason',
    section,
    rule: 'A gate that waits hides no other node that needs a person, and is shown beside it.',
    test: {
      file: 'test/store/attention.test.ts',
      name: 'a gate that waits hides no %s of another branch, and is shown beside it',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: "ARRAY['unknown_outcome', 'lane_stuck', 'clock_difference',",
      replace: "ARRAY['unknown_outcome', 'manual_gate', 'lane_stuck', 'clock_difference',",
    },
  },
  {
    id: 'a-failure-after-a-cancel-is-counted-beside',
    section,
    rule: 'After a cancel, a node that failed and another one that needs a person are both called back and counted.',
    test: {
      file: 'test/store/attention.test.ts',
      name: 'after a cancel, a failure and the reason of another node are both called back and counted',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: "facts ->> 'besides', facts #>> '{also,reason}',",
      replace: "facts ->> 'besides',",
    },
  },
  {
    id: 'an-executor-that-is-down-hides-no-look',
    section,
    rule: 'An executor of which one chain or account is down hides nothing of a sent node whose looks are answered.',
    test: {
      file: 'test/store/observed-long.test.ts',
      name: 'an executor that is down hides nothing of a sent node whose looks are answered',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: " AND (n.state = 'READY' OR n.unanswered_since IS NOT NULL)",
      replace: '',
    },
  },
  {
    id: 'attention-shows-no-secret',
    section,
    rule: 'The sentence of an attention repeats what executors reported redacted, as in a log.',
    test: {
      file: 'test/store/attention.test.ts',
      name: 'says what the gate is about, and no secret of what an executor reported',
    },
    broken: {
      file: 'api/movements/attention.ts',
      find: 'message: withoutSecretsInMessage(sentenceOf(all, found.expires_at), redact),',
      replace: 'message: sentenceOf(all, found.expires_at),',
    },
  },
  {
    id: 'a-seen-landing-of-before-hides-none',
    section,
    rule: 'The late landing of an abandoned send is shown also where a person has seen one of an earlier attempt.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'brings a landing into attention, once',
    },
    broken: {
      file: 'domain/commands/landed-late.ts',
      find: '          landing_seen_at: null,\n',
      replace: '',
    },
  },
  {
    id: 'a-landing-of-before-hides-no-failure',
    section,
    rule: 'What the chain showed of an earlier attempt hides neither what its node needs now nor its failure.',
    test: {
      file: 'test/store/contradictions.test.ts',
      name: 'an earlier attempt that had not completed is paid beside the later one',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: " AND (is_abandoned(n) OR n.state IN ('COMPLETED', 'CANCELLED', 'SKIPPED'))\n",
      replace: '\n',
    },
  },
  {
    id: 'a-signed-action-ends-by-both-clocks',
    section,
    rule: 'A perps action that was signed can no longer be executed only once that is so by the clock of the API, too.',
    test: {
      file: 'test/store/clauses-writes.test.ts',
      name: 'of one that is still valid by the clock of the process',
    },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "interval '49 hours' - at) + ahead",
      replace: "interval '49 hours' - at)",
    },
  },
  {
    id: 'an-acknowledged-landing-stays-so',
    section,
    rule: 'A late landing that a person has acknowledged does not come back with a retry.',
    test: {
      file: 'test/store/late-landings.test.ts',
      name: 'the failure of another node comes first, and each is acknowledged by itself',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: 'AND n.landing_seen_at IS NULL AS unseen',
      replace: 'AND m.acknowledged_at IS NULL AS unseen',
    },
  },
  {
    id: 'abandoned-fires-no-edge-of-the-release-before',
    section,
    rule: 'No API process of the release before starts what only the failure edge of an abandoned node leads to.',
    test: { file: 'test/store/late-landings.test.ts', name: 'starts nothing in its place' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "HAVING bool_or(is_abandoned(s) AND e.value ->> 'edge_type' IN",
      replace: "HAVING bool_or(false AND e.value ->> 'edge_type' IN",
    },
  },
  {
    id: 'a-claim-is-named',
    section,
    rule: 'Of a type that claims, a person completes a node only with what it claims, each payment once.',
    test: { file: NAMED_CLAIMS, name: 'has to be named, and each once' },
    broken: {
      file: 'api/movements/named-claim.ts',
      find: 'if (output === undefined || !namesClaim(planned, output)) throw',
      replace: 'if (output === undefined) throw',
    },
  },
  {
    id: 'a-claim-counts-once',
    section,
    rule: 'A payment that a person names twice counts once or not at all.',
    test: { file: NAMED_CLAIMS, name: 'has to be named, and each once' },
    broken: {
      file: 'api/movements/named-claim.ts',
      find: 'const shown = namesTwice(named)',
      replace: "const shown = named.asset === ''",
    },
  },
  {
    id: 'a-claim-is-read',
    section,
    rule: 'What a person names as completing a node counts only as its source shows it.',
    test: {
      file: NAMED_CLAIMS,
      name: 'of which a person says more than the chain shows completes nothing',
    },
    broken: {
      file: 'api/movements/named-claim.ts',
      find: '    : await read(named);',
      replace: '    : ({ ok: true, output: named.output } as const);',
    },
  },
  {
    id: 'a-claim-is-as-stated',
    section,
    rule: 'Where the source shows another value than a person states, nothing is written.',
    test: {
      file: NAMED_CLAIMS,
      name: 'of which a person says more than the chain shows completes nothing',
    },
    broken: {
      file: 'api/movements/named-claim.ts',
      find: 'const other = differingFields(output, shown.output);',
      replace: 'const other: JsonObject = {};',
    },
  },
  {
    id: 'an-unread-claim-is-none',
    section,
    rule: 'What a person names completes nothing while its source cannot be read.',
    test: {
      file: NAMED_CLAIMS,
      name: 'is not believed where its chain cannot be read; the node may still be abandoned',
    },
    broken: {
      file: 'api/movements/named-claim.ts',
      find: '.catch((error: unknown) => Promise.reject(refusalOf(error)))',
      replace: '.catch(() => ({ ok: true, output: named.output }) as const)',
    },
  },
  {
    id: 'a-named-transaction-is-final',
    section,
    rule: 'A transaction that a person names counts once its block is final.',
    test: {
      file: NAMED_CLAIMS,
      name: 'that went elsewhere, is nowhere, reverted, or is not final completes nothing',
    },
    broken: {
      file: 'venues/evm/named-transaction.ts',
      find: 'receipt.blockNumber > (await finalizedNumber(one))',
      replace: 'receipt.blockNumber > (await finalizedNumber(one)) + 1_000n',
    },
  },
  {
    id: 'a-named-rise-is-since-the-baseline',
    section,
    rule: 'Of the coin of a chain nothing counts, also on a person’s word, that was there before the node waited.',
    test: {
      file: NAMED_CLAIMS,
      name: 'of the coin of a chain the rise of the balance between two final blocks counts',
    },
    broken: {
      file: 'venues/evm/named-payments.ts',
      find: 'if (since < from ||',
      replace: 'if (since < 0n ||',
    },
  },
  {
    id: 'a-named-deposit-is-its-record',
    section,
    rule: 'A deposit that a person names is the record of this id that the exchange shows.',
    test: { file: NAMED_CLAIMS, name: 'is read by the worker that has its keys, record by record' },
    broken: {
      file: 'venues/cex/named-deposits.ts',
      find: 'found.find(({ id }) => id.toLowerCase() === claim.reference)',
      replace: "found.find(({ id }) => id !== '')",
    },
  },
  {
    id: 'a-named-attestation-is-taken',
    section,
    rule: 'An attestation that a person names counts only with signatures that the destination takes.',
    test: {
      file: 'test/venues/burn-mint/named-attestation.test.ts',
      name: 'is not proven by signatures that the destination refuses',
    },
    broken: {
      file: 'venues/burn-mint/named-attestation.ts',
      find: 'if (unsigned !== null)',
      replace: "if (unsigned === '')",
    },
  },
  {
    id: 'a-named-send-is-the-signers-own',
    section,
    rule: 'A send over a bridge that a person names is that of the node’s own account.',
    test: {
      file: 'test/venues/bridge-c/executors.test.ts',
      name: 'a send of another amount or account, or none at all, proves nothing',
    },
    broken: {
      file: 'venues/bridge-c/named-packet.ts',
      find: '(named.from ?? getAddress(receipt.from)) as Address',
      replace: 'getAddress(receipt.from)',
    },
  },
  {
    id: 'a-named-delivery-is-the-payees',
    section,
    rule: 'A delivery that a person names is that of the node’s packet, to its payee.',
    test: {
      file: 'test/venues/bridge-c/executors.test.ts',
      name: 'a delivery is the receipt of its own packet, for its payee',
    },
    broken: {
      file: 'venues/bridge-c/named-packet.ts',
      find: 'if (!isAddressEqual(arrived.to, payee as Address))',
      replace: "if (payee === '')",
    },
  },
  {
    id: 'a-named-credit-is-in-the-ledger',
    section,
    rule: 'A credit that a person names is that of the perps venue’s ledger, of the amount that was sent or that the person says.',
    test: {
      file: 'test/venues/perp/deposit.test.ts',
      name: 'is what a person names only where the ledger shows it',
    },
    broken: {
      file: 'venues/perp/named-credit.ts',
      find: 'if (compare(row.credited, amount) !== 0 && named.output',
      replace: 'if (compare(row.credited, amount) < -1 && named.output',
    },
  },
  {
    id: 'a-late-landing-is-proven',
    section,
    rule: 'A late landing is noted only where the answer has the assurance and the claim of a completion.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'believes no completion of less than the plan requires',
    },
    broken: {
      file: 'activities/relays/late-looks.ts',
      find: "    if (heldTo(assuranceOf(row), answer).next_state !== 'COMPLETED')\n",
      replace: "    if (heldTo(assuranceOf(row), answer).next_state === 'FAILED')\n",
    },
  },
  {
    id: 'a-late-withdrawal-is-paid',
    section,
    rule: 'A withdrawal to another payee than planned has not landed before the exchange has paid it.',
    test: {
      file: 'test/venues/cex/withdrawal.test.ts',
      name: 'takes a record of another address for a landing once it is paid (%s)',
    },
    broken: {
      file: 'venues/cex/errors.ts',
      find: "found.find(({ status }) => status === 'completed')",
      replace: 'found.find(({ status }) => status.length > 0)',
    },
  },
  {
    id: 'late-looks-read-the-chain',
    section,
    rule: 'Whether what was signed for a team’s executor has landed late, the chain says alone.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'looks at the chain, and calls no executor (%s)',
    },
    broken: {
      file: 'activities/relays/late-looks.ts',
      find: '  if (request !== null && isFollowed(options, row)) {\n',
      replace: '  if (request !== null && row === null) {\n',
    },
  },
  {
    id: 'late-looks-that-fail-are-noted',
    section,
    rule: 'A look for an abandoned send that fails is noted, until one is answered.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'for an hour is counted, until one is answered',
    },
    broken: {
      file: 'activities/relays/late-looks.ts',
      find: "    if (!ending.aborted) await note(isUnseen ? 'open' : 'unsettled');\n",
      replace: '',
    },
  },
  {
    id: 'open-outcomes-are-failed-looks',
    section,
    rule: 'A look for an abandoned send that leaves its outcome open, as in a history that is too old, is noted as failed.',
    test: {
      file: 'test/store/abandoned.test.ts',
      name: 'is noted where the outcome stays open (%s), until an answer says otherwise',
    },
    broken: {
      file: 'activities/relays/late-looks.ts',
      find: "      return await note(isOpen ? 'open' : 'answered');\n",
      replace: "      return await note('answered');\n",
    },
  },
  {
    id: 'no-attempt-hides-behind-an-abandoned-one',
    section,
    rule: 'An attempt before an abandoned one is compared with the exchange’s records by its own outcome.',
    test: {
      file: 'test/store/reconcile.test.ts',
      name: 'an attempt before the one that a person abandoned keeps its own outcome and time',
    },
    broken: {
      file: 'store/reconcile.ts',
      find: "        CASE WHEN l.latest AND is_abandoned(n) THEN 'UNKNOWN' WHEN",
      replace: "        CASE WHEN is_abandoned(n) THEN 'UNKNOWN' WHEN",
    },
  },
  {
    id: 'nothing-is-sent-without-an-approval-row',
    section,
    rule: 'No node is readied or sent, and no movement is approved or run, without the row of an approval of its stored plan.',
    test: { file: STORE, name: 'nothing is readied, run or sent of a plan that was not approved' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "    AND NOT (doc ?& ARRAY['approval', 'plan_hash'] OR is_approved(m.movement_id)) THEN",
      replace: '    AND false THEN',
    },
  },
  {
    id: 'plain-writes-need-the-approval-row-too',
    section,
    rule: 'The database refuses any write, also past its functions, that runs, readies or sends what has no approval row.',
    test: { file: GUARD, name: 'no plain write runs, readies or sends what was not approved' },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: '  IF NOT EXISTS (SELECT FROM movement_approvals a JOIN movement_plans p USING (movement_id)',
      replace:
        '  IF false AND NOT EXISTS (SELECT FROM movement_approvals a JOIN movement_plans p USING (movement_id)',
    },
  },
  {
    id: 'what-guards-approvals-reads-the-real-tables',
    section,
    rule: 'What refuses unapproved writes is not deceived by temporary tables that a session makes.',
    test: {
      file: GUARD,
      name: 'what refuses is neither switched off nor deceived by tables of the same names',
    },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: 'require_approval() RETURNS trigger LANGUAGE plpgsql\n  SET search_path FROM CURRENT AS $$',
      replace: 'require_approval() RETURNS trigger LANGUAGE plpgsql AS $$',
    },
  },
  {
    id: 'what-guards-plans-reads-the-real-tables',
    section,
    rule: 'What refuses a later node of an approved plan is not deceived by temporary tables that a session makes.',
    test: { file: GUARD, name: 'no node is added to what was approved' },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: 'refuse_later_node() RETURNS trigger LANGUAGE plpgsql\n  SET search_path FROM CURRENT AS $$',
      replace: 'refuse_later_node() RETURNS trigger LANGUAGE plpgsql AS $$',
    },
  },
  {
    id: 'no-node-is-added-to-an-approved-plan',
    section,
    rule: 'No node is added to an approved movement, whatever else its statement adds.',
    test: { file: GUARD, name: 'nor by a statement that adds nodes to other movements too' },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: 'FROM added JOIN movement_approvals USING (movement_id) LIMIT 1;',
      replace:
        'FROM (SELECT * FROM added LIMIT 1) a JOIN movement_approvals USING (movement_id) LIMIT 1;',
    },
  },
  {
    id: 'what-guards-seals-reads-the-real-table',
    section,
    rule: 'A seal takes the next position of the audit chain, whatever temporary tables a session makes.',
    test: {
      file: 'test/faults/audit-sealers.test.ts',
      name: 'a seal takes the next position and no other, and what is planted there hides nothing behind it',
    },
    broken: {
      file: 'prisma/functions/audit.sql',
      find: 'guard_seal() RETURNS trigger LANGUAGE plpgsql\n  SET search_path FROM CURRENT AS $$',
      replace: 'guard_seal() RETURNS trigger LANGUAGE plpgsql AS $$',
    },
  },
  {
    id: 'new-rows-are-sealed-beside-long-reads',
    section,
    rule: 'No audit row waits for its seal until a read of the last hour or of the whole trail has ended.',
    test: {
      file: 'test/activities/seal-passes.test.ts',
      name: 'the newest rows are read again after each page of a long read',
    },
    broken: {
      file: 'activities/relays/seal-passes.ts',
      find: '      long = undefined;\n',
      replace: '      if (next === null) long = undefined;\n',
    },
  },
  {
    id: 'foreign-rows-are-reported-before-their-seal',
    section,
    rule: 'Audit rows that the service did not write are reported before they are sealed, since no later look reads a sealed row.',
    test: {
      file: 'test/store/foreign-rows.test.ts',
      name: 'a foreign row is counted although the answer to its seal is lost',
    },
    broken: {
      file: 'activities/relays/seals.ts',
      find: '      report(rows, macs, log);\n',
      replace:
        '      const records = rows.map(({ record }) => record);\n      await addSeals(db, head, sealRecords(head, records, macs));\n      report(rows, macs, log);\n',
    },
  },
  {
    id: 'shared-reads-are-never-older',
    section,
    rule: 'A read that shares its statement with others returns what is stored when it is called, or later.',
    test: {
      file: 'test/store/shared-reads.test.ts',
      name: 'a call gets what is there at its time, though a statement for the same is under way',
    },
    broken: {
      file: 'store/shared-reads.ts',
      find: '    return read(ask);',
      replace: '    return (readers.last ??= read(ask).finally(() => (readers.last = undefined)));',
    },
  },
  {
    id: 'plans-stay-as-they-were-approved',
    section,
    rule: 'Nothing changes what a movement moves, nor what its nodes do, once it is made.',
    test: { file: GUARD, name: 'nothing changes what a movement was approved for' },
    broken: {
      file: 'prisma/functions/approval.sql',
      find: "  RAISE EXCEPTION 'the plan of movement % cannot be changed', OLD.movement_id\n    USING ERRCODE = 'insufficient_privilege';",
      replace: '  RETURN NEW;',
    },
  },
  {
    id: 'the-service-role-has-no-right-to-plans',
    section,
    rule: 'The service’s database role has no right to change, insert or delete what a movement is approved for.',
    test: {
      file: GUARD,
      name: 'the service’s role has no right to change what a movement is approved for',
    },
    broken: {
      file: 'prisma/migrations/20261126000000_tables/migration.sql',
      find: "('movements', 'SELECT, UPDATE (request_state,",
      replace: "('movements', 'SELECT, UPDATE (request_state, intent, outflow,",
    },
  },
  {
    id: 'schema-is-known',
    section,
    rule: 'No process of the service starts on a database whose migrations are not those of its build.',
    test: {
      file: 'test/store/migrate.test.ts',
      name: 'the service does not start on missing or unknown migrations, and says what to do',
    },
    broken: {
      file: 'service/schema.ts',
      find: '    if (fault !== undefined) throw new Error(fault);\n    await',
      replace: '    if (fault !== undefined) return;\n    await',
    },
  },
  {
    id: 'migration-is-whole',
    section,
    rule: 'Of a migration that fails nothing is kept.',
    test: {
      file: 'test/store/migrate.test.ts',
      name: 'of a script that fails nothing is kept; it is seen, and the next run tries it again',
    },
    broken: {
      file: 'prisma/migrate.ts',
      find: "await client.query('BEGIN');",
      replace: "await client.query('SELECT 1');",
    },
  },
  {
    id: 'facts-of-types-stay',
    section,
    rule: 'What guards know of a node’s action type is written when it is made, and nothing changes it.',
    test: { file: GUARD, name: 'nothing changes what a movement was approved for' },
    broken: {
      file: 'prisma/migrations/20261126000200_triggers_and_views/migration.sql',
      find: 'brings, pays, claims_when,\n  sent_field, tied_by, may_send\n',
      replace: 'brings\n',
    },
  },
  {
    id: 'no-type-is-unknown',
    section,
    rule: 'The database takes no node of whose action type a guard knows nothing.',
    test: { file: GUARD, name: 'no node is made of whose action type nothing is known' },
    broken: {
      file: 'prisma/migrations/20261126000000_tables/migration.sql',
      find: '  tied_by           text NOT NULL CHECK',
      replace: '  tied_by           text CHECK',
    },
  },
  {
    id: 'sql-names-no-type',
    section,
    rule: 'No SQL outside of a venue’s own names an action type: it reads the facts of the node.',
    test: {
      file: 'test/architecture/action-types-in-sql.test.ts',
      name: 'no SQL outside of a venue’s own names an action type',
    },
    broken: {
      file: 'prisma/functions/flow.sql',
      find: "SELECT CASE WHEN n.pays = 'spender'\n",
      replace: "SELECT CASE WHEN n.action_type = 'evm_erc20_approve'\n",
    },
  },
  {
    id: 'gates-are-let-go-by-a-resume',
    section,
    rule: 'A gate is passed by a resume alone: no phase that somebody has carried out for it moves it.',
    test: {
      file: STORE,
      name: 'a gate is let go by a resume alone, whatever phase is carried out for it',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "         OR (n.node_kind = 'manual_gate'",
      replace: '         OR (false',
    },
  },
  {
    id: 'decisions-are-computed-by-their-writer',
    section,
    rule: 'Whoever writes a decision computes it from what is stored: one that a workflow hands over and that differs is refused.',
    test: { file: RERUN, name: 'a decide that does not follow from what is stored is refused' },
    broken: {
      file: 'activities/decisions.ts',
      find: 'return isDeepStrictEqual(decision, expected) ? decision : null;',
      replace:
        'return decision === null || isDeepStrictEqual(decision, expected) ? decision : handed;',
    },
  },
  {
    id: 'carried-nodes-are-left-alone',
    section,
    rule: 'A run begins no node that an activity under way may have gone on to, whatever a load shows of it.',
    test: {
      file: CARRIED,
      name: 'a run that is woken while its activity sends %s begins nothing beside it',
    },
    broken: {
      file: 'workflows/run-state.ts',
      find: '      !this.carried.has(node.node_key) &&\n',
      replace: '',
    },
  },
  {
    id: 'old-answers-are-not-believed',
    section,
    rule: 'What an activity says of the nodes that it went on to counts only while its run has not looked since.',
    test: {
      file: CARRIED,
      name: 'a freeze that ends before the run has the answer of its activity leaves no node waiting',
    },
    broken: {
      file: 'workflows/run-state.ts',
      find: 'if (!isFresh && carried.length > 0) this.outdated = true;',
      replace: 'if (!isFresh && carried.length < 0) this.outdated = true;',
    },
  },
  {
    id: 'shared-nodes-are-not-carried',
    section,
    rule: 'An activity goes on to no node that another one leads to.',
    test: {
      file: CARRIED,
      name: 'a chain continues with no node that another branch leads to',
    },
    broken: {
      file: 'workflows/course.ts',
      find: 'edges.every((edge) => edge.to !== node.node_key || edge.from === from.node_key)',
      replace: 'edges.length > 0',
    },
  },
  {
    id: 'a-completion-decides-for-what-it-saw',
    section,
    rule: 'A decision that was made for another version of its movement is not written with a completion.',
    test: {
      file: RERUN,
      name: 'of eight decides at once exactly one is written, also where the state stays',
    },
    broken: {
      file: 'domain/commands/advance.ts',
      find: '    version: args.version,\n',
      replace: '',
    },
  },
  {
    id: 'completions-decide-only-what-is-executing',
    section,
    rule: 'What follows in a movement that a person is needed for, or that was cancelled, is decided by its run alone.',
    test: { file: RERUN, name: 'leaves the decision of a movement in %s to its run' },
    broken: {
      file: 'domain/decision.ts',
      find: "  if (view.state !== 'EXECUTING' || view.ended) return undefined;\n",
      replace: '',
    },
  },
  {
    id: 'chains-give-up-between-phases',
    section,
    rule: 'A chain that has no time left begins no other phase, and what was said is recorded.',
    test: {
      file: RERUN,
      name: 'gives up between two phases once it has no time left, and what was said is recorded',
    },
    broken: {
      file: 'activities/phases/chain.ts',
      find: 'return () => performance.now() < end && ',
      replace: 'return () => end > 0 && ',
    },
  },
  {
    id: 'a-run-is-not-cancelled',
    section,
    rule: "Temporal's own request to cancel a run stops nothing: only what is written in the database does.",
    test: {
      file: ATTENTION,
      name: 'a cancellation requested in the Temporal UI moves no money and stops nothing',
    },
    broken: {
      file: 'workflows/movement.ts',
      find: 'CancellationScope.nonCancellable(() => conduct(movementId, handed))',
      replace: 'conduct(movementId, handed)',
    },
  },
  {
    id: 'runs-get-attention-signals',
    section,
    rule: 'A run shows why its movement needs a person also where only the database knows it, and no longer than that is so.',
    test: {
      file: ATTENTION,
      name: 'a node whose executor was switched off names it, and who switches it on again',
    },
    broken: {
      file: 'activities/relays/attention.ts',
      find: '(id) => shown.get(id) !== needed.get(id)?.reason',
      replace: '(id) => needed.has(id) && shown.get(id) !== needed.get(id)?.reason',
    },
  },
  {
    id: 'stuck-runs-are-shown',
    section,
    rule: 'A movement whose run cannot go on needs a person for that before any other reason, until the run goes on or the movement has ended.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'names the run before whatever else the movement needs a person for',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: 'found := coalesce(stuck_run(m), found)',
      replace: 'found := coalesce(found, stuck_run(m))',
    },
  },
  {
    id: 'stuck-runs-get-no-signal',
    section,
    rule: 'A run that cannot go on gets no signal about what it should show.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'is called back once, and no signal goes to the stuck run',
    },
    broken: {
      file: 'activities/relays/attention.ts',
      find: 'each.filter((id) => needed.get(id)?.stuck !== true)',
      replace: 'each',
    },
  },
  {
    id: 'stuck-transfers-are-shown',
    section,
    rule: 'The run of a capital transfer that cannot go on is found and shown, too.',
    test: {
      file: 'test/store/stuck-transfers.test.ts',
      name: 'of a transfer: a look finds it, one and the list show it, and an end forgets it',
    },
    broken: {
      file: 'activities/relays/stuck-runs.ts',
      find: '    ...transfers.map(transfer),\n',
      replace: '',
    },
  },
  {
    id: 'failing-activities-are-shown',
    section,
    rule: 'A run is stuck once one of its activities fails again and again with an error that no outage explains.',
    test: {
      file: 'test/platform/pending-task.test.ts',
      name: 'an activity that an error of ours fails again and again makes its run stuck',
    },
    broken: {
      file: 'platform/pending-task.ts',
      find: '?.type === UNEXPECTED_FAILURE',
      replace: "?.type === 'none'",
    },
  },
  {
    id: 'failing-sends-are-shown',
    section,
    rule: 'A run is stuck once its sends fail before their fence, one after the other, with an error that no outage explains.',
    test: {
      file: 'test/platform/pending-task.test.ts',
      name: 'sends that an error of ours fails, one after the other, make their run stuck',
    },
    broken: {
      file: 'platform/pending-task.ts',
      find: ' ?? failingSend(runId, events, Date.now())',
      replace: '',
    },
  },
  {
    id: 'outages-make-no-run-stuck',
    section,
    rule: 'An activity that is repeated because the database is away makes its run not stuck.',
    test: {
      file: 'test/activities/failures.test.ts',
      name: 'an outage keeps its own type, and makes no run stuck: %s',
    },
    broken: {
      file: 'activities/failures.ts',
      find: 'type: isOutage ? name : UNEXPECTED_FAILURE,',
      replace: 'type: UNEXPECTED_FAILURE,',
    },
  },
  {
    id: 'failing-loads-are-shown',
    section,
    rule: 'A run is stuck once a worker has prolonged its workflow task for minutes, as with a load that always fails.',
    test: {
      file: 'test/platform/pending-task.test.ts',
      name: 'a task that a worker prolongs for minutes is stuck, one that waited for it is not',
    },
    broken: {
      file: 'domain/stuck-runs.ts',
      find: 'prolongedMs > LONGEST_PROLONGED_MS',
      replace: 'prolongedMs > Infinity',
    },
  },
  {
    id: 'unseen-runs-hide-no-others',
    section,
    rule: 'Runs whose looks always fail keep no other stuck run from being shown, whatever its cause.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'runs that can never be looked at hide no other, whatever is wrong with it',
    },
    broken: {
      file: 'activities/relays/stuck-runs.ts',
      find: 'const isAway = seen === 0 && faultsInRow > 0;',
      replace: 'const isAway = faultsInRow > 0;',
    },
  },
  {
    id: 'unseen-runs-fail-no-turn',
    section,
    rule: 'A run that can never be looked at does not make the loop that looks at runs count as failing.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'a run that can never be looked at fails no turn of the loop',
    },
    broken: {
      file: 'activities/relays/stuck-runs.ts',
      find: '    if (isAway) throwFirst(outcomes);\n',
      replace: '    throwFirst(outcomes);\n',
    },
  },
  {
    id: 'unseen-runs-are-shown',
    section,
    rule: 'A movement whose run cannot be looked at for ten minutes, while Temporal answers for others, needs a person.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'a run that no look sees for ten minutes is shown, until one sees it',
    },
    broken: {
      file: 'activities/relays/stuck-runs.ts',
      find: '[...answered, ...inOrder.filter(isNotSeen).map(notSeen)]',
      replace: 'answered',
    },
  },
  {
    id: 'outages-leave-runs-seen',
    section,
    rule: 'While Temporal is away for all runs, none counts as one that cannot be looked at.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'an outage of all of Temporal makes no run one that is not seen',
    },
    broken: {
      file: 'activities/relays/stuck-runs.ts',
      find: 'Math.max(last?.failedSince ?? Infinity, steadyAt)',
      replace: 'last?.failedSince ?? Infinity',
    },
  },
  {
    id: 'gates-hide-no-stuck-run',
    section,
    rule: 'The run of a movement at a gate is looked at while another node of the movement is at work.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'looks at a movement at a gate while another node of it is %s',
    },
    broken: {
      file: 'store/sweeps.ts',
      find: "AND n.state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN')",
      replace: 'AND false',
    },
  },
  {
    id: 'stuck-runs-count-for-an-hour',
    section,
    rule: 'A run counts as stuck for an hour after the last turn of looks that did not disprove it, and then hides no other reason.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'counts a run for an hour after the last look that found it stuck',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: " AND s.last_seen > svc_now() - interval '1 hour'",
      replace: '',
    },
  },
  {
    id: 'a-start-proves-no-missing-worker',
    section,
    rule: 'A process that has just started calls no run stuck for a missing worker: the workers may only start to poll.',
    test: {
      file: 'test/store/stuck-runs.test.ts',
      name: 'no missing worker is proven before this process has run for two minutes',
    },
    broken: {
      file: 'activities/relays/stuck-runs.ts',
      find: 'let steadyAt = now() + STEADY_MS;',
      replace: 'let steadyAt = now();',
    },
  },
  {
    id: 'each-build-needs-a-worker',
    section,
    rule: 'A task has a worker only if each build to which Temporal may give it has one that polls.',
    test: {
      file: 'test/platform/pending-task.test.ts',
      name: 'a ramp to a build without workers leaves its share of the new runs without one',
    },
    broken: {
      file: 'platform/pending-task.ts',
      find: 'return builds.every(',
      replace: 'return builds.some(',
    },
  },
  {
    id: 'stuck-runs-show-no-secret',
    section,
    rule: 'What the failed task of a stuck run reported is shown redacted, as in a log.',
    test: {
      file: 'test/store/stuck-transfers.test.ts',
      name: 'of a transfer: a look finds it, one and the list show it, and an end forgets it',
    },
    broken: {
      file: 'api/capital-transfers/read.ts',
      find: 'last_answer: withoutSecretsInMessage(attention.last_answer, redact),',
      replace: 'last_answer: attention.last_answer,',
    },
  },
  {
    id: 'no-run-leaves-for-a-build-without-workers',
    section,
    rule: 'No run is signalled to leave its build while one of those on which new runs start has no worker.',
    test: {
      file: 'test/activities/draining-builds.test.ts',
      name: 'no run is sent where a ramping build has no workers',
    },
    broken: {
      file: 'platform/leaving-runs.ts',
      find: 'for (const taker of takers)',
      replace: 'for (const taker of takers.slice(0, 1))',
    },
  },
  {
    id: 'a-drain-follows-promotions',
    section,
    rule: 'A drain ends when new runs start on its build again, or when no worker is left where its runs would go.',
    test: {
      file: 'test/activities/draining-builds.test.ts',
      name: 'a drain ends after the round in which %s',
    },
    broken: {
      file: 'tools/runs/drain.ts',
      find: '    if (!isSure) await refuseTarget(calls, of, false);\n',
      replace: '',
    },
  },
  {
    id: 'runs-continue-for-their-history',
    section,
    rule: 'No run continues as new only because new runs start on another build.',
    test: {
      file: 'test/workflows/continue-as-new.test.ts',
      name: 'a suggestion %s',
    },
    broken: {
      file: 'workflows/continue-as-new.ts',
      find: 'reasons.length === 0 ||',
      replace: 'reasons.length >= 0 ||',
    },
  },
  {
    id: 'who-leaves-a-build-is-woken',
    section,
    rule: 'A run that leaves its build is followed by another one: the wake that it stores is sent until a run has loaded it.',
    test: {
      file: 'test/store/leaving-builds.test.ts',
      name: 'the relay sends it after two seconds, until another run has loaded it',
    },
    broken: {
      file: 'store/capital-transfers.ts',
      find: 'SET version = version + 1, wakes = 0,',
      replace: 'SET wakes = 0,',
    },
  },
  {
    id: 'who-leaves-a-build-sends-nothing',
    section,
    rule: 'A run of a capital transfer that is to leave its build while it pauses before a send leaves without that send.',
    test: {
      file: 'test/workflows/builds.test.ts',
      name: 'a transfer that pauses after sends that passed no fence leaves without another one',
    },
    broken: {
      file: 'workflows/capital-transfer.ts',
      find: '      if (leaving.by !== null) continue;\n',
      replace: '',
    },
  },
  {
    id: 'failures-are-listed-until-dealt-with',
    section,
    rule: 'The Temporal UI lists a failure that needs a person, whatever becomes of the run that shows it, and lists no older run once it is retried or acknowledged.',
    test: {
      file: ATTENTION,
      name: 'the UI lists a failure until it is retried or acknowledged, and one that fails anew again',
    },
    broken: {
      file: 'workflows/attention.ts',
      find: 'needed = next !== null',
      replace: 'needed = next !== null || needed',
    },
  },
  {
    id: 'long-observed-is-shown',
    section,
    rule: 'A node that is observed for longer than is usual for its action type needs a person.',
    test: {
      file: 'test/store/observed-long.test.ts',
      name: 'a node that is observed for longer than usual needs a person',
    },
    broken: {
      file: 'prisma/functions/attention.sql',
      find: "WHEN overdue_at(n) <= at THEN 'observed_long'",
      replace: "WHEN overdue_at(n) > at THEN 'observed_long'",
    },
  },
  {
    id: 'ended-silences-are-not-counted',
    section,
    rule: 'Only nodes that are not settled count as unanswered, so that no alert stays for what has ended.',
    test: {
      file: 'test/store/figures.test.ts',
      name: 'forget the silence of a node that a cancel has ended',
    },
    broken: {
      file: 'store/metrics.ts',
      find: "\n          AND state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED')",
      replace: '',
    },
  },
  {
    id: 'attention-signals-are-hostile',
    section,
    rule: 'The attention signal of a run is hostile input: an unknown text changes nothing and stops no run.',
    test: {
      file: ATTENTION,
      name: 'a node whose executor was switched off names it, and who switches it on again',
    },
    broken: {
      file: 'workflows/movement.ts',
      find: 'run.needs(readSignal(signal))',
      replace: 'run.needs(signal as never)',
    },
  },
  {
    id: 'drained-nothing-new-is-taken',
    section,
    rule: 'While the switch is not normal, no process takes a new movement or transfer; repeats are answered.',
    test: {
      file: CUTOVER,
      name: 'drained: nothing new is taken in any process, repeats are answered, what runs goes on',
    },
    broken: {
      file: 'prisma/functions/capital-transfers.sql',
      find: "IF mode <> 'normal' THEN",
      replace: "IF mode = 'frozen' THEN",
    },
  },
  {
    id: 'frozen-nothing-is-sent',
    section,
    rule: 'From the moment that a freeze is answered nothing passes its fence; what was let through before has committed by then.',
    test: {
      file: CUTOVER,
      name: 'a freeze is answered behind the fence that was being passed',
    },
    broken: {
      file: 'prisma/functions/cutover.sql',
      find: '  PERFORM pg_advisory_xact_lock_shared(7203118846);\n',
      replace: '',
    },
  },
  {
    id: 'a-freeze-takes-no-time',
    section,
    rule: 'What a node waits at a frozen fence does not count into its `execution_seconds`.',
    test: {
      file: CUTOVER,
      name: 'frozen: what was sent is followed, what was not waits outside of its time and goes on',
    },
    broken: {
      file: 'prisma/functions/cutover.sql',
      find: 'SET started_at = started_at + (at - frozen_since), frozen_since = NULL',
      replace: 'SET frozen_since = NULL',
    },
  },
  {
    id: 'a-thaw-wakes',
    section,
    rule: 'The release of a freeze wakes what waited, in its own transaction.',
    test: {
      file: CUTOVER,
      name: 'frozen: what was sent is followed, what was not waits outside of its time and goes on',
    },
    broken: {
      file: 'prisma/functions/cutover.sql',
      find: 'FROM (SELECT DISTINCT movement_id FROM thawed) t;',
      replace: 'FROM (SELECT DISTINCT movement_id FROM thawed) t WHERE false;',
    },
  },
  {
    id: 'wake-starts-a-missing-run',
    section,
    rule: 'A signal is a signal-with-start: a retry of a closed movement begins a new run under the same workflow id.',
    test: {
      file: 'test/http/movement-runs.test.ts',
      name: 'is retried with a new attempt and completes when its fault is mended',
    },
    broken: {
      file: 'platform/temporal.ts',
      find: "workflowIdReusePolicy: 'ALLOW_DUPLICATE'",
      replace: "workflowIdReusePolicy: 'REJECT_DUPLICATE'",
    },
  },
  {
    id: 'relay-wakes-until-applied',
    section,
    rule: 'The relay wakes a movement until its command is applied, so a lost signal loses nothing.',
    test: { file: AWAY, name: 'that is lost is delivered by the relay' },
    broken: {
      file: 'store/commands.ts',
      find: 'WHERE c.applied_at IS NULL AND c.wakes',
      replace: 'WHERE false AND c.wakes',
    },
  },
  {
    id: 'load-applies-commands',
    section,
    rule: 'A command counts as applied once a run has loaded the state it made, and never before.',
    test: { file: RERUN, name: 'a load changes nothing that the first one has not' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: 'UPDATE commands SET applied_at = at WHERE movement_id = movement AND applied_at IS NULL',
      replace: 'UPDATE commands SET applied_at = at WHERE false',
    },
  },
  {
    id: 'one-lease-a-movement',
    section,
    rule: 'The relay leases the oldest command of a movement only, and no second one while the lease lasts.',
    test: {
      file: STORE,
      name: 'a lease covers one movement, its oldest command first, until it ends',
    },
    broken: {
      file: 'store/commands.ts',
      find: '(o.created_at, o.command_id) < (c.created_at, c.command_id)',
      replace: 'false',
    },
  },
  {
    id: 'decisions-compare-versions',
    section,
    rule: 'A decision of the workflow is written only on the version it was made from; refused means load and walk again.',
    test: {
      file: RERUN,
      name: 'of eight decides at once exactly one is written, also where the state stays',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "WHEN doc ? 'version' AND m.version <> (doc ->> 'version')::integer THEN 'version'",
      replace: '',
    },
  },
  {
    id: 'versions-grow',
    section,
    rule: 'The version grows with every command and decision, so a local activity that runs twice decides once.',
    test: {
      file: RERUN,
      name: 'of eight decides at once exactly one is written, also where the state stays',
    },
    broken: {
      file: 'domain/commands/advance.ts',
      find: '    bump: true,',
      replace: '    bump: false,',
    },
  },
  {
    id: 'ended-runs-close',
    section,
    rule: 'A run that loads an ended movement with nothing unapplied closes at once.',
    test: {
      file: AWAY,
      name: 'that comes late, for a movement that has ended, begins a run that closes at once',
    },
    broken: { file: 'workflows/movement.ts', find: '        return close(view);\n', replace: '' },
  },
  {
    id: 'close-only-after-a-quiet-load',
    section,
    rule: 'A run closes only if no wake came since its load.',
    test: {
      file: 'test/workflows/close.test.ts',
      name: 'a wake that comes during the last load makes the run load once more before it closes',
    },
    broken: {
      file: 'workflows/movement.ts',
      find: '    while (run.wakes === seen) {',
      replace: '    for (;;) {',
    },
  },
  {
    id: 'wakes-before-starts',
    section,
    rule: 'In the hand-over a signal for a running movement is sent before the start of a new one.',
    test: {
      file: 'test/platform/handover.test.ts',
      name: 'a burst of new movements never stands before a signal for a running one',
    },
    broken: {
      file: 'platform/handover.ts',
      find: 'wakes.shift() ?? starts.shift()',
      replace: 'starts.shift() ?? wakes.shift()',
    },
  },
  {
    id: 'hand-over-is-bounded',
    section,
    rule: 'The hand-over has a bounded number of calls under way.',
    test: {
      file: 'test/platform/handover.test.ts',
      name: 'no more are under way at once than it may have, and a failed one is forgotten',
    },
    broken: {
      file: 'platform/handover.ts',
      find: 'active.size < concurrency',
      replace: 'active.size < 1_000',
    },
  },
  {
    id: 'a-burst-is-sent-once',
    section,
    rule: 'What Temporal has taken is left alone for as long as its run may wait for its turn.',
    test: {
      file: BURSTS,
      name: 'runs that wait for a worker are signalled once, however long it takes',
    },
    broken: {
      file: 'platform/handover.ts',
      find: '() => keeper?.took(job.wake.commandId)',
      replace: '() => undefined',
    },
  },
  {
    id: 'queues-keep-their-leases',
    section,
    rule: 'A command in the queue of the hand-over is kept from the relay while that queue moves.',
    test: {
      file: HAND_OVER,
      name: 'a command that waits for its turn is kept from the relay, and one that is sent is noted',
    },
    broken: {
      file: 'platform/handover.ts',
      find: 'wake.commandId !== null && heldUntil - now < RENEW_MS',
      replace: 'heldUntil - now < -Infinity && wake.commandId !== null',
    },
  },
  {
    id: 'taken-by-a-relay-is-not-sent',
    section,
    rule: 'The hand-over drops what a relay has taken or a run has seen meanwhile.',
    test: {
      file: HAND_OVER,
      name: 'a command that a relay has taken, or that is applied, is no longer sent',
    },
    broken: {
      file: 'platform/handover.ts',
      find: 'lose(new Set(some.filter((job) => !isKept(job))));',
      replace: '',
    },
  },
  {
    id: 'a-dead-queue-is-let-go',
    section,
    rule: 'Leases of a queue end by themselves when the process that renews them dies.',
    test: { file: BURSTS, name: 'an API that is killed with a full queue strands none of it' },
    broken: {
      file: 'store/commands.ts',
      find: 'svc_now() + make_interval(secs => ${seconds}::double precision))',
      replace: 'svc_now() + make_interval(hours => ceil(${seconds}::double precision)::integer))',
    },
  },
  {
    id: 'the-list-is-no-proof',
    section,
    rule: "A run that the server's list does not show is looked up by its id before it is started again.",
    test: {
      file: SWEEPS,
      name: 'wakes nothing because the list is behind: it asks about what is missing there',
    },
    broken: {
      file: 'activities/relays/sweeper.ts',
      find: 'if (await temporal.isRunning({ movementId })) return;',
      replace: '',
    },
  },
  {
    id: 'idle-sweeps-prove-nothing',
    section,
    rule: 'A sweep that claims no movement does not take back that the look before it failed.',
    test: {
      file: SWEEPS,
      name: 'a look that failed is taken back by no turn that looks for none',
    },
    broken: {
      file: 'activities/relays/sweeper.ts',
      find: 'last.isUnseen ? SKIPPED : false',
      replace: 'false',
    },
  },
  {
    id: 'a-wrong-list-is-found-out',
    section,
    rule: 'Each look checks some of the listed runs by their ids.',
    test: {
      file: SWEEPS,
      name: 'asks about some all the same, so a list that stays wrong is found out',
    },
    broken: {
      file: 'activities/relays/sweeper.ts',
      find: ' || isOfSample(oneIn)',
      replace: '',
    },
  },
  {
    id: 'those-that-wait-are-swept',
    section,
    rule: 'Movements that wait for their approval are compared with what Temporal has, too, though seldom.',
    test: {
      file: AWAY,
      name: 'a run that waits for an approval which is not nearly over is revived by the pass over all',
    },
    broken: { file: 'service/loops.ts', find: '    startWaitingSweeper(relay),\n', replace: '' },
  },
  {
    id: 'equal-counts-are-no-proof',
    section,
    rule: 'As many runs as open movements prove nothing for long: of the turns over many movements that wait one in six compares all of them, and so do the first of a process and its next after a failure.',
    test: {
      file: SWEEPS,
      name: 'compares nothing while as many runs are counted as are open, but all in every sixth turn',
    },
    broken: {
      file: 'activities/relays/sweeper.ts',
      find: '!comparesAll && (await isCountEqual(options))',
      replace: 'await isCountEqual(options)',
    },
  },
  {
    id: 'nearly-over-is-swept',
    section,
    rule: 'An approval that is nearly over has its run looked for, so that it expires in its time.',
    test: {
      file: SWEEPS,
      name: 'an approval that is nearly over is looked at as often as what runs',
    },
    broken: {
      file: 'store/sweeps.ts',
      find: 'AND expires_at <= (SELECT svc_now())',
      replace: 'AND false AND expires_at <= (SELECT svc_now())',
    },
  },
  {
    id: 'lost-runs-are-revived',
    section,
    rule: 'Open movements without progress are compared with what Temporal has, and those whose run is gone get a new one.',
    test: {
      file: AWAY,
      name: 'a run that was terminated is revived by the sweeper, wherever its movement stands',
    },
    broken: {
      file: 'activities/relays/sweeper.ts',
      find: 'if (await temporal.isRunning({ movementId })) return;',
      replace: 'return;',
    },
  },
  {
    id: 'waiting-runs-continue',
    section,
    rule: 'A run continues as new while it waits, as soon as the server suggests it.',
    test: {
      file: 'test/faults/continue-as-new.test.ts',
      name: 'a node that is observed for long costs many runs, each of them closed in time, and one send',
    },
    broken: { file: 'workflows/movement.ts', find: '|| run.leaves());', replace: '|| false);' },
  },
  {
    id: 'no-run-ends-in-a-send',
    section,
    rule: 'No run continues as new in the middle of a send or of a request to cancel.',
    test: {
      file: 'test/faults/continue-as-new.test.ts',
      name: 'no run continues as new in the middle of a send, however long its history has become',
    },
    broken: {
      file: 'workflows/run-state.ts',
      find: 'isLeaving() && this.submits + this.cancels === 0',
      replace: 'isLeaving()',
    },
  },
  {
    id: 'one-local-activity-at-a-time',
    section,
    rule: 'A run has one local activity open at a time, so that it can be replayed.',
    test: {
      file: 'test/faults/continue-as-new.test.ts',
      name: 'parallel nodes that are looked at all the time delay no run',
    },
    broken: {
      file: 'workflows/local-activities.ts',
      find: 'return !inTurn || open === 0;',
      replace: 'return true;',
    },
  },
  {
    id: 'pauses-outlast-runs',
    section,
    rule: 'The pause before a send is made again is counted from what Postgres records, whichever run waits.',
    test: {
      file: 'test/faults/continue-as-new.test.ts',
      name: 'a pause before a send is made again outlasts the runs that it is waited in',
    },
    broken: {
      file: 'activities/phases/prepare.ts',
      find: 'sendPrepared(row))',
      replace: "result('READY', 'continue'))",
    },
  },
  {
    id: 'temporal-away-changes-no-answer',
    section,
    rule: 'With Temporal down the API goes on answering, and everything goes on when it is back.',
    test: {
      file: AWAY,
      name: 'approve, create and reject are answered as ever, and everything goes on when it is back',
    },
    broken: {
      file: 'api/movements/act.ts',
      find: '    deps.handOver(movementId, {\n      kind: action,\n      command_id: outcome.command_id,\n      plan: outcome.plan,\n      strategy_id: outcome.strategy_id,\n    });',
      replace: '  await fetch(deps.settings.temporalUiUrl);',
    },
  },
  {
    id: 'namespace-can-be-rebuilt',
    section,
    rule: 'A run loads its progress from Postgres alone, so a wiped Temporal database strands nothing.',
    test: { file: AWAY, name: 'and its database deleted, movements in flight go on from Postgres' },
    broken: {
      file: 'store/sweeps.ts',
      find: 'AND m.ended_at IS NULL',
      replace: 'AND false',
    },
  },
  {
    id: 'broken-writes-are-looked-up',
    section,
    rule: 'When the connection breaks after a write was sent, the write is looked up by its command id before anything is repeated.',
    test: {
      file: STORE,
      name: 'after the database took it: it is looked up by its command and counts as done, once',
    },
    broken: {
      file: 'store/transition.ts',
      find: 'return known === null ? null : write();',
      replace: 'return null;',
    },
  },
  {
    id: 'unknown-outcomes-are-shown',
    section,
    rule: 'A write whose answer was lost, and that no look-up finds, is 503 `outcome_unknown`: it may yet be committed.',
    test: {
      file: STORE,
      name: 'before the database took it: it may yet arrive, so its outcome is unknown',
    },
    broken: {
      file: 'store/faults.ts',
      find: "if (found === null) throw new ServiceError('outcome_unknown', { cause: error });",
      replace:
        "if (found === null) throw new ServiceError('dependency_unavailable', { cause: error });",
    },
  },
  {
    id: 'refused-only-where-known',
    section,
    rule: 'No request that writes is answered that nothing was accepted while its commit may still wait, as for a synchronous standby that is away.',
    test: {
      file: 'test/api/lost-answers.test.ts',
      name: 'an approval, and a write that nothing is looked up of, are not called refused either',
    },
    broken: {
      file: 'api/http/answer.ts',
      find: '.catch(leaveOpen)',
      replace: '',
    },
  },
  {
    id: 'lost-commits-are-not-called-failed',
    section,
    rule: 'Of a migration whose commit was not answered it is never said that nothing was kept.',
    test: {
      file: 'test/store/migrate.test.ts',
      name: 'of a commit whose answer was lost it is looked up, or said to be unknown, never that nothing was kept',
    },
    broken: {
      file: 'prisma/migrate.ts',
      find: 'if (committing !== null && isLost(error)) throw await unanswered(run, migration, committing);',
      replace: '',
    },
  },
  {
    id: 'a-clock-that-jumps-proves-nothing',
    section,
    rule: 'What is not found is sent again or fails only once its send is over by the clock of the process, too.',
    test: {
      file: CLOCK_AHEAD,
      name: 'a node is not %s while its send may be under way by the clock of the process',
    },
    broken: {
      file: 'activities/both-clocks.ts',
      find: 'judge(end_ms + (await databaseAheadMs(db)))',
      replace: 'judge(end_ms + 0 * (await databaseAheadMs(db)))',
    },
  },
  {
    id: 'a-word-waits-for-both-clocks',
    section,
    rule: 'A person’s word about a node counts only once its send is over by the clock of the API, too.',
    test: { file: CLOCK_AHEAD, name: 'a person cannot call a node failed while that is so' },
    broken: {
      file: 'api/movements/resolve.ts',
      find: 'ahead_seconds: ahead_ms / 1_000',
      replace: 'ahead_seconds: 0 * ahead_ms',
    },
  },
  {
    id: 'a-word-about-a-transfer-waits-for-both-clocks',
    section,
    rule: 'A capital transfer is called failed only once its send is over by the clock of the API, too.',
    test: {
      file: CLOCK_AHEAD,
      name: 'is not sent again, or called failed, while its send may be under way',
    },
    broken: {
      file: 'api/capital-transfers/resolve.ts',
      find: '+ ahead_ms / 1_000',
      replace: '+ 0 * ahead_ms',
    },
  },
  {
    id: 'windows-are-longer-by-a-clock-behind',
    section,
    rule: 'A stored send window is longer by what the clock of the database is behind.',
    test: {
      file: CLOCK_AHEAD,
      name: 'a stored window is longer by what the clock of the database is behind, at the %s fence',
    },
    broken: {
      file: 'domain/send/clocks.ts',
      find: 'Math.ceil(behind_ms / 1_000) : 0',
      replace: '0 * behind_ms : 0',
    },
  },
  {
    id: 'late-approvals-expire',
    section,
    rule: 'An approve that arrives after `expires_at` is refused and writes EXPIRED itself.',
    test: {
      file: 'test/http/movement-actions.test.ts',
      name: 'after the time is 409, and the movement is EXPIRED',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "WHEN doc ->> 'expiry' = 'future' AND m.expires_at <= at THEN 'expired'",
      replace: '',
    },
  },
  {
    id: 'expiry-needs-the-database-clock',
    section,
    rule: 'A movement expires only once the clock of the database has passed `expires_at`.',
    test: { file: RERUN, name: 'expire does nothing before its time, and one thing after it' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "WHEN doc ->> 'expiry' = 'past' AND m.expires_at > at THEN 'not_expired'",
      replace: '',
    },
  },
];
