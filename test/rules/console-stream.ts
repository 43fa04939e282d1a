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
      name: 'what a reader cannot be given any more is said, and what it has seen may go',
    },
    broken: {
      file: 'store/console-events.ts',
      find: 'after.epoch !== epoch || removed ||',
      replace: 'after.epoch !== epoch ||',
    },
  },
];
