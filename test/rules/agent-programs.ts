import type { Rule } from './rule.ts';

export const agentProgramRules: readonly Rule[] = [
  {
    id: 'agents-programs-send-their-table',
    section: 'Agents propose',
    rule: "An agent's programs send the operations of their own table, and no other of the API.",
    test: {
      file: 'test/clients/agent-transport.test.ts',
      name: 'sends its own operations, and refuses every other of the API',
    },
    broken: {
      file: 'clients/agent/only.ts',
      find: 'if (!isAllowed(sent)) throw refused(sent);',
      replace: 'if (!isAllowed(sent)) void refused(sent);',
    },
  },
];
