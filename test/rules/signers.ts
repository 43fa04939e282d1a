import type { Rule } from './rule.ts';

const section = 'Signers are replaced';
const ROTATION = 'test/faults/signer-rotation.test.ts';
const RETIREMENT = 'test/faults/signer-retirement.test.ts';
const SQL = 'prisma/functions/signer-lifecycle.sql';

export const signerRules: readonly Rule[] = [
  {
    id: 'a-rotation-is-alone',
    section,
    rule: 'Creates, retries and fences come before a rotation or behind it, so none leaves a node with the old signer unseen.',
    test: {
      file: ROTATION,
      name: 'a create that is under way when a rotation begins is not left behind',
    },
    broken: {
      file: SQL,
      find: "  PERFORM pg_advisory_xact_lock(7203118846);\n  at := svc_now();\n  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');\n  -- Every function",
      replace:
        "  at := svc_now();\n  PERFORM declare_signer(value, at) FROM jsonb_array_elements(doc -> 'declared');\n  -- Every function",
    },
  },
  {
    id: 'a-stale-plan-follows',
    section,
    rule: 'A plan that was compiled before a rotation and stored behind it is bound to the replacement.',
    test: {
      file: ROTATION,
      name: 'a plan that was compiled before a rotation is stored with the replacement',
    },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "  IF (doc ->> 'signed')::boolean THEN PERFORM follow_at_create(id); END IF;\n",
      replace: '',
    },
  },
  {
    id: 'a-remapped-node-is-prepared-anew',
    section,
    rule: 'A node that goes to another signer is looked at and prepared anew, with that one.',
    test: {
      file: ROTATION,
      name: 'what is prepared and waits at its fence while its signer is replaced is prepared anew',
    },
    broken: {
      file: SQL,
      find: '    preflight_passed = false, prepared_action = NULL, sign_request = NULL, error_count = 0,\n',
      replace: '    error_count = 0,\n',
    },
  },
  {
    id: 'an-open-nonce-stays',
    section,
    rule: 'What has claimed a nonce of the old signer stays with it until it is final.',
    test: {
      file: ROTATION,
      name: 'an open nonce stays with the old signer until it is final',
    },
    broken: {
      file: SQL,
      find: "      THEN 'open_nonce'\n",
      replace: '      THEN NULL::text\n',
    },
  },
  {
    id: 'the-old-signer-signs-what-is-kept',
    section,
    rule: 'A deprecated signer is available for what its rotation left with it.',
    test: {
      file: ROTATION,
      name: 'what spends what came to the old address stays, and a deprecated signer signs it',
    },
    broken: {
      file: 'prisma/functions/fence.sql',
      find: "NOT (s.status = 'deprecated' AND EXISTS (",
      replace: "NOT (s.status = 'no such status' AND EXISTS (",
    },
  },
  {
    id: 'money-at-the-old-address-stays',
    section,
    rule: 'A node of a plan that names the old address stays with who can spend what comes there.',
    test: {
      file: ROTATION,
      name: 'what spends what came to the old address stays, and a deprecated signer signs it',
    },
    broken: {
      file: SQL,
      find: "lower(o.own_plan::text)) > 0)) THEN 'old_address'",
      replace: "lower(o.own_plan::text)) > 0) AND false) THEN 'old_address'",
    },
  },
  {
    id: 'a-hold-goes-along',
    section,
    rule: "A hold in the old signer's pool moves to the replacement's pool, and is released there.",
    test: {
      file: ROTATION,
      name: 'live: what was not sent goes over, by the plan that was approved',
    },
    broken: {
      file: SQL,
      find: '    IF m.pooled THEN PERFORM move_holds(m, take, at); END IF;\n',
      replace: '    IF m.pooled THEN PERFORM settle_holds(m, take, at); END IF;\n',
    },
  },
  {
    id: 'no-room-no-change',
    section,
    rule: 'Where the replacement cannot cover what is held, the node stays with the signer that can.',
    test: {
      file: ROTATION,
      name: 'where the replacement has no room the hold stays, and its node with it',
    },
    broken: {
      file: SQL,
      find: '    ties := signer_ties(m, true);\n',
      replace: '    ties := signer_ties(m, false);\n',
    },
  },
  {
    id: 'a-retry-follows-the-rotation',
    section,
    rule: 'What a retry brings back is bound to who signs now.',
    test: { file: ROTATION, name: 'a retry behind a rotation goes to the replacement' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "  IF settles AND doc ->> 'command_kind' = 'retry' THEN\n",
      replace: '  IF false THEN\n',
    },
  },
  {
    id: 'a-drill-is-taken-back',
    section,
    rule: 'A drill is a rotation that is taken back: only its evidence stays.',
    test: { file: ROTATION, name: 'a drill changes nothing and leaves its evidence' },
    broken: {
      file: SQL,
      find: "    IF (doc ->> 'drill')::boolean THEN\n",
      replace: '    IF false THEN\n',
    },
  },
  {
    id: 'a-replacement-is-compared-under-lock',
    section,
    rule: 'A replacement whose pin or address changes between the check and the lock is refused.',
    test: { file: ROTATION, name: 'refused: the replacement changes between check and lock (%s)' },
    broken: {
      file: SQL,
      find: "    WHEN b.expected_signer_address IS DISTINCT FROM asked ->> 'pin'\n      OR",
      replace: '    WHEN b.expected_signer_address IS NULL\n      OR',
    },
  },
  {
    id: 'a-replacement-stays-who-it-is',
    section,
    rule: "The replacement's address is read again right before the locks.",
    test: { file: 'test/api/signer-rotation.test.ts', name: 'a replacement that %s is refused' },
    broken: {
      file: 'api/signers/rotate.ts',
      find: '.address !== runtime)',
      replace: '.address === undefined)',
    },
  },
  {
    id: 'gates-of-retirement',
    section,
    rule: 'A signer retires only once no node needs it and no nonce of it is open, whatever is acknowledged.',
    test: {
      file: RETIREMENT,
      name: 'a retirement passes each gate in its order, and nothing forces it',
    },
    broken: {
      file: SQL,
      find: '  IF nodes IS NOT NULL THEN\n',
      replace: '  IF false THEN\n',
    },
  },
];
