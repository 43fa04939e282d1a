/** What shares a statement, and what is kept between requests: neither changes an answer. */
import type { Rule } from './rule.ts';

const section = 'One write path, one lock order';
const CREATES = 'test/store/shared-creates.test.ts';
const PLANS = 'test/store/parsed-plans.test.ts';
const COMPILED = 'test/domain/plan/compiled-once.test.ts';

export const sharingRules: readonly Rule[] = [
  {
    id: 'shared-creates-have-one-order',
    section,
    rule: 'Creates that share a statement are written in the order of client and idempotency key, so no two statements wait for each other.',
    test: {
      file: CREATES,
      name: 'two processes that create the same keys in opposite orders never wait in a circle',
    },
    broken: {
      file: 'store/shared-creates.ts',
      find: '.sort((a, b) => (a.order < b.order ? -1 : Number(a.order > b.order)))',
      replace: '',
    },
  },
  {
    id: 'refused-creates-refuse-no-other',
    section,
    rule: 'A statement of several creates that is refused is the answer of none of them: each is sent again alone.',
    test: {
      file: CREATES,
      name: 'each create gets the answer that it gets alone, whatever comes with it',
    },
    broken: {
      file: 'store/shared-creates.ts',
      find: 'return creates.map(() => null);',
      replace: 'throw error;',
    },
  },
  {
    id: 'creates-that-wait-for-locks-hold-up-no-others',
    section,
    rule: 'A create that waits for a lock waits outside of the few shared statements, also one that came alone.',
    test: {
      file: CREATES,
      name: 'that each statement waits for, with one create in each: another one goes without them',
    },
    broken: {
      file: 'store/shared-creates.ts',
      find: "set_config('lock_timeout', '500ms', true)",
      replace: "set_config('lock_timeout', '0', true)",
    },
  },
  {
    id: 'unknown-creates-are-not-sent-again',
    section,
    rule: 'Creates whose shared statement may have been written are not sent again: each looks up its own movement.',
    test: {
      file: CREATES,
      name: 'before the server has it: each outcome is unknown, and nothing is sent again',
    },
    broken: {
      file: 'store/shared-creates.ts',
      find: 'if (mayBeWritten(error) || ',
      replace: 'if (!mayBeWritten(error) && ',
    },
  },
  {
    id: 'creates-with-a-second-lock-go-alone',
    section,
    rule: 'Creates of agents and creates with a unique reference share no statement: their second lock has no place in its order.',
    test: { file: CREATES, name: 'go alone' },
    broken: {
      file: 'store/shared-creates.ts',
      find: "!== 'agent' && unique_reference",
      replace: "!== 'agent' || unique_reference",
    },
  },
  {
    id: 'nothing-is-read-after-a-refused-write',
    section,
    rule: 'A write that is refused reads no next node: what is read ahead is what a write has left.',
    test: { file: 'test/store/read-ahead.test.ts', name: 'a refused write reads nothing' },
    broken: {
      file: 'store/transition.ts',
      find: "CASE WHEN w.answer -> 'ok' = 'true'\n          THEN read_phase(",
      replace: 'CASE WHEN true\n          THEN read_phase(',
    },
  },
  {
    id: 'kept-plans-cannot-be-changed',
    section,
    rule: 'A plan that is kept for several reads is frozen, so no reader changes what another one sees.',
    test: { file: PLANS, name: 'a kept plan refuses every change' },
    broken: {
      file: 'domain/plan/kept.ts',
      find: '  Object.freeze(value);\n',
      replace: '',
    },
  },
  {
    id: 'plans-are-kept-by-their-whole-text',
    section,
    rule: 'A kept plan is used for exactly its own text, and for no other that looks alike.',
    test: { file: PLANS, name: 'texts of one length that differ in one character are two plans' },
    broken: {
      file: 'store/parsed-plans.ts',
      find: 'const known = plans.get(text);',
      replace: 'const known = [...plans].find(([each]) => each.length === text.length)?.[1];',
    },
  },
  {
    id: 'what-is-kept-is-of-all-its-inputs',
    section,
    rule: 'What was computed from a plan is used again only where everything else that it was computed from is the same too.',
    test: {
      file: 'test/api/kept-reviews.test.ts',
      name: 'what the executor declares and which chains are bound count at each read',
    },
    broken: {
      file: 'domain/plan/kept.ts',
      find: ' && known.more.every((each, at) => each === more[at])',
      replace: '',
    },
  },
  {
    id: 'plans-compiled-again-are-those-compiled-anew',
    section,
    rule: 'A plan of which parts were kept is, byte for byte, the plan that is compiled anew.',
    test: {
      file: COMPILED,
      name: 'a plan is the one compiled anew, whatever was compiled of its template before',
    },
    broken: {
      file: 'domain/plan/kept.ts',
      find: 'known.more.every((each, at) => each === more[at])',
      replace: 'known.more.every((each, at) => at === 2 || each === more[at])',
    },
  },
  {
    id: 'a-config-of-the-caller-is-compiled',
    section,
    rule: "A plan has the caller's config, also where other plans of its template have none.",
    test: { file: 'test/domain/plan/compile.test.ts', name: 'adds a single key, too' },
    broken: {
      file: 'domain/plan/compile.ts',
      find: 'shared === NO_CONFIG',
      replace: 'Object.keys(shared).length < 2',
    },
  },
  {
    id: 'what-plans-share-cannot-be-changed',
    section,
    rule: 'What several plans share of their template is frozen, so none changes another one.',
    test: { file: COMPILED, name: 'what plans share refuses every change' },
    broken: {
      file: 'domain/plan/compile.ts',
      find: 'frozen(templateParts(template, bindings, { shared: NO_CONFIG, asset, chains }))',
      replace: 'templateParts(template, bindings, { shared: NO_CONFIG, asset, chains })',
    },
  },
  {
    id: 'new-plans-have-the-present-bindings',
    section,
    rule: 'A plan has the bindings of its time: kept ones hide no rotation and no other executors.',
    test: {
      file: COMPILED,
      name: 'a rotation, other executors and another version each make another plan',
    },
    broken: {
      file: 'domain/plan/bindings.ts',
      find: 'JSON.stringify(replaced), signer)',
      replace: "'[]', signer)",
    },
  },
  {
    id: 'approvers-see-the-present-signer',
    section,
    rule: 'An approver sees the signer that signs now: a plan that is kept hides no replacement.',
    test: {
      file: 'test/store/movement-for-approval.test.ts',
      name: 'a signer that was replaced between two reads is what the second one shows',
    },
    broken: {
      file: 'api/movements/detail.ts',
      find: 'nodes.every((node, at) => node === plan.nodes[at])',
      replace: 'nodes.length === plan.nodes.length',
    },
  },
];
