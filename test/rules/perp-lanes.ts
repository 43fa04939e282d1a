import type { Rule } from './rule.ts';

const section = 'The perps venue';
const SENT = 'test/venues/perp/user-signed.test.ts';
const DEPOSITS = 'test/venues/perp/deposit.test.ts';
const FENCE = 'test/store/perp-fence.test.ts';
const MASTERS = 'test/store/perp-master.test.ts';
const CLOCKS = 'test/store/clocks.test.ts';

export const perpLaneRules: readonly Rule[] = [
  {
    id: 'what-was-signed-first-is-sent',
    section,
    rule: 'With a nonce of the perps venue nothing is ever sent but what was stored first, whoever signs.',
    test: { file: FENCE, name: 'is what was stored first, whoever of many signs and whenever' },
    broken: {
      file: 'prisma/functions/perp-actions.sql',
      find: 'SET signature = coalesce(signature, given)',
      replace: 'SET signature = given',
    },
  },
  {
    id: 'what-is-not-found-may-still-come',
    section,
    rule: 'That the venue shows nothing of an action fails it only once its nonce can be used no more.',
    test: { file: SENT, name: 'that is not found is not failed before its nonce is too old' },
    broken: {
      file: 'domain/perps/nonce-window.ts',
      find: "return age > WINDOW_MS ? 'over' : 'open';",
      replace: "return age > REPEAT_MS ? 'over' : 'open';",
    },
  },
  {
    id: 'a-withdrawal-is-never-failed-by-absence',
    section,
    rule: 'A withdrawal without an answer needs a person, however old it is: it shows only once it is paid.',
    test: {
      file: SENT,
      name: 'that is not found is never failed: what was taken may be paid however late',
    },
    broken: {
      file: 'venues/perp/withdraw.ts',
      find: "row_comes: 'when_paid',",
      replace: "row_comes: 'at_once',",
    },
  },
  {
    id: 'what-is-stopped-is-not-sent-again',
    section,
    rule: 'What stops a first send at the perps venue stops a repeat, which may be the first that it hears.',
    test: {
      file: FENCE,
      name: 'that is paused, a frozen switch, a signer that is off and a person hold what is signed',
    },
    broken: {
      file: 'prisma/functions/stops.sql',
      find: "  IF mode = 'frozen' THEN",
      replace: "  IF mode = 'thawed' THEN",
    },
  },
  {
    id: 'what-is-held-is-only-looked-for',
    section,
    rule: 'An action that may not be sent now is looked for, and not sent.',
    test: { file: SENT, name: 'that may not be sent now is not sent again, and still found' },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: "if (held !== null) return heldBack('ACTION_HELD', held);",
      replace: '',
    },
  },
  {
    id: 'what-the-venue-took-is-not-failed-by-absence',
    section,
    rule: 'An action that the venue has taken is completed by its row or shown to a person, and never failed.',
    test: {
      file: SENT,
      name: 'that the venue took is not failed by absence, however long its row is away',
    },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: "if (prior?.output?.['admitted'] === true)",
      replace: "if (prior?.output?.['admitted'] === false)",
    },
  },
  {
    id: 'sends-wait-for-clocks',
    section,
    rule: 'Nothing new is sent while the clock of the database or of the perps venue is more than a minute from ours.',
    test: {
      file: 'test/store/perp-phases.test.ts',
      name: 'waits before its fence while the clock of %s differs, and is looked for all the same',
    },
    broken: {
      file: 'domain/send/clocks.ts',
      find: 'Math.abs(differences.get(clock) ?? 0) > MOST_APART_MS',
      replace: '(differences.get(clock) ?? 0) > 10 * MOST_APART_MS',
    },
  },
  {
    id: 'every-fence-asks-the-clocks',
    section,
    rule: 'No node passes a fence that asks no clock while one differs, whatever its executor.',
    test: { file: CLOCKS, name: 'the fence of an unsigned node begins with' },
    broken: {
      file: 'activities/phases/submit.ts',
      find: 'anyApart(differences)',
      replace: 'anyApart(new Map())',
    },
  },
  {
    id: 'transfers-wait-for-clocks',
    section,
    rule: 'A capital transfer is not sent while the clock of the database or of one of its ends differs.',
    test: {
      file: CLOCKS,
      name: 'a capital transfer is not sent while the clock of its %s differs',
    },
    broken: {
      file: 'activities/capital-transfers/submit.ts',
      find: 'if (apart !== null) {',
      replace: "if (apart === '') {",
    },
  },
  {
    id: 'idle-chains-stop-nothing',
    section,
    rule: 'Of a chain only a block ahead of us stops sends, and a clock that cannot be read stops none.',
    test: { file: CLOCKS, name: 'every clock is a metric, those that count stop sends' },
    broken: {
      file: 'domain/send/clocks.ts',
      find: "(which === 'ahead' && difference_ms > 0)",
      replace: "which === 'ahead'",
    },
  },
  {
    id: 'clocks-that-stop-sends-stay-shown',
    section,
    rule: 'A difference of clocks that stops sends stays in the figure that the alert reads while the clock cannot be read.',
    test: {
      file: CLOCKS,
      name: 'a clock that was wrong and cannot be read agrees with none yet',
    },
    broken: {
      file: 'activities/relays/clocks.ts',
      find: '        differences.remove({ clock });\n      }\n',
      replace: '      }\n      differences.remove({ clock });\n',
    },
  },
  {
    id: 'rows-are-looked-for-a-day-before',
    section,
    rule: 'The row of an action is looked for from a day before its nonce, since the venue takes it so early.',
    test: {
      file: SENT,
      name: 'is completed by its row though its nonce is half a day ahead of the venue',
    },
    broken: {
      file: 'domain/perps/nonce-window.ts',
      find: 'export const FIRST_TAKEN_MS = DAY_MS;',
      replace: 'export const FIRST_TAKEN_MS = HOUR_MS;',
    },
  },
  {
    id: 'absence-proves-by-the-venues-clock-too',
    section,
    rule: 'A top-up is failed by its absence only when its nonce is too old by the venue’s clock as well.',
    test: { file: SENT, name: 'that is not found is not failed before its nonce is too old' },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: 'if (ageOf(nonce, await lane.client.time(call)) !== ',
      replace: 'if (ageOf(nonce, perp.now_ms) !== ',
    },
  },
  {
    id: 'refusals-prove-with-their-nonce',
    section,
    rule: 'Of a repeated action only a refusal that used up its nonce proves that nothing moved.',
    test: {
      file: SENT,
      name: 'is proven by no refusal that may have come before its nonce was looked at',
    },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: 'if (answer.consumed) return refused(answer.message);',
      replace: "if (answer.kind === 'refused') return refused(answer.message);",
    },
  },
  {
    id: 'withdrawals-are-known-by-their-nonce',
    section,
    rule: 'A withdrawal is completed by the row with its own nonce, whatever others are of the same amount.',
    test: {
      file: SENT,
      name: 'is paid once, less the fee, and completed by the row with its nonce',
    },
    broken: {
      file: 'venues/perp/ledger.ts',
      find: "delta.type === 'withdraw' && delta['nonce'] === nonce * 1_000,",
      replace: "delta.type === 'withdraw' && delta['nonce'] !== nonce,",
    },
  },
  {
    id: 'old-nonces-are-not-sent-first',
    section,
    rule: 'What was never sent is not sent with a nonce of more than an hour ago.',
    test: { file: FENCE, name: 'is not sent first with a nonce of more than an hour ago' },
    broken: {
      file: 'domain/perps/nonce-window.ts',
      find: 'return now - nonce <= FIRST_SEND_MS;',
      replace: 'return now - nonce <= WINDOW_MS;',
    },
  },
  {
    id: 'possible-executions-are-never-failed',
    section,
    rule: 'A person can say that nothing came of a signed action only once its nonce can be used no more.',
    test: {
      file: FENCE,
      name: 'keeps a person from saying that nothing came of it while its nonce may be used',
    },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: "interval '49 hours'",
      replace: "interval '0 hours'",
    },
  },
  {
    id: 'messages-for-the-venue-are-the-plans',
    section,
    rule: 'What is signed for the venue is exactly what the plan and the nonce of the attempt say.',
    test: {
      file: DEPOSITS,
      name: 'for a withdrawal is exactly the message of plan and nonce, signed by the master alone',
    },
    broken: {
      file: 'venues/evm/signing.ts',
      find: 'return isDeepStrictEqual(request.payload, typed_data)',
      replace: "return isDeepStrictEqual(request.payload['domain'], typed_data['domain'])",
    },
  },
  {
    id: 'the-master-signs',
    section,
    rule: 'A fence lets nothing through to the venue that another account than the master would sign.',
    test: { file: FENCE, name: 'sends no %s' },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: "ELSIF lower(master) IS DISTINCT FROM lower(asked ->> 'signer') THEN",
      replace: "ELSIF asked ->> 'signer' IS NULL THEN",
    },
  },
  {
    id: 'paused-strategies-stop-at-the-fence',
    section,
    rule: 'A strategy that is paused after a preflight sends nothing to the venue.',
    test: { file: FENCE, name: 'that is paused after its preflight stops %s at the fence' },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: 'ELSIF stopped IS NOT NULL THEN',
      replace: 'ELSIF stopped IS NOT NULL AND strategy IS NULL THEN',
    },
  },
  {
    id: 'one-equal-deposit-at-a-time',
    section,
    rule: 'Of deposits of one amount that ask at once, one passes its fence.',
    test: { file: FENCE, name: 'that ask at once pass one at a time' },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: "IF asked ? 'deposit' THEN PERFORM 1 FROM perp_master FOR UPDATE; END IF;",
      replace: '',
    },
  },
  {
    id: 'deposits-are-credited-whole',
    section,
    rule: 'A deposit is completed by the row of its own transaction with all of its amount, and by no other.',
    test: { file: DEPOSITS, name: 'is completed by no other amount, transaction or kind of row' },
    broken: {
      file: 'venues/perp/deposit.ts',
      find: 'compare(credited, String(paid)) === 0',
      replace: 'compare(credited, String(paid)) >= 0',
    },
  },
  {
    id: 'deposits-count-as-the-venue-does',
    section,
    rule: 'Nothing is deposited of a token that counts in other decimals than the venue.',
    test: { file: DEPOSITS, name: 'of a token that counts in other decimals than the venue' },
    broken: {
      file: 'venues/perp/deposit.ts',
      find: 'if (at.decimals === PERP_DECIMALS) return effect;',
      replace: 'if (at.decimals > 0) return effect;',
    },
  },
  {
    id: 'deposits-count-as-the-venue-does-when-signed',
    section,
    rule: 'A deposit of a token that counts in other decimals than the venue is not signed, whoever prepared it.',
    test: { file: DEPOSITS, name: 'is no deposit of a token with other decimals, whoever made it' },
    broken: {
      file: 'venues/evm/signing.ts',
      find: 'if (planned.refusal !== undefined) throw planned.refusal;',
      replace: '',
    },
  },
  {
    id: 'sends-without-a-last-moment-are-none',
    section,
    rule: 'An action of the perps venue is not sent by a call without a last moment to send.',
    test: { file: SENT, name: 'is not sent by a call that has no last moment' },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: '  const { notAfter } = call;',
      replace: '  const { notAfter = Infinity } = call;',
    },
  },
  {
    id: 'only-deposits-pay-where-they-go-to',
    section,
    rule: 'Nothing but a deposit pays the address that deposits go to.',
    test: { file: FENCE, name: 'is paid nothing by %s' },
    broken: {
      file: 'domain/perps/deposit-address.ts',
      find: "if (perpRoleOf(actionType) === 'deposit') return null;",
      replace: "if (perpRoleOf(actionType) !== 'deposit') return null;",
    },
  },
  {
    id: 'restored-actions-are-not-sent-again',
    section,
    rule: 'A restored database sends nothing again to the venue: it may have forgotten a later attempt.',
    test: {
      file: SENT,
      name: 'is not sent again by a database that may have forgotten a later attempt',
    },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: "if (journal.unknownNonces !== undefined) return unknown('ACTION_FORGOTTEN', LATER_FORGOTTEN);",
      replace: "if (age === 'over') return unknown('ACTION_FORGOTTEN', LATER_FORGOTTEN);",
    },
  },
  {
    id: 'a-pause-holds-what-a-strategy-works-with',
    section,
    rule: 'A movement without a strategy moves nothing of the account that a paused strategy works with.',
    test: { file: MASTERS, name: 'does not move by %s what a paused strategy works with' },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: '(strategy_id = own OR own IS NULL AND sub_account_address IS NULL)',
      replace: '(strategy_id = own)',
    },
  },
  {
    id: 'nonces-keep-to-the-clock',
    section,
    rule: 'No payment at the perps venue gets a nonce more than 12 hours ahead of the clock.',
    test: {
      file: MASTERS,
      name: 'of a clock that was days ahead goes to no payment, and none is used up',
    },
    broken: {
      file: 'prisma/functions/perp-actions.sql',
      find: 'IF wallet IS NULL AND next > ms + 12 * 3600 * 1000 THEN',
      replace: 'IF wallet IS NULL AND next > ms + 48 * 3600 * 1000 THEN',
    },
  },
  {
    id: 'deposits-together-keep-to-the-most',
    section,
    rule: 'Deposits into the master’s account for a strategy bring together no more than it may have.',
    test: {
      file: MASTERS,
      name: 'bring no more than that together, with what has arrived since it was read',
    },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: "AND state = 'COMPLETED' AND completed_at >= asked_at) n",
      replace: "AND state = 'COMPLETED' AND completed_at < asked_at) n",
    },
  },
  {
    id: 'every-deposit-counts-against-a-bound',
    section,
    rule: 'What is deposited for whomever counts against the least `max_agent_balance` of those who work with the master’s account.',
    test: { file: MASTERS, name: 'counts against its bound (%s)' },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: 'IF reason IS NULL AND least.strategy_id IS NOT NULL',
      replace: 'IF reason IS NULL AND least.strategy_id = strategy',
    },
  },
  {
    id: 'unknown-refusals-prove-nothing',
    section,
    rule: 'That nothing was taken of a first send is proven by the refusals of the venue that are known, and no other.',
    test: { file: SENT, name: 'is proven by no refusal that is not known' },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: "  if (answer.kind === 'refused' && answer.proves) return",
      replace: "  if (answer.kind === 'refused') return",
    },
  },
  {
    id: 'top-ups-go-between-accounts-that-keep-perps-apart',
    section,
    rule: 'A top-up is refused where its sub-account, or its master, keeps perps and spot together: no limit could count what is there.',
    test: {
      file: SENT,
      name: 'goes neither from nor to an account that keeps perps and spot together',
    },
    broken: {
      file: 'venues/perp/top-up.ts',
      find: 'for (const account of [master, sub_account])',
      replace: 'for (const account of [master])',
    },
  },
];
