/**
 * Clauses of what decides: flow, fence, perps venue, budgets, restores, transfers, proposals,
 * approvals.
 */
import { nodeFacts } from '../../domain/plan/node-facts.ts';
import {
  also,
  approve,
  approved,
  asMade,
  binding,
  type Clause,
  frozenNow,
  holds,
  isSince,
  LATER,
  OWN,
  paid,
  SINCE,
  unbound,
  withMadeUpRows,
} from './clause.ts';
import { ADDRESS, doc, ID, MASTER } from './made-up.ts';
import { agreedPlan, TEMPLATE } from './support.ts';

withMadeUpRows();

/** A node that stands nowhere. */
const node = (fields: object): string =>
  `jsonb_populate_record(NULL::movement_nodes, ${doc(asMade({ recover_first: false, ...fields }))})`;

holds('may have sent', [
  ...['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'].map((state): Clause => [
    state,
    '',
    `may_have_sent(${node({ state })})`,
    true,
  ]),
  ...['BLOCKED', 'READY', 'COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].map((state): Clause => [
    state,
    '',
    `may_have_sent(${node({ state })})`,
    false,
  ]),
  [
    'READY, to be looked up first',
    '',
    `may_have_sent(${node({ state: 'READY', recover_first: true })})`,
    true,
  ],
  [
    'READY, accepted once',
    '',
    `may_have_sent(${node({ state: 'READY', submitted_at: '2026-01-01' })})`,
    true,
  ],
  [
    'BLOCKED, to be looked up first',
    '',
    `may_have_sent(${node({ state: 'BLOCKED', recover_first: true })})`,
    false,
  ],
  [
    'FAILED, accepted once',
    '',
    `may_have_sent(${node({ state: 'FAILED', submitted_at: '2026-01-01' })})`,
    false,
  ],
]);

const mint = { action_type: 'cctp_mint', state: 'COMPLETED', amount: '5' };
const sent = (fields: object): string => `sent_amount(${node(fields)})::float`;

holds('what a node moves', [
  [
    'an allowance: what its plan says',
    '',
    `moved_amount(${node({ ...approve, amount: '9', flow: { amount: '7' } })})::float`,
    7,
  ],
  [
    'an allowance without a plan for it: what it allows',
    '',
    `moved_amount(${node({ ...approve, amount: '9' })})::float`,
    9,
  ],
  [
    'a transfer: what it was resolved to',
    '',
    `moved_amount(${node({ ...paid, flow: { amount: '7' } })})::float`,
    5,
  ],
  [
    'an amount that is not resolved: what its plan says',
    '',
    `moved_amount(${node({ ...paid, amount: null, flow: { amount: '7' } })})::float`,
    7,
  ],
  ['an unknown amount', '', `moved_amount(${node({ ...paid, amount: null })})::float`, null],
  [
    'an abandoned transfer: all of it',
    '',
    sent({ ...paid, state: 'FAILED', error_code: 'ABANDONED', output: { submitted_amount: '3' } }),
    5,
  ],
  [
    'a transfer that failed otherwise: nothing',
    '',
    sent({ ...paid, state: 'FAILED', error_code: 'RESOLVED_AS_FAILED' }),
    0,
  ],
  ['a mint brings what arrived', '', sent({ ...mint, output: { received_amount: '3' } }), 3],
  [
    'of a mint what was submitted says nothing',
    '',
    sent({ ...mint, output: { submitted_amount: '3' } }),
    5,
  ],
  [
    'a transfer sends what was submitted',
    '',
    sent({ ...paid, output: { submitted_amount: '3' } }),
    3,
  ],
  [
    'of a transfer what arrived says nothing',
    '',
    sent({ ...paid, output: { received_amount: '3' } }),
    5,
  ],
  ['never more than it was to move', '', sent({ ...paid, output: { submitted_amount: '6' } }), 5],
  ['nothing was submitted', '', sent({ ...paid, output: { submitted_amount: '0' } }), 0],
  ['a number says nothing', '', sent({ ...paid, output: { submitted_amount: 3 } }), 5],
  ...['03', '3.', '.3', '-3', '3e0', '1'.repeat(21), `0.${'1'.repeat(19)}`].map(
    (submitted_amount): Clause => [
      `${submitted_amount} says nothing`,
      '',
      sent({ ...paid, output: { submitted_amount } }),
      5,
    ],
  ),
  [
    'what may have been sent counts whole',
    '',
    sent({ ...paid, state: 'UNKNOWN', output: { submitted_amount: '3' } }),
    5,
  ],
  [
    'what may have been sent of an unknown amount',
    '',
    sent({ ...paid, state: 'OBSERVING', amount: null }),
    0,
  ],
  ...['FAILED', 'READY', 'BLOCKED', 'SKIPPED', 'CANCELLED'].map((state): Clause => [
    `${state}: nothing`,
    '',
    sent({ ...paid, state }),
    0,
  ]),
]);

const flow = { asset: 'USDC', amount: '5' };
const outflow = (amount: string | null): string =>
  `UPDATE movements SET outflow = ${doc([{ asset: 'USDC', amount }])} WHERE movement_id = '${OWN}';`;
const draws = (amount: string, key = 'x'): string =>
  `flow_problems('${OWN}', ${doc({ node_key: key, amount })})`;
const exceeded = (used: string, limit = '10'): object[] => [
  { binding: 'flow', key: 'USDC', reason: 'APPROVED_OUTFLOW_EXCEEDED', used, limit },
];
const unasked = (nodes: string[], used = '0'): object[] => [
  { binding: 'flow', key: 'USDC', reason: 'RESTORED_NODE_UNASKED', used, limit: '10', nodes },
];
const ten = outflow('10') + also('x', { flow, state: 'READY' });
const lost = { state: 'BLOCKED', recover_first: true, amount: '6', flow };

holds('what may be drawn', [
  ['all of it', ten, draws('10'), null],
  ['no more than all', ten, draws('10.000000000000000001'), exceeded('0')],
  ['beside what was sent', ten + also('y', { ...paid, amount: '6', flow }), draws('4'), null],
  ['not what was sent', ten + also('y', { ...paid, amount: '6', flow }), draws('5'), exceeded('6')],
  [
    'another asset is another matter',
    ten + also('y', { ...paid, amount: '6', flow: { ...flow, asset: 'ETH' } }),
    draws('10'),
    null,
  ],
  [
    'what is passed on is another matter',
    ten + also('y', { ...paid, amount: '6', flow: { ...flow, from: 'x' } }),
    draws('10'),
    null,
  ],
  [
    'a node without a flow draws nothing',
    outflow('10') + also('x', { flow: null }),
    draws('99'),
    null,
  ],
  [
    'an asset that is not in the outflow',
    outflow('10') + also('x', { flow: { ...flow, asset: 'ETH' } }),
    draws('1'),
    [{ ...exceeded('0', '0')[0], key: 'ETH' }],
  ],
  ['without a bound a person approved it', outflow(null) + also('x', { flow }), draws('99'), null],
  [
    'what a restore may have lost is looked up first',
    ten + also('y', lost),
    draws('5'),
    unasked(['y']),
  ],
  [
    'also where it was skipped',
    ten + also('y', { ...lost, state: 'SKIPPED' }),
    draws('5'),
    unasked(['y']),
  ],
  ['unless both fit', ten + also('y', lost), draws('4'), null],
  [
    'one of an unknown amount beside one that is known',
    ten + also('y', lost) + also('z', { ...lost, amount: null, flow: { asset: 'USDC' } }),
    draws('5'),
    unasked(['y', 'z']),
  ],
  [
    'one of an unknown amount alone',
    ten + also('z', { ...lost, amount: null, flow: { asset: 'USDC' } }),
    draws('10'),
    null,
  ],
  [
    'of an amount that is not resolved counts what its plan says',
    ten + also('y', { ...lost, amount: null }),
    draws('6'),
    unasked(['y']),
  ],
  [
    'not one that was looked up',
    ten + also('y', { ...lost, recover_first: false }),
    draws('10'),
    null,
  ],
  ['not one that failed', ten + also('y', { ...lost, state: 'FAILED' }), draws('10'), null],
  [
    'not one of another asset',
    ten + also('y', { ...lost, flow: { ...flow, asset: 'ETH' } }),
    draws('10'),
    null,
  ],
  ['what is too much already is not looked up', ten + also('y', lost), draws('11'), exceeded('0')],
  [
    'an allowance draws what its plan says',
    outflow('10') + also('x', { ...approve, flow }),
    draws('99'),
    null,
  ],
  [
    'an allowance beside what was sent',
    outflow('10') + also('x', { ...approve, flow }) + also('y', { ...paid, amount: '6', flow }),
    draws('5'),
    exceeded('6'),
  ],
  [
    'an allowance is taken back whatever was sent',
    outflow('10') + also('x', { ...approve, flow }) + also('y', { ...paid, amount: '10', flow }),
    draws('0'),
    null,
  ],
  [
    'a transfer of nothing is checked all the same',
    outflow('10') + also('x', { flow }) + also('y', { ...paid, amount: '11', flow }),
    draws('0'),
    exceeded('11'),
  ],
  [
    'what was sent is passed on',
    also('x', { flow: { ...flow, from: 'y' } }) +
      also('y', { ...paid, output: { submitted_amount: '3' }, flow }),
    draws('3'),
    null,
  ],
  [
    'no more than was sent',
    also('x', { flow: { ...flow, from: 'y' } }) +
      also('y', { ...paid, output: { submitted_amount: '3' }, flow }),
    draws('3.1'),
    exceeded('0', '3'),
  ],
  [
    'what may have been sent is not passed on',
    also('x', { flow: { ...flow, from: 'y' } }) + also('y', { ...paid, state: 'OBSERVING', flow }),
    draws('1'),
    exceeded('0', '0'),
  ],
]);

const within = (amount: string, controls: object, patch: object = {}): string =>
  `within_max_amount(${amount}, ${doc(controls)}, ${doc(patch)})`;

holds('max_amount', [
  ['the very amount', '', within('5', { max_amount: '5' }), true],
  ['more', '', within('5.1', { max_amount: '5' }), false],
  ['more than the patch', '', within('5.1', { max_amount: '9' }, { max_amount: '5' }), false],
  ['a patch raises nothing', '', within('5.1', { max_amount: '5' }, { max_amount: '9' }), false],
  ['none', '', within('5', {}), true],
  ['one that is no amount', '', within('5', { max_amount: 'nine' }), false],
  ['one that is no text', '', within('5', {}, { max_amount: 9 }), false],
]);

const listed = (fields: object): string =>
  `UPDATE allowed_addresses SET (chain_id, active, revoked_at, revoked_by, usable_after) = (
    SELECT r.chain_id, coalesce(r.active, true), r.revoked_at, r.revoked_by, r.usable_after
    FROM jsonb_populate_record(NULL::allowed_addresses, ${doc(fields)}) r);`;
const pays = (more: object = {}): string =>
  `address_problem(${doc({ chain_family: 'evm', address: ADDRESS, chain_id: 5, ...more })})`;

holds('who may be paid', [
  ['whoever is listed', '', pays(), null],
  ['whoever is not', '', pays({ address: MASTER }), 'ADDRESS_NOT_ALLOWLISTED'],
  ['not in another family', '', pays({ chain_family: 'cex' }), 'ADDRESS_NOT_ALLOWLISTED'],
  [
    'not once revoked',
    listed({ active: false, revoked_at: LATER, revoked_by: 'b' }),
    pays(),
    'ADDRESS_NOT_ALLOWLISTED',
  ],
  ['on its chain', listed({ chain_id: 5 }), pays(), null],
  ['not on another', listed({ chain_id: 6 }), pays(), 'ADDRESS_NOT_ALLOWLISTED'],
  [
    'not on an unknown one',
    listed({ chain_id: 6 }),
    pays({ chain_id: null }),
    'ADDRESS_NOT_ALLOWLISTED',
  ],
  ['not while it cools', listed({ usable_after: LATER }), pays(), 'ADDRESS_IN_COOLING_PERIOD'],
  ['once it has cooled', listed({ usable_after: '2020-01-01' }), pays(), null],
  ['strictly, only with its chain', '', pays({ strict: true }), 'ADDRESS_CHAIN_ID_REQUIRED'],
  ['strictly, with its chain', listed({ chain_id: 5 }), pays({ strict: true }), null],
  [
    'cooling is reported before a chain that is missing',
    listed({ chain_id: 5, usable_after: LATER }) +
      `INSERT INTO allowed_addresses SELECT (jsonb_populate_record(a, '{"id": "${ID('3')}", "chain_id": null}')).* FROM allowed_addresses a;`,
    pays({ strict: true }),
    'ADDRESS_IN_COOLING_PERIOD',
  ],
]);

const signerIs = (fields: object): string =>
  `UPDATE signers SET (status, expected_signer_address) = (SELECT coalesce(r.status, s.status), r.expected_signer_address
    FROM signers s, jsonb_populate_record(NULL::signers, ${doc(fields)}) r WHERE s.signer_key = 'old') WHERE signer_key = 'old';`;
const bindings = (required: object): string => `binding_problems(${doc(required)}, '${OWN}')`;
const bound = (fields: object = {}): string =>
  bindings({ signers: [{ signer_key: 'old', address: ADDRESS, ...fields }] });
const problem = (binding: string, key: string, reason: string): object[] => [
  { binding, key, reason },
];
const bySigner = { signer_binding: { signer_key: 'old' }, state: 'READY' };

holds('what a send is bound to', [
  ['an active executor', '', bindings({ executors: ['e'] }), null],
  [
    'a disabled executor',
    `UPDATE executors SET status = 'disabled'`,
    bindings({ executors: ['e'] }),
    problem('executor', 'e', 'disabled'),
  ],
  ['an active signer', '', bound(), null],
  ...['disabled', 'deprecated', 'retired'].map((status): Clause => [
    `a ${status} signer`,
    signerIs({ status }),
    bound(),
    problem('signer', 'old', status),
  ]),
  [
    'a deprecated signer signs what its rotation left with it',
    signerIs({ status: 'deprecated' }) + also('x', bySigner),
    bound(),
    null,
  ],
  [
    'a retired one signs nothing',
    signerIs({ status: 'retired' }) + also('x', bySigner),
    bound(),
    problem('signer', 'old', 'retired'),
  ],
  [
    'a disabled one signs nothing',
    signerIs({ status: 'disabled' }) + also('x', bySigner),
    bound(),
    problem('signer', 'old', 'disabled'),
  ],
  ...['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'].map((state): Clause => [
    `a deprecated signer signs nothing for what is ${state}`,
    signerIs({ status: 'deprecated' }) + also('x', { ...bySigner, state }),
    bound(),
    problem('signer', 'old', 'deprecated'),
  ]),
  [
    'nor for what another signs',
    signerIs({ status: 'deprecated' }) +
      also('x', { ...bySigner, signer_binding: { signer_key: 'new' } }),
    bound(),
    problem('signer', 'old', 'deprecated'),
  ],
  [
    'the identity that it is pinned to, however it is written',
    signerIs({ expected_signer_address: ADDRESS.toUpperCase() }),
    bound(),
    null,
  ],
  [
    'another identity',
    signerIs({ expected_signer_address: MASTER }),
    bound(),
    problem('signer', 'old', 'identity_mismatch'),
  ],
  [
    'an identity that is not read',
    signerIs({ expected_signer_address: MASTER }),
    bound({ address: null }),
    null,
  ],
  ['a signer that is not stored', '', bound({ signer_key: 'none' }), null],
  [
    'all that is wrong at once',
    `UPDATE executors SET status = 'disabled';` + signerIs({ status: 'disabled' }),
    bindings({
      executors: ['e'],
      signers: [{ signer_key: 'old' }],
      addresses: [{ chain_family: 'evm', address: MASTER }],
    }),
    [
      ...problem('executor', 'e', 'disabled'),
      ...problem('signer', 'old', 'disabled'),
      ...problem('address', MASTER, 'ADDRESS_NOT_ALLOWLISTED'),
    ],
  ],
  [
    'a bridge path as it was looked at',
    '',
    `binding_problems(jsonb_build_object('requirements', jsonb_build_object('bridge_path', '{"source": "1:A", "destination": "2:B", "asset": "USDC"}'::jsonb || jsonb_build_object('version', locked_path_version('{"source": "1:a", "destination": "2:b", "asset": "USDC"}')))), '${OWN}')`,
    null,
  ],
  [
    'a bridge path that changed',
    '',
    bindings({
      requirements: {
        bridge_path: { source: '1:A', destination: '2:B', asset: 'USDC', version: 'v' },
      },
    }),
    [{ binding: 'bridge_path', key: 'USDC', reason: 'changed', stop: 'bridge_path' }],
  ],
]);

const perp = (terms: object = {}): string =>
  `perp_problem(${doc({ signer: MASTER, ...terms })}, '${OWN}')`;
const why = (reason: string, key: string): object => ({
  binding: 'perp',
  key,
  reason,
  stop: reason === 'STRATEGY_PAUSED' ? 'paused' : 'perp_terms',
});
const noStrategy = `UPDATE movements SET strategy_id = NULL WHERE movement_id = '${OWN}';`;
const deposit = { deposit: '5', node_key: 'x' };
const other = (fields: object): string =>
  also('d', { action_type: 'perp_deposit', amount: '5', ...fields });
const full = { ...deposit, account: { value: '4', asked_at: '2026-01-01T00:00:00Z' } };

holds('the perps venue', [
  ['lets a bound strategy of the master through', '', perp(), null],
  ['has no master', 'DELETE FROM perp_master;', perp(), why('MASTER_ACCOUNT_MISSING', MASTER)],
  [
    'takes deposits of the master alone',
    '',
    perp({ ...deposit, signer: ADDRESS }),
    why('DEPOSITOR_NOT_MASTER', ADDRESS),
  ],
  [
    'takes actions of the master alone',
    '',
    perp({ signer: ADDRESS }),
    why('MASTER_SIGNER_MISMATCH', ADDRESS),
  ],
  ['knows the master however it is written', '', perp({ signer: MASTER.toUpperCase() }), null],
  ['a strategy that is not bound', unbound, perp(), why('STRATEGY_NOT_BOUND', 'strategy')],
  ['no strategy needs no binding', unbound + noStrategy, perp(), null],
  [
    'a strategy that is paused',
    binding('paused = true'),
    perp(),
    why('STRATEGY_PAUSED', 'strategy'),
  ],
  [
    'one on the master, paused, stops movements without a strategy',
    noStrategy + binding('paused = true'),
    perp(),
    why('STRATEGY_PAUSED', 'strategy'),
  ],
  [
    'one with a sub-account, paused, does not',
    noStrategy + binding(`paused = true, sub_account_address = 's'`),
    perp(),
    null,
  ],
  [
    'another strategy, paused, stops nothing',
    `UPDATE perp_bindings SET strategy_id = 'z', paused = true; INSERT INTO perp_bindings (strategy_id, created_at, updated_at) VALUES ('strategy', now(), now());`,
    perp(),
    null,
  ],
  [
    'a sub-account, however it is written',
    binding(`sub_account_address = 's'`),
    perp({ sub_account: 'S' }),
    null,
  ],
  [
    'another sub-account',
    binding(`sub_account_address = 's'`),
    perp({ sub_account: 't' }),
    why('SUB_ACCOUNT_MISMATCH', 't'),
  ],
  ['a first deposit', '', perp(deposit), null],
  ...['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'].map((state): Clause => [
    `an equal deposit that is ${state}`,
    other({ state }),
    `perp_problem(${doc({ signer: MASTER, ...deposit })}, '${OWN}') ->> 'reason'`,
    'EQUAL_DEPOSIT_IN_FLIGHT',
  ]),
  ...['READY', 'BLOCKED', 'COMPLETED', 'FAILED', 'CANCELLED'].map((state): Clause => [
    `an equal deposit that is ${state}`,
    other({ state }),
    perp(deposit),
    null,
  ]),
  [
    'one that a restore brought back',
    other({ state: 'READY', recover_first: true }),
    `perp_problem(${doc({ signer: MASTER, ...deposit })}, '${OWN}') ->> 'reason'`,
    'EQUAL_DEPOSIT_IN_FLIGHT',
  ],
  [
    'one of an unknown amount',
    other({ state: 'UNKNOWN', amount: null }),
    `perp_problem(${doc({ signer: MASTER, ...deposit })}, '${OWN}') ->> 'reason'`,
    'EQUAL_DEPOSIT_IN_FLIGHT',
  ],
  ['one of another amount', other({ state: 'UNKNOWN', amount: '6' }), perp(deposit), null],
  ['itself', other({ state: 'SUBMITTING' }), perp({ ...deposit, node_key: 'd' }), null],
  [
    'another action',
    other({ state: 'UNKNOWN', action_type: 'perp_withdraw' }),
    perp(deposit),
    null,
  ],
  ['up to the balance that an agent may have', binding('max_agent_balance = 9'), perp(full), null],
  [
    'no more than that',
    binding('max_agent_balance = 8.9'),
    perp(full),
    why('MAX_AGENT_BALANCE_EXCEEDED', 'strategy'),
  ],
  [
    'what is under way counts',
    binding('max_agent_balance = 9') + other({ state: 'OBSERVING', amount: '0.1' }),
    perp(full),
    why('MAX_AGENT_BALANCE_EXCEEDED', 'strategy'),
  ],
  [
    'what has arrived since it was read counts',
    binding('max_agent_balance = 9') +
      other({ state: 'COMPLETED', amount: '0.1', completed_at: '2026-01-01T00:00:00Z' }),
    perp(full),
    why('MAX_AGENT_BALANCE_EXCEEDED', 'strategy'),
  ],
  [
    'what had arrived before does not',
    binding('max_agent_balance = 9') +
      other({ state: 'COMPLETED', amount: '0.1', completed_at: '2025-12-31T23:59:59Z' }),
    perp(full),
    null,
  ],
  [
    'what has failed does not',
    binding('max_agent_balance = 9') + other({ state: 'FAILED', amount: '0.1' }),
    perp(full),
    null,
  ],
  [
    'a sub-account has a balance of its own',
    binding(`max_agent_balance = 1, sub_account_address = 's'`),
    perp(full),
    null,
  ],
]);

const row = (
  amount: string,
  { movement = ID('7'), policy = ID('1'), status = 'reserved', age = '0' } = {},
): string =>
  `INSERT INTO budget_reservations (reservation_id, movement_id, policy_id, amount, status, reserved_at)
    VALUES (gen_random_uuid(), '${movement}', '${policy}', ${amount}, '${status}', svc_now() - interval '${age}');`;
const policy = `UPDATE auto_approve_policies SET window_hours = 2, max_amount_per_window = 10, max_count_per_window = 2;`;
const take = (amount: string, checked = true): string =>
  `coalesce(take_budget('${OWN}', '${ID('1')}', ${amount}, 'reserved', ${String(checked)})::text, '')`;
const AMOUNT = 'window_amount_exceeded';
const COUNT = 'window_count_exceeded';

holds('a policy of a window', [
  ['all of it', policy, take('10'), ''],
  ['no more', policy, take('10.1'), AMOUNT],
  ['more without the check', policy, take('10.1', false), ''],
  ['beside what is reserved', policy + row('6'), take('4'), ''],
  ['not what is reserved', policy + row('6'), take('4.1'), AMOUNT],
  ['not what is consumed', policy + row('6', { status: 'consumed' }), take('4.1'), AMOUNT],
  ['what was released', policy + row('6', { status: 'released' }), take('10'), ''],
  ['what another policy took', policy + row('6', { policy: ID('2') }), take('10'), ''],
  ['what was taken before the window', policy + row('6', { age: '2 hours' }), take('10'), ''],
  ['not what was taken in it', policy + row('6', { age: '119 minutes' }), take('10'), AMOUNT],
  [
    'what the movement has itself adds up',
    policy + row('6', { movement: OWN }),
    take('4.1'),
    AMOUNT,
  ],
  ['two movements', policy + row('1'), take('1'), ''],
  ['not three', policy + row('1') + row('1', { movement: ID('8') }), take('1'), COUNT],
  ['a movement counts once', policy + row('1') + row('1'), take('1'), ''],
  [
    'its own rows count as one with this',
    policy + row('1') + row('1', { movement: OWN }),
    take('1'),
    '',
  ],
  ['without bounds', '', take('99'), ''],
]);

const capped = `UPDATE plan_templates SET auto_approve_enabled = true, daily_cap_amount = 10, daily_cap_asset = 'USDC';
  UPDATE movements SET approval_status = 'approved', approved_at = svc_now(), limit_amount = 4, amount = 4, outflow = '[{"asset": "USDC", "amount": "4"}]' WHERE movement_id = '${OWN}';`;

/** Another movement of the template, approved. */
const before = (fields: string): string =>
  `UPDATE movements SET approval_status = 'approved', approved_at = svc_now(), amount = 6, outflow = '[{"asset": "USDC", "amount": "6"}]' WHERE movement_id = (SELECT max(movement_id::text)::uuid FROM movements WHERE movement_id <> '${OWN}');
   UPDATE movements SET ${fields} WHERE movement_id = (SELECT max(movement_id::text)::uuid FROM movements WHERE movement_id <> '${OWN}');`;
const guard = (fields: object = {}): string =>
  `coalesce(check_approval_guard('${OWN}', ${doc({ template_key: 'test/store', daily_cap_amount: '10', daily_cap_asset: 'USDC', ...fields })})::text, '')`;
const CAP = 'daily_cap_exceeded';

holds('a template with a cap of a day', [
  ['alone', capped, guard(), ''],
  ['up to the cap', capped + before('amount = 6'), guard(), ''],
  [
    'beyond the cap',
    capped + before(`outflow = '[{"asset": "USDC", "amount": "6.1"}]'`),
    guard(),
    CAP,
  ],
  [
    'what an intent says counts where its outflow is less',
    capped + before('amount = 6.1'),
    guard(),
    CAP,
  ],
  [
    'of one without a bound counts its intent',
    capped + before(`amount = 6.1, outflow = '[{"asset": "USDC", "amount": null}]'`),
    guard(),
    CAP,
  ],
  [
    'what moves another asset',
    capped + before(`amount = 99, asset = 'ETH', outflow = '[{"asset": "ETH", "amount": "99"}]'`),
    guard(),
    '',
  ],
  [
    'what moves this one beside another',
    capped + before(`asset = 'ETH', outflow = '[{"asset": "USDC", "amount": "6.1"}]'`),
    guard(),
    CAP,
  ],
  [
    'what was not approved',
    capped + before(`amount = 99, approval_status = 'pending'`),
    guard(),
    '',
  ],
  [
    'what was approved more than a day ago',
    capped + before(`amount = 99, approved_at = svc_now() - interval '24 hours'`),
    guard(),
    '',
  ],
  [
    'what was approved within a day',
    capped + before(`amount = 99, approved_at = svc_now() - interval '1439 minutes'`),
    guard(),
    CAP,
  ],
  ['of another template', capped + before(`amount = 99, template_key = 'z'`), guard(), ''],
  [
    'its own limit beyond the cap',
    capped + `UPDATE movements SET limit_amount = 10.1 WHERE movement_id = '${OWN}';`,
    guard(),
    CAP,
  ],
  [
    'without a limit',
    capped + `UPDATE movements SET limit_amount = NULL WHERE movement_id = '${OWN}';`,
    guard(),
    CAP,
  ],
  [
    'no longer enabled',
    capped + 'UPDATE plan_templates SET auto_approve_enabled = false;',
    guard(),
    'the template changed',
  ],
  ['another cap by now', capped, guard({ daily_cap_amount: '11' }), 'the template changed'],
  ['another asset by now', capped, guard({ daily_cap_asset: 'ETH' }), 'the template changed'],
  ['the policy as it was', '', guard({ policy_id: ID('1'), revision: 1 }), ''],
  ['a policy that changed', '', guard({ policy_id: ID('1'), revision: 2 }), 'the policy changed'],
]);

const restore = (more: object = {}): string =>
  `SELECT after_restore(${doc({
    ...{ incident: 'i', send_seconds: 1, signature_seconds: 1, audit: [] },
    drain: { mode: 'drain' },
    ...more,
  })});`;
/** What a restore makes of the node `n`. */
const restored = (first: string, fields: object, column: string): [string, string] => [
  `${also('n', fields)} ${first} ${restore({ send_seconds: 600, signature_seconds: 7200 })}`,
  `(SELECT ${column} FROM movement_nodes WHERE movement_id = '${OWN}' AND node_key = 'n')`,
];
const soon = (seconds: number): string =>
  `send_not_after BETWEEN svc_now() + interval '${String(seconds - 60)} seconds' AND svc_now() + interval '${String(seconds + 60)} seconds'`;
const suspect = { node_kind: 'action', action_type: 'cex_withdrawal', submit_epoch: 3 };
const remote = `UPDATE executors SET kind = 'remote';`;
const forTeam = { executor_binding: { executor_key: 'e' }, signer_binding: { signer_key: 'old' } };
const MODES = `(SELECT mode || ' ' || coalesce(previous_mode, '') FROM cutover)`;
const SET_MODE = {
  action: 'cutover.set_mode',
  ...{ entity_type: 'cutover_mode', entity_key: 'cutover_mode', outcome: 'success' },
};
const DOCUMENT = JSON.stringify({
  ...{ id: ID('7'), author: {}, kinds: ['keys'], method: 'POST', path: '/', body: null },
  ...{ subject: 'api_client_keys', before: null, after: {} },
});
/** A request for a change, made so long ago. */
const request = (state: string, age: string): string =>
  `INSERT INTO change_requests (request_id, kinds, author, method, path, subject, row_after,
    document, hash, rules, state, created_at, ended_at)
  VALUES ('${ID('7')}', '{keys}', '{}', 'POST', '/', 'api_client_keys', '{}', '${DOCUMENT}',
    encode(sha256('${DOCUMENT}'), 'hex'), '[]', '${state}', svc_now() - interval '${age}',
    ${state === 'open' ? 'NULL' : 'svc_now()'});`;
const STANDING = `(SELECT state || ' ' || coalesce(standing::text, 'null') FROM change_requests)`;

holds('after a restore', [
  ...['BLOCKED', 'READY', 'SKIPPED'].map((state): Clause => [
    `${state} is looked up first`,
    ...restored('', { ...suspect, state }, 'recover_first AND restored AND submit_epoch = 1003'),
    true,
  ]),
  ...['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN', 'FAILED'].map((state): Clause => [
    `${state} is looked up as it is`,
    ...restored(
      '',
      { ...suspect, state },
      'NOT recover_first AND restored AND submit_epoch = 1003',
    ),
    true,
  ]),
  [
    'what was to be looked up first still is',
    ...restored('', { ...suspect, state: 'FAILED', recover_first: true }, 'recover_first'),
    true,
  ],
  ...['COMPLETED', 'CANCELLED'].map((state): Clause => [
    `${state} stays`,
    ...restored('', { ...suspect, state }, 'restored OR recover_first OR submit_epoch <> 3'),
    false,
  ]),
  ...[
    { node_kind: 'observe' },
    { node_kind: 'manual_gate' },
    { action_type: 'noop' },
    { action_type: 'manual_gate' },
  ].map((fields): Clause => [
    `${JSON.stringify(fields)} sends nothing`,
    ...restored(
      '',
      { ...suspect, state: 'READY', ...fields },
      'restored OR recover_first OR submit_epoch <> 3',
    ),
    false,
  ]),
  ...['COMPLETED', 'REJECTED', 'EXPIRED'].map((state): Clause => [
    `of a movement that is ${state} nothing is looked up`,
    ...restored(
      `UPDATE movements SET request_state = '${state}';`,
      { ...suspect, state: 'READY' },
      'restored',
    ),
    false,
  ]),
  ...['FAILED', 'CANCELLED', 'MANUAL_INTERVENTION'].map((state): Clause => [
    `of a movement that is ${state} it is`,
    ...restored(
      `UPDATE movements SET request_state = '${state}';`,
      { ...suspect, state: 'READY' },
      'restored',
    ),
    true,
  ]),
  ...(
    [
      ['PENDING_APPROVAL', '1 hour', '7 days'],
      ['PENDING_APPROVAL', '30 days', '30 days'],
      ['APPROVED', '1 hour', '1 hour'],
    ] as const
  ).map(([state, left, then]): Clause => [
    `one that is ${state} and expires in ${left} expires in ${then}`,
    ...restored(
      `UPDATE movements SET request_state = '${state}', expires_at = svc_now() + interval '${left}';`,
      { ...suspect, state: 'READY' },
      `(SELECT abs(extract(epoch FROM expires_at - svc_now() - interval '${then}')) < 60 FROM movements WHERE movement_id = '${OWN}')`,
    ),
    true,
  ]),
  [
    'no send of before is under way for longer',
    ...restored('', { ...suspect, state: 'READY' }, soon(600)),
    true,
  ],
  [
    'a later end of a send stays',
    ...restored(
      '',
      { ...suspect, state: 'SUBMITTING', send_not_after: LATER },
      `send_not_after = '${LATER}'`,
    ),
    true,
  ],
  [
    'what was signed for a team may be used for longer',
    ...restored(remote, { ...suspect, ...forTeam, state: 'READY' }, soon(7200)),
    true,
  ],
  [
    'not where the service sends it',
    ...restored('', { ...suspect, ...forTeam, state: 'READY' }, soon(600)),
    true,
  ],
  [
    'nor where nothing is signed',
    ...restored(
      remote,
      { ...suspect, ...forTeam, signer_binding: null, state: 'READY' },
      soon(600),
    ),
    true,
  ],
  [
    'a nonce lane is not proven from its next nonce',
    `UPDATE evm_transactions SET raw_tx = '0x02', tx_hash = '0x02'; ${restore()}`,
    '(SELECT unproven_from::integer FROM nonce_lanes)',
    1,
  ],
  [
    'nor is a claim below it that has no bytes',
    restore(),
    '(SELECT unproven_from::integer FROM nonce_lanes)',
    0,
  ],
  [
    'except one that was released, since another claim has its nonce',
    `UPDATE evm_transactions SET released_at = now(); ${restore()}`,
    '(SELECT unproven_from::integer FROM nonce_lanes)',
    1,
  ],
  [
    'nor what was not proven before',
    `UPDATE nonce_lanes SET unproven_from = 0; ${restore()}`,
    '(SELECT unproven_from::integer FROM nonce_lanes)',
    0,
  ],
  [
    'after an earlier restore, from its first one',
    `INSERT INTO restores (incident, at) VALUES ('h', now()); ${restore()}`,
    '(SELECT unproven_from::integer FROM nonce_lanes)',
    0,
  ],
  ['nothing new is taken', restore(), '(SELECT mode FROM cutover)', 'drain'],
  ['nothing is let go that was frozen', `${frozenNow} ${restore()}`, MODES, 'frozen '],
  [
    'the change of the switch is audited',
    restore({ drain: { mode: 'drain', audit: [{ ...SET_MODE, event_id: ID('6') }] } }),
    `(SELECT details ->> 'previous_mode' FROM audit_events WHERE event_id = '${ID('6')}')`,
    'normal',
  ],
  [
    'an open request for a change ends',
    `${request('open', '1 day')} ${restore()}`,
    STANDING,
    'outdated []',
  ],
  ['an ended one stays', `${request('rejected', '1 day')} ${restore()}`, STANDING, 'rejected null'],
  ['one that has expired too', `${request('open', '8 days')} ${restore()}`, STANDING, 'open null'],
]);

const step = (fields: object): string =>
  `(apply_transfer_step(${doc({ transfer_id: ID('1'), states: ['CREATED'], event: { event_id: ID('5'), event_type: 'transfer_pending', actor: { type: 'system' }, message: 'm' }, ...fields })}) ->> 'ok')::boolean`;
const stepped = (first: string, fields: object, column: string): [string, string] => [
  `${first} SELECT ${step(fields)};`,
  `(SELECT ${column} FROM capital_transfers)`,
];
const transferIs = (fields: string): string => `UPDATE capital_transfers SET ${fields};`;
const inAHour = { '@after_seconds': 3600 };

holds('a step of a transfer', [
  ['of the state that it may come from', '', step({}), true],
  ['of another state', transferIs(`request_state = 'SUBMITTING'`), step({}), false],
  ['of this epoch', transferIs('submit_epoch = 2'), step({ epoch: 2 }), true],
  ['of another epoch', transferIs('submit_epoch = 2'), step({ epoch: 1 }), false],
  ['of a transfer that is not there', '', step({ transfer_id: ID('6') }), false],
  ['its fence while all is frozen', frozenNow, step({ fence: true }), false],
  ['another while all is frozen', frozenNow, step({}), true],
  [
    'of an age that it may have',
    transferIs(`created_at = svc_now() - interval '1 minute'`),
    step({ within_age_seconds: 120 }),
    true,
  ],
  [
    'of a greater age',
    transferIs(`created_at = svc_now() - interval '1 hour'`),
    step({ within_age_seconds: 120 }),
    false,
  ],
  ['of any age', transferIs(`created_at = svc_now() - interval '1 hour'`), step({}), true],
  [
    'begins the time that its provider has',
    ...stepped(
      '',
      { set: { pending_until: inAHour } },
      `pending_until BETWEEN svc_now() + interval '59 minutes' AND svc_now() + interval '61 minutes'`,
    ),
    true,
  ],
  [
    'does not begin it anew',
    ...stepped(
      transferIs(`pending_until = '${SINCE}'`),
      { set: { pending_until: inAHour } },
      isSince('pending_until'),
    ),
    true,
  ],
  ['ends it', ...stepped('', { to: 'FAILED' }, 'ended_at IS NOT NULL'), true],
  [
    'leaves the time of its end',
    ...stepped(
      transferIs(`ended_at = '${SINCE}', request_state = 'COMPLETED'`),
      { states: ['COMPLETED'] },
      isSince('ended_at'),
    ),
    true,
  ],
  ['that is open has no end', ...stepped('', { to: 'SUBMITTING' }, 'ended_at IS NULL'), true],
  [
    'wakes its run',
    ...stepped(transferIs('wakes = 5'), { wakes: true }, 'version = 2 AND wakes = 0'),
    true,
  ],
  [
    'or does not',
    ...stepped(transferIs('wakes = 5'), { wakes: false }, 'version = 1 AND wakes = 5'),
    true,
  ],
]);

const limits = `UPDATE agent_authorities SET max_notional = 5, allowed_assets = '{USDC}', allowed_chains = '{near}', max_ttl_seconds = 60;`;
const issued = (authority: object): [string, string] => [
  `${limits} SELECT issue_key(${doc({ client_id: ID('2'), client_name: 'client', key_id: 'k2', role: 'agent', secret: '', replace: true, audit: [], authority_audit: {}, authority: { authority_key: 'authority', max_notional: null, allowed_assets: null, allowed_chains: null, max_ttl_seconds: null, ...authority } })});`,
  `authority_limits('authority')`,
];
const granted = {
  max_notional: '5',
  allowed_assets: ['USDC'],
  allowed_chains: ['near'],
  max_ttl_seconds: 60,
};
const issue = (fields: object): string =>
  `issue_key(${doc({ client_id: ID('2'), client_name: 'client', key_id: 'k2', role: 'agent', secret: '', audit: [], authority_audit: {}, ...fields })}) ->> 'replaced_key_id'`;
const NONE = { authority_key: 'authority', allowed_assets: null, allowed_chains: null };

holds('grants of an authority', [
  ['what is left out stays', ...issued({}), granted],
  ['a limit', ...issued({ max_notional: '6' }), { ...granted, max_notional: '6' }],
  ['assets', ...issued({ allowed_assets: ['ETH'] }), { ...granted, allowed_assets: ['ETH'] }],
  ['no assets', ...issued({ allowed_assets: [] }), { ...granted, allowed_assets: [] }],
  ['chains', ...issued({ allowed_chains: ['far'] }), { ...granted, allowed_chains: ['far'] }],
  ['a time', ...issued({ max_ttl_seconds: 61 }), { ...granted, max_ttl_seconds: 61 }],
  ['an authority has one key', '', issue({ authority: NONE }), 'authority_bound key'],
  ['unless it is replaced', '', issue({ authority: NONE, replace: true }), 'key'],
  [
    'or was revoked',
    `UPDATE api_client_keys SET status = 'revoked', revoked_at = now();`,
    issue({ authority: NONE }),
    null,
  ],
  ['no key is issued twice', '', issue({ key_id: 'key', role: 'admin' }), 'key_exists'],
]);

const current = `jsonb_build_object('limits', authority_limits('authority'))`;
const promotion = (fields: object = {}): string =>
  `promote_proposal(${doc({ proposal_id: ID('1'), authority_key: 'authority', promoted: {}, audit: [], expired_audit: [], ...fields })} || ${current}) ->> 'outcome'`;
const open = `UPDATE template_proposals SET expires_at = svc_now() + interval '1 hour';`;

holds('a promotion', [
  [
    'of what is submitted no longer',
    `${open} UPDATE template_proposals SET status = 'rejected';`,
    promotion(),
    'not_submitted',
  ],
  ['of what is over', '', promotion(), 'not_submitted'],
  [
    'by other limits',
    open,
    `promote_proposal(${doc({ proposal_id: ID('1'), authority_key: 'authority', limits: {} })}) ->> 'outcome'`,
    'outdated',
  ],
]);

const known = (version: number, fields: object): string =>
  `INSERT INTO template_proposals SELECT (jsonb_populate_record(p, ${doc({ proposal_id: `00000000-0000-7000-8000-0000000001${String(version).padStart(2, '0')}`, status: 'auto_promoted', promotion_mode: 'auto', template_id: TEMPLATE.template_id, template_key: 'k', template_version: version, plan_digest: 'd', proposal_kind: 'ephemeral', max_amount: '10', ...fields })})).* FROM template_proposals p WHERE proposal_id = '${ID('1')}';`;
const version = (fields: object = {}, most = 0): string =>
  `(SELECT template_version FROM with_version(jsonb_populate_record(NULL::template_proposals, ${doc({ authority_key: 'authority', template_key: 'k', plan_digest: 'd', proposal_kind: 'ephemeral', max_amount: '8', ...fields })}), '{}', ${String(most)}))`;
const NO_MORE = 'template_versions_exceeded';
const RETIRED = `UPDATE plan_template_versions SET status = 'retired', retired_at = now(),
  retired_reason = 'r' WHERE template_id = '${TEMPLATE.template_id}';`;
holds('the version of a proposal', [
  ['is one that covers it', known(1, {}), version(), 1],
  ['to the last digit', known(1, {}), version({ max_amount: '10' }), 1],
  ['is none that does not', known(1, {}), version({ max_amount: '10.1' }), NO_MORE],
  [
    'is the one that covers it most closely',
    known(1, { max_amount: '11' }) + known(2, {}),
    version(),
    2,
  ],
  ['is the older of two alike', known(2, {}) + known(1, {}), version(), 1],
  [
    'of a static one has its own amount',
    known(1, { proposal_kind: 'static' }),
    version({ proposal_kind: 'static' }),
    NO_MORE,
  ],
  [
    'of a static one with its own amount',
    known(1, { proposal_kind: 'static' }),
    version({ proposal_kind: 'static', max_amount: '10' }),
    1,
  ],
  ['is of its kind', known(1, { proposal_kind: 'static' }), version({ max_amount: '10' }), NO_MORE],
  ['is of its plan', known(1, { plan_digest: 'e' }), version(), NO_MORE],
  ['is of its key', known(1, { template_key: 'l' }), version(), NO_MORE],
  ['the version of a proposal is an active one', known(1, {}) + RETIRED, version(), NO_MORE],
]);

/** Of an agent whose namespace has two versions, of which it may have so many. */
const namespaced = (most: number, first = ''): Clause => [
  `${String(most)} of them allowed${first === '' ? '' : ', one retired'}`,
  `INSERT INTO plan_template_versions SELECT (jsonb_populate_record(v, jsonb_build_object(
     'template_id', gen_random_uuid(), 'template_key', 'agent/authority/' || n))).*
   FROM plan_template_versions v, generate_series(1, 2) AS n; ${first}`,
  version({ template_key: 'agent/authority/k' }, most),
  expect.stringContaining(most === 2 && first === '' ? NO_MORE : 'null value'),
];
holds('a namespace has room', [
  namespaced(2),
  namespaced(
    2,
    `UPDATE plan_template_versions SET status = 'retired', retired_at = now(), retired_reason = 'r'
     WHERE template_key = 'agent/authority/1';`,
  ),
  namespaced(3),
]);

const madeOf = (fields: object = {}): object => {
  const movement = {
    movement_id: ID('3'),
    template_id: TEMPLATE.template_id,
    template_key: 'test/store',
    template_version: 1,
    asset: 'USDC',
    amount: '1',
    current_frontier: [],
    outflow: [],
    client_scope: 's',
    approval_ttl_seconds: 1,
    limit_amount: '1',
    pooled: false,
    ...fields,
  };
  const compiled_plan = { ...agreedPlan(movement), input_params: {} };
  return { movement, compiled_plan, timeline: [], nodes: [], audit: [] };
};
holds('a movement of a retired version', [
  [
    'a create of a retired version is refused',
    RETIRED,
    `create_movement(${doc(madeOf())})`,
    'template_version_retired',
  ],
  [
    'a create of a retired version is refused where it would approve',
    RETIRED,
    `create_and_approve(${doc({ ...madeOf(), approval: {} })})`,
    'template_version_retired',
  ],
  [
    'is answered where it was there before',
    `${RETIRED} UPDATE movements SET client_scope = 's', idempotency_key = 'k'
     WHERE movement_id = '${OWN}';`,
    `create_movement(${doc(madeOf({ idempotency_key: 'k' }))}) -> 'created'`,
    false,
  ],
]);

const plain = (
  action: string,
  config: object,
  {
    intent = {},
    input = {},
    prepared = null,
    reported = null,
    noPayee = [] as string[],
  }: {
    intent?: object;
    input?: object;
    prepared?: object | null;
    reported?: object | null;
    noPayee?: string[];
  } = {},
): string =>
  `plain_addresses('${nodeFacts({ node_kind: 'action', action_type: action }).pays}', ${[config, intent, input].map(doc).join(', ')}, ${[prepared, reported].map((value) => (value === null ? 'NULL' : doc(value))).join(', ')}, ${String(noPayee.includes(action))})`;
const account = { destination_address: 'account-1' };
const hexed = { destination_address: MASTER.toUpperCase().replace('0X', '0x') };
const of = (address: string): object[] => [{ chain_family: 'cex', address }];
const withdraw = (config: object, more: Parameters<typeof plain>[2] = {}): string =>
  plain('cex_withdrawal', config, more);

holds('addresses that the short fence can read', [
  ...[
    'noop',
    'manual_gate',
    'cex_internal_transfer',
    'cex_deposit_observe',
    'evm_balance_observe',
    'bridge_c_observe',
  ].map((action): Clause => [`${action} has no payee`, '', plain(action, { to: ADDRESS }), []]),
  ...[
    'evm_native_transfer',
    'evm_erc20_transfer',
    'evm_erc20_approve',
    'cctp_burn',
    'cctp_mint',
    'bridge_c_send',
    'perp_deposit',
    'perp_withdraw',
    'agent_wallet_top_up',
  ].map((action): Clause => [
    `${action} goes the long way`,
    '',
    plain(action, account, { noPayee: [action] }),
    null,
  ]),
  ['a type of a team without a payee', '', plain('acme', {}, { noPayee: ['acme'] }), []],
  ['another type of a team', '', plain('acme', {}, { noPayee: ['other'] }), null],
  [
    'one whose intent names a payee',
    '',
    plain('acme', {}, { noPayee: ['acme'], intent: account }),
    null,
  ],
  [
    'one with an address in its config',
    '',
    plain('acme', { a: ADDRESS }, { noPayee: ['acme'] }),
    null,
  ],
  ['in its input', '', plain('acme', {}, { noPayee: ['acme'], input: { a: ADDRESS } }), null],
  [
    'in what is prepared',
    '',
    plain('acme', {}, { noPayee: ['acme'], prepared: { a: ADDRESS } }),
    null,
  ],
  [
    'in what was reported',
    '',
    plain('acme', {}, { noPayee: ['acme'], reported: { a: ADDRESS.toUpperCase() } }),
    null,
  ],
  ['a withdrawal to an account', '', withdraw(account), of('account-1')],
  ['to an address, in normal form', '', withdraw(hexed), of(MASTER)],
  ['to no one', '', withdraw({}), null],
  ['to several', '', withdraw({ destination_address: ['account-1'] }), null],
  ['to what is no word', '', withdraw({ destination_address: 'account 1' }), null],
  ['to the longest', '', withdraw({ destination_address: 'a'.repeat(256) }), of('a'.repeat(256))],
  ['to a longer one', '', withdraw({ destination_address: 'a'.repeat(257) }), null],
  ['to half an address', '', withdraw({ destination_address: '0x12' }), null],
  ['prepared for the same', '', withdraw(account, { prepared: account }), of('account-1')],
  [
    'prepared for another',
    '',
    withdraw(account, { prepared: { destination_address: 'account-2' } }),
    null,
  ],
  [
    'prepared for the same in other letters',
    '',
    withdraw(account, { prepared: { destination_address: 'Account-1' } }),
    null,
  ],
  [
    'prepared for the same address in other letters',
    '',
    withdraw(hexed, { prepared: { destination_address: MASTER } }),
    of(MASTER),
  ],
  [
    'prepared for another address',
    '',
    withdraw(hexed, { prepared: { destination_address: ADDRESS } }),
    null,
  ],
  ...[
    'address_tag',
    'wallet',
    'desti_nation',
    'recipient',
    'receiver',
    'bene-ficiary',
    'payee',
  ].flatMap((name): Clause[] => [
    [`with a ${name} in its config`, '', withdraw({ ...account, [name]: 'x' }), null],
    [`with a ${name} prepared`, '', withdraw(account, { prepared: { [name]: 'x' } }), null],
    [`with a ${name} reported`, '', withdraw(account, { reported: { [name]: 'x' } }), null],
  ]),
  ['with an address beside', '', withdraw({ ...account, memo: ADDRESS }), null],
]);

const running = `${approved} ${outflow('10')} UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = '${OWN}';`;
const ready = {
  state: 'READY',
  action_type: 'cex_internal_transfer',
  preflight_passed: true,
  prepared_action: { a: 1 },
  amount: '5',
  flow,
  started_at: '2026-01-01T00:00:00Z',
  executor_binding: { executor_key: 'e' },
};
const ownPlan = (more: object): object => ({
  own_plan: { own_config: {}, left_out: [], asset: 'USDC', ...more },
});
const fence = ({ attempt = 1, executor = 'e', noPayee = [] as string[] } = {}): string =>
  `try_fence('${OWN}', 'n', ${String(attempt)}, '${executor}', 1, '${ID('9')}', ${doc(noPayee)}) -> 'passed'`;
const hour = { timeout_policy: { execution_seconds: 3600 } };
const began = (ago: string, frozen = 'NULL'): string =>
  `UPDATE movement_nodes SET started_at = svc_now() - interval '${ago}', frozen_since = ${frozen} WHERE node_key = 'n';`;

holds('the short fence', [
  ['lets a node through', running + also('n', ready), fence(), true],
  ['no other attempt', running + also('n', ready), fence({ attempt: 2 }), false],
  ['no other executor', running + also('n', ready), fence({ executor: 'f' }), false],
  ...Object.entries({
    'that did not pass its preflight': { preflight_passed: false },
    'that must be looked up first': { recover_first: true },
    'that is not prepared': { prepared_action: null },
    'that has something to be signed': { sign_request: { a: 1 } },
    'that has a signer': { signer_binding: { signer_key: 'old' } },
    'of an unknown amount': { amount: null },
    'that has not started': { started_at: null },
    'that is not READY': { state: 'BLOCKED' },
    'that goes the long way': { action_type: 'evm_erc20_transfer' },
    'of more than its plan may move': ownPlan({ risk_patch: { max_amount: '4.9' } }),
    'of more than was approved': { amount: '10.1' },
  }).map(([name, fields]): Clause => [
    `no node ${name}`,
    running + also('n', { ...ready, ...fields }),
    fence(),
    false,
  ]),
  [
    'a node of the very amount',
    running + also('n', { ...ready, ...ownPlan({ risk_patch: { max_amount: '5' } }) }),
    fence(),
    true,
  ],
  ['a node that draws nothing', running + also('n', { ...ready, flow: null }), fence(), true],
  [
    'not a type of a team that says so',
    running + also('n', { ...ready, flow: null }),
    fence({ noPayee: ['cex_internal_transfer'] }),
    false,
  ],
  [
    'but one that draws',
    running + also('n', ready),
    fence({ noPayee: ['cex_internal_transfer'] }),
    true,
  ],
  [
    'in its time',
    running + also('n', { ...ready, ...ownPlan(hour) }) + began('59 minutes'),
    fence(),
    true,
  ],
  [
    'not behind it',
    running + also('n', { ...ready, ...ownPlan(hour) }) + began('61 minutes'),
    fence(),
    false,
  ],
  [
    'what it waited while frozen does not count',
    running +
      also('n', { ...ready, ...ownPlan(hour) }) +
      began('61 minutes', `svc_now() - interval '30 minutes'`),
    fence(),
    true,
  ],
  ['not without an approval', running.replace(approved, '') + also('n', ready), fence(), false],
  ['not while all is frozen', running + also('n', ready) + frozenNow, fence(), false],
  [
    'not once cancelled',
    running + also('n', ready) + `UPDATE movements SET request_state = 'CANCELLED';`,
    fence(),
    false,
  ],
  [
    'but what a cancel leads to',
    running +
      also('n', { ...ready, on_cancel_target: true }) +
      `UPDATE movements SET request_state = 'CANCELLED';`,
    fence(),
    true,
  ],
  [
    'and a second leg',
    running +
      also('n', { ...ready, brings: 'pay' }) +
      `UPDATE movements SET request_state = 'CANCELLED';`,
    fence(),
    true,
  ],
  [
    'not while a person decides',
    running + also('n', ready) + `UPDATE movements SET request_state = 'MANUAL_INTERVENTION';`,
    fence(),
    false,
  ],
  [
    'beside another gate',
    running + also('n', ready) + `UPDATE movements SET request_state = 'WAITING_MANUAL_ACTION';`,
    fence(),
    true,
  ],
  [
    'not by a disabled executor',
    running + also('n', ready) + `UPDATE executors SET status = 'disabled';`,
    fence(),
    false,
  ],
]);

const sum = (terms: unknown[], nodes: object): string =>
  `sum_of(${doc(terms)}, ${doc(nodes)})::float`;
const two = { a: { v: '3' }, b: { v: '5' } };
const way = [{ of: 'o', success: ['a'], failure: ['b'], timeout: ['c'] }];

holds('what may still be drawn', [
  ['adds up', '', sum(['a', 'b'], two), 8],
  ['of several ways is the dearest', '', sum([{ one: [['a'], ['b']] }], two), 5],
  ['of an open outcome is the dearest', '', sum(way, { ...two, c: { v: '1' } }), 5],
  ['of a success that costs more', '', sum(way, { a: { v: '9' }, b: { v: '5' } }), 9],
  ['of a time-out that costs more', '', sum(way, { ...two, c: { v: '7' } }), 7],
  ['after a success is its own', '', sum(way, { ...two, o: { s: 'COMPLETED' } }), 3],
  [
    'after a failure is the rest',
    '',
    sum(way, { a: { v: '9' }, b: { v: '5' }, o: { s: 'FAILED' } }),
    5,
  ],
  ['of an unknown node is nothing', '', sum(['z'], two), 0],
]);

/** A movement beside that which is about to be approved. */
const THEIRS = `(SELECT max(movement_id::text)::uuid FROM movements WHERE movement_id <> '${OWN}')`;
const sixEach = `UPDATE movements SET asset = 'USDC', amount = 6, created_at = svc_now(),
  outflow = '[{"asset": "USDC", "amount": "6"}]';`;
/** Who made a movement, and whom it pays. */
const madeBy = (client_id: string, payee: object = {}, which = `'${OWN}'`): string =>
  `UPDATE movement_plans SET created_by = ${doc({ client_id })},
    payees = ${doc([{ chain_family: 'evm', address: ADDRESS, chain_id: 5, ...payee }])}
   WHERE movement_id = ${which};`;
const beside = (client_id: string, payee: object = {}): string =>
  sixEach + madeBy('c') + madeBy(client_id, payee, THEIRS);
const elsewhere = { address: MASTER };
const theirs = (fields: string): string =>
  `UPDATE movements SET ${fields} WHERE movement_id = ${THEIRS};`;
const theirNode = (state: string): string =>
  `UPDATE movement_nodes SET state = '${state}' WHERE movement_id = ${THEIRS};`;
const person = (name: string, ...identities: readonly string[]): string =>
  [
    `INSERT INTO people (person, name, created_at) VALUES ('${name}', '${name}', now());`,
    ...identities.map(
      (identity) => `INSERT INTO person_identities (identity, person, assigned_at)
        VALUES ('${identity}', '${name}', now());`,
    ),
  ].join('\n');
const ofOwn = (call: string): string =>
  `(SELECT ${call} FROM movements m WHERE m.movement_id = '${OWN}')`;
const moves = (more: object = {}): string =>
  ofOwn(`moves_more(${doc({ asset: 'USDC', amount: '10', ...more })}, m, svc_now())`);
const overAnHour = moves({ within_seconds: 3600 });

holds('a limit of an approval rule', [
  ['is not reached by one alone', beside('d', elsewhere), overAnHour, false],
  ['adds up what one client makes', beside('c', elsewhere), overAnHour, true],
  ['adds up what pays one payee, whoever makes it', beside('d'), overAnHour, true],
  [
    'does not count an account as an address',
    beside('d', { chain_family: 'cex' }),
    overAnHour,
    false,
  ],
  [
    'adds up what one person makes with two clients',
    person('ann', 'c', 'd') + beside('d', elsewhere),
    overAnHour,
    true,
  ],
  [
    'adds up what the person made with a client of before',
    `${person('ann', 'c')} INSERT INTO former_identities (identity, person) VALUES ('d', 'ann');` +
      beside('d', elsewhere),
    overAnHour,
    true,
  ],
  [
    'does not add up what two people make',
    person('ann', 'c') + person('bob', 'd') + beside('d', elsewhere),
    overAnHour,
    false,
  ],
  [
    'counts what was cancelled after it had paid',
    beside('d') + theirs("request_state = 'CANCELLED'") + theirNode('COMPLETED'),
    overAnHour,
    true,
  ],
  [
    'does not count what was cancelled before',
    beside('d') + theirs("request_state = 'CANCELLED'") + theirNode('CANCELLED'),
    overAnHour,
    false,
  ],
  [
    'counts an asset of the outflow, whatever the intent of the other is in',
    beside('d') +
      theirs(`asset = 'ETH', amount = 1,
        outflow = '[{"asset": "ETH", "amount": "1"}, {"asset": "USDC", "amount": "6"}]'`),
    overAnHour,
    true,
  ],
  [
    'does not count another asset',
    beside('d') + theirs(`asset = 'ETH', outflow = '[{"asset": "ETH", "amount": "6"}]'`),
    overAnHour,
    false,
  ],
  ['is below all that has no bound', sixEach + outflow(null), moves(), true],
  ['of another asset is not', sixEach + outflow(null), moves({ asset: 'ETH' }), false],
]);

const named = (assets: readonly string[]): string =>
  ofOwn(`rule_matches(${doc({ when: { assets } })}, m, svc_now())`);
const withEther = `UPDATE movements
  SET outflow = '[{"asset": "USDC", "amount": "6"}, {"asset": "ETH", "amount": "1"}]'
  WHERE movement_id = '${OWN}';`;

holds('an approval rule for an asset', [
  ['holds for the asset of the intent', sixEach, named(['USDC']), true],
  ['holds for an asset of the outflow alone', sixEach + withEther, named(['ETH']), true],
  ['holds for one of several', sixEach + withEther, named(['DAI', 'ETH']), true],
  ['holds for no other', sixEach + withEther, named(['DAI']), false],
]);

const aged = (fields = 'chain_id = 5'): string =>
  `UPDATE allowed_addresses SET updated_at = svc_now() - interval '1 day', ${fields};`;
const isNew = ofOwn('pays_new_payee(m, 3600, svc_now())');

holds('a new payee', [
  ['is one that was listed just now', madeBy('c'), isNew, true],
  ['is none that was listed before', madeBy('c') + aged(), isNew, false],
  ['is none that was listed for every chain', madeBy('c') + aged('chain_id = NULL'), isNew, false],
  [
    'is one that was listed so where its chain must be named',
    madeBy('c', { strict: true }) + aged('chain_id = NULL'),
    isNew,
    true,
  ],
  ['is one that was listed on another chain', madeBy('c') + aged('chain_id = 6'), isNew, true],
  ['is one that is not listed', madeBy('c', elsewhere) + aged(), isNew, true],
  ['is one that is listed elsewhere', madeBy('c') + aged(`chain_family = 'cex'`), isNew, true],
  [
    'is one that was revoked',
    madeBy('c') + aged(`active = false, revoked_at = now(), revoked_by = 'b'`),
    isNew,
    true,
  ],
]);

const RULE = {
  ...{ applies_to: 'movement', when: {}, require: [{ group: 'desk', threshold: 1 }] },
  ...{ initiator_may_approve: false, payee_author_may_approve: false },
  ...{ template_author_may_approve: false, reason_required: false },
};
const ann = person('ann', 'i');
const excluded = (more: object = {}): string =>
  ofOwn(`approver_excluded(${doc({ ...RULE, ...more })}, m, 'ann')`);
/** What the audit has of ann. */
const did = (action: string, entity_key: string, outcome = 'success'): string =>
  `INSERT INTO audit_events (event_id, occurred_at, actor_client_id, action, entity_type,
     entity_key, outcome, details)
   VALUES (gen_random_uuid(), now(), 'i', '${action}', split_part('${action}', '.', 1),
     '${entity_key}', '${outcome}', '{}');`;
const PROMOTED = '00000000-0000-7000-8000-000000000101';
const letThrough = (fields: object = {}, outcome = 'success'): string =>
  ann +
  known(1, { promotion_mode: 'admin', ...fields }) +
  did('template_proposal.promote', PROMOTED, outcome);

holds('who may not approve', [
  ['is not who has to do with nothing of it', ann, excluded(), null],
  ['is who promoted the version of an agent', letThrough(), excluded(), 'initiator'],
  [
    'is not who promoted it where the initiator may',
    letThrough(),
    excluded({ initiator_may_approve: true }),
    null,
  ],
  ['is not who promoted another version', letThrough({ template_id: ID('8') }), excluded(), null],
  ['is not who was refused to', letThrough({}, 'denied'), excluded(), null],
  [
    'is who wrote the version of the template',
    `${ann} UPDATE plan_template_versions SET created_by = 'i';`,
    excluded(),
    'template_author',
  ],
  [
    'is who listed any payee where the payees are unknown',
    ann + did('allowed_address.create', ID('9')),
    excluded(),
    'payee_author',
  ],
  [
    'is not who listed another payee',
    ann + madeBy('c') + did('allowed_address.create', ID('9')),
    excluded(),
    null,
  ],
]);

const decided = (fields: object = {}): string =>
  `INSERT INTO approval_decisions (decision_id, subject_id, person, identity, key_id, hash,
     decision, at)
   SELECT gen_random_uuid(), coalesce(r.subject_id, p.movement_id), 'ann', 'i', r.key_id,
     coalesce(r.hash, p.compiled_plan_hash), coalesce(r.decision, 'approve'),
     coalesce(r.at, '${SINCE}')
   FROM movement_plans p, jsonb_populate_record(NULL::approval_decisions, ${doc(fields)}) r
   WHERE p.movement_id = '${OWN}';`;
const atDesk = `${ann} INSERT INTO approver_groups (name, created_at) VALUES ('desk', now());
  INSERT INTO approver_group_members (group_name, person) VALUES ('desk', 'ann');`;
const met = `(SELECT standing_of(${doc([{ name: 'one', rule: RULE }])}, p.movement_id,
    p.compiled_plan_hash, svc_now()) -> 0 -> 'met'
  FROM movement_plans p WHERE p.movement_id = '${OWN}')`;
const byKey = atDesk + decided({ key_id: 'key' });

holds('an approval of a person', [
  ['counts', atDesk + decided(), met, true],
  ['counts no longer after a restore', atDesk + decided() + restore(), met, false],
  ['does not count before its time', atDesk + decided({ at: LATER }), met, false],
  ['does not count for another plan', atDesk + decided({ hash: 'b'.repeat(64) }), met, false],
  ['does not count for another movement', atDesk + decided({ subject_id: ID('6') }), met, false],
  [
    'does not count once it is withdrawn, in its own millisecond too',
    atDesk + decided() + decided({ decision: 'withdraw' }),
    met,
    false,
  ],
  ['counts with its key', byKey, met, true],
  [
    'does not count with a key that is revoked',
    `${byKey} UPDATE api_client_keys SET status = 'revoked', revoked_at = now();`,
    met,
    false,
  ],
]);

const removal = { people: [{ person: 'ann', remove: true }], audit: [] };
const removed = `SELECT change_approvers(${doc(removal)});`;
const passkey = `INSERT INTO passkeys (credential_id, person, public_key, counter, origin,
  enrolled_at) VALUES ('id', 'ann', 'key', 0, 'http://localhost', now());`;
const offered = (age: string, identity = 'i'): string =>
  `INSERT INTO passkey_candidates (credential_id, person, identity, public_key, counter, origin,
     created_at)
   VALUES ('id', 'ann', '${identity}', 'key', 0, 'http://localhost',
     svc_now() - interval '${age}');`;
const confirmed = `confirm_passkey(${doc({ credential_id: 'id', audit: [] })}) ->> 'person'`;

holds('people', [
  ['who are removed lose their identities', ann + removed, `person_of('i')`, null],
  ['who are removed did what they did', ann + removed, `is_or_was('ann', 'i')`, true],
  [
    'who are removed have no passkey in force',
    ann + passkey + removed,
    '(SELECT revoked_at IS NOT NULL FROM passkeys)',
    true,
  ],
  ['confirm a passkey of this week', ann + offered('6 days'), confirmed, 'ann'],
  ['confirm none of before', ann + offered('7 days'), confirmed, null],
  ['confirm none that another identity made', ann + offered('1 hour', 'j'), confirmed, null],
]);
