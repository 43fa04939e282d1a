import type { Rule } from './rule.ts';

const section = 'Lanes of nonces';
const LANES = 'test/faults/lanes.test.ts';
const STORE = 'test/store/lanes.test.ts';
const ENDPOINTS = 'test/venues/evm/endpoints.test.ts';
const CONTRADICTIONS = 'test/store/contradictions.test.ts';
const ANSWERED_FOR = 'a lane whose first transaction a person has answered for goes on by itself';

export const laneRules: readonly Rule[] = [
  {
    id: 'later-versions-pay-more',
    section,
    rule: 'A later version of a nonce pays an eighth more of both fees, within the caps.',
    test: {
      file: 'test/venues/evm/versions.test.ts',
      name: 'a later version pays an eighth more of both fees, what the market asks, and no more than allowed',
    },
    broken: {
      file: 'venues/evm/versions.ts',
      find: '  const least = larger(raised(before.maxFeePerGas), market.baseFee + tip);',
      replace: '  const least = larger(before.maxFeePerGas, market.baseFee + tip);',
    },
  },
  {
    id: 'stuck-payments-are-replaced',
    section,
    rule: 'A payment that is next in its lane and not mined for long is signed again with the same nonce.',
    test: {
      file: LANES,
      name: 'a stuck payment is signed again for an eighth more and completes, once',
    },
    broken: {
      file: 'venues/evm/settle.ts',
      find: '  return mined === signed.nonce;',
      replace: '  return mined > signed.nonce;',
    },
  },
  {
    id: 'every-version-is-looked-for',
    section,
    rule: 'Whichever version of a nonce is mined is recognised, also the one that was replaced.',
    test: {
      file: LANES,
      name: 'an original that is mined late, instead of what replaced it, is the same payment',
    },
    broken: {
      file: 'venues/evm/settle.ts',
      find: '  const landed = await findLanded(connection, sent);',
      replace: '  const landed = await findLanded(connection, sent.slice(-1));',
    },
  },
  {
    id: 'cancelled-is-not-a-payment',
    section,
    rule: 'What a person had cancelled ends as FAILED when the version that moves nothing is final, and never as a payment.',
    test: {
      file: LANES,
      name: 'a cancelled transaction ends with nothing moved, and a retry pays once',
    },
    broken: {
      file: 'venues/evm/settle.ts',
      find: "  if (landed?.stored.kind === 'cancel') return cancelledOr(connection, landed, act);\n",
      replace: '',
    },
  },
  {
    id: 'lanes-wait-for-unattended-nonces',
    section,
    rule: 'A nonce lane gives out no nonce after one that is signed, not mined and unattended.',
    test: { file: LANES, name: ANSWERED_FOR },
    broken: {
      file: 'prisma/functions/lanes.sql',
      find: "      OR n.state IN ('FAILED', 'COMPLETED', 'CANCELLED', 'SKIPPED', 'UNKNOWN'))\n  ORDER BY t.nonce LIMIT 1",
      replace: '      OR false)\n  ORDER BY t.nonce LIMIT 1',
    },
  },
  {
    id: 'what-was-answered-for-is-closed',
    section,
    rule: 'A nonce whose node ended without its transaction being mined is used up by one that moves nothing.',
    test: { file: LANES, name: ANSWERED_FOR },
    broken: {
      file: 'domain/lanes/duties.ts',
      find: "kind: proven ? 'send_again' : 'close'",
      replace: "kind: 'send_again'",
    },
  },
  {
    id: 'dropped-payments-are-sent-again',
    section,
    rule: 'A completed payment whose block is gone is sent again until it is final.',
    test: {
      file: LANES,
      name: 'a payment whose block is gone is sent again, and its record tells',
    },
    broken: {
      file: 'activities/relays/lanes.ts',
      find: '  await sendPayment(turn, claim, newest);\n  const last',
      replace: '  const last',
    },
  },
  {
    id: 'absences-take-two-endpoints',
    section,
    rule: 'Where two endpoints are bound, "not found" counts only when two say it.',
    test: { file: ENDPOINTS, name: 'nothing counts as not found while the second is silent' },
    broken: {
      file: 'venues/evm/endpoints.ts',
      find: 'const QUORUM = 2;',
      replace: 'const QUORUM = 1;',
    },
  },
  {
    id: 'decimals-take-two-endpoints',
    section,
    rule: 'Where two endpoints are bound, no endpoint decides alone how many decimals a token has.',
    test: { file: ENDPOINTS, name: 'are agreed on by two endpoints, whichever says %i' },
    broken: {
      file: 'venues/evm/decimals.ts',
      find: 'await endpoints.witnesses(question)',
      replace: '[await endpoints.ask(question)]',
    },
  },
  {
    id: 'decimals-wait-for-a-second-endpoint',
    section,
    rule: 'Nothing is signed by decimals that one endpoint alone reports while a second one is silent.',
    test: {
      file: ENDPOINTS,
      name: 'are not believed from one endpoint while the second is silent',
    },
    broken: {
      file: 'venues/evm/decimals.ts',
      find: 'if (anew) throw error;',
      replace: '',
    },
  },
  {
    id: 'silent-endpoints-hide-no-payment',
    section,
    rule: 'A payment that was sent is looked at while a second endpoint, which would confirm decimals, is silent or refuses.',
    test: { file: ENDPOINTS, name: 'hide no payment that was sent while the second %s' },
    broken: {
      file: 'venues/evm/decimals.ts',
      find: 'if (anew) throw',
      replace: 'throw',
    },
  },
  {
    id: 'unconfirmed-decimals-are-not-kept',
    section,
    rule: 'Decimals that one endpoint reported while a second was silent are read again at the next call.',
    test: {
      file: ENDPOINTS,
      name: 'that one endpoint reports while the second is silent are not kept',
    },
    broken: {
      file: 'venues/evm/decimals.ts',
      find: 'if (isConfirmed) agreed.set(',
      replace: 'agreed.set(',
    },
  },
  {
    id: 'one-wrong-endpoint-fails-no-node',
    section,
    rule: 'While endpoints differ in the decimals of a token, a node waits and does not fail.',
    test: {
      file: ENDPOINTS,
      name: 'and %s, a wrong endpoint has the node wait and not fail',
    },
    broken: {
      file: 'venues/evm/decimals.ts',
      find: "isAlike && isConfirmed ? 'rejected' : 'unreachable'",
      replace: "'rejected'",
    },
  },
  {
    id: 'decimals-of-the-venues-file-decide',
    section,
    rule: 'A token that reports other decimals than the venues file lists is not moved.',
    test: { file: ENDPOINTS, name: 'are those of the venues file, or nothing is moved' },
    broken: {
      file: 'venues/evm/decimals.ts',
      find: 'const due = listed ?? known;',
      replace: 'const due = known;',
    },
  },
  {
    id: 'decimals-are-read-again-before-signing',
    section,
    rule: 'Nothing is signed for a token whose decimals have changed since the process first read them.',
    test: { file: ENDPOINTS, name: 'where they are %s' },
    broken: {
      file: 'venues/evm/decimals.ts',
      find: 'if (known !== undefined && !anew) return known;',
      replace: 'if (known !== undefined) return known;',
    },
  },
  {
    id: 'used-nonces-are-shown',
    section,
    rule: 'A nonce counts as used by another transaction only when that transaction is shown in a final block.',
    test: {
      file: ENDPOINTS,
      name: 'a nonce that only counts as used is no proof: the transaction that used it has to be shown',
    },
    broken: {
      file: 'venues/evm/nonce-proof.ts',
      find: "    return by === null ? { kind: 'unprovable' } : { kind: 'used', by };",
      replace: "    return { kind: 'used', by: by ?? '0x' };",
    },
  },
  {
    id: 'used-nonces-take-two-endpoints',
    section,
    rule: 'A nonce counts as used by another transaction only when two endpoints show it, where two are bound.',
    test: {
      file: ENDPOINTS,
      name: 'is open while the other endpoint counts it as free',
    },
    broken: {
      file: 'venues/evm/nonce-proof.ts',
      find: 'connection.witnesses((one) => nonceFate(one, address, nonce))',
      replace: 'connection.witnesses(() => nonceFate(connection, address, nonce))',
    },
  },
  {
    id: 'used-nonces-are-used-by-one-transaction',
    section,
    rule: 'A nonce is released only when the endpoints show the same transaction that has used it.',
    test: {
      file: ENDPOINTS,
      name: 'is unprovable while the other endpoint shows another transaction of it',
    },
    broken: {
      file: 'venues/evm/nonce-proof.ts',
      find: ' || fate.by !== first.by',
      replace: '',
    },
  },
  {
    id: 'nonces-are-used-by-their-account',
    section,
    rule: 'A nonce was used by the transaction of its account with that nonce, whatever else its block has.',
    test: {
      file: ENDPOINTS,
      name: 'a nonce was used by its own account, and by its own transaction of a block with several',
    },
    broken: {
      file: 'venues/evm/nonce-proof.ts',
      find: 'nonce === of.nonce && isAddressEqual',
      replace: 'nonce === of.nonce || isAddressEqual',
    },
  },
  {
    id: 'payments-are-signed-anew-only-while-allowed',
    section,
    rule: 'A payment is not signed again for more while its payee may not be paid.',
    test: {
      file: LANES,
      name: 'a payment to a payee that may no longer be paid is not signed again',
    },
    broken: {
      file: 'activities/phases/next-version.ts',
      find: "  if (kind === 'cancel') return {};",
      replace: '  if (kind !== null) return {};',
    },
  },
  {
    id: 'caps-are-raised-for-one-lane',
    section,
    rule: 'The caps of fees are raised for the lane that an admin named, and for no other.',
    test: {
      file: STORE,
      name: 'a raise of caps is of one lane alone, and is signed by as it is shown',
    },
    broken: {
      file: 'store/lanes.ts',
      find: '      WHERE chain_id = ${chain_id} AND address = lower(${address})`,',
      replace: '      WHERE address = lower(${address}) ORDER BY chain_id`,',
    },
  },
  {
    id: 'raised-caps-end',
    section,
    rule: 'A raise of caps holds until its time is over.',
    test: {
      file: STORE,
      name: 'a raise of caps ends at its time, or when it is ended, and the audit has what was before',
    },
    broken: {
      file: 'prisma/functions/lanes.sql',
      find: '  SELECT CASE WHEN l.cap_raised_until > svc_now() THEN',
      replace: '  SELECT CASE WHEN l.cap_raised_until IS NOT NULL THEN',
    },
  },
  {
    id: 'raised-caps-are-bounded',
    section,
    rule: "A raise lets a transaction cost ten times the chain's cap at most, whatever is stored.",
    test: { file: 'test/domain/lanes/caps.test.ts', name: 'a raise %s' },
    broken: {
      file: 'domain/lanes/caps.ts',
      find: '  return compare(raised, most) > 0 ? most : raised;',
      replace: '  return compare(raised, most) > 0 ? raised : raised;',
    },
  },
  {
    id: 'first-sends-keep-the-caps',
    section,
    rule: 'What is stuck goes on at the raised caps of its lane, and a first send of that lane keeps the caps of its chain.',
    test: {
      file: LANES,
      name: 'a lane that the caps hold up goes on once they are raised for it, and a first send keeps them',
    },
    broken: {
      file: 'venues/evm/fees.ts',
      find: '  const affordable = (BigInt(allowed) - beneath) / limit;',
      replace: '  const affordable = (10n * BigInt(allowed) - beneath) / limit;',
    },
  },
  {
    id: 'lost-payments-are-signed-anew-only-while-allowed',
    section,
    rule: 'A payment whose block is gone is signed again for more only while, in the write that stores it, its payee may be paid.',
    test: {
      file: LANES,
      name: 'a payment whose payee is revoked while it is signed anew is not stored',
    },
    broken: {
      file: 'activities/relays/lanes.ts',
      find: '    movement_id,\n    ...required,\n',
      replace: '    movement_id,\n',
    },
  },
  {
    id: 'lost-payments-are-sent-only-while-allowed',
    section,
    rule: 'A later version of a payment whose block is gone, which no endpoint took, is not sent while its payee may not be paid.',
    test: {
      file: LANES,
      name: 'of a payment whose block is gone only what was taken is sent while its payee is revoked',
    },
    broken: {
      file: 'activities/relays/lanes.ts',
      find: "    return 'why' in may ? { ends: false, needs_retry: false, why: may.why } : null;",
      replace: "    return 'why' in may ? null : null;",
    },
  },
  {
    id: 'new-bytes-are-not-accepted-bytes',
    section,
    rule: 'A version that was just stored asks the stops as new bytes, whatever was taken of the earlier ones.',
    test: {
      file: LANES,
      name: 'a version whose payee is revoked when it is stored is not sent',
    },
    broken: {
      file: 'venues/evm/settle.ts',
      find: '{ phase, journal, accepted, replaces: true }',
      replace: '{ phase, journal, accepted }',
    },
  },
  {
    id: 'stuck-lanes-are-looked-at',
    section,
    rule: 'A lane that was noted as stuck is looked after until it is not, also without an open claim.',
    test: {
      file: STORE,
      name: 'a lane that was stuck is looked after once its last claim is settled, and is stuck no more',
    },
    broken: {
      file: 'prisma/functions/lanes.sql',
      find: 'l.stuck_nonce IS NOT NULL OR EXISTS (',
      replace: 'EXISTS (',
    },
  },
  {
    id: 'stuck-lanes-call-a-person',
    section,
    rule: 'Where what is to use up a nonce can be neither signed nor paid for, every node that waits for it needs a person.',
    test: {
      file: LANES,
      name: 'a lane that cannot be used up is shown, and so is whatever waits for it',
    },
    broken: {
      file: 'activities/relays/lanes.ts',
      find: 'settled, stuck: lowest }',
      replace: 'settled, stuck: null }',
    },
  },
  {
    id: 'what-paid-is-paid-again',
    section,
    rule: 'Of a completed payment whose block is gone a payment is mined again, also where a cancel was signed after it.',
    test: {
      file: LANES,
      name: 'a payment that was mined before its cancel, and lost its block, is paid all the same',
    },
    broken: {
      file: 'domain/lanes/duties.ts',
      find: "kind: proven ? 'send_again' : 'close'",
      replace: "kind: 'close'",
    },
  },
  {
    id: 'what-contradicts-a-node-calls-a-person',
    section,
    rule: 'A payment that is mined after its node had ended without it calls a person, and so does one whose block is gone for good.',
    test: { file: CONTRADICTIONS, name: 'a person knows, once' },
    broken: {
      file: 'activities/relays/lanes.ts',
      find: '    set: { landed_late_at: NOW, landing_seen_at: null },\n',
      replace: '',
    },
  },
  {
    id: 'what-contradicts-a-node-is-noted-once',
    section,
    rule: 'What contradicts the end of a node is noted in the write that settles its claim, so once.',
    test: { file: 'test/store/clauses-writes.test.ts', name: 'settles once' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: '        AND final_at IS NULL AND released_at IS NULL FOR UPDATE;',
      replace: '        FOR UPDATE;',
    },
  },
  {
    id: 'a-named-payment-contradicts-nothing',
    section,
    rule: 'A payment that a person named as what completed its node is not taken for a second one.',
    test: {
      file: CONTRADICTIONS,
      name: 'a payment that a person named in the output of its node contradicts nothing',
    },
    broken: {
      file: 'domain/lanes/contradiction.ts',
      find: '  if (isKnown) return null;\n',
      replace: '  void isKnown;\n',
    },
  },
  {
    id: 'what-contradicts-a-node-is-not-lost',
    section,
    rule: 'A claim is not settled before what contradicts its node is noted.',
    test: {
      file: CONTRADICTIONS,
      name: 'what could not be noted, since the node had moved, is noted in a later turn',
    },
    broken: {
      file: 'activities/relays/lanes.ts',
      find: 'found, mined_hash)))\n    return undefined;',
      replace: 'found, mined_hash)))\n    void found;',
    },
  },
  {
    id: 'own-claims-are-no-obstacle',
    section,
    rule: 'A node that has a lower nonce than the one in its way is not kept from sending by it.',
    test: { file: STORE, name: 'what lies above the nonce that it has is not in its way' },
    broken: {
      file: 'prisma/functions/lanes.sql',
      find: '      (left_claim(claim)).nonce, 9223372036854775807)',
      replace: '      NULL, 9223372036854775807) + 1000',
    },
  },
  {
    id: 'releases-know-every-version',
    section,
    rule: 'A nonce is released only by a caller that has looked for its newest version, in the epoch of its node.',
    test: { file: STORE, name: 'only who knows the newest version of a nonce releases it' },
    broken: {
      file: 'prisma/functions/lanes.sql',
      find: '    OR NOT is_newest_version(movement, version) THEN',
      replace: '    OR false THEN',
    },
  },
  {
    id: 'a-nonce-is-final-with-its-block',
    section,
    rule: 'A nonce is settled once the block of its own transaction is final, whatever count an endpoint reports.',
    test: {
      file: CONTRADICTIONS,
      name: 'a payment is not final before its own block is, whatever an endpoint counts',
    },
    broken: {
      file: 'activities/relays/lanes.ts',
      find: 'mined !== null && mined.block > last',
      replace: 'mined !== null && mined.block < 0n',
    },
  },
];
