import type { Rule } from './rule.ts';

const section = "The console's door";
const KEYS = 'test/store/dashboard-keys.test.ts';
const HTTP = 'test/http/dashboard-sessions.test.ts';
const MIGRATION = 'prisma/migrations/20261126080000_dashboard_keys/migration.sql';

const DOOR = 'test/http/second-door.test.ts';

export const consoleRules: readonly Rule[] = [
  {
    id: 'a-trail-that-is-not-sealed-shows-it',
    section,
    rule: 'The console and `GET audit/seal` say when new audit rows are no longer sealed.',
    test: {
      file: 'test/store/seal-state.test.ts',
      name: 'an event is overdue once the sealers have had their time, until it is sealed',
    },
    broken: {
      file: 'store/audit-seals.ts',
      find: 'WHERE s.event_id = e.event_id)) AS overdue',
      replace: 'WHERE s.event_id = e.event_id) AND false) AS overdue',
    },
  },
  {
    id: 'nothing-is-signed-ahead',
    section,
    rule: 'Under /dashboard/api only nonces of the service are taken, each once.',
    test: { file: DOOR, name: 'needs a nonce of the service, once' },
    broken: {
      file: 'api/dashboard/authenticate.ts',
      find: "if (worth !== 'good' && (issued || key?.enrolled !== null))",
      replace: "if (worth !== 'good' && !issued && key?.enrolled !== null)",
    },
  },
  {
    id: 'the-allowlist-alone-only-reads',
    section,
    rule: 'An operator with the allowlist alone reads under /dashboard/api, and does nothing.',
    test: { file: DOOR, name: 'is read, and no more, with the allowlist alone' },
    broken: {
      file: 'domain/roles.ts',
      find: "method === 'GET' && roles.includes('operator')",
      replace: "roles.includes('operator')",
    },
  },
  {
    id: 'the-allowlist-needs-its-right',
    section,
    rule: 'An operator writes the allowlist only with the right to it, whatever the role.',
    test: {
      file: DOOR,
      name: 'without the right does not write the allowlist, and that is recorded',
    },
    broken: {
      file: 'api/dashboard/door.ts',
      find: 'if (caller.dashboard?.allowlist === true) return caller;',
      replace: 'return caller;',
    },
  },
  {
    id: 'the-console-has-one-name',
    section,
    rule: 'The console’s requests name its origin’s host; what a proxy says decides nothing.',
    test: { file: DOOR, name: 'is not taken under the name %s, whatever a proxy says' },
    broken: {
      file: 'api/dashboard/origin.ts',
      find: 'if (host?.toLowerCase() === new URL(expected).host) return;',
      replace: 'if (host !== undefined) return;',
    },
  },
  {
    id: 'the-service-confirms-no-key',
    section,
    rule: 'The service’s database role fills the row of an enrolment, and makes, confirms, changes and ends none.',
    test: {
      file: KEYS,
      name: 'the service’s role fills an open row, and makes, confirms, changes and ends none',
    },
    broken: {
      file: MIGRATION,
      find: "'SELECT, UPDATE (secret, filled_at)'",
      replace: "'SELECT, UPDATE (secret, filled_at, state)'",
    },
  },
  {
    id: 'an-enrolment-is-filled-once',
    section,
    rule: 'What a browser handed over is not replaced by another secret, whoever writes.',
    test: {
      file: KEYS,
      name: 'the service’s role fills an open row, and makes, confirms, changes and ends none',
    },
    broken: {
      file: MIGRATION,
      find: '(OLD.secret IS NOT NULL OR NEW.state',
      replace: '(NEW.state',
    },
  },
  {
    id: 'what-is-confirmed-is-what-was-handed-over',
    section,
    rule: 'An enrolled key counts only once its fingerprint, of the secret that is stored, was confirmed.',
    test: {
      file: HTTP,
      name: 'counts once it is confirmed; the same secret again is answered again',
    },
    broken: {
      file: 'tools/dashboard/keys.ts',
      find: 'if (fingerprint !== shown)',
      replace: "if (shown === '')",
    },
  },
  {
    id: 'an-enrolment-is-signed-with-its-secret',
    section,
    rule: 'A browser hands a key over in a request that it signs with that key and a nonce of the service.',
    test: { file: HTTP, name: 'is signed with the secret that it hands over' },
    broken: {
      file: 'api/dashboard/session-routes.ts',
      find: 'if (secret !== null)',
      replace: "if (secret === '')",
    },
  },
  {
    id: 'an-ended-key-signs-nothing',
    section,
    rule: 'A key that has ended signs nothing and has no session from then on, in every process.',
    test: { file: HTTP, name: 'ends with its key, by its own wish, and by fundadmin' },
    broken: {
      file: 'api/dashboard/enrolled.ts',
      find: "if (state === 'ended' || secret === null) return null;",
      replace: 'if (secret === null) return null;',
    },
  },
  {
    id: 'a-session-reads-and-no-more',
    section,
    rule: 'A session is taken for reads alone.',
    test: { file: HTTP, name: 'reads and no more, whatever the route' },
    broken: {
      file: 'api/dashboard/authenticate.ts',
      find: "request.method !== 'GET' || isSigned(request.headers)",
      replace: 'isSigned(request.headers)',
    },
  },
  {
    id: 'a-session-is-same-origin',
    section,
    rule: 'A session is taken from pages of the console’s own origin alone.',
    test: { file: HTTP, name: 'is taken from its own origin alone' },
    broken: {
      file: 'api/dashboard/sessions.ts',
      find: "if (!isSameOrigin(request.headers)) throw new AuthenticationError('session_cross_site');",
      replace: 'void isSameOrigin(request.headers);',
    },
  },
  {
    id: 'sessions-grow-old',
    section,
    rule: 'A session is over twelve hours after its start, however much it is used.',
    test: {
      file: KEYS,
      name: 'a session ends half an hour after its last use, and twelve hours after its start',
    },
    broken: {
      file: 'store/dashboard-sessions.ts',
      find: '          AND created_at > at - make_interval(secs => ${SESSION_SECONDS}::double precision)\n',
      replace: '',
    },
  },
  {
    id: 'a-copy-says-nothing-of-the-first',
    section,
    rule: 'A signed write that is answered 401 may have been taken: a browser sends a request again by itself, and the copy’s nonce was used. The page looks before it offers the decision again.',
    test: {
      file: 'test/clients/doubt.test.ts',
      name: 'a write of an operator that is answered 401 may have been taken by an earlier copy; a read is refused',
    },
    broken: {
      file: 'clients/http/dashboard.ts',
      find: 'if (sent.writes && error instanceof ApiError && error.status === 401)',
      replace: 'if (sent.writes && error instanceof ApiError && error.status === 0)',
    },
  },
  {
    id: 'a-stream-keeps-no-session',
    section,
    rule: 'An open stream does not keep its session from growing idle, and ends with it.',
    test: { file: HTTP, name: 'grows idle under an open stream, which then ends' },
    broken: {
      file: 'api/dashboard/stream.ts',
      find: 'authentication.known(request, { isUse: false })',
      replace: 'authentication.known(request)',
    },
  },
  {
    id: 'no-background-read-keeps-a-session',
    section,
    rule: 'What a page reads without a person, and a stream that it opens again, does not keep a session from growing idle.',
    test: {
      file: HTTP,
      name: 'grows idle under what no person reads: marked reads, and streams that open again',
    },
    broken: {
      file: 'api/dashboard/authenticate.ts',
      find: 'isUse && !isBackground(request)',
      replace: 'isUse',
    },
  },
  {
    id: 'a-background-read-says-so',
    section,
    rule: 'The console’s client marks what it reads for no person.',
    test: {
      file: 'test/clients/doubt.test.ts',
      name: 'what is read for no person says so, by whichever call',
    },
    broken: {
      file: 'clients/http/dashboard.ts',
      find: 'options.isBackground?.() === true',
      replace: 'false',
    },
  },
  {
    id: 'nothing-is-signed-by-a-wrong-clock',
    section,
    rule: 'A write whose signature the service would refuse for its time never leaves the page.',
    test: {
      file: 'test/clients/doubt.test.ts',
      name: 'what may not be signed now leaves nothing but the question for a nonce',
    },
    broken: {
      file: 'clients/http/dashboard.ts',
      find: '    options.beforeSigning?.();\n',
      replace: '',
    },
  },
  {
    id: 'the-page-has-one-name',
    section,
    rule: 'The console’s page is answered under its origin’s host alone; what a proxy says decides nothing.',
    test: {
      file: 'test/http/console.test.ts',
      name: 'under the name %s it is not answered, whatever a proxy says',
    },
    broken: {
      file: 'api/console/serve.ts',
      find: '    checkOrigin(request);\n',
      replace: '    void checkOrigin;\n',
    },
  },
  {
    id: 'no-client-passes-for-an-operator',
    section,
    rule: 'No client and no key of the API has the name under which an operator of the dashboard is recorded.',
    test: { file: 'test/http/keys.test.ts', name: 'refuses %s, and writes nothing' },
    broken: {
      file: 'tools/keys/issue.ts',
      find: 'const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;',
      replace: 'const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;',
    },
  },
];
