import type { Rule } from './rule.ts';

const section = "Signed for teams' executors";
const TEAMS = 'test/faults/signed-for-teams.test.ts';
const AUTHORIZATIONS = 'test/venues/evm/authorization.test.ts';

export const signedRules: readonly Rule[] = [
  {
    id: 'signed-pays-the-declared-payee',
    section,
    rule: 'What is signed for a node pays the one address that its declared payees name.',
    test: { file: TEAMS, name: 'nothing is signed for a plan with %s' },
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
    test: { file: TEAMS, name: 'nothing is signed for a plan with %s' },
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
    test: { file: TEAMS, name: 'nothing is signed for a plan with %s' },
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
      find: "  if (answer.next_state !== 'FAILED') return accepted(deps, row, withoutFacts(answer));",
      replace:
        "  if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, ['COMPLETED']);\n  if (answer.next_state !== 'FAILED') return accepted(deps, row, withoutFacts(answer));",
    },
  },
  {
    id: 'forgotten-signatures-are-looked-up',
    section,
    rule: 'After a restore nothing is signed again for a team whose last signature may be forgotten.',
    test: {
      file: TEAMS,
      name: 'what a restored database may have forgotten is not signed again: a person decides',
    },
    broken: {
      file: 'activities/phases/followed.ts',
      find: '  return row.sign_request !== null || signatureMayBeLost(row);',
      replace: '  return row.sign_request !== null;',
    },
  },
  {
    id: 'authorizations-end-in-a-final-block',
    section,
    rule: 'An authorization counts as unused once a final block came after its time, and not before.',
    test: {
      file: TEAMS,
      name: 'that is refused fails its node once it can no longer be used, and not before',
    },
    broken: {
      file: 'venues/evm/settle-authorization.ts',
      find: '  return (await readBlock(connection, last)).timestamp >= valid_before;',
      replace: "  return (await readBlock(connection, 'latest')).timestamp >= valid_before;",
    },
  },
  {
    id: 'authorizations-fail-by-two-endpoints',
    section,
    rule: 'An authorization is not failed on the word of one endpoint where two are bound.',
    test: {
      file: AUTHORIZATIONS,
      name: 'once two endpoints show that it was not used in its time',
    },
    broken: {
      file: 'venues/evm/settle-authorization.ts',
      find: '  if (!agreements.every(Boolean)) return waiting;',
      replace: '  if (!agreements.some(Boolean)) return waiting;',
    },
  },
  {
    id: 'authorizations-moved-what-is-theirs',
    section,
    rule: 'Of what a transaction moved only the transfer behind its authorization counts.',
    test: {
      file: AUTHORIZATIONS,
      name: 'is the transfer behind it, whatever else its transaction did',
    },
    broken: {
      file: 'venues/evm/settle-authorization.ts',
      find: "  return { kind: 'used', receipt: { ...receipt, logs: moved } };",
      replace: "  return { kind: 'used', receipt };",
    },
  },
  {
    id: 'authorizations-are-one-nodes',
    section,
    rule: 'The nonce of an authorization is signed for one attempt of one node.',
    test: { file: TEAMS, name: 'whose nonce belongs to another node is not signed again' },
    broken: {
      file: 'activities/phases/nonce-claim.ts',
      find: 'if (id !== null && !(await claimAuthorization(deps.db, id, row))) {',
      replace: 'if (id !== null && !(await claimAuthorization(deps.db, id, row)) && !id) {',
    },
  },
  {
    id: 'authorizations-are-usable-to-their-end',
    section,
    rule: 'Whoever holds an authorization can use it until its last second, however long the send itself may take.',
    test: {
      file: 'test/domain/signing.test.ts',
      name: 'an authorization is over half an hour after its last second, and not before',
    },
    broken: {
      file: 'domain/signing.ts',
      find: "Number(message['validBefore'])",
      replace: "Number(message['validAfter'])",
    },
  },
  {
    id: 'authorizations-are-over-once-a-final-block-shows-it',
    section,
    rule: 'An authorization is over once a final block shows whether it was used, half an hour after its end.',
    test: {
      file: 'test/domain/signing.test.ts',
      name: 'an authorization is over half an hour after its last second, and not before',
    },
    broken: {
      file: 'domain/signing.ts',
      find: '+ AUTHORIZATION_SETTLE_SECONDS',
      replace: '- AUTHORIZATION_SETTLE_SECONDS',
    },
  },
  {
    id: 'sends-last-as-long-as-their-signature',
    section,
    rule: 'No person can call a node failed while somebody may still use its authorization.',
    test: {
      file: TEAMS,
      name: 'that is used cannot be called failed by a person either',
    },
    broken: {
      file: 'activities/phases/fence.ts',
      find: 'Math.max(window, usable)',
      replace: 'window',
    },
  },
  {
    id: 'authorizations-are-short-by-both-clocks',
    section,
    rule: 'An authorization is signed for an hour at most, by the earlier of the chain’s clock and the service’s.',
    test: {
      file: AUTHORIZATIONS,
      name: 'an authorization is good for an hour at most, by the earlier of chain and own clock',
    },
    broken: {
      file: 'venues/evm/authorization.ts',
      find: 'now < clock ? now : clock',
      replace: 'now > clock ? now : clock',
    },
  },
  {
    id: 'mined-is-not-resolved-as-failed',
    section,
    rule: 'A node whose authorization is mined cannot be resolved as failed.',
    test: { file: TEAMS, name: 'that is used cannot be called failed by a person either' },
    broken: {
      file: 'prisma/functions/resolve.sql',
      find: '      AND a.mined_hash IS NOT NULL LIMIT 1), (',
      replace: '      AND a.mined_hash IS NULL LIMIT 1), (',
    },
  },
  {
    id: 'facts-are-the-chains',
    section,
    rule: 'What a team says of a payment does not take the place of what the chain says.',
    test: {
      file: TEAMS,
      name: 'the plan is paid once, and its executor says what came of it',
    },
    broken: {
      file: 'activities/phases/followed.ts',
      find: '    ...Object.fromEntries(facts),',
      replace: '    ...(facts.length === 0 ? {} : {}),',
    },
  },
  {
    id: 'authorizations-are-bound',
    section,
    rule: 'An authorization is signed for one contract on one chain.',
    test: { file: TEAMS, name: 'no authorization %s is signed' },
    broken: {
      file: 'venues/evm/authorization.ts',
      find: "      .optional(),\n  }),\n  primaryType: z.literal('TransferWithAuthorization'),",
      replace:
        "      .or(z.array(z.unknown()))\n      .optional(),\n  }),\n  primaryType: z.literal('TransferWithAuthorization'),",
    },
  },
];
