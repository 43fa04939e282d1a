import type { Rule } from './rule.ts';

const section = "Signed for teams' executors";
const TEAMS = 'test/faults/signed-for-teams.test.ts';

export const signedRules: readonly Rule[] = [
  {
    id: 'signed-pays-the-declared-payee',
    section,
    rule: 'What is signed for a node pays the one address that its declared payees name.',
    test: { file: TEAMS, name: 'nothing is signed for a plan with two payees' },
    broken: {
      file: 'venues/evm/planned-transfer.ts',
      find: 'if (address === undefined || payees.size > 1)',
      replace: 'if (address === undefined)',
    },
  },
  {
    id: 'signed-draws-on-its-signer',
    section,
    rule: 'A plan that draws on a venue has nothing signed, since its hold lies elsewhere.',
    test: { file: TEAMS, name: 'nothing is signed for a plan with a venue to draw on' },
    broken: {
      file: 'venues/evm/planned-transfer.ts',
      find: "if (typeof venue === 'string' && venue !== '')",
      replace: "if (venue === 'nowhere')",
    },
  },
  {
    id: 'signed-moves-the-nodes-asset',
    section,
    rule: 'What is signed moves the asset that the node says, by the list of its chain.',
    test: { file: TEAMS, name: 'nothing is signed for a plan with a token of another asset' },
    broken: {
      file: 'venues/evm/signing.ts',
      find: 'if (token !== signed.node.asset)',
      replace: 'if (token === null)',
    },
  },
  {
    id: 'mined-is-not-denied',
    section,
    rule: 'An executor that denies what is mined fails nothing: a person decides.',
    test: { file: TEAMS, name: 'one that denies what is mined ends nothing: a person decides' },
    broken: {
      file: 'activities/phases/followed.ts',
      find: "if (next_state === 'FAILED' || next_state === 'READY') {",
      replace: "if (next_state === 'READY') {",
    },
  },
  {
    id: 'signatures-are-not-taken-back',
    section,
    rule: 'An executor that refuses after the signature does not fail its node: the nonce is used up first.',
    test: {
      file: TEAMS,
      name: 'one that refuses after the signature is paid never, and the lane goes on',
    },
    broken: {
      file: 'activities/phases/submit.ts',
      find: '  if (isFollowed(deps, row)) return handedOver(deps, row, answer);',
      replace: '',
    },
  },
  {
    id: 'paid-is-what-is-mined',
    section,
    rule: "A team's word that it is done completes nothing before the payment is mined.",
    test: {
      file: TEAMS,
      name: 'one that says it is done, and has sent nothing, is believed once it is paid',
    },
    broken: {
      file: 'activities/phases/submit.ts',
      find: "  if (answer.next_state !== 'FAILED') return accepted(deps, row, answer);",
      replace:
        "  if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, ['COMPLETED']);\n  if (answer.next_state !== 'FAILED') return accepted(deps, row, answer);",
    },
  },
  {
    id: 'forgotten-signatures-are-asked-about',
    section,
    rule: 'After a restore nothing is signed again for a team whose last signature may be forgotten.',
    test: {
      file: TEAMS,
      name: 'what a restored database may have forgotten is not signed again: a person decides',
    },
    broken: {
      file: 'activities/phases/followed.ts',
      find: '  return row.sign_request !== null || mayHaveForgotten(row);',
      replace: '  return row.sign_request !== null;',
    },
  },
  {
    id: 'authorizations-end-in-a-final-block',
    section,
    rule: 'An authorization counts as unused once a final block came after its time, and not before.',
    test: {
      file: TEAMS,
      name: 'that is refused fails its node once nobody can use it any more, and not before',
    },
    broken: {
      file: 'venues/evm/settle-authorization.ts',
      find: '  const { timestamp } = await readBlock(connection, last);',
      replace: "  const { timestamp } = await readBlock(connection, 'latest');",
    },
  },
  {
    id: 'authorizations-are-bound',
    section,
    rule: 'An authorization is signed for one contract on one chain.',
    test: { file: TEAMS, name: 'for every contract is not signed' },
    broken: {
      file: 'venues/evm/authorization.ts',
      find: "      .optional(),\n  }),\n  primaryType: z.literal('TransferWithAuthorization'),",
      replace:
        "      .or(z.array(z.unknown()))\n      .optional(),\n  }),\n  primaryType: z.literal('TransferWithAuthorization'),",
    },
  },
];
