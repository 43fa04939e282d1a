import type { Rule } from './rule.ts';

const section = 'The console';

export const consoleStreamRules: readonly Rule[] = [
  {
    id: 'no-change-is-passed-over',
    section,
    rule: 'A console that reads on has every committed change exactly once, in whatever order transactions commit.',
    test: {
      file: 'test/store/console-events.test.ts',
      name: 'each reader has every committed change exactly once, all in one order',
    },
    broken: {
      file: 'store/console-events.ts',
      find: 'AND e.xid < at.horizon',
      replace: '',
    },
  },
  {
    id: 'what-was-missed-is-said',
    section,
    rule: 'A console that was away for longer than its events are kept is not left in silence: it reads everything again.',
    test: {
      file: 'test/store/console-events.test.ts',
      name: 'a reader learns which events it has lost, and those it has seen may go',
    },
    broken: {
      file: 'store/console-events.ts',
      find: 'after.epoch !== epoch || removed ||',
      replace: 'after.epoch !== epoch ||',
    },
  },
  {
    id: 'a-stream-ends-with-its-session',
    section,
    rule: 'A stream ends within five seconds of the session or key that it was opened with.',
    test: {
      file: 'test/api/console-feed.test.ts',
      name: 'a process has only so many streams, and one ends soon after its operator may read no more',
    },
    broken: {
      file: 'api/dashboard/stream.ts',
      find: 'if (!stays) opened.end();',
      replace: 'if (!stays) return;',
    },
  },
  {
    id: 'no-stream-shows-what-is-old',
    section,
    rule: 'A stream for which the database can no longer be read ends, rather than show what is old.',
    test: {
      file: 'test/api/console-feed.test.ts',
      name: 'streams end, saying when to reconnect, if a reader fails or the process stops',
    },
    broken: {
      file: 'api/dashboard/console-feed.ts',
      find: 'if (performance.now() - lastRead >= DEAF_MS) endAll();',
      replace: '',
    },
  },
  {
    id: 'what-no-event-tells-of-is-read-again',
    section,
    rule: 'What changes without an event of the stream (executors, policies, the allowlist, what would be refused now) is read again by time.',
    test: {
      file: 'test/console/changes.test.ts',
      name: 'what changes without an event is read again by time, and nothing else',
    },
    broken: {
      file: 'console/data/changes.ts',
      find: 'getMovement(Graph|Timeline|Plan))$',
      replace: 'getMovement(Graph|Timeline|Plan)?)$',
    },
  },
  {
    id: 'a-beat-is-heard',
    section,
    rule: 'A quiet stream says by an event, which a page in a browser can hear, that it is whole.',
    test: {
      file: 'test/api/console-feed.test.ts',
      name: 'a beat is an event with a cursor',
    },
    broken: {
      file: 'api/dashboard/console-feed.ts',
      find: '\\nevent: beat\\ndata: {}\\n\\n',
      replace: '\\n\\n',
    },
  },
  {
    id: 'no-event-by-hand',
    section,
    rule: "The service's role can write, change and remove no event of the console by itself.",
    test: {
      file: 'test/store/console-events.test.ts',
      name: 'the role of the service can write, change and remove no event by itself',
    },
    broken: {
      file: 'prisma/functions/console-events.sql',
      find: 'IF TG_TABLE_SCHEMA <> current_schema() THEN',
      replace: 'IF false THEN',
    },
  },
];
