import type { Rule } from './rule.ts';

const section = 'The console';
const FORM = 'test/console/form.test.ts';

export const consolePageRules: readonly Rule[] = [
  {
    id: 'a-page-leaves-no-field-out',
    section,
    rule: 'Every field of every answer that a page reads is shown, or is hidden for a reason.',
    test: {
      file: 'test/console/page-fields.test.ts',
      name: 'every field is shown, or hidden for a reason, at $at',
    },
    broken: {
      file: 'console/pages/balances/page.tsx',
      find: '{stale && <strong className="warning"> too old to take from</strong>}',
      replace: '',
    },
  },
  {
    id: 'what-is-created-was-previewed',
    section,
    rule: 'A create is offered for exactly the body that its preview was of.',
    test: { file: FORM, name: 'a preview is of the one body that was looked at' },
    broken: {
      file: 'console/pages/new-movement/model.ts',
      find: 'JSON.stringify(preview.body) === JSON.stringify(body)',
      replace: 'true',
    },
  },
  {
    id: 'a-lost-create-is-found',
    section,
    rule: 'A create whose answer was lost is found by its key before it is offered again.',
    test: { file: FORM, name: 'a create without an answer is found by its key' },
    broken: {
      file: 'console/pages/new-movement/model.ts',
      find: "error === 'idempotent_replay'",
      replace: "error === 'cutover'",
    },
  },
  {
    id: 'a-page-offers-what-the-role-may',
    section,
    rule: 'A page offers a write to exactly the roles that the service lets send it.',
    test: { file: FORM, name: 'every write is offered to the roles that the service lets do it' },
    broken: {
      file: 'console/data/roles.ts',
      find: "'topUpAgentWallet', 'redeliverCallback'",
      replace: "'topUpAgentWallet', 'redeliverCallback', 'rotateSigner'",
    },
  },
  {
    id: 'a-sheet-has-what-is-on-offer',
    section,
    rule: 'The sheet of a resolve has only the outcomes that the service offers.',
    test: {
      file: 'test/console/movement-fields.test.ts',
      name: 'a resolve has a field for what is on offer, and for what may name what completed it',
    },
    broken: {
      file: 'console/pages/movement/parts/form-fields.tsx',
      find: 'outcomes?.includes(outcome) ?? true',
      replace: 'outcomes?.includes(outcome) !== null',
    },
  },
  {
    id: 'a-sheet-states-what-is-on-offer',
    section,
    rule: 'A sheet sends no outcome that the service no longer offers.',
    test: {
      file: 'test/console/movement-model.test.ts',
      name: 'a resolve states only what is on offer, also where that changes under the sheet',
    },
    broken: {
      file: 'console/pages/movement/model/decision.ts',
      find: 'same.reason ?? notOnOffer(same, outcome)',
      replace: 'same.reason',
    },
  },
  {
    id: 'several-are-shown-with-their-terms',
    section,
    rule: 'Each of several movements that are decided together is shown with every term of its plan, as is one that is decided alone.',
    test: {
      file: 'test/console/approvals.test.ts',
      name: 'every term of it is in the sheet of one decision and of several',
    },
    broken: {
      file: 'console/pages/approvals/page.tsx',
      find: '{plan !== null && <PlanTerms plan={plan} nodes={detail.nodes} />}',
      replace: '',
    },
  },
  {
    id: 'a-tag-names-a-payee',
    section,
    rule: 'Payments to one address with different networks or tags are shown as to different payees.',
    test: {
      file: 'test/console/approvals.test.ts',
      name: 'payments to one address with two tags are of two payees, each with its tag',
    },
    broken: {
      file: 'console/pages/movement/model/payees.ts',
      find: 'first.send.terms.tag === payee.send.terms.tag &&',
      replace: '',
    },
  },
  {
    id: 'what-a-team-pays-is-decided-alone',
    section,
    rule: 'A movement whose payee the executor of a team decides is approved on its own page alone.',
    test: {
      file: 'test/console/approvals.test.ts',
      name: 'one %s is not approved among others',
    },
    broken: {
      file: 'console/pages/approvals/model.ts',
      find: 'sends.find(({ action_type }) => !isBuiltIn(action_type))',
      replace: "sends.find(({ action_type }) => action_type === '')",
    },
  },
  {
    id: 'a-change-is-approved-with-what-it-moves',
    section,
    rule: 'A change request that acts on movements is approved only where the plan of each is shown, and has the hash that the request names.',
    test: {
      file: 'test/console/change-requests.test.ts',
      name: 'is not approved for %s',
    },
    broken: {
      file: 'console/pages/change/model.ts',
      find: "if (reading.status === 'agrees') return null;",
      replace: "if (reading.status !== 'unreadable') return null;",
    },
  },
  {
    id: 'a-change-is-approved-by-its-document',
    section,
    rule: 'A change request is approved only where its document is read, and the hash that is made of it here is the one that the approval names.',
    test: {
      file: 'test/console/change-requests.test.ts',
      name: 'its document counts only where its bytes have the hash of the request',
    },
    broken: {
      file: 'console/pages/change/document.ts',
      find: 'if (hash !== named)',
      replace: "if (hash === '')",
    },
  },
  {
    id: 'no-line-through-others',
    section,
    rule: 'In a drawn graph no node overlaps another, and no line passes through a node or a label that is not its own.',
    test: {
      file: 'test/console/movement-model.test.ts',
      name: 'nodes overlap nothing, lines pass by what is not theirs, and names of objects are names',
    },
    broken: {
      file: 'console/pages/movement/model/graph.ts',
      find: '...bends.flatMap(({ x, y }) => straightThrough({ x, y }, rows.has(y))),',
      replace: '...bends,',
    },
  },
  {
    id: 'a-refusal-is-shown-at-once',
    section,
    rule: 'A page asks again by itself only where another answer may come.',
    test: {
      file: 'test/console/reads.test.ts',
      name: 'a read is repeated only where another answer may come: %s',
    },
    broken: {
      file: 'console/data/query-client.ts',
      find: 'failures < RETRIES && mayPass(error)',
      replace: 'failures < RETRIES',
    },
  },
  {
    id: 'rows-are-of-one-operator',
    section,
    rule: 'What one operator has read in a browser is gone before a page is drawn for another.',
    test: {
      file: 'test/console/reads.test.ts',
      name: 'what one operator has read is gone before another sees a page',
    },
    broken: {
      file: 'console/data/query-client.ts',
      find: 'if (now !== reader) queryClient.clear();',
      replace: '',
    },
  },
];
