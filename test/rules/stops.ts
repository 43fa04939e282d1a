import type { Rule } from './rule.ts';

const section = 'Money is spent at most once';
const STOPS = 'test/faults/stops.test.ts';

export const stopRules: readonly Rule[] = [
  {
    id: 'stored-bytes-ask-every-stop',
    section,
    rule: 'Signed bytes that nothing outside took are not broadcast while a stop is on.',
    test: {
      file: STOPS,
      name: 'holds back stored bytes that no endpoint took, and they are sent once',
    },
    broken: {
      file: 'activities/phases/journal.ts',
      find: 'accepted ? `${way}_accepted` : `${way}_unaccepted`',
      replace: "accepted ? `${way}_accepted` : 'cancel_transaction'",
    },
  },
  {
    id: 'stopped-for-good-fires-no-failure-edge',
    section,
    rule: 'What a stop has ended fires no failure edge.',
    test: { file: STOPS, name: 'ends stored bytes that no endpoint took: their nonce is used up' },
    broken: {
      file: 'domain/graph/edges.ts',
      find: "if (source.state !== 'FAILED' || source.ended_by_stop === true) return false;",
      replace: "if (source.state !== 'FAILED') return false;",
    },
  },
  {
    id: 'deposits-are-signed-anew-only-while-not-paused',
    section,
    rule: 'A deposit to the perps venue is signed again for more only while, in the write that stores it, its strategy is not paused.',
    test: {
      file: STOPS,
      name: 'a deposit whose strategy is paused while it is signed anew is not stored',
    },
    broken: {
      file: 'activities/phases/replacement.ts',
      find: '{ require: required }',
      replace: '{ require: { ...required, requirements: {} } }',
    },
  },
  {
    id: 'a-stop-is-no-time-out',
    section,
    rule: 'What a stop has ended after the time of its node was over fires no edge of a time-out.',
    test: {
      file: STOPS,
      name: 'what a stop ends after its time is over did not fail for lack of time',
    },
    broken: {
      file: 'activities/phases/recover.ts',
      find: "row.cancel_asked || error_code === 'TRANSACTION_CANCELLED'",
      replace: 'row.cancel_asked',
    },
  },
  {
    id: 'a-resume-sends-nothing',
    section,
    rule: 'Of an UNKNOWN node only a retry may lead to a send: a resume asks and never sends.',
    test: { file: STOPS, name: 'is sent by no resume, once it is UNKNOWN, and by a retry' },
    broken: {
      file: 'prisma/functions/stops.sql',
      find: "IF n.state = 'UNKNOWN' OR n.only_look THEN",
      replace: "IF n.state = 'UNKNOWN' THEN",
    },
  },
  {
    id: 'what-only-a-retry-sends-is-unknown',
    section,
    rule: 'A node that only a retry may send again is UNKNOWN after its next look: its movement then needs a person, and its nonce blocks no lane in silence.',
    test: {
      file: 'test/store/lost-sends.test.ts',
      name: 'what only a retry may send again is UNKNOWN, and not observed without a person',
    },
    broken: {
      file: 'activities/phases/observe.ts',
      find: "  if (answer.next_state === 'UNKNOWN') {",
      replace: "  if (answer.next_state === 'READY') {",
    },
  },
  {
    id: 'repeats-ask-the-allowlist',
    section,
    rule: 'An action of the perps venue is sent again only while its payee is on the allowlist.',
    test: { file: STOPS, name: 'is not sent again while' },
    broken: {
      file: 'activities/phases/stops.ts',
      find: 'addresses: payees.ok ? payees.addresses : [],',
      replace: 'addresses: [],',
    },
  },
  {
    id: 'repeats-ask-who-signed',
    section,
    rule: 'An action of the perps venue is sent again only while the account that signed it is the master.',
    test: { file: STOPS, name: 'is not sent again while' },
    broken: {
      file: 'activities/phases/stops.ts',
      find: '(await signerOnRecord(deps, row)) ?? said',
      replace: 'said',
    },
  },
  {
    id: 'what-a-send-requires-is-known',
    section,
    rule: 'Nothing is sent that requires what the database does not know how to ask for.',
    test: {
      file: 'test/store/requirements.test.ts',
      name: 'what the database does not know is required by no send',
    },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: "'flow', 'requirements'] <> '{}' THEN",
      replace: "'flow', 'requirements'] IS NULL THEN",
    },
  },
  {
    id: 'types-of-a-venue-need-what-it-requires',
    section,
    rule: "Every action type that moves funds at a venue is checked for that venue's requirements.",
    test: {
      file: 'test/store/requirements.test.ts',
      name: 'what is needed by a node of %s',
    },
    broken: {
      file: 'activities/requirements/bridge-path.ts',
      find: 'needs: (row) => legOf(row) !== null,',
      replace: 'needs: (row) => legOf(row) === 2,',
    },
  },
  {
    id: 'stops-are-read-at-each-endpoint',
    section,
    rule: 'Stops are read before signed bytes are sent to any endpoint, also to a second one.',
    test: {
      file: 'test/venues/evm/endpoints.test.ts',
      name: 'the next endpoint gets nothing that is stopped while the first one is silent',
    },
    broken: {
      file: 'venues/evm/broadcast.ts',
      find: '      if (held !== null) throw new HeldBack(held);\n',
      replace: '',
    },
  },
  {
    id: 'stops-are-read-right-before',
    section,
    rule: 'A repeated send reads its stops in the send itself, whatever they were before.',
    test: {
      file: 'test/venues/evm/endpoints.test.ts',
      name: 'what is stopped between the first question and the send stays here',
    },
    broken: {
      file: 'venues/evm/settle.ts',
      find: "stored.kind === 'cancel'\n      ? NO_STOPS",
      replace: 'stored.kind !== null\n      ? NO_STOPS',
    },
  },
  {
    id: 'stops-that-were-read-count-for-half-a-minute',
    section,
    rule: 'A process that was suspended after it had read the stops sends no signed bytes before it reads them again.',
    test: {
      file: 'test/venues/evm/broadcast.test.ts',
      name: 'a broadcast is not made where the process was suspended after it had read the stops',
    },
    broken: {
      file: 'venues/evm/broadcast.ts',
      find: 'checkLimits(limits);',
      replace: 'checkLimits(connection.call);',
    },
  },
  {
    id: 'perps-repeats-have-a-last-moment',
    section,
    rule: 'A process that was suspended after it had read the stops repeats no action of the perps venue before it reads them again.',
    test: {
      file: 'test/venues/perp/user-signed.test.ts',
      name: 'is not sent again by a process that was suspended after it had read the stops',
    },
    broken: {
      file: 'venues/perp/user-signed.ts',
      find: 'signature }), limited)',
      replace: 'signature }), { ...limited, notAfter: Infinity })',
    },
  },
  {
    id: 'approvals-have-a-last-moment',
    section,
    rule: 'The approval of an agent is sent within half a minute after mode and signer were read.',
    test: {
      file: 'test/activities/agent-wallets.test.ts',
      name: 'has half a minute at most, however long the worker is suspended before it sends',
    },
    broken: {
      file: 'venues/perp/agent-wallets.ts',
      find: 'const call = limitedByStops(turn.call);',
      replace: 'const call = { ...turn.call, notAfter: Infinity };',
    },
  },
];
