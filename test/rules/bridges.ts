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
      name: 'is the planned one, for whatever the bridge asks within what its path may cost',
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
    test: { file: SEND, name: 'is not one with %s' },
    broken: {
      file: 'venues/bridge-c/send-act.ts',
      find: '  if (most !== null && compare(',
      replace: "  if (most === '' && compare(",
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
