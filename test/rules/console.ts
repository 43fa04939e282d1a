import type { Rule } from './rule.ts';

const section = "The console's door";
const KEYS = 'test/store/dashboard-keys.test.ts';
const MIGRATION = 'prisma/migrations/20261126080000_dashboard_keys/migration.sql';

export const consoleRules: readonly Rule[] = [
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
];
