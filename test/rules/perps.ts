import type { Rule } from './rule.ts';

const section = 'The perps venue';
const LOOP = 'venues/perp/agent-wallets.ts';
const APPROVED = 'test/activities/agent-wallets.test.ts';
const ROUTES = 'test/api/perp-venue.test.ts';

export const perpRules: readonly Rule[] = [
  {
    id: 'one-credit-completes-one-deposit',
    section,
    rule: 'A row of the ledger that has completed one deposit completes no other, whoever says so.',
    test: {
      file: 'test/store/claims.test.ts',
      name: 'does not complete two deposits with one row of the ledger, whoever says so',
    },
    broken: {
      file: 'domain/actions/perp.ts',
      find: "required: 'always'",
      replace: "required: 'payments'",
    },
  },
  {
    id: 'equal-deposits-wait-for-a-late-credit',
    section,
    rule: 'An equal deposit waits for the credit of an abandoned one, also once its transfer is mined.',
    test: {
      file: 'test/store/perp-fence.test.ts',
      name: 'wait for a week for one that was abandoned, and for a week after it was seen',
    },
    broken: {
      file: 'prisma/functions/perp-fence.sql',
      find: '    AND greatest(completed_at, landed_late_at) >',
      replace: '    AND completed_at >',
    },
  },
  {
    id: 'an-approval-is-signed-once',
    section,
    rule: 'What approves an agent is stored before it is sent, and nothing else is sent with its nonce.',
    test: {
      file: APPROVED,
      name: 'a worker that ends between storing and sending leaves the bytes that are sent',
    },
    broken: {
      file: LOOP,
      find: '  let { signature } = wallet;',
      replace: '  let signature: string | null = null;',
    },
  },
  {
    id: 'agents-are-active-once-listed',
    section,
    rule: 'An agent is active once the venue lists it as it was signed; that it took the approval is no proof.',
    test: {
      file: APPROVED,
      name: 'that it was taken is no proof: what is not listed stays pending',
    },
    broken: {
      file: LOOP,
      find: ': { error: `${seen} yet, though it accepted the approval` };',
      replace: ": { to: 'active', error: null };",
    },
  },
  {
    id: 'early-refusals-end-no-approval',
    section,
    rule: 'An approval is refused only where its nonce is gone with the refusal; else it may still be carried out.',
    test: {
      file: APPROVED,
      name: 'a refusal that may have come before the nonce is no end',
    },
    broken: {
      file: LOOP,
      find: '    return answer.consumed\n',
      replace: "    return answer.message !== ''\n",
    },
  },
  {
    id: 'used-nonces-end-approvals-late',
    section,
    rule: 'An approval whose nonce is used is refused only when half an hour later a list does not show it.',
    test: {
      file: APPROVED,
      name: 'a refusal whose answer was lost frees the name half an hour after its nonce was used',
    },
    broken: {
      file: LOOP,
      find: 'const LISTED_WITHIN_MS = HOUR_MS / 2;',
      replace: 'const LISTED_WITHIN_MS = 0;',
    },
  },
  {
    id: 'masters-are-not-rotated-away',
    section,
    rule: 'The signer of the perps venue’s master account is replaced only by one of the same address.',
    test: {
      file: 'test/faults/signer-rotation.test.ts',
      name: 'refused: every row of the table, in its order',
    },
    broken: {
      file: 'prisma/functions/signer-lifecycle.sql',
      find: '    WHEN is_perp_master(a) AND',
      replace: '    WHEN false AND',
    },
  },
  {
    id: 'masters-are-not-retired',
    section,
    rule: 'The last active signer of the perps venue’s master account is not retired.',
    test: {
      file: 'test/faults/signer-retirement.test.ts',
      name: 'a retirement passes each gate in its order, and nothing forces it',
    },
    broken: {
      file: 'prisma/functions/signer-lifecycle.sql',
      find: '  IF is_perp_master(s) AND NOT EXISTS',
      replace: '  IF false AND NOT EXISTS',
    },
  },
  {
    id: 'unlisted-agents-are-looked-for',
    section,
    rule: 'An agent that is not listed is abandoned only once its nonce can no longer be used.',
    test: { file: APPROVED, name: 'after a day it is looked for and no longer sent' },
    broken: {
      file: LOOP,
      find: '  if (age >= LOOKED_FOR_MS)',
      replace: '  if (age >= SENT_FOR_MS)',
    },
  },
  {
    id: 'unstored-checks-fail-the-turn',
    section,
    rule: 'A check of an agent that cannot be stored fails the turn of its loop, and holds up no other agent.',
    test: {
      file: APPROVED,
      name: 'a check that cannot be stored fails the turn, and one that the venue did not answer does not',
    },
    broken: { file: LOOP, find: '      throwFirst(outcomes);\n', replace: '' },
  },
  {
    id: 'no-approval-by-a-signer-that-is-off',
    section,
    rule: "While the master's signer is switched off no agent is approved, and nothing is sent for it.",
    test: {
      file: APPROVED,
      name: 'that is switched off signs nothing, and nothing is sent for it',
    },
    broken: {
      file: LOOP,
      find: '  if (!SIGNING.includes(signer_status))',
      replace: "  if (signer_status === '')",
    },
  },
  {
    id: 'no-approval-once-frozen',
    section,
    rule: 'A freeze that comes while an approval is signed leaves it unstored and unsent.',
    test: {
      file: APPROVED,
      name: 'stores and sends nothing: %s while the signer signs',
    },
    broken: {
      file: 'prisma/functions/perp-venue.sql',
      find: "  IF cutover_now() = 'frozen' THEN RETURN NULL; END IF;\n",
      replace: '',
    },
  },
  {
    id: 'no-approval-once-its-signer-is-off',
    section,
    rule: 'An approval whose signer is switched off meanwhile is not sent, also if it was signed before.',
    test: { file: APPROVED, name: 'sends nothing that was signed earlier, either' },
    broken: {
      file: LOOP,
      find: '  const first = await saveApprovalSignature(',
      replace: '  const first = wallet.signature ?? await saveApprovalSignature(',
    },
  },
  {
    id: 'an-address-is-one-agents-for-good',
    section,
    rule: 'An address that was ever to be an agent, or has an account of ours, is no agent again.',
    test: { file: ROUTES, name: 'has a name and an address of its own' },
    broken: {
      file: 'prisma/functions/perp-venue.sql',
      find: '  IF used.wallet_id IS NOT NULL OR wanted.address = master OR EXISTS (',
      replace: '  IF used.wallet_id IS NOT NULL OR EXISTS (',
    },
  },
  {
    id: 'old-values-are-never-shown-as-new',
    section,
    rule: 'What the venue did not say now is shown as stale, with when it said so.',
    test: {
      file: ROUTES,
      name: 'is what the venue says now, and what it last said while it is silent',
    },
    broken: {
      file: 'venues/perp/api/emergency.ts',
      find: '      stale: now === null,',
      replace: '      stale: known.seen === null,',
    },
  },
  {
    id: 'top-ups-are-within-what-a-strategy-may-have',
    section,
    rule: 'What a strategy has and what is on its way to it are together no more than its max_agent_balance.',
    test: {
      file: 'test/api/perp-top-up.test.ts',
      name: 'of many at once there are no more than the strategy may have, with what it has',
    },
    broken: {
      file: 'prisma/functions/perp-top-up.sql',
      find: 'IF under_way > room THEN',
      replace: 'IF false THEN',
    },
  },
  {
    id: 'top-ups-wait-for-their-strategy',
    section,
    rule: 'A top-up sums what is on its way to its strategy alone with the row of that strategy.',
    test: {
      file: 'test/api/perp-top-up.test.ts',
      name: 'one that is made while another is written waits, and counts it',
    },
    broken: {
      file: 'prisma/functions/perp-top-up.sql',
      find: '  PERFORM 1 FROM perp_bindings WHERE strategy_id = strategy FOR UPDATE;\n',
      replace: '',
    },
  },
  {
    id: 'a-top-up-pays-its-own-strategy',
    section,
    rule: 'A top-up pays the sub-account of its strategy, whatever others were topped up before.',
    test: {
      file: 'test/api/perp-top-up.test.ts',
      name: 'a plan pays the sub-account of its strategy alone, and waits for a person',
    },
    broken: {
      file: 'store/templates.ts',
      find: 'AND n.config = ${config}::jsonb ',
      replace: 'AND ${config}::jsonb IS NOT NULL ',
    },
  },
];
