import type { Rule } from './rule.ts';

const section = 'Bridges';
const SEND = 'test/venues/bridge-c/send-act.test.ts';
const MESSAGE = 'test/venues/burn-mint/message.test.ts';

export const bridgeRules: readonly Rule[] = [
  {
    id: 'bridges-send-all-or-nothing',
    section,
    rule: 'What is signed for a send over the bridge lets all of the amount arrive, or nothing be sent.',
    test: {
      file: SEND,
      name: 'is the planned one, for whatever the bridge asks',
    },
    broken: {
      file: 'venues/bridge-c/send-act.ts',
      find: '    minAmountLD: units,',
      replace: '    minAmountLD: 0n,',
    },
  },
  {
    id: 'bridges-cost-what-their-path-may',
    section,
    rule: 'Nothing is signed that pays the bridge more than its path may cost.',
    test: { file: 'test/activities/bridge-path.test.ts', name: 'does not pay %s' },
    broken: {
      file: 'activities/phases/bridge-path.ts',
      find: '  if (fee !== null && feeWithinBudget(fee, terms).ok) return;',
      replace: '  if (fee !== null && terms.late === false) return;',
    },
  },
  {
    id: 'bridges-cut-nothing-off',
    section,
    rule: 'An amount that a message over the bridge cannot hold is not sent.',
    test: { file: SEND, name: 'is refused with %s' },
    broken: {
      file: 'venues/bridge-c/packet.ts',
      find: '2n ** 64n - 1n',
      replace: '2n ** 128n - 1n',
    },
  },
  {
    id: 'bridges-show-the-own-packet',
    section,
    rule: 'A send over the bridge is shown by its own packet, to the recipient and with all of the amount.',
    test: { file: SEND, name: 'is not decided by what tells of %s' },
    broken: {
      file: 'venues/bridge-c/send-act.ts',
      find: ' &&\n      packet.message === message',
      replace: '',
    },
  },
  {
    id: 'fences-go-by-the-path-that-was-looked-at',
    section,
    rule: 'A fence is passed only while all that decides about a path of the bridge is as it was looked at.',
    test: {
      file: 'test/api/bridge-registry.test.ts',
      name: 'a fence that looked at a path passes only while all that decides is the same',
    },
    broken: {
      file: 'prisma/functions/bridge-registry.sql',
      find: 'p.asset, p.enabled, p.fee_native_budget,',
      replace: 'p.asset, p.fee_native_budget,',
    },
  },
  {
    id: 'what-a-bridge-owes-is-paid-by-nobody-unasked',
    section,
    rule: 'Nothing pays in the place of what a bridge has not brought before a person was asked.',
    test: {
      file: 'test/domain/plan/executable.test.ts',
      name: 'lets nobody pay for a mint behind %s',
    },
    broken: {
      file: 'domain/plan/executable.ts',
      find: '    for (const next of plan.edges) if (next.from === key) found.add(next.to);',
      replace: '',
    },
  },
  {
    id: 'what-is-paid-in-its-place-is-drawn',
    section,
    rule: 'What is paid in the place of what a bridge has not brought counts as drawn, also behind a person.',
    test: { file: 'test/domain/plan/flow.test.ts', name: 'is drawn, also behind a person (%s)' },
    broken: {
      file: 'domain/plan/flow.ts',
      find: '  if (paysInPlace(node, plan)) return null;',
      replace: '',
    },
  },
  {
    id: 'only-the-own-message-may-be-delivered',
    section,
    rule: 'A delivery is offered only while the endpoint holds exactly the message that was sent.',
    test: {
      file: 'test/venues/bridge-c/executors.test.ts',
      name: 'takes nothing else in its place for a message that may be delivered',
    },
    broken: {
      file: 'venues/bridge-c/delivery.ts',
      find: "if (waiting.toLowerCase() === payloadHash(packet)) return 'verified';",
      replace: "if (BigInt(waiting) !== 0n) return 'verified';",
    },
  },
  {
    id: 'peers-of-a-bridge-are-ours',
    section,
    rule: 'Nothing is sent over the bridge whose peer on either side is not the listed one.',
    test: {
      file: 'test/venues/bridge-c/executors.test.ts',
      name: 'a peer that is not ours is refused, whichever end has it',
    },
    broken: {
      file: 'venues/bridge-c/send.ts',
      find: ' && isPeer(peer, other)) return;',
      replace: ' && peer !== other.oft) return;',
    },
  },
  {
    id: 'only-the-own-burn-is-minted',
    section,
    rule: 'A message that is minted is the one that the burn emitted, but for what the attester fills in.',
    test: { file: MESSAGE, name: 'is not %s' },
    broken: {
      file: 'venues/burn-mint/message.ts',
      find: "  'mint_recipient',\n  'amount',",
      replace: "  'amount',",
    },
  },
  {
    id: 'attested-fees-are-within-the-burn',
    section,
    rule: 'A burn is minted for no higher fee than it allows.',
    test: {
      file: MESSAGE,
      name: 'is no fee above what the burn allows, nor all of it, and no message without a nonce',
    },
    broken: {
      file: 'venues/burn-mint/message.ts',
      find: '  if (attested.fee_executed > emitted.max_fee)',
      replace: '  if (attested.fee_executed > emitted.amount)',
    },
  },
];
