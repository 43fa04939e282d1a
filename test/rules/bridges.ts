import type { Rule } from './rule.ts';

const section = 'Bridges';
const SEND = 'test/venues/bridge-c/send-act.test.ts';
const WALKED = 'test/domain/graph/second-legs.test.ts';
const ACTED = 'test/domain/commands/second-legs.test.ts';
const MESSAGE = 'test/venues/burn-mint/message.test.ts';
const CLAIMS = 'test/store/claims.test.ts';
const NAMED = 'test/venues/burn-mint/named-mint.test.ts';
const CHOSEN = 'test/store/named-mints.test.ts';
const BURNS = 'test/venues/burn-mint/executors.test.ts';
const GONE = 'test/store/gone-mints.test.ts';

export const bridgeRules: readonly Rule[] = [
  {
    id: 'what-is-sent-is-followed-after-a-cancel',
    section,
    rule: "After a cancel a bridge's second leg waits for a first that may have been sent, and then runs.",
    test: { file: WALKED, name: 'a burn that is %s is waited for, and then minted' },
    broken: {
      file: 'domain/graph/owed.ts',
      find: "return node.state === 'BLOCKED' && sentBefore(node, stateOf) !== 'no';",
      replace: "return node.state === 'BLOCKED' && sentBefore(node, stateOf) === 'sent';",
    },
  },
  {
    id: 'a-cancel-stops-no-second-leg',
    section,
    rule: "A cancel leaves a bridge's second leg to run whose first was or may have been sent.",
    test: { file: ACTED, name: 'leaves a mint alone whose preparation has started' },
    broken: {
      file: 'domain/commands/cancel.ts',
      find: '!owed.has(node.node_key) &&',
      replace: '!owed.has(node.state) &&',
    },
  },
  {
    id: 'owed-mints-do-not-wait',
    section,
    rule: 'A burn is minted whatever else has failed, and past gates.',
    test: { file: WALKED, name: 'what is burnt later is minted, and nothing behind it begins' },
    broken: {
      file: 'domain/graph/walk.ts',
      find: "owed.has(node.node_key) ||\n            (node.node_kind === 'compensation'",
      replace: "(node.node_kind === 'compensation'",
    },
  },
  {
    id: 'dead-paths-strand-no-second-leg',
    section,
    rule: 'A burn is minted although every path to its mint is dead.',
    test: { file: WALKED, name: 'what is burnt is minted, and nothing behind it begins' },
    broken: {
      file: 'domain/graph/edges.ts',
      find: 'return held.size === 0 ? all : settleHolding(input, held);',
      replace: 'return held.size === 0 || !input.cancelled ? all : settleHolding(input, held);',
    },
  },
  {
    id: 'paths-lead-behind-a-second-leg',
    section,
    rule: 'Behind a mint to which no path leads nothing begins.',
    test: { file: WALKED, name: 'a gate may pay in its place, and nothing behind the mint does' },
    broken: {
      file: 'domain/graph/edges.ts',
      find: "statuses.set(edge, status === 'fired' ? way : status);",
      replace: 'statuses.set(edge, status);',
    },
  },
  {
    id: 'one-second-leg-brings',
    section,
    rule: 'Of several second legs of one burn, one alone runs without a path that leads to it.',
    test: { file: WALKED, name: 'of two mints the one that the plan chooses runs' },
    broken: {
      file: 'domain/graph/owed.ts',
      find: '    if (taken.has(brings)) continue;\n',
      replace: '',
    },
  },
  {
    id: 'runs-of-before-skip-second-legs',
    section,
    rule: 'A load of a release before 0.5.0 is decided as that release did: a second leg to which no path leads is skipped.',
    test: { file: 'test/replay/replay.test.ts', name: 'every history replays' },
    broken: {
      file: 'domain/decision.ts',
      find: 'skips_legs: (view.conduct ?? 5) < 5,',
      replace: 'skips_legs: false,',
    },
  },
  {
    id: 'a-gate-does-not-bring-what-is-owed',
    section,
    rule: 'A failed second leg is not taken care of by somebody who resumed a gate, and can be retried.',
    test: { file: WALKED, name: 'is not taken care of by somebody who resumed a gate alone' },
    broken: {
      file: 'domain/graph/failure.ts',
      find: "node.brings != null && handler.node_kind === 'manual_gate'",
      replace: "node.brings === '' && handler.node_kind === 'manual_gate'",
    },
  },
  {
    id: 'what-was-paid-instead-is-not-brought-too',
    section,
    rule: 'A second leg in whose place a person had something paid is not retried.',
    test: { file: WALKED, name: 'is over once a person had something paid in its place' },
    broken: {
      file: 'domain/graph/retry.ts',
      find: "target.state === 'COMPLETED' &&",
      replace: "target.state === 'COMPLETED' ||",
    },
  },
  {
    id: 'a-retry-closes-the-gate',
    section,
    rule: 'A retry of a second leg closes the gate that its failure had opened.',
    test: { file: ACTED, name: 'a retry closes the gate that waits for what to do instead' },
    broken: {
      file: 'domain/graph/retry.ts',
      find: "node_kind === 'manual_gate' && state === 'READY')",
      replace: "node_kind === 'noop' && state === 'READY')",
    },
  },
  {
    id: 'a-first-leg-is-resolved-with-its-record',
    section,
    rule: 'A first leg is resolved as completed only with what its second leg goes by.',
    test: { file: ACTED, name: 'takes the message that its mint goes by, recorded or said' },
    broken: {
      file: 'domain/commands/resolve.ts',
      find: '!Object.hasOwn(known, field)',
      replace: 'field in {}',
    },
  },
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
      file: 'activities/requirements/bridge-path.ts',
      find: '  if (fee !== null && feeWithinBudget(fee, terms).ok) return;',
      replace: '  if (fee !== null && terms.late === false) return;',
    },
  },
  {
    id: 'bridges-send-what-can-be-received',
    section,
    rule: 'Nothing is sent over the bridge that the other end would not receive now.',
    test: {
      file: 'test/venues/bridge-c/executors.test.ts',
      name: 'what the other end would not receive is not sent',
    },
    broken: {
      file: 'venues/bridge-c/send.ts',
      find: '  await requireReceipt(destination, plan, moved);\n',
      replace: '',
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
    rule: 'A send over the bridge is proven by its own packet, to the payee and with the whole amount.',
    test: { file: SEND, name: 'is not decided by logs of %s' },
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
    id: 'missing-bridge-deliveries-are-paid-only-by-a-decision',
    section,
    rule: 'Nothing pays in place of a missing bridge delivery before a person has decided.',
    test: {
      file: 'test/domain/executable.test.ts',
      name: 'lets nothing pay for a mint behind %s',
    },
    broken: {
      file: 'domain/plan/legs.ts',
      find: '  return reachableFrom(back, [...keysOf(paying)]);',
      replace: '  return back.length === 0 ? keysOf(nodes) : keysOf(paying);',
    },
  },
  {
    id: 'what-is-paid-in-its-place-is-drawn',
    section,
    rule: 'What is paid in the place of what a bridge has not brought counts as drawn, also behind a person.',
    test: { file: 'test/domain/plan/flow.test.ts', name: 'is drawn, also behind a person (%s)' },
    broken: {
      file: 'domain/plan/flow.ts',
      find: '  return mayCountOn(source, node, plan) ? source.node_key : null;',
      replace: '  return source.node_key;',
    },
  },
  {
    id: 'what-crosses-is-passed-on-once-it-was-brought',
    section,
    rule: 'What was sent over a bridge counts as passed on only surely behind its arrival.',
    test: { file: 'test/domain/plan/flow.test.ts', name: 'and is drawn behind %s' },
    broken: {
      file: 'domain/plan/legs.ts',
      find: '[source.node_key, ...rootNodes(plan)]',
      replace: '[source.node_key]',
    },
  },
  {
    id: 'nothing-late-between-two-legs-pays',
    section,
    rule: 'When something fails or is late between the two legs of a bridge, nothing pays before a person has decided.',
    test: {
      file: 'test/domain/executable.test.ts',
      name: 'nothing that is late or fails pays: %s',
    },
    broken: {
      file: 'domain/plan/legs.ts',
      find: '(between.has(from) || seconds.has(from))',
      replace: 'seconds.has(from)',
    },
  },
  {
    id: 'terms-of-a-burn-are-the-templates',
    section,
    rule: 'Who alone may bring what is burnt, and what the attester may keep of it, no caller says.',
    test: { file: 'test/domain/plan/bounds.test.ts', name: 'a caller may not say' },
    broken: {
      file: 'domain/plan/bounds.ts',
      find: "  'destination_caller',\n  'max_fee',\n",
      replace: '',
    },
  },
  {
    id: 'burns-for-one-account-have-their-mint',
    section,
    rule: 'No plan burns what one account alone may bring without bringing it.',
    test: {
      file: 'test/domain/executable.test.ts',
      name: 'lets no burn be for one account where the plan has no mint of it',
    },
    broken: {
      file: 'domain/executable.ts',
      find: 'return secondLegsOf(node, nodes).length > 0 ? []',
      replace: 'return nodes.length > 0 ? []',
    },
  },
  {
    id: 'bridges-bring-nothing-to-their-own-contracts',
    section,
    rule: 'Nothing is sent over a bridge to a contract of its destination that would keep it for good.',
    test: {
      file: 'test/venues/bridge-payees.test.ts',
      name: 'brings nothing to %s of the other chain',
    },
    broken: {
      file: 'venues/evm/payee-problem.ts',
      find: 'isAddressEqual(address, payee)',
      replace: 'address === payee && false',
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
      file: 'venues/bridge-c/route.ts',
      find: ' && isPeer(peer, other))',
      replace: ' && peer !== other.oft)',
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
  {
    id: 'attestations-are-signed',
    section,
    rule: 'A burn is completed, and minted, only with signatures that its destination would take.',
    test: { file: BURNS, name: 'with nothing that its destination would not take as signed' },
    broken: {
      file: 'venues/burn-mint/attestation.ts',
      find: '    if (!enabled) return',
      replace: '    if (enabled === null) return',
    },
  },
  {
    id: 'nothing-is-burnt-on-the-way-to-a-pause',
    section,
    rule: 'Nothing is burnt while a contract of the lane is paused on either side.',
    test: { file: BURNS, name: 'while the transmitter is paused (%s)' },
    broken: {
      file: 'venues/evm/act-executor.ts',
      find: '    await requireUnpaused(connection, address);',
      replace: '    void requireUnpaused;',
    },
  },
  {
    id: 'what-is-burnt-can-be-minted',
    section,
    rule: "Nothing is burnt that the destination's token would not mint to its payee.",
    test: { file: BURNS, name: 'that the token would not mint to its payee' },
    broken: {
      file: 'venues/burn-mint/route.ts',
      find: '  await requireMint(destination, plan, minter, units);\n',
      replace: '',
    },
  },
  {
    id: 'one-message-completes-one-burn',
    section,
    rule: 'A message of the bridge that has completed one burn completes no other.',
    test: { file: CLAIMS, name: 'one of many that complete at once has it' },
    broken: {
      file: 'prisma/functions/claims.sql',
      find: '    ON CONFLICT DO NOTHING RETURNING source, reference, amount)',
      replace:
        '    WHERE x.amount IS NULL ON CONFLICT DO NOTHING RETURNING source, reference, amount)',
    },
  },
  {
    id: 'a-person-claims-what-completes-a-node',
    section,
    rule: 'What has completed one node completes no other because a person says so.',
    test: { file: CLAIMS, name: 'does not complete a second burn with the mint of another' },
    broken: {
      file: 'domain/commands/resolve.ts',
      find: 'landed ? { claims: claimsBy(',
      replace: 'node.amount === null ? { claims: claimsBy(',
    },
  },
  {
    id: 'a-named-mint-brought-the-own-message',
    section,
    rule: "A transaction that a person names completes a burn only where it has brought the burn's own message.",
    test: { file: NAMED, name: 'the mint of a burn of %s' },
    broken: {
      file: 'venues/burn-mint/named-mint.ts',
      find: 'calldata.toLowerCase().includes(message.slice(2))',
      replace: 'calldata.length >= message.length',
    },
  },
  {
    id: 'a-named-mint-is-final',
    section,
    rule: 'A mint that a person names counts once its block is final.',
    test: { file: NAMED, name: 'is proven by the message that was taken' },
    broken: {
      file: 'venues/burn-mint/named-mint.ts',
      find: 'receipt.blockNumber > (await finalizedNumber(one))',
      replace: 'receipt.blockNumber > (await finalizedNumber(one)) + 1_000n',
    },
  },
  {
    id: 'a-named-mint-is-shown-by-all',
    section,
    rule: 'A mint that a person names counts once as many endpoints show it as an absence takes.',
    test: { file: NAMED, name: 'what one endpoint alone shows' },
    broken: {
      file: 'venues/burn-mint/named-mint.ts',
      find: 'return agreed(shown);',
      replace: 'return agreed(shown.slice(0, 1));',
    },
  },
  {
    id: 'a-named-mint-is-of-no-other-burn',
    section,
    rule: 'Where other burns of the same terms are open, a named mint completes one only once each has one.',
    test: { file: CHOSEN, name: 'each has a mint of its own, or neither is completed (%s)' },
    broken: {
      file: 'api/movements/named-mint.ts',
      find: 'if (free.length > others.length) return',
      replace: 'if (free.length > 0 || others.length === 0) return',
    },
  },
  {
    id: 'a-named-mint-completes-one-burn',
    section,
    rule: 'A mint that a person names completes one burn.',
    test: { file: CHOSEN, name: 'one mint completes one burn' },
    broken: {
      file: 'api/movements/named-mint.ts',
      find: 'const free = mints.filter((mint) => !taken.has(referenceOf(mint)));',
      replace: 'const free = mints.filter(() => taken.size >= 0);',
    },
  },
  {
    id: 'a-mint-is-gone-by-all',
    section,
    rule: "Another account's mint is gone once as many endpoints show its nonce unused as an absence takes.",
    test: {
      file: 'test/venues/burn-mint/by-others.test.ts',
      name: 'may be hidden where one of them shows it used (%s)',
    },
    broken: {
      file: 'venues/burn-mint/by-others.ts',
      find: '  return used.some(Boolean);\n',
      replace: '  return used.every(Boolean);\n',
    },
  },
  {
    id: 'a-mint-that-is-gone-is-made-anew',
    section,
    rule: "A burn whose mint by another account was reorganised away is minted by the plan's own node.",
    test: { file: GONE, name: 'one %s is prepared again, and drops what it had of the other' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: '  if (sentNothing(deps, row)) return preparedAnew(deps, row);\n',
      replace: '',
    },
  },
  {
    id: 'what-may-have-been-sent-is-not-made-anew',
    section,
    rule: 'What a team prepared, or what was to be signed, is sent again as it was prepared.',
    test: { file: GONE, name: 'what %s is sent as it was prepared' },
    broken: {
      file: 'activities/phases/recover.ts',
      find: "  return isMintedAlready(row) && descriptorOf(deps, row).kind === 'local';\n",
      replace: '  return isMintedAlready(row);\n',
    },
  },
  {
    id: 'what-arrives-is-claimed',
    section,
    rule: 'A node that waits for what arrives is completed only with what it claims.',
    test: {
      file: CLAIMS,
      name: 'what a node waits for that arrives is claimed, or the write is refused',
    },
    broken: {
      file: 'prisma/functions/claims.sql',
      find: "SELECT claims_when = 'always'",
      replace: "SELECT claims_when = 'alway'",
    },
  },
  {
    id: 'searches-count-final-blocks-alone',
    section,
    rule: 'A search that goes on skips only blocks that were final when they were searched.',
    test: {
      file: 'test/venues/evm/search-logs.test.ts',
      name: 'whatever is searched, all of it is, and only what is final counts',
    },
    broken: {
      file: 'venues/evm/search-logs.ts',
      find: 'kept = most(kept, least(high, chain.final));',
      replace: 'kept = most(kept, high);',
    },
  },
  {
    id: 'a-drill-is-of-its-contracts',
    section,
    rule: 'A drill opens a path for the contracts that it went through, and for no others.',
    test: {
      file: 'test/domain/bridges/path-ready.test.ts',
      name: 'a drill counts for the contracts that it went through, and not for %s',
    },
    broken: {
      file: 'domain/bridges/path-ready.ts',
      find: ' && contracts !== null && last_drill_contracts === contracts',
      replace: ' && (contracts === null || contracts !== null)',
    },
  },
  {
    id: 'what-is-under-way-keeps-its-entries',
    section,
    rule: 'What was burnt or sent is judged by the venue entries that it was sent under, or not at all.',
    test: { file: BURNS, name: 'decide nothing: it waits until they are put back' },
    broken: {
      file: 'venues/same-entries.ts',
      find: "if (!areOther(recorded, now)) return;\n  throw new ExecutorFault(\n    'not_yet'",
      replace:
        "if (areOther(recorded, now) || true) return;\n  throw new ExecutorFault(\n    'not_yet'",
    },
  },
  {
    id: 'what-is-prepared-keeps-its-entries',
    section,
    rule: 'What was prepared is signed under the venue entries that were recorded with it, or not at all.',
    test: { file: 'test/venues/evm/act.test.ts', name: 'what was prepared by other terms' },
    broken: {
      file: 'venues/evm/signing.ts',
      find: 'requirePreparedEntries(node.prepared_terms, terms);',
      replace: 'requirePreparedEntries(terms ?? undefined, terms);',
    },
  },
  {
    id: 'the-fence-says-what-was-recorded',
    section,
    rule: 'The check of a signature gets the terms that our own executor recorded, and no text of a team.',
    test: {
      file: 'test/activities/signed-node.test.ts',
      name: 'the terms that a %s executor recorded in %j are %s',
    },
    broken: {
      file: 'activities/phases/followed.ts',
      find: "executor?.kind === 'local' ? row",
      replace: "executor?.kind !== 'local' ? row",
    },
  },
  {
    id: 'a-named-burn-pays-the-own-payee',
    section,
    rule: 'A burn that a person names is the planned one, payee included, whatever else the account has burnt.',
    test: {
      file: 'test/venues/burn-mint/named-attestation.test.ts',
      name: 'is not proven by another burn of the same account',
    },
    broken: {
      file: 'venues/burn-mint/burn-act.ts',
      find: '    mint_recipient: padded(plan.mint_recipient),\n',
      replace: '',
    },
  },
  {
    id: 'a-named-burn-is-judged-by-its-own-entries',
    section,
    rule: 'A burn that a person names is judged by the venue entries under which it was prepared, and by no others.',
    test: {
      file: 'test/venues/burn-mint/named-attestation.test.ts',
      name: 'is not judged by other venue entries than it was burnt under',
    },
    broken: {
      file: 'venues/burn-mint/named-attestation.ts',
      find: "      requireSameEntries(named.prepared_action['venue_entries'], entries);\n",
      replace: '',
    },
  },
];
