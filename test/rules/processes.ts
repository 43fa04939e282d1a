import type { Rule } from './rule.ts';

const section = 'Several processes';

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
];
