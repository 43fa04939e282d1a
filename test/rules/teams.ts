import type { Rule } from './rule.ts';

const section = 'Money is spent at most once';
const file = 'test/faults/team-answers.test.ts';

/** What is believed of a team's own worker, and of whoever answers in its place. */
export const teamRules: readonly Rule[] = [
  {
    id: 'only-teams-are-recorded',
    section,
    rule: "What arrives over Temporal is taken as an executor's answer only of nodes whose executor is a team's worker.",
    test: { file, name: 'nothing is recorded of a node whose executor is no team' },
    broken: {
      file: 'activities/phases/team.ts',
      find: 'if (teamOf(deps, row) === null) return { result: lookAgain(row) };',
      replace: '',
    },
  },
  {
    id: 'own-words-are-no-executors',
    section,
    rule: "An executor's answer cannot carry an error code by which the service itself decides edges and alarms.",
    test: {
      file: 'test/executors/protocol.test.ts',
      name: 'by which the service decides edges and alarms',
    },
    broken: {
      file: 'executors/protocol.ts',
      find: 'OWN_CODES.includes(code) ? `EXECUTOR_${code}` : code',
      replace: 'code',
    },
  },
  {
    id: 'faults-of-teams-name-no-code',
    section,
    rule: "The code of a fault of a team's worker follows from its kind: the one that arrives over Temporal is not read.",
    test: {
      file: 'test/store/sends-at-venue.test.ts',
      name: 'a fault of a team’s worker has the code of its kind, whatever arrives (%s)',
    },
    broken: {
      file: 'activities/phases/team.ts',
      find: 'return { fault: failedCall(outcome.fault.kind) };',
      replace:
        "return { fault: new ExecutorFault('server_error', outcome.fault.code, 'the worker failed') };",
    },
  },
  {
    id: 'answers-need-a-question',
    section,
    rule: "A team's answer counts only for a question that was put and is still open, in the node's attempt, epoch and state.",
    test: { file, name: 'an answer without a question changes nothing' },
    broken: {
      file: 'activities/phases/team.ts',
      find: 'return isOpenQuestion(deps.db, phase, row, question);',
      replace: 'return true;',
    },
  },
  {
    id: 'failed-takes-the-teams-secret',
    section,
    rule: "FAILED of a team's worker after its submit began ends the node only with the signature of its registry entry's secret.",
    test: { file, name: 'who reads the question from a history still fails nothing' },
    broken: {
      file: 'activities/phases/team-word.ts',
      find: '(await isSignedResult(result_secret_file, call, outcome.answer))',
      replace: 'result_secret_file.length > 0',
    },
  },
  {
    id: 'unsafe-keys-are-submitted-once',
    section,
    rule: 'A submit that no worker took is made again only of an executor that takes one key twice.',
    test: { file, name: 'a submit that no worker took is not repeated' },
    broken: {
      file: 'activities/phases/submit.ts',
      find: 'if (!descriptorOf(deps, row).same_key_safe)',
      replace: 'if (row.attempt === 0)',
    },
  },
  {
    id: 'signed-keys-are-submitted-once',
    section,
    rule: 'Of an executor that takes a key once, an attempt whose signed nonce something else used has ended.',
    test: {
      file: 'test/faults/signed-for-teams.test.ts',
      name: 'one that takes a key only once is not called with it again',
    },
    broken: {
      file: 'activities/phases/recover.ts',
      find: '    !descriptorOf(deps, row).same_key_safe\n',
      replace: '    row.attempt === 0\n',
    },
  },
  {
    id: 'dropped-nonces-are-remembered',
    section,
    rule: 'That something else used the nonce of what was signed is known from what is stored, also where its worker ended.',
    test: {
      file: 'test/faults/signed-for-teams.test.ts',
      name: 'nor where the worker ended that had dropped its nonce',
    },
    broken: {
      file: 'venues/evm/settle.ts',
      find: "  if (await journal.displaced()) return usedElsewhere('READY');\n",
      replace: '',
    },
  },
];
