import type { Rule } from './rule.ts';

const section = 'Several processes';
const SET_BACK = 'test/store/clock-set-back.test.ts';

export const processRules: readonly Rule[] = [
  {
    id: 'a-role-opens-its-own-secrets',
    section,
    rule: 'A process that takes no work opens no secret of a signer, an executor or a venue.',
    test: {
      file: 'test/signers/start.test.ts',
      name: 'an API process opens no secret of a signer, an executor or a venue, and reads through a worker',
    },
    broken: {
      file: 'service/registries.ts',
      find: "const works = config.duties.includes('worker');",
      replace: 'const works = config.duties.length > 0;',
    },
  },
  {
    id: 'settings-of-other-roles-stay-closed',
    section,
    rule: 'A process reads no secret among the settings that another role alone needs.',
    test: { file: 'test/platform/config.test.ts', name: 'opens only the secrets of its role' },
    broken: {
      file: 'platform/config/source.ts',
      find: 'if (!opens(setting, duties, environment)) {',
      replace: "if (!opens(setting, 'any', environment)) {",
    },
  },
  {
    id: 'revoked-keys-are-refused-everywhere',
    section,
    rule: 'A key that is revoked is refused by every API from the next request on.',
    test: {
      file: 'test/http/several-apis.test.ts',
      name: 'a key that is revoked is refused by an API that has just let it in',
    },
    broken: {
      file: 'api/auth/authenticate.ts',
      find: "if (taken === null) throw new AuthenticationError('key_revoked', keyId);",
      replace: "if (taken === null) return { client_id: null, key_id: keyId, role: 'operator' };",
    },
  },
  {
    id: 'revoked-keys-finish-nothing',
    section,
    rule: 'What a request would write is refused once its key is revoked, however far the request has come.',
    test: {
      file: 'test/http/keys.test.ts',
      name: 'a key that is revoked while its approval waits approves nothing',
    },
    broken: {
      file: 'prisma/functions/audit.sql',
      find: "AND (k.status <> 'active' OR c.status <> 'active')) THEN",
      replace: "AND (k.status <> 'active' OR c.status <> 'active') AND false) THEN",
    },
  },
  {
    id: 'requests-act-for-a-minute',
    section,
    rule: 'A request writes nothing once a minute has passed since its key was found active.',
    test: {
      file: 'test/store/outlived.test.ts',
      name: 'what was checked more than a minute ago writes nothing, and says that nothing was accepted',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "  PERFORM refuse_outlived(doc -> 'audit');\n",
      replace: '',
    },
  },
  {
    id: 'shared-limits-are-exact',
    section,
    rule: 'APIs that share a rate limit let through exactly as many requests of a key as it says.',
    test: {
      file: 'test/http/rate-limit.test.ts',
      name: 'two APIs that share a limit let through exactly as many, and both say when the minute is over',
    },
    broken: {
      file: 'store/request-nonces.ts',
      find: 'THEN 0 ELSE w.used END,',
      replace: 'THEN 0 ELSE 0 END,',
    },
  },
  {
    id: 'a-lease-is-one-holders',
    section,
    rule: 'What one worker does for all no other takes over before its lease is over.',
    test: {
      file: 'test/store/leases.test.ts',
      name: 'a lease is one holder’s until its end, whoever asks',
    },
    broken: {
      file: 'store/leases.ts',
      find: 'WHERE l.holder = excluded.holder',
      replace: 'WHERE l.holder <> excluded.name',
    },
  },
  {
    id: 'who-fails-gives-the-lease-back',
    section,
    rule: 'A worker whose work under a lease fails twice in a row leaves it to another one.',
    test: {
      file: 'test/store/leases.test.ts',
      name: 'a holder whose work fails twice leaves it to another for a while, and goes on when alone',
    },
    broken: {
      file: 'activities/relays/leases.ts',
      find: '    restsUntil.set(lease, now() + REST_MS);\n',
      replace: '',
    },
  },
  {
    id: 'one-blind-worker-downs-no-executor',
    section,
    rule: 'A worker that cannot reach an executor does not call it down while another worker’s answer that it is up still stands.',
    test: {
      file: 'test/store/health.test.ts',
      name: 'it stays up, its movements need no person, and each worker shows what it found',
    },
    broken: {
      file: 'prisma/functions/registry.sql',
      find: 'e.health_by <> d.health_by AND e.health_stands_until > at',
      replace: 'e.health_by <> d.health_by AND e.health_stands_until <= at',
    },
  },
  {
    id: 'what-is-owed-is-kept',
    section,
    rule: 'Retention removes no command that no run has applied and no callback that was not delivered, however old.',
    test: {
      file: 'test/store/retention.test.ts',
      name: 'applied commands and delivered callbacks go when their days are over, and what is owed stays',
    },
    broken: {
      file: 'store/retention.ts',
      find: "WHERE status = 'delivered'",
      replace: "WHERE status <> 'pending'",
    },
  },
  {
    id: 'a-budget-is-one-for-all-processes',
    section,
    rule: 'Processes that share an exchange account reserve no unit of its request budget twice.',
    test: {
      file: 'test/store/request-desk.test.ts',
      name: 'processes that reserve at the same time reserve no unit twice and lose none',
    },
    broken: {
      file: 'prisma/functions/request-desk.sql',
      find: 'SET whole_at = greatest(d.whole_at, d.stopped_until, at) + spent',
      replace: 'SET whole_at = at + spent',
    },
  },
  {
    id: 'nonces-grow-over-all-processes',
    section,
    rule: 'A nonce of an API key is larger than each one before it, whichever process had that, whatever the clock says.',
    test: {
      file: 'test/store/request-desk.test.ts',
      name: 'a nonce is larger than the last one, whatever the clock says',
    },
    broken: {
      file: 'prisma/functions/request-desk.sql',
      find: 'SET nonce = greatest(d.nonce + 1, excluded.nonce)',
      replace: 'SET nonce = excluded.nonce',
    },
  },
  {
    id: 'failing-loops-are-counted',
    section,
    rule: 'A background loop whose turns fail is shown as failing until one of them succeeds.',
    test: {
      file: 'test/platform/loop.test.ts',
      name: 'a loop that fails is counted as failing until a turn succeeds',
    },
    broken: { file: 'platform/loop.ts', find: '        turns.failed();\n', replace: '' },
  },
  {
    id: 'failures-far-apart-do-not-add-up',
    section,
    rule: 'Failures of a background loop that are far apart do not add up to an outage.',
    test: {
      file: 'test/platform/loop.test.ts',
      name: 'that are far apart do not add up, and those of ten minutes do',
    },
    broken: {
      file: 'platform/loop.ts',
      find: 'before === null || last - before.last > apartMs',
      replace: 'before === null',
    },
  },
  {
    id: 'unwritten-looks-fail-their-loop',
    section,
    rule: 'A requested look whose answer cannot be written fails a turn of its loop, and keeps no other look from its answer.',
    test: {
      file: 'test/store/requested-looks.test.ts',
      name: 'a look whose answer cannot be written fails a turn, and keeps no other from its answer',
    },
    broken: {
      file: 'activities/relays/looks.ts',
      find: 'if (fault !== undefined) throw fault;',
      replace: '',
    },
  },
  {
    id: 'venues-never-read-are-shown',
    section,
    rule: 'A venue whose balances were never read is shown with how long its reads have failed.',
    test: { file: 'test/api/operations/metrics.test.ts', name: 'shows every figure' },
    broken: {
      file: 'api/operations/metrics.ts',
      find: 'ages.get(venue) ?? failingSeconds(venue)',
      replace: 'ages.get(venue) ?? null',
    },
  },
  {
    id: 'empty-accounts-are-read',
    section,
    rule: 'An account that is empty, and leaves no balance to store, does not count as one that cannot be read.',
    test: {
      file: 'test/platform/balance-desk.test.ts',
      name: 'is from the first failure to the last, until a fetch succeeds, also of an empty account',
    },
    broken: {
      file: 'platform/balance-desk.ts',
      find: '() => failing.delete(fetcher.venue_key)',
      replace: '() => undefined',
    },
  },
  {
    id: 'unusable-temporal-access-fails-its-loop',
    section,
    rule: 'A renewed access to Temporal that cannot be used fails the turns of its watch.',
    test: {
      file: 'test/platform/temporal-access.test.ts',
      name: 'is a failed turn, and the one of before stays',
    },
    broken: {
      file: 'platform/temporal-access.ts',
      find: '        throw error;\n',
      replace: '',
    },
  },
  {
    id: 'turns-that-hang-are-shown',
    section,
    rule: 'A turn of a background loop that does not end is shown with how long it lasts.',
    test: {
      file: 'test/platform/loop.test.ts',
      name: 'that does not end is shown, and no turn that has ended',
    },
    broken: { file: 'platform/loop.ts', find: '      turns.started();\n', replace: '' },
  },
  {
    id: 'what-a-clock-ahead-made-rest-is-due',
    section,
    rule: 'Once the clock of the database is set back, no lease, claim or rest stays from the time when it was ahead.',
    test: { file: SET_BACK, name: 'that a clock ahead has stamped rests no longer' },
    broken: {
      file: 'prisma/functions/clock-set-back.sql',
      find: 'SET %2$I = $1 WHERE %2$I > $1 + $2',
      replace: 'SET %2$I = %2$I WHERE %2$I > $1 + $2',
    },
  },
  {
    id: 'right-clocks-cut-no-lease',
    section,
    rule: 'Where the clock of the database is set back, a lease that a right clock would give is kept.',
    test: { file: SET_BACK, name: 'what a right clock has leased stays leased' },
    broken: {
      file: 'prisma/functions/clock-set-back.sql',
      find: 'WHERE %2$I > $1 + $2 AND',
      replace: 'WHERE %2$I > $1 AND $2 IS NOT NULL AND',
    },
  },
  {
    id: 'clocks-that-go-on-cut-nothing',
    section,
    rule: 'While the clock of the database goes on, or steps back by seconds, no rest is cut.',
    test: {
      file: SET_BACK,
      name: 'while the clock goes on, or is set back by seconds, nothing is cut',
    },
    broken: {
      file: 'prisma/functions/clock-set-back.sql',
      find: "before - interval '10 seconds'",
      replace: "before + interval '10 seconds'",
    },
  },
  {
    id: 'every-time-is-a-rest-or-a-fact',
    section,
    rule: 'Each time that the database stores is listed as a rest, which a clock that is set back cuts, or as a fact, which nothing cuts.',
    test: { file: SET_BACK, name: 'every time of the database is a rest or a fact' },
    broken: {
      file: 'prisma/functions/clock-set-back.sql',
      find: "    ('turns', 'due_at', interval '1 hour', 'true'),\n",
      replace: '',
    },
  },
  {
    id: 'no-reading-of-a-clock-ahead-is-stored',
    section,
    rule: 'A reading of balances that began by a clock ahead is not stored once that clock is right: it would keep later ones out.',
    test: {
      file: SET_BACK,
      name: 'a reading that began by the clock ahead is not stored behind the cut',
    },
    broken: {
      file: 'prisma/functions/holds.sql',
      find: '  IF began > svc_now() THEN RETURN; END IF;\n',
      replace: '',
    },
  },
  {
    id: 'balances-of-a-clock-ahead-cover-nothing',
    section,
    rule: 'Balances that were read by a clock ahead cover nothing, since what was paid meanwhile may not be in them.',
    test: {
      file: SET_BACK,
      name: 'every rest is cut, no fact changes, and one process alone does it',
    },
    broken: {
      file: 'prisma/functions/clock-set-back.sql',
      find: "  UPDATE balance_snapshots SET fetched_at = at - interval '25 hours' WHERE fetched_at = at;\n",
      replace: '',
    },
  },
  {
    id: 'changes-that-lie-ahead-are-swept',
    section,
    rule: 'A movement whose last change lies ahead, since the clock of the database was set back, is swept as one that stands still.',
    test: {
      file: SET_BACK,
      name: 'a movement that no sweep has seen since a clock ahead changed it is woken',
    },
    broken: {
      file: 'store/sweeps.ts',
      find: `
        OR updated_at > (SELECT svc_now()) + interval '10 seconds')
        -- Those`,
      replace: ')\n        -- Those',
    },
  },
  {
    id: 'each-worker-notices-a-clock-set-back',
    section,
    rule: 'Each worker looks with its clocks whether that of the database was set back, and logs what was cut.',
    test: {
      file: SET_BACK,
      name: 'each worker looks with its clocks, and its log says what was cut',
    },
    broken: {
      file: 'activities/relays/clocks.ts',
      find: 'const back = await noteClock(db);',
      replace: 'const back = await Promise.resolve(null);',
    },
  },
];
