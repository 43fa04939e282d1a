/**
 * Clauses of what is written: creates, transitions, the timeline, the perps venue's wallets, keys.
 */
import { nodeFacts } from '../../domain/plan/node-facts.ts';
import {
  also,
  approve,
  approved,
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
import { agreedPlan } from './support.ts';

withMadeUpRows();
const walletIs = (fields: string): string => `UPDATE perp_agent_wallets SET ${fields};`;
const wanted = {
  wallet_id: ID('9'),
  strategy_id: 'strategy',
  agent_name: 'n',
  signer_key: 'old',
  address: 'w',
};
const wallet = (fields: object = {}): string =>
  `create_perp_wallet(${doc({ wallet: { ...wanted, ...fields }, audit: [] })}) ->> 'outcome'`;
const LONG = `valid_until = now() + interval '30 days'`;
const inDays = (days: number): string =>
  `create_perp_wallet(jsonb_build_object('audit', '[]'::jsonb, 'wallet', ${doc({ ...wanted, agent_name: 'm' })} || jsonb_build_object('valid_until', svc_now() + interval '${String(days)} days'))) ->> 'outcome'`;

holds('wallets of agents', [
  ['a name whose time is over is free', '', wallet(), 'created'],
  [
    'and its wallet is expired',
    '',
    `(SELECT state FROM create_perp_wallet(${doc({ wallet: wanted, audit: [] })}) c, perp_agent_wallets w WHERE c IS NOT NULL AND w.address = 'x')`,
    'pending',
  ],
  [
    'one that waits for its approval keeps its name',
    walletIs(LONG),
    wallet(),
    'agent_wallet_pending',
  ],
  ['the same again', walletIs(LONG), wallet({ address: 'x' }), 'same'],
  [
    'the same with another time',
    walletIs(LONG),
    wallet({ address: 'x', valid_until: LATER }),
    'agent_address_reused',
  ],
  [
    'the same for another signer',
    walletIs(LONG),
    wallet({ address: 'x', signer_key: 'new' }),
    'agent_address_reused',
  ],
  ['an address whose wallet has ended', '', wallet({ address: 'x' }), 'agent_address_reused'],
  [
    'an address that was replaced',
    walletIs(`${LONG}, state = 'replaced'`),
    wallet({ address: 'x' }),
    'agent_address_reused',
  ],
  ['the master itself', '', wallet({ address: MASTER }), 'agent_address_reused'],
  ['a sub-account', binding(`sub_account_address = 'w'`), wallet(), 'agent_address_reused'],
  [
    'a name of another strategy',
    walletIs(`${LONG}, strategy_id = 'z'`),
    wallet(),
    'agent_name_taken',
  ],
  [
    'a name of another strategy whose time is over',
    walletIs(`strategy_id = 'z'`),
    wallet(),
    'created',
  ],
  ['a strategy that is not bound', unbound, wallet(), null],
  ['as long as the venue takes', '', inDays(179.9), 'created'],
  ['longer than it takes', '', inDays(180.1), 'valid_until_out_of_range'],
  ['over already', '', inDays(-0.1), 'valid_until_out_of_range'],
]);

const look = (fields: object): string =>
  `note_perp_wallet(jsonb_build_object('audit', '[]'::jsonb, 'lease', (SELECT next_look_at FROM perp_agent_wallets)) || ${doc({ wallet_id: ID('1'), from: 'pending', next_seconds: 9, ...fields })})`;

holds('looks at wallets', [
  ['whoever has the lease says when it is looked at again', '', look({}), true],
  ['no other worker does', '', look({ lease: LATER }), false],
  [
    'what was found in another state is not written',
    '',
    look({ from: 'active', to: 'expired' }),
    false,
  ],
  ['a state is written whoever found it', '', look({ lease: LATER, to: 'active' }), true],
]);

const apply = (fields: object): string =>
  `apply_transition(${doc({ movement_id: OWN, ...fields })}) ->> 'reason'`;
const part = (set: object, more: object = {}): object => ({
  nodes: [{ node_key: 'n', states: ['READY', 'OBSERVING', 'COMPLETED'], set, ...more }],
});
const passed = { state: 'READY', amount: '5' };
const SEND = { state: 'SUBMITTING', submit_epoch: 1 };

holds('a transition', [
  ['of a movement that is not there', '', apply({ movement_id: ID('6') }), 'movement_not_found'],
  ['of the version that was read', '', apply({ version: 1 }), null],
  ['of another version', '', apply({ version: 2 }), 'version'],
  ['from a state that it may come from', '', apply({ states: ['PENDING_APPROVAL'] }), null],
  ['from another state', '', apply({ states: ['APPROVED'] }), 'movement_state'],
  ['before its end', '', apply({ expiry: 'future' }), null],
  [
    'behind its end',
    'UPDATE movements SET expires_at = svc_now();',
    apply({ expiry: 'future' }),
    'expired',
  ],
  ['that needs the end, before it', '', apply({ expiry: 'past' }), 'not_expired'],
  ['of the plan that was shown', '', apply({ plan_hash: 'a'.repeat(64) }), null],
  ['of another plan', '', apply({ plan_hash: 'b'.repeat(64) }), 'plan_hash'],
  [
    'of another version and plan: the version is the reason',
    '',
    apply({ version: 2, plan_hash: 'b'.repeat(64) }),
    'version',
  ],
  [
    'that approves without an approval',
    '',
    apply({ set: { request_state: 'APPROVED' } }),
    'not_approved',
  ],
  [
    'that runs without an approval',
    '',
    apply({ set: { request_state: 'EXECUTING' } }),
    'not_approved',
  ],
  [
    'that readies without an approval',
    also('n', { state: 'READY' }),
    apply(part({ state: 'READY' })),
    'not_approved',
  ],
  [
    'that sends without an approval',
    also('n', { state: 'READY' }),
    apply(part(SEND)),
    'not_approved',
  ],
  ['of a node that is not there', '', apply(part({})), 'node_state'],
  ['of a node in another state', also('n', { state: 'FAILED' }), apply(part({})), 'node_state'],
  [
    'of another attempt',
    also('n', { state: 'READY', attempt: 2 }),
    apply(part({}, { attempt: 1 })),
    'node_state',
  ],
  [
    'of another epoch',
    also('n', { state: 'READY', submit_epoch: 2 }),
    apply(part({}, { epoch: 1 })),
    'node_state',
  ],
  [
    'of this attempt and epoch',
    also('n', { state: 'READY', submit_epoch: 2 }),
    apply(part({}, { attempt: 1, epoch: 2 })),
    null,
  ],
  [
    'that prepares an unprepared node',
    also('n', passed),
    apply(part({ prepared_action: { a: 1 } })),
    null,
  ],
  [
    'that prepares anew what is prepared',
    also('n', { ...passed, prepared_action: { a: 1 } }),
    apply(part({ prepared_action: { a: 2 } })),
    'node_state',
  ],
  [
    'that prepares anew for another attempt',
    also('n', { ...passed, prepared_action: { a: 1 } }),
    apply(part({ prepared_action: { a: 2 }, attempt: 2 })),
    null,
  ],
  [
    'of a fence that brings another action',
    approved + also('n', { ...passed, prepared_action: { a: 1 } }),
    apply(part({ ...SEND, prepared_action: { a: 2 } })),
    'node_state',
  ],
  [
    'of what has completed',
    also('n', { ...paid, state: 'COMPLETED' }),
    apply(part({ state: 'FAILED' })),
    'node_state',
  ],
  [
    'of an allowance that has completed',
    also('n', { ...approve, state: 'COMPLETED' }),
    apply(part({ state: 'BLOCKED' })),
    null,
  ],
  [
    'of a fence before the earlier send is looked up',
    approved + also('n', { ...passed, recover_first: true }),
    apply(part(SEND)),
    'node_state',
  ],
  [
    'of a gate to a phase',
    also('n', { state: 'READY', node_kind: 'manual_gate' }),
    apply(part({ state: 'COMPLETED' })),
    'node_state',
  ],
  [
    'of a gate by a resume',
    also('n', { state: 'READY', node_kind: 'manual_gate' }),
    apply(part({ state: 'COMPLETED', resumed: true })),
    null,
  ],
  ...['SKIPPED', 'CANCELLED', 'BLOCKED'].map((state): Clause => [
    `of a gate to ${state}`,
    also('n', { state: 'READY', node_kind: 'manual_gate' }),
    apply(part({ state })),
    null,
  ]),
  [
    'of a completion without its claim',
    also('n', { state: 'OBSERVING', action_type: 'cctp_mint' }),
    apply(part({ state: 'COMPLETED' })),
    'claim_missing',
  ],
  [
    'of a completion that claims',
    also('n', { state: 'OBSERVING', action_type: 'cctp_mint' }),
    apply(
      part(
        { state: 'COMPLETED' },
        { claims: [{ source: 's', reference: 'r', amount: 1, total: 1 }] },
      ),
    ),
    null,
  ],
  [
    'of a completion that claims what is claimed',
    `INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, created_at) VALUES ('s', 'r', '${ID('6')}', 'z', 1, now());` +
      also('n', { state: 'OBSERVING', action_type: 'cctp_mint' }),
    apply(
      part(
        { state: 'COMPLETED' },
        { claims: [{ source: 's', reference: 'r', amount: 1, total: 1 }] },
      ),
    ),
    'already_claimed',
  ],
  [
    'of what a completed node releases',
    `INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, created_at) VALUES ('s', 'r', '${OWN}', 'n', 1, now());` +
      also('n', { state: 'COMPLETED', action_type: 'evm_balance_observe' }),
    apply(part({ state: 'OBSERVING' }, { releases: true })),
    null,
  ],
  [
    'of a release of what holds nothing',
    also('n', { state: 'COMPLETED', action_type: 'evm_balance_observe' }),
    apply(part({ state: 'OBSERVING' }, { releases: true })),
    'claim_missing',
  ],
  [
    'of a completion with what another does not hold',
    also('n', { state: 'OBSERVING', action_type: 'evm_balance_observe' }),
    apply(part({ state: 'COMPLETED' }, { takes: { movement_id: ID('6'), node_key: 'z' } })),
    'claim_missing',
  ],
  [
    'of a fence while all is frozen',
    approved + also('n', passed) + `UPDATE cutover SET mode = 'frozen';`,
    apply(part(SEND)),
    'frozen',
  ],
  [
    'of a cancel of an unsigned send',
    also('n', { state: 'OBSERVING' }),
    apply(part({ cancel_asked: 1 })),
    'nothing_signed',
  ],
]);

/** A transition, and what then stands in a column of the node. */
const left = (first: string, set: object, column: string): [string, string] => [
  `${first} SELECT apply_transition(${doc({ movement_id: OWN, ...part(set) })});`,
  `(SELECT ${column} FROM movement_nodes WHERE movement_id = '${OWN}' AND node_key = 'n')`,
];
const aHourAgo = `UPDATE movement_nodes SET started_at = svc_now() - interval '2 hours', frozen_since = svc_now() - interval '1 hour' WHERE node_key = 'n';`;

holds('behind a transition', [
  [
    'the first look without an answer begins the silence',
    ...left(also('n', passed), { unanswered: 1 }, 'unanswered_since IS NOT NULL'),
    true,
  ],
  [
    'a later one does not begin it anew',
    ...left(
      also('n', { ...passed, unanswered: 1, unanswered_since: SINCE }),
      { unanswered: 2 },
      isSince('unanswered_since'),
    ),
    true,
  ],
  [
    'an answer ends it',
    ...left(
      also('n', { ...passed, unanswered: 1, unanswered_since: SINCE }),
      { unanswered: 0 },
      'unanswered_since IS NULL',
    ),
    true,
  ],
  [
    'what says nothing of it leaves it',
    ...left(
      also('n', { ...passed, unanswered: 1, unanswered_since: SINCE }),
      { error_count: 1 },
      isSince('unanswered_since'),
    ),
    true,
  ],
  [
    'what waited at a frozen fence has not lost its time',
    ...left(
      also('n', { ...passed, state: 'READY' }) + aHourAgo,
      { state: 'SKIPPED' },
      `started_at > svc_now() - interval '61 minutes' AND frozen_since IS NULL`,
    ),
    true,
  ],
  [
    'and keeps waiting where its state stays',
    ...left(
      also('n', passed) + aHourAgo,
      { error_count: 1 },
      `started_at < svc_now() - interval '119 minutes' AND frozen_since IS NOT NULL`,
    ),
    true,
  ],
  [
    'a wait for the venue is overdue when the write says',
    ...left(also('n', passed), { wait_overdue_at: SINCE }, isSince('wait_overdue_at')),
    true,
  ],
  [
    'what says nothing of the wait leaves it',
    ...left(
      also('n', { ...passed, wait_overdue_at: SINCE }),
      { error_count: 1 },
      isSince('wait_overdue_at'),
    ),
    true,
  ],
  [
    'the wait ends when the write says so',
    ...left(
      also('n', { ...passed, wait_overdue_at: SINCE }),
      { wait_overdue_at: null },
      'wait_overdue_at IS NULL',
    ),
    true,
  ],
  [
    'and with every other state',
    ...left(
      also('n', { ...passed, wait_overdue_at: SINCE }),
      { state: 'SKIPPED' },
      'wait_overdue_at IS NULL',
    ),
    true,
  ],
  [
    'a late landing is seen when the write says',
    ...left(also('n', passed), { landing_seen_at: SINCE }, isSince('landing_seen_at')),
    true,
  ],
  [
    'what says nothing of the landing leaves it',
    ...left(
      also('n', { ...passed, landing_seen_at: SINCE }),
      { error_count: 1 },
      isSince('landing_seen_at'),
    ),
    true,
  ],
  [
    'a field that is not named stays',
    ...left(
      also('n', { ...passed, output: { a: 1 }, error_code: 'E', external_ref: 'r' }),
      { error_count: 1 },
      `output = '{"a": 1}' AND error_code = 'E' AND external_ref = 'r' AND amount = 5`,
    ),
    true,
  ],
  [
    'a field that is null goes',
    ...left(
      also('n', {
        ...passed,
        output: { a: 1 },
        error_code: 'E',
        external_ref: 'r',
        prepared_action: null,
        sign_request: { a: 1 },
      }),
      { output: null, error_code: null, external_ref: null, amount: null, sign_request: null },
      `num_nonnulls(output, error_code, external_ref, amount, sign_request)`,
    ),
    0,
  ],
]);

const twoEvents = [
  { event_id: ID('7'), event_type: 'e', message: 'm', actor: {} },
  { event_id: ID('8'), event_type: 'f', message: 'm', actor: {}, data: { a: 1 } },
];
const HOSTS = `SET LOCAL svc.callback_allowed_hosts = 'a.test';`;

/** Timeline rows of two events from sequence 7 on. */
const append = (url: string | null, types: string, events = doc(twoEvents)): string =>
  `append_timeline('${OWN}', 7, ${url === null ? 'NULL' : `'${url}'`}, 'EXECUTING', '{a,b}', 'E', ${events}, ${types}, '${SINCE}')`;
const BOTH = doc(['e', 'f']);
const rowsOf = (table: string, columns: string, where = ''): string =>
  `(SELECT coalesce(jsonb_agg(jsonb_build_array(${columns}) ORDER BY sequence), '[]') FROM ${table} WHERE movement_id = '${OWN}' AND sequence > 6 ${where})`;

holds('the timeline', [
  ['goes on behind what was written', '', append(null, 'NULL'), 9],
  ['stays where nothing happened', '', append(null, 'NULL', 'NULL'), 7],
  [
    'counts each event',
    `SELECT ${append(null, BOTH)};`,
    rowsOf('timeline_events', 'sequence, event_type, data'),
    [
      [7, 'e', {}],
      [8, 'f', { a: 1 }],
    ],
  ],
  [
    'makes no callback without a URL',
    `SELECT ${append(null, BOTH)};`,
    rowsOf('callbacks', '1'),
    [],
  ],
  [
    'makes none of an event that is no callback',
    `SELECT ${append('https://a.test/', doc(['f']))};`,
    rowsOf('callbacks', 'event_type, sequence, status, last_error'),
    [['f', 8, 'pending', null]],
  ],
  [
    'makes none where no type is named',
    `SELECT ${append('https://a.test/', 'NULL')};`,
    rowsOf('callbacks', '1'),
    [],
  ],
  [
    'says in a callback what is so behind the event',
    `SELECT ${append('https://a.test/', doc(['f']))};`,
    `(SELECT payload::jsonb FROM callbacks WHERE event_id = '${ID('8')}')`,
    {
      event_id: ID('8'),
      event_type: 'f',
      movement_id: expect.any(String),
      sequence: 8,
      request_state: 'EXECUTING',
      current_frontier: ['a', 'b'],
      error_code: 'E',
      node_key: null,
      occurred_at: SINCE,
    },
  ],
  [
    'writes a callback to a listed host',
    `${HOSTS} SELECT ${append('https://a.test/', BOTH)};`,
    rowsOf('callbacks', 'status'),
    [['pending'], ['pending']],
  ],
  [
    'writes one to another host as a dead letter',
    `${HOSTS} SELECT ${append('https://b.test/', BOTH)};`,
    rowsOf('callbacks', 'sequence, status, last_error'),
    [
      [7, 'dead_letter', 'host_not_allowed'],
      [9, 'dead_letter', 'host_not_allowed'],
    ],
  ],
  [
    'says so behind the event',
    `${HOSTS} SELECT ${append('https://b.test/', doc(['e']))};`,
    rowsOf('timeline_events', `sequence, event_type, data -> 'callback_event_id'`),
    [
      [7, 'e', null],
      [8, 'callback_dead_lettered', ID('7')],
      [9, 'f', null],
    ],
  ],
  ['and goes on behind that', HOSTS, append('https://b.test/', BOTH), 11],
]);

const written = (fields: object): string =>
  `SELECT apply_transition(${doc({ movement_id: OWN, ...fields })});`;
const ofMovement = (columns: string): string =>
  `(SELECT to_jsonb(x) FROM (SELECT ${columns} FROM movements WHERE movement_id = '${OWN}') x)`;
const COMMAND = `INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until) VALUES ('${ID('8')}', '${OWN}', 'k', now(), now());`;
const commanded = { command_id: ID('8'), command_kind: 'k' };
const was = (fields: string): string =>
  `UPDATE movements SET ${fields} WHERE movement_id = '${OWN}';`;
const SHOWN = { approval: { by: 'key', name: 'who' }, plan_hash: 'a'.repeat(64) };
const RUN = { set: { request_state: 'EXECUTING' } };

holds('a transition of a movement', [
  [
    'that was commanded before is answered as a repeat',
    COMMAND,
    `apply_transition(${doc({ movement_id: OWN, ...commanded, version: 9 })}) -> 'repeated'`,
    true,
  ],
  [
    'and changes nothing',
    COMMAND + written({ ...commanded, bump: true, ...RUN }),
    ofMovement('version, request_state'),
    { version: 1, request_state: 'PENDING_APPROVAL' },
  ],
  [
    'by another command is done',
    COMMAND + written({ ...commanded, command_id: ID('9'), bump: true }),
    ofMovement('version'),
    { version: 2 },
  ],
  [
    'leaves its command, which is its own for two seconds',
    written(commanded),
    `(SELECT jsonb_build_array(kind, movement_id = '${OWN}', claimed_until - created_at) FROM commands WHERE command_id = '${ID('8')}')`,
    ['k', true, '00:00:02'],
  ],
  [
    'without a command leaves none',
    written({ bump: true }),
    `(SELECT count(*)::integer FROM commands WHERE movement_id = '${OWN}' AND kind <> 'create')`,
    0,
  ],
  ['that needs the end, behind it', was('expires_at = svc_now()'), apply({ expiry: 'past' }), null],
  ['that runs with an approval', approved, apply(RUN), null],
  ['that is the approval', '', apply({ ...SHOWN, ...RUN }), null],
  ['with an approval of no plan', '', apply({ approval: SHOWN.approval, ...RUN }), 'not_approved'],
  [
    'of a plan without an approval',
    '',
    apply({ plan_hash: SHOWN.plan_hash, ...RUN }),
    'not_approved',
  ],
  [
    'with an approval of another plan',
    '',
    apply({ ...SHOWN, plan_hash: 'b', ...RUN }),
    'plan_hash',
  ],
  [
    'writes its approval down',
    written({ ...SHOWN, ...RUN }),
    `(SELECT jsonb_build_array(plan_hash, approved_by, name) FROM movement_approvals WHERE movement_id = '${OWN}')`,
    [SHOWN.plan_hash, 'key', 'who'],
  ],
  [
    'that is none writes no approval',
    written({ plan_hash: SHOWN.plan_hash, bump: true }),
    `(SELECT count(*)::integer FROM movement_approvals WHERE movement_id = '${OWN}')`,
    0,
  ],
  [
    'that was refused writes no approval',
    written({ ...SHOWN, ...RUN, version: 2 }),
    `(SELECT count(*)::integer FROM movement_approvals WHERE movement_id = '${OWN}')`,
    0,
  ],
  ['that cancels needs no approval', '', apply({ set: { request_state: 'CANCELLED' } }), null],
  [
    'that cancels and readies what is looked for',
    also('n', { state: 'READY' }),
    apply({ ...part({ state: 'READY' }), set: { request_state: 'CANCELLED' } }),
    null,
  ],
  [
    'that cancels and sends',
    also('n', { state: 'READY' }),
    apply({ ...part(SEND), set: { request_state: 'CANCELLED' } }),
    'not_approved',
  ],
  [
    'counts only where it is to',
    written({ set: { error_code: 'E' } }),
    ofMovement('version, error_code'),
    { version: 1, error_code: 'E' },
  ],
  [
    'without a field or a count keeps its acknowledgement',
    was('acknowledged_at = now()') + written({ timeline: twoEvents }),
    ofMovement('acknowledged_at IS NOT NULL AS kept, next_sequence'),
    { kept: true, next_sequence: 4 },
  ],
  [
    'of what runs again needs a person anew',
    approved + was(`request_state = 'FAILED', acknowledged_at = now()`) + written(RUN),
    ofMovement('acknowledged_at'),
    { acknowledged_at: null },
  ],
  [
    'of what stays failed does not',
    was(`request_state = 'FAILED', acknowledged_at = now()`) + written({ bump: true }),
    ofMovement('acknowledged_at IS NOT NULL AS kept'),
    { kept: true },
  ],
  [
    'of no landing keeps what was called back',
    was(`attention_told = 'failed+landed_late'`) + written({ bump: true }),
    ofMovement('attention_told'),
    { attention_told: 'failed+landed_late' },
  ],
  [
    'that acknowledges',
    was(`request_state = 'FAILED'`) + written({ set: { acknowledged_at: SINCE } }),
    ofMovement(isSince('acknowledged_at') + ' AS so'),
    { so: true },
  ],
  [
    'sets what it names',
    written({
      set: {
        approval_status: 'approved',
        reservation_status: 'held',
        error_message: 'M',
        current_frontier: ['x'],
        approver_id: 'p',
        approved_by: 'k',
        ended_at: SINCE,
      },
    }),
    ofMovement(
      `approval_status, reservation_status, error_message, current_frontier, approver_id, approved_by, ${isSince('ended_at')} AS ended`,
    ),
    {
      approval_status: 'approved',
      reservation_status: 'held',
      error_message: 'M',
      current_frontier: ['x'],
      approver_id: 'p',
      approved_by: 'k',
      ended: true,
    },
  ],
  [
    'leaves what it does not name',
    was(
      `error_code = 'E', error_message = 'M', approver_id = 'p', approved_by = 'k', ended_at = '${SINCE}', current_frontier = '{x}', approval_status = 'approved', reservation_status = 'held', edge_conditions = '{"a": true}'`,
    ) + written({ bump: true }),
    ofMovement(
      `error_code, error_message, approver_id, approved_by, ${isSince('ended_at')} AS ended, current_frontier, approval_status, reservation_status, edge_conditions`,
    ),
    {
      error_code: 'E',
      error_message: 'M',
      approver_id: 'p',
      approved_by: 'k',
      ended: true,
      current_frontier: ['x'],
      approval_status: 'approved',
      reservation_status: 'held',
      edge_conditions: { a: true },
    },
  ],
  [
    'takes away what it names as null',
    was(
      `error_code = 'E', error_message = 'M', approved_by = 'k', ended_at = now(), approver_id = 'p'`,
    ) +
      written({
        set: {
          error_code: null,
          error_message: null,
          approved_by: null,
          ended_at: null,
          approver_id: null,
        },
      }),
    ofMovement('error_code, error_message, approved_by, ended_at, approver_id'),
    { error_code: null, error_message: null, approved_by: null, ended_at: null, approver_id: 'p' },
  ],
  [
    'adds conditions, and takes away those that are null',
    was(`edge_conditions = '{"a": true, "b": true}'`) +
      written({ conditions: { b: null, c: false } }),
    ofMovement('edge_conditions'),
    { edge_conditions: { a: true, c: false } },
  ],
  [
    'tells callbacks what the movement is then',
    was(`callback_url = 'https://a.test/'`) +
      approved +
      written({ ...RUN, timeline: twoEvents, callback_types: ['e'] }),
    `(SELECT payload::jsonb -> 'request_state' FROM callbacks WHERE event_id = '${ID('7')}')`,
    'EXECUTING',
  ],
  [
    'answers what the movement is then',
    approved,
    `apply_transition(${doc({ movement_id: OWN, ...RUN, bump: true })}) - ARRAY['at', 'expires_at', 'transaction']`,
    {
      ok: true,
      version: 2,
      request_state: 'EXECUTING',
      approval_status: 'pending',
      reservation_status: 'none',
      current_frontier: ['pay'],
    },
  ],
  [
    'writes its audit rows',
    written({
      audit: [
        { event_id: ID('7'), action: 'a', entity_type: 't', entity_key: 'k', outcome: 'success' },
      ],
    }),
    `(SELECT action FROM audit_events WHERE event_id = '${ID('7')}')`,
    'a',
  ],
]);

/** Two nodes in one transition; `n` is changed as requested. */
const pair = (set: object, of: object = {}, second: object = {}): object => ({
  nodes: [
    { node_key: 'o', states: ['READY', 'OBSERVING'], set: { error_code: 'O' }, ...second },
    { node_key: 'n', states: ['READY', 'OBSERVING'], set, ...of },
  ],
});
const SIGNED = {
  movement_id: OWN,
  node_key: 'n',
  attempt: 1,
  raw_tx: '0x',
  transaction_id: ID('5'),
};
const signedTx = (fields: object = {}): string =>
  `INSERT INTO evm_transactions SELECT (jsonb_populate_record(t, ${doc({ ...SIGNED, nonce: 77, kind: 'payment', tx_hash: '0x5', ...fields })})).* FROM evm_transactions t WHERE transaction_id = '${ID('1')}';`;
const observed = also('n', { state: 'OBSERVING' });
const over = { send_over: { node_key: 'n', settle_seconds: 5, nonces_closed: true } };
/** Of fifty hours ago: the perps venue takes its nonce for 49. */
const SIGNED_ACTION = `INSERT INTO perp_actions (address, nonce, movement_id, node_key, attempt, signature, created_at) VALUES ('${MASTER}', extract(epoch FROM svc_now() - interval '50 hours')::bigint * 1000, '${OWN}', 'n', 1, '0x', now());`;
const sentBefore = (seconds: number): string =>
  observed +
  `UPDATE movement_nodes SET send_not_after = svc_now() - interval '${String(seconds)} seconds' WHERE node_key = 'n';`;
const unobserved = `UPDATE movement_nodes SET state = 'READY' WHERE node_key = 'n';`;
const claimed = { claims: [{ source: 's', reference: 'r', amount: 1, total: 1 }] };
const minted = also('n', { state: 'OBSERVING', action_type: 'cctp_mint' });

const result = (fields: object): string =>
  `apply_transition(${doc({ movement_id: OWN, ...fields })})`;
holds('a transition of nodes', [
  ['that was refused is not ok', '', `${result({ version: 2 })} -> 'ok'`, false],
  ['nor one of what is not there', '', `${result({ movement_id: ID('6') })} -> 'ok'`, false],
  ['but a repeat is', COMMAND, `${result(commanded)} -> 'ok'`, true],
  [
    'is refused for what was wrong first, not for a send',
    sentBefore(-9),
    apply({ ...part({}), ...over, version: 2 }),
    'version',
  ],
  [
    'nor for what it is bound to',
    `UPDATE executors SET status = 'disabled';`,
    apply({ version: 2, require: { executors: ['e'] } }),
    'version',
  ],
  [
    'is done of all',
    also('n', { state: 'READY' }) +
      also('o', { state: 'READY' }) +
      written(pair({ error_code: 'N' })),
    `(SELECT jsonb_agg(error_code ORDER BY node_key) FROM movement_nodes WHERE movement_id = '${OWN}' AND node_key IN ('n', 'o'))`,
    ['N', 'O'],
  ],
  [
    'or of none',
    also('n', { state: 'READY' }) +
      also('o', { state: 'FAILED' }) +
      written(pair({ error_code: 'N' })),
    `(SELECT jsonb_agg(error_code ORDER BY node_key) FROM movement_nodes WHERE movement_id = '${OWN}' AND node_key IN ('n', 'o'))`,
    [null, null],
  ],
  [
    'says which node is in its way, and how it is',
    also('n', { state: 'FAILED', attempt: 2, submit_epoch: 3 }),
    `apply_transition(${doc({ movement_id: OWN, ...part({}) })}) -> 'node'`,
    { node_key: 'n', state: 'FAILED', attempt: 2, epoch: 3 },
  ],
  [
    'that prepares anew for another epoch',
    also('n', { ...passed, prepared_action: { a: 1 } }),
    apply(part({ prepared_action: { a: 2 }, submit_epoch: 2 })),
    null,
  ],
  [
    'of a fence that prepares first',
    approved + also('n', passed),
    apply(part({ ...SEND, prepared_action: { a: 1 } })),
    null,
  ],
  [
    'of what has completed, of another field than its state',
    also('n', { ...paid, state: 'COMPLETED' }),
    apply(part({ error_count: 1 })),
    null,
  ],
  [
    'of what must be looked up, but for its fence',
    also('n', { ...passed, recover_first: true }),
    apply(part({ state: 'FAILED' })),
    null,
  ],
  [
    'of a gate, but for its state',
    also('n', { state: 'READY', node_kind: 'manual_gate' }),
    apply(part({ error_count: 1 })),
    null,
  ],
  [
    'of a gate that is reached',
    approved + also('n', { state: 'READY', node_kind: 'manual_gate' }),
    apply(part({ state: 'READY' })),
    null,
  ],
  [
    'of a gate that no person resumed',
    also('n', { state: 'READY', node_kind: 'manual_gate' }),
    apply(part({ state: 'COMPLETED', resumed: false })),
    'node_state',
  ],
  [
    'of a completion that needs no claim',
    also('n', { ...passed, action_type: 'cex_withdrawal' }),
    apply(part({ state: 'COMPLETED' })),
    null,
  ],
  [
    'of a completion with an empty claim',
    minted,
    apply(part({ state: 'COMPLETED' }, { claims: [] })),
    'claim_missing',
  ],
  ['of a failure without a claim', minted, apply(part({ state: 'FAILED' })), null],
  [
    'of a completion without a claim, beside another node',
    minted + also('o', { state: 'READY' }),
    apply(pair({ state: 'COMPLETED' })),
    'claim_missing',
  ],
  [
    'of a burn that was attested before, without a claim',
    also('n', { state: 'OBSERVING', action_type: 'cctp_burn', output: { attested_message: 'm' } }),
    apply(part({ state: 'COMPLETED' })),
    'claim_missing',
  ],
  [
    'of a burn that is attested now, without a claim',
    also('n', { state: 'OBSERVING', action_type: 'cctp_burn' }),
    apply(part({ state: 'COMPLETED', output: { attested_message: 'm' } })),
    'claim_missing',
  ],
  [
    'of a burn whose attestation is taken back',
    also('n', { state: 'OBSERVING', action_type: 'cctp_burn', output: { attested_message: 'm' } }),
    apply(part({ state: 'COMPLETED', output: {} })),
    null,
  ],
  [
    'writes its claim',
    minted + written(part({ state: 'COMPLETED' }, claimed)),
    `(SELECT node_key FROM payment_claims WHERE source = 's' AND reference = 'r')`,
    'n',
  ],
  [
    'that is refused for its claim names the holder',
    `INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, created_at) VALUES ('s', 'r', '${ID('6')}', 'z', 1, now());` +
      minted,
    `apply_transition(${doc({ movement_id: OWN, ...part({ state: 'COMPLETED' }, claimed) })}) -> 'holder'`,
    { source: 's', reference: 'r', movement_id: ID('6'), node_key: 'z' },
  ],
  [
    'while all is frozen, but for fences',
    also('n', passed) + frozenNow,
    apply(part({ error_count: 1 })),
    null,
  ],
  ...['drain', 'normal'].map((mode): Clause => [
    `of a fence while the switch is ${mode}`,
    approved + also('n', passed) + `UPDATE cutover SET mode = '${mode}';`,
    apply(part(SEND)),
    null,
  ]),
  [
    'that met a frozen fence keeps when',
    approved + also('n', passed) + frozenNow + written(part(SEND)),
    `(SELECT frozen_since IS NOT NULL AND state = 'READY' FROM movement_nodes WHERE movement_id = '${OWN}' AND node_key = 'n')`,
    true,
  ],
  [
    'that was refused otherwise does not',
    approved + also('n', passed) + frozenNow + written({ ...part(SEND), version: 2 }),
    `(SELECT frozen_since IS NULL FROM movement_nodes WHERE movement_id = '${OWN}' AND node_key = 'n')`,
    true,
  ],
  [
    'of a send that may still land',
    sentBefore(-9),
    apply({ ...part({}), ...over }),
    'send_not_over',
  ],
  [
    'of a send that is not settled',
    sentBefore(2),
    apply({ ...part({}), ...over }),
    'send_not_over',
  ],
  ['of a send that is over', sentBefore(9) + unobserved, apply({ ...part({}), ...over }), null],
  [
    'of a send that is over by one clock alone',
    sentBefore(9) + unobserved,
    apply({ ...part({}), send_over: { ...over.send_over, ahead_seconds: 5 } }),
    'send_not_over',
  ],
  [
    'of a signed action of two days ago',
    sentBefore(9_000) + unobserved + SIGNED_ACTION,
    apply({ ...part({}), ...over }),
    null,
  ],
  [
    'of one that is still valid by the clock of the process',
    sentBefore(9_000) + unobserved + SIGNED_ACTION,
    apply({ ...part({}), send_over: { ...over.send_over, ahead_seconds: 7_200 } }),
    'send_not_over',
  ],
  ...['SUBMITTED', 'OBSERVING'].map((state): Clause => [
    `of a send whose run observes it (${state})`,
    sentBefore(9) + `UPDATE movement_nodes SET state = '${state}' WHERE node_key = 'n';`,
    apply({ ...over }),
    'send_still_open',
  ]),
  ...(
    [
      ['UNKNOWN', 'venue_entry_changed'],
      ['READY', null],
    ] as const
  ).map(([state, reason]): Clause => [
    `of a send that its last look could not see (${state})`,
    sentBefore(9) +
      `UPDATE movement_nodes SET state = '${state}', error_code = 'VENUE_ENTRY_CHANGED' WHERE node_key = 'n';`,
    apply({ ...over }),
    reason,
  ]),
  [
    'of a send whose nonce is open',
    sentBefore(9) + signedTx(),
    apply({ ...part({}), ...over }),
    'nonce_open',
  ],
  [
    'of a send whose nonce is of no interest',
    sentBefore(9) + signedTx(),
    apply({ ...part({}), send_over: { ...over.send_over, nonces_closed: false } }),
    null,
  ],
  [
    'that is bound to what changed',
    observed + `UPDATE executors SET status = 'disabled';`,
    apply({ ...part({}), require: { executors: ['e'] } }),
    'binding',
  ],
  ['that is bound to nothing', observed, apply({ ...part({}), require: {} }), null],
  ...Object.entries({
    'of what was signed': [{}, null],
    'of another attempt': [{ attempt: 2 }, 'nothing_signed'],
    'of another node': [{ node_key: 'o' }, 'nothing_signed'],
    'of another movement': [{ movement_id: ID('6') }, 'nothing_signed'],
    'of what has no bytes': [{ raw_tx: null, tx_hash: null }, 'nothing_signed'],
    'of a later version': [{ replaces: ID('1') }, 'nothing_signed'],
    'of what was released': [{ released_at: SINCE }, 'nothing_signed'],
    'of what is final': [{ final_at: SINCE }, 'nothing_signed'],
  }).map(([name, [fields, reason]]): Clause => [
    `a cancel ${name}`,
    observed + signedTx(fields as object),
    apply(part({ cancel_asked: 1 })),
    reason,
  ]),
  ['a cancel that is taken back', observed, apply(part({ cancel_asked: 0 })), null],
  [
    'of another version than the newest',
    observed,
    apply(part({}, { version: { claim: ID('5'), over: ID('5') } })),
    'node_state',
  ],
  [
    'stores a version over the newest',
    observed +
      signedTx() +
      written(
        part(
          {},
          {
            version: {
              claim: ID('5'),
              over: ID('5'),
              transaction_id: ID('6'),
              kind: 'cancel',
              unsigned: {},
              raw_tx: '0x6',
              tx_hash: '0x66',
            },
          },
        ),
      ),
    `(SELECT jsonb_build_array(replaces, raw_tx, nonce) FROM evm_transactions WHERE transaction_id = '${ID('6')}')`,
    [ID('5'), '0x6', 77],
  ],
  [
    'notes that a block was taken back',
    observed + signedTx() + written(part({}, { reorged: ID('5') })),
    `(SELECT jsonb_agg(reorged_at IS NOT NULL ORDER BY transaction_id) FROM evm_transactions WHERE transaction_id IN ('${ID('1')}', '${ID('5')}'))`,
    [false, true],
  ],
  ...Object.entries({
    'what is open': [{}, null],
    'what is final': [{ final_at: SINCE }, 'node_state'],
    'what was released': [{ released_at: SINCE }, 'node_state'],
  }).map(([name, [fields, reason]]): Clause => [
    `settles once: ${name}`,
    observed + signedTx(fields as object),
    apply(part({}, { settles: { transaction_id: ID('5'), mined_hash: '0x5' } })),
    reason,
  ]),
  [
    'settles the claim that it names',
    observed +
      signedTx() +
      written(part({}, { settles: { transaction_id: ID('5'), mined_hash: '0x5' } })),
    `(SELECT jsonb_agg(jsonb_build_array(final_at IS NOT NULL, mined_hash) ORDER BY transaction_id) FROM evm_transactions WHERE transaction_id IN ('${ID('1')}', '${ID('5')}'))`,
    [
      [false, null],
      [true, '0x5'],
    ],
  ],
  [
    'gives a nonce',
    approved + also('n', passed),
    `apply_transition(${doc({ movement_id: OWN, ...part(SEND, { attempt: 1, nonce: { chain_id: 1, address: ADDRESS, chain_nonce: 0, signer_key: 'old', transaction_id: ID('5'), unsigned: {} } }) })}) #> '{transaction,nonce}'`,
    1,
  ],
  [
    'gives none that another node left open',
    approved + also('n', passed) + also('o', { state: 'FAILED' }) + signedTx({ node_key: 'o' }),
    apply(
      part(SEND, {
        attempt: 1,
        nonce: {
          chain_id: 1,
          address: ADDRESS,
          chain_nonce: 0,
          signer_key: 'old',
          transaction_id: ID('9'),
          unsigned: {},
        },
      }),
    ),
    'binding',
  ],
  [
    'keeps what came of it',
    observed +
      written(part({}, { artifacts: [{ artifact_id: ID('5'), kind: 'k', data: { a: 1 } }] })),
    `(SELECT jsonb_build_array(node_key, attempt, kind, data) FROM artifacts WHERE artifact_id = '${ID('5')}')`,
    ['n', 1, 'k', { a: 1 }],
  ],
]);

const ATTEMPTS = `(SELECT coalesce(jsonb_agg(jsonb_build_array(attempt, outcome, external_ref, error_code, ended_at IS NOT NULL) ORDER BY attempt), '[]') FROM node_attempts WHERE movement_id = '${OWN}' AND node_key = 'n')`;
const attempted = (attempt: number, ended = 'NULL'): string =>
  `INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, started_at, ended_at) VALUES ('${OWN}:n:${String(attempt)}', '${OWN}', 'n', ${String(attempt)}, now(), ${ended});`;
const sending = also('n', { state: 'SUBMITTING', attempt: 2 });
const ends = (set: object): string =>
  written({ nodes: [{ node_key: 'n', states: ['SUBMITTING', 'FAILED', 'COMPLETED'], set }] });

holds('attempts', [
  [
    'begin with a fence',
    approved + also('n', { ...passed, attempt: 2 }) + written(part(SEND)),
    ATTEMPTS,
    [[2, null, null, null, false]],
  ],
  [
    'are known by their key',
    approved + also('n', { ...passed, attempt: 2 }) + written(part(SEND)),
    `(SELECT idempotency_key = '${OWN}:n:2' FROM node_attempts WHERE movement_id = '${OWN}')`,
    true,
  ],
  [
    'do not begin with another epoch',
    approved + sending + ends({ submit_epoch: 2, state: 'SUBMITTING' }),
    ATTEMPTS,
    [],
  ],
  ['do not begin before', also('n', passed) + written(part({ error_count: 1 })), ATTEMPTS, []],
  [
    'end with what came of them',
    sending +
      attempted(1, 'now()') +
      attempted(2) +
      ends({ state: 'FAILED', error_code: 'E', external_ref: 'r' }),
    ATTEMPTS,
    [
      [1, null, null, null, true],
      [2, 'FAILED', 'r', 'E', true],
    ],
  ],
  [
    'end when they complete',
    sending + attempted(2) + ends({ state: 'COMPLETED' }),
    ATTEMPTS,
    [[2, 'COMPLETED', null, null, true]],
  ],
  [
    'stay as they ended',
    sending + attempted(2, 'now()') + ends({ state: 'FAILED', error_code: 'E' }),
    ATTEMPTS,
    [[2, null, null, null, true]],
  ],
  [
    'do not end where the state stays',
    also('n', { state: 'FAILED', attempt: 2 }) + attempted(2) + ends({ state: 'FAILED' }),
    ATTEMPTS,
    [[2, null, null, null, false]],
  ],
  [
    'do not end with a question',
    sending + attempted(2) + ends({ state: 'UNKNOWN' }),
    ATTEMPTS,
    [[2, null, null, null, false]],
  ],
]);

const FIELDS: readonly (readonly [column: string, set: unknown, stands: unknown])[] = [
  ['attempt', 3, 3],
  ['amount', '7.5', 7.5],
  ['preflight_passed', true, true],
  ['prepared_action', { a: 1 }, { a: 1 }],
  ['sign_request', { a: 1 }, { a: 1 }],
  ['submit_epoch', 4, 4],
  ['recover_first', true, true],
  ['restored', true, true],
  ['resumed', true, true],
  ['only_look', true, true],
  ['cancel_asked', 0, 0],
  ['error_count', 6, 6],
  ['unanswered', 7, 7],
  ['external_ref', 'r', 'r'],
  ['output', { a: 1 }, { a: 1 }],
  ['error_code', 'E', 'E'],
  ['error_message', 'M', 'M'],
  ...['send_not_after', 'started_at', 'submitted_at', 'completed_at'].map(
    (column) => [column, SINCE, '2026-01-01T00:00:00+00:00'] as const,
  ),
];
const ALL = Object.fromEntries(FIELDS.map(([column, , stands]) => [column, stands]));
const stands = (column: string): string =>
  `(SELECT to_jsonb(n) -> '${column}' FROM movement_nodes n WHERE movement_id = '${OWN}' AND node_key = 'n')`;

holds('a field of a node', [
  ...FIELDS.map(([column, set, value]): Clause => [
    `${column} is set`,
    also('n', { state: 'READY' }) + written(part({ [column]: set })),
    stands(column),
    value,
  ]),
  ...FIELDS.map(([column, , value]): Clause => [
    `${column} stays`,
    also('n', { ...ALL, state: 'OBSERVING' }) + written(part({ state: 'OBSERVING' })),
    stands(column),
    value,
  ]),
  ...FIELDS.filter(([, set]) => set === true).map(([column]): Clause => [
    `${column} is taken back`,
    also('n', { ...ALL, state: 'OBSERVING' }) + written(part({ [column]: false })),
    stands(column),
    false,
  ]),
  ...['send_not_after', 'started_at', 'submitted_at', 'completed_at', 'error_message'].map(
    (column): Clause => [
      `${column} goes`,
      also('n', { ...ALL, state: 'OBSERVING' }) + written(part({ [column]: null })),
      stands(column),
      null,
    ],
  ),
  [
    'what starts now has not waited',
    ...left(
      also('n', passed) + aHourAgo,
      { state: 'SKIPPED', started_at: '@now' },
      `started_at > svc_now() - interval '1 minute'`,
    ),
    true,
  ],
]);

const loaded = (first: string, ask: string): [string, string] => [
  `${first} INSERT INTO commands (command_id, movement_id, kind, created_at, claimed_until, applied_at) VALUES ('${ID('7')}', '${OWN}', 'wake', now(), now(), '${SINCE}'), ('${ID('8')}', '${ID('6')}', 'wake', now(), now(), NULL);`,
  ask,
];
const load = `load_movement('${OWN}', 'run')`;
const SWEPT = '2026-01-02T03:04:05';
const wake = COMMAND.replace(`'k'`, `'wake'`).replaceAll(ID('8'), ID('9'));
const nodeView = `(SELECT e FROM jsonb_array_elements(movement_view('${OWN}', '${SINCE}') -> 'nodes') e WHERE e ->> 'node_key' = 'n')`;
const stopped = { state: 'FAILED', error_code: 'TRANSACTION_CANCELLED' };

holds('what a run loads', [
  ['says that it was woken', ...loaded(wake, `${load} -> 'woken'`), true],
  ['not by what was applied, or is of another', ...loaded('', `${load} ? 'woken'`), false],
  [
    'not by another command',
    ...loaded(COMMAND.replaceAll(ID('8'), ID('9')), `${load} ? 'woken'`),
    false,
  ],
  [
    'has applied what it saw, of this movement',
    ...loaded(
      `${wake} `,
      `(SELECT jsonb_agg(applied_at IS NOT NULL ORDER BY command_id) FROM (SELECT ${load} AS l OFFSET 0) x, commands WHERE x.l IS NOT NULL AND command_id IN ('${ID('7')}', '${ID('8')}', '${ID('9')}'))`,
    ),
    [true, false, false],
  ],
  ['notes the run', `SELECT ${load};`, ofMovement('run_id'), { run_id: 'run' }],
  ...(
    [
      ['was swept no more when it has read a command', wake, null],
      ['was swept when it was, where it has read none', '', SWEPT],
    ] as const
  ).map(([name, command, swept]): [string, string, string, string | null] => [
    name,
    `SELECT ${load}; UPDATE movements SET swept_at = '${SWEPT}', run_id = 'another'; ${command} SELECT ${load};`,
    `(SELECT to_json(swept_at AT TIME ZONE 'UTC') #>> '{}' FROM movements WHERE movement_id = '${OWN}')`,
    swept,
  ]),
  [
    'of this movement',
    `SELECT ${load};`,
    `(SELECT count(*)::integer FROM movements WHERE run_id = 'run')`,
    1,
  ],
  [
    'has its time until its end, in whole milliseconds',
    was(`expires_at = '2026-01-01T00:00:01.0001Z'`),
    `movement_view('${OWN}', '${SINCE}') -> 'ttl_ms'`,
    1001,
  ],
  [
    'has none behind it',
    was(`expires_at = '2025-01-01'`),
    `movement_view('${OWN}', '${SINCE}') -> 'ttl_ms'`,
    0,
  ],
  ['is open', '', `movement_view('${OWN}', '${SINCE}') -> 'ended'`, false],
  ['has ended', was('ended_at = now()'), `movement_view('${OWN}', '${SINCE}') -> 'ended'`, true],
  ['a node that a stop ended', also('n', stopped), `${nodeView} -> 'ended_by_stop'`, true],
  [
    'one that a person cancelled',
    also('n', { ...stopped, cancel_asked: 1 }),
    `${nodeView} -> 'ended_by_stop'`,
    false,
  ],
  [
    'one whose earlier attempt was',
    also('n', { ...stopped, cancel_asked: 1, attempt: 2 }),
    `${nodeView} -> 'ended_by_stop'`,
    true,
  ],
  [
    'one that a person abandoned',
    also('n', { ...stopped, error_code: 'ABANDONED' }),
    `${nodeView} -> 'ended_by_stop'`,
    true,
  ],
  [
    'one that failed otherwise',
    also('n', { ...stopped, error_code: 'E' }),
    `${nodeView} -> 'ended_by_stop'`,
    false,
  ],
  [
    'one without an error',
    also('n', { ...stopped, error_code: null }),
    `${nodeView} -> 'ended_by_stop'`,
    false,
  ],
  [
    'one that signs',
    also('n', { signer_binding: { signer_key: 'old' } }),
    `${nodeView} -> 'signs'`,
    true,
  ],
  ['one that does not', also('n', {}), `${nodeView} -> 'signs'`, false],
  ['one that has not settled', also('n', {}), `${nodeView} -> 'settled_order'`, 0],
  [
    'one that has',
    also('n', { completed_at: SINCE }),
    `${nodeView} -> 'settled_order'`,
    Date.parse(SINCE),
  ],
]);

const PLAN = `(SELECT joined_plan(p.plan_frame, m.intent, p.input_params, (
    SELECT jsonb_agg(node_plan(n.own_plan, p.input_params) ORDER BY n.position)
    FROM movement_nodes n WHERE n.movement_id = m.movement_id))
  FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = '${OWN}')`;
const NEW = {
  template_id: ID('4'),
  template_key: 'k',
  template_version: 1,
  asset: 'USDC',
  amount: '3',
  client_scope: 's',
  idempotency_key: 'i',
  approval_ttl_seconds: 60,
  draw_terms: null,
  compiled_plan_hash: 'a'.repeat(64),
  labels: {},
  request: {},
  created_by: {},
  outflow: [],
  current_frontier: ['pay'],
  pooled: false,
};
const create = (fields: object = {}, digit = '5'): string =>
  `create_movement(jsonb_build_object('compiled_plan', ${PLAN} || ${doc(agreedPlan({ ...NEW, ...fields }))})
    || ${doc({
      movement: { ...NEW, movement_id: ID(digit), ...fields },
      nodes: [
        {
          on_cancel_target: false,
          conditional: false,
          usual_seconds: 5,
          brings: 'b',
          ...nodeFacts({ node_kind: 'action', action_type: 'x' }),
        },
      ],
      timeline: digit === '5' ? twoEvents : [],
      command_id: ID(digit),
      audit: [],
      signed: false,
    })})`;
const isCreated = "-> 'created'";
const AGENTS = { template_key: 'agent/authority/k', most_open: 1 };
const once = `SELECT ${create({}, '6')};`;

holds('a create', [
  ['makes a movement', '', `${create()} ${isCreated}`, true],
  [
    'counts its own events',
    `SELECT ${create()};`,
    `(SELECT next_sequence FROM movements WHERE movement_id = '${ID('5')}')`,
    3,
  ],
  [
    'writes its nodes in their order, with what follows from the plan',
    `SELECT ${create()};`,
    `(SELECT jsonb_build_array(node_key, position, brings, usual_seconds) FROM movement_nodes WHERE movement_id = '${ID('5')}')`,
    ['pay', 0, 'b', 5],
  ],
  ['under a key that was used makes none', once, `${create()} ${isCreated}`, false],
  ['and says who used it', once, `${create()} -> 'movement_id'`, ID('6')],
  [
    'not who used it elsewhere, nor another of the same caller',
    `SELECT ${create({ client_scope: 't' }, '7')}; SELECT ${create({ idempotency_key: 'j' }, '8')}; ${once}`,
    `${create()} -> 'movement_id'`,
    ID('6'),
  ],
  ['under a key of somebody else', once, `${create({ client_scope: 't' })} ${isCreated}`, true],
  ['under another key', once, `${create({ idempotency_key: 'j' })} ${isCreated}`, true],
  [
    'without a key, again and again',
    `SELECT ${create({ idempotency_key: null }, '6')};`,
    `${create({ idempotency_key: null })} ${isCreated}`,
    true,
  ],
  ['is not let in while all is frozen', frozenNow, create(), 'cutover_mode_active'],
  ['nor while it drains', `UPDATE cutover SET mode = 'drain';`, create(), 'cutover_mode_active'],
  ['but answered when it is a repeat', once + frozenNow, `${create()} ${isCreated}`, false],
  ['of an agent is one of its open ones', '', `${create(AGENTS)} ${isCreated}`, true],
  ['and no more than those', '', create({ ...AGENTS, most_open: 0 }), 'open_movements_exceeded'],
  [
    'counts no other agent',
    `SELECT ${create({ ...AGENTS, template_key: 'agent/other/k' }, '6')};`,
    `${create({ ...AGENTS, idempotency_key: 'j' })} ${isCreated}`,
    true,
  ],
  [
    'of an agent without a bound',
    '',
    `${create({ ...AGENTS, most_open: null })} ${isCreated}`,
    true,
  ],
  ['of no agent has no bound', '', `${create({ most_open: 0 })} ${isCreated}`, true],
]);

/** Whether the change left its audit row, which keeps the row as it was written. */
const kept = (field: string): string =>
  `(SELECT details -> 'row' ->> '${field}' FROM audit_events WHERE event_id = '${ID('5')}')`;
const AUDIT = [
  { event_id: ID('5'), action: 'a', entity_type: 't', entity_key: 'k', outcome: 'success' },
];
const master = (fields: object = {}): string =>
  `create_perp_master(${doc({ master: { master_address: MASTER, signer_key: 'old', network: 'testnet', ...fields }, audit: AUDIT })})`;
const noMaster = 'DELETE FROM perp_master;';

holds('the master of the perps venue', [
  ['is made', noMaster, `${master()} ->> 'outcome'`, 'created'],
  ['leaves its audit row', `${noMaster} SELECT ${master({ label: 'l' })};`, kept('label'), 'l'],
  ['the same again is the same', '', `${master()} ->> 'outcome'`, 'same'],
  ['and leaves none', `SELECT ${master()};`, kept('network'), null],
  ...Object.entries({
    master_address: ADDRESS,
    signer_key: 'new',
    network: 'mainnet',
    label: 'l',
  }).map(([field, value]): Clause => [
    `another ${field} is another one`,
    '',
    `${master({ [field]: value })} ->> 'outcome'`,
    'master_account_exists',
  ]),
  [
    'is shown to who asks for another',
    '',
    `${master({ label: 'l' })} -> 'row' ->> 'network'`,
    'testnet',
  ],
]);

const bind = (fields: object): string =>
  `create_perp_binding(${doc({ binding: { strategy_id: 'strategy', ...fields }, audit: AUDIT })})`;
const pause = (paused: boolean, reason: string | null = 'r', strategy_id = 'strategy'): string =>
  `pause_perp_binding(${doc({ strategy_id, paused, reason, audit: AUDIT })})`;
const PAUSED = binding(`paused = true, pause_reason = 'r', paused_changed_at = '${SINCE}'`);
const bindingIs = (columns: string): string => `(SELECT ${columns} FROM perp_bindings)`;

holds('bindings of the perps venue', [
  [
    'need a master',
    noMaster,
    `${bind({ strategy_id: 'z' })} ->> 'outcome'`,
    'master_account_missing',
  ],
  ['are made', '', `${bind({ strategy_id: 'z' })} ->> 'outcome'`, 'created'],
  [
    'leave an audit row, with the amount as a text',
    `SELECT ${bind({ strategy_id: 'z', max_agent_balance: '7.50' })};`,
    kept('max_agent_balance'),
    '7.5',
  ],
  ['the same again is the same', '', `${bind({})} ->> 'outcome'`, 'same'],
  [
    'the same with all it has',
    binding(`sub_account_address = 's', max_agent_balance = 7`),
    `${bind({ sub_account_address: 's', max_agent_balance: '7' })} ->> 'outcome'`,
    'same',
  ],
  [
    'with another sub-account',
    '',
    `${bind({ sub_account_address: 's' })} ->> 'outcome'`,
    'strategy_binding_exists',
  ],
  [
    'with another balance',
    '',
    `${bind({ max_agent_balance: '7' })} ->> 'outcome'`,
    'strategy_binding_exists',
  ],
  [
    'to a sub-account of another strategy',
    binding(`sub_account_address = 's'`),
    `${bind({ strategy_id: 'z', sub_account_address: 's' })} ->> 'outcome'`,
    'sub_account_bound',
  ],
  [
    'say whose it is',
    binding(`sub_account_address = 's'`),
    `${bind({ strategy_id: 'z', sub_account_address: 's' })} -> 'row' ->> 'strategy_id'`,
    'strategy',
  ],
  ['are paused', '', `${pause(true)} ->> 'outcome'`, 'changed'],
  ['paused again for the same reason are the same', PAUSED, `${pause(true)} ->> 'outcome'`, 'same'],
  ['paused for another reason are changed', PAUSED, `${pause(true, 'q')} ->> 'outcome'`, 'changed'],
  ['go on', PAUSED, `${pause(false, null)} ->> 'outcome'`, 'changed'],
  ['going on are the same', '', `${pause(false, null)} ->> 'outcome'`, 'same'],
  ['of an unknown strategy are none', '', pause(true, 'r', 'z'), null],
  [
    'say when that was',
    `SELECT ${pause(true)};`,
    bindingIs('paused AND paused_changed_at = updated_at AND pause_reason IS NOT NULL'),
    true,
  ],
  [
    'another reason is no other time',
    `${PAUSED} SELECT ${pause(true, 'q')};`,
    bindingIs(`pause_reason = 'q' AND ${isSince('paused_changed_at')} AND updated_at > '${SINCE}'`),
    true,
  ],
  [
    'pause one strategy',
    `INSERT INTO perp_bindings (strategy_id, created_at, updated_at) VALUES ('z', now(), now()); SELECT ${pause(true)};`,
    bindingIs('jsonb_agg(strategy_id) FILTER (WHERE paused)'),
    ['strategy'],
  ],
  ['leave the audit row of a pause', `SELECT ${pause(true)};`, kept('pause_reason'), 'r'],
]);

const viewed = (fields: object): string =>
  `perp_wallet_view(jsonb_populate_record(NULL::perp_agent_wallets, ${doc({ valid_until: SINCE, ...fields })}), '${SINCE}')`;
const openWallet = (state: string, at: string): string =>
  `perp_wallet_is_open(jsonb_populate_record(NULL::perp_agent_wallets, ${doc({ state, valid_until: SINCE })}), '${at}')`;
const BEFORE = '2025-12-31T23:59:59Z';
const walletsAre = (columns: string, where = 'true'): string =>
  `(SELECT jsonb_agg(jsonb_build_array(${columns}) ORDER BY wallet_id) FROM perp_agent_wallets WHERE ${where})`;

/** One more wallet, like the first but for these fields. */
const alsoWallet = (fields: object): string =>
  `INSERT INTO perp_agent_wallets SELECT (jsonb_populate_record(w, ${doc({ wallet_id: ID('2'), address: 'y', ...fields })})).* FROM perp_agent_wallets w WHERE wallet_id = '${ID('1')}';`;
const make = (fields: object = {}): string =>
  `SELECT create_perp_wallet(${doc({ wallet: { ...wanted, ...fields }, audit: AUDIT })});`;

holds('more of wallets', [
  ...['pending', 'active'].flatMap((state): Clause[] => [
    [`${state} before its end is open`, '', openWallet(state, BEFORE), true],
    [`${state} at its end is not`, '', openWallet(state, SINCE), false],
    [`${state} at its end is expired`, '', `${viewed({ state })} ->> 'state'`, 'expired'],
    [
      `${state} before its end is not`,
      '',
      `${viewed({ state, valid_until: LATER })} ->> 'state'`,
      state,
    ],
  ]),
  ...['replaced', 'expired'].flatMap((state): Clause[] => [
    [`${state} is not open`, '', openWallet(state, BEFORE), false],
    [`${state} stays so`, '', `${viewed({ state })} ->> 'state'`, state],
  ]),
  ['shows no lease', '', `${viewed({ next_look_at: SINCE })} ? 'next_look_at'`, false],
  [
    'a name that is active is approved anew',
    walletIs(`${LONG}, state = 'active'`),
    wallet(),
    'created',
  ],
  [
    'what waited for it in vain is looked at no more',
    make(),
    walletsAre('state, next_look_at IS NULL', `address = 'x'`),
    [['expired', true]],
  ],
  [
    'another name waits on',
    alsoWallet({ agent_name: 'o' }) + make(),
    walletsAre('state', `address = 'y'`),
    [['pending']],
  ],
  [
    'an active one of its name stays',
    alsoWallet({ state: 'active' }) + make(),
    walletsAre('state', `address = 'y'`),
    [['active']],
  ],
  [
    'lasts as long as the venue lets it',
    make(),
    walletsAre(
      `state, valid_until BETWEEN svc_now() + interval '2159 hours' AND svc_now() + interval '2161 hours', next_look_at = created_at`,
      `address = 'w'`,
    ),
    [['pending', true, true]],
  ],
  [
    'lasts as long as was requested',
    '',
    `create_perp_wallet(jsonb_build_object('audit', '[]'::jsonb, 'wallet', ${doc({ ...wanted, agent_name: 'm' })} || jsonb_build_object('valid_until', svc_now() + interval '9 days'))) -> 'row' ->> 'valid_until' < (svc_now() + interval '10 days')::text`,
    true,
  ],
  [
    'has a nonce of its own',
    make(),
    `(SELECT nonce > 1 FROM perp_actions WHERE wallet_id = '${ID('9')}' AND address = '${MASTER}')`,
    true,
  ],
  ['leaves its audit row', make(), kept('agent_name'), 'n'],
  [
    'the same is made once',
    walletIs(LONG) + make({ address: 'x' }),
    walletsAre('address'),
    [['x']],
  ],
  [
    'the same that is active',
    walletIs(`${LONG}, state = 'active'`),
    wallet({ address: 'x' }),
    'same',
  ],
  [
    'the same for another strategy',
    walletIs(LONG) +
      `INSERT INTO perp_bindings (strategy_id, created_at, updated_at) VALUES ('z', now(), now());`,
    wallet({ address: 'x', strategy_id: 'z', agent_name: 'm' }),
    'agent_address_reused',
  ],
  [
    'the same under another name',
    walletIs(LONG),
    wallet({ address: 'x', agent_name: 'm' }),
    'agent_address_reused',
  ],
  ['another name beside one that waits', walletIs(LONG), wallet({ agent_name: 'm' }), 'created'],
  [
    'a name of another strategy that is active',
    walletIs(`${LONG}, strategy_id = 'z', state = 'active'`),
    wallet(),
    'agent_name_taken',
  ],
  [
    'a name of another strategy that was replaced',
    walletIs(`${LONG}, strategy_id = 'z', state = 'replaced'`),
    wallet(),
    'created',
  ],
  [
    'of a strategy, newest first',
    alsoWallet({ agent_name: 'o', created_at: LATER }),
    `(SELECT jsonb_agg(w ->> 'address') FROM jsonb_array_elements(perp_wallets_of('strategy', 9)) w)`,
    ['y', 'x'],
  ],
  [
    'made at once, by their ids',
    alsoWallet({ agent_name: 'o' }),
    `(SELECT jsonb_agg(w ->> 'address') FROM jsonb_array_elements(perp_wallets_of('strategy', 9)) w)`,
    ['y', 'x'],
  ],
  [
    'no more than requested, the newest of them',
    alsoWallet({ agent_name: 'o', created_at: LATER }),
    `(SELECT jsonb_agg(w ->> 'address') FROM jsonb_array_elements(perp_wallets_of('strategy', 1)) w)`,
    ['y'],
  ],
  [
    'none of another strategy',
    alsoWallet({ agent_name: 'o', strategy_id: 'z' }),
    `jsonb_array_length(perp_wallets_of('strategy', 9))`,
    1,
  ],
  [
    'none where there is none',
    'DELETE FROM perp_agent_wallets;',
    `perp_wallets_of('strategy', 9)`,
    [],
  ],
  ['of an unknown strategy', '', `perp_wallets_of('z', 9)`, null],
]);

const noted = (fields: object): string =>
  `SELECT note_perp_wallet(jsonb_build_object('audit', ${doc(AUDIT)}, 'lease', (SELECT next_look_at FROM perp_agent_wallets WHERE wallet_id = '${ID('1')}')) || ${doc({ wallet_id: ID('1'), from: 'pending', next_seconds: 9, ...fields })});`;
const firstIs = (columns: string): string =>
  `(SELECT ${columns} FROM perp_agent_wallets WHERE wallet_id = '${ID('1')}')`;
const inNine = `next_look_at BETWEEN svc_now() + interval '5 seconds' AND svc_now() + interval '9 seconds'`;
const early = walletIs(`updated_at = '${SINCE}', last_error = 'e'`);
const activeToo = (fields: object = {}): string =>
  alsoWallet({ state: 'active', valid_until: LATER, ...fields });
const taken = (first: string, ask: string, most = 9): [string, string] => [
  first,
  `(SELECT ${ask} FROM jsonb_array_elements(take_perp_wallets(60, ${String(most)})) t)`,
];
const alsoActed = `INSERT INTO perp_actions (address, nonce, wallet_id, created_at) VALUES ('${MASTER}', 2, '${ID('2')}', now());`;
const masterIs = (status: string): string =>
  `UPDATE signers SET status = '${status}' WHERE signer_key = 'old';`;
const save = (signature: string): string => `save_perp_approval('${ID('1')}', '${signature}')`;

holds('more looks', [
  ['it is looked at again in its time', noted({}), firstIs(inNine), true],
  ['what is wrong is kept', noted({ last_error: 'e' }), firstIs('last_error'), 'e'],
  [
    'what is right again too',
    walletIs(`last_error = 'e'`) + noted({}),
    firstIs('last_error'),
    null,
  ],
  [
    'the same error is no news',
    early + noted({ last_error: 'e' }),
    firstIs(isSince('updated_at')),
    true,
  ],
  ['another one is', early + noted({ last_error: 'f' }), firstIs(isSince('updated_at')), false],
  [
    'that its nonce was used is kept',
    noted({ nonce_used: true }),
    firstIs('nonce_used_at IS NOT NULL'),
    true,
  ],
  [
    'with when it was first seen',
    walletIs(`nonce_used_at = '${SINCE}'`) + noted({ nonce_used: true }),
    firstIs(isSince('nonce_used_at')),
    true,
  ],
  [
    'a look that says nothing of it leaves it',
    walletIs(`nonce_used_at = '${SINCE}'`) + noted({}),
    firstIs(isSince('nonce_used_at')),
    true,
  ],
  ['a look changes no state', noted({}), firstIs('state'), 'pending'],
  [
    'nor leaves an audit row',
    noted({}),
    `(SELECT count(*)::integer FROM audit_events WHERE event_id = '${ID('5')}')`,
    0,
  ],
  ['of a wallet that is not there', '', look({ wallet_id: ID('6') }), false],
  [
    'who has no lease writes nothing',
    noted({ lease: LATER, last_error: 'e' }),
    firstIs('last_error'),
    null,
  ],
  [
    'one that is found is active from then on',
    noted({ to: 'active' }),
    firstIs(`state = 'active' AND approved_at = updated_at AND ${inNine}`),
    true,
  ],
  [
    'another state is no approval',
    noted({ to: 'expired' }),
    firstIs(`state = 'expired' AND approved_at IS NULL`),
    true,
  ],
  [
    'another state keeps when it was approved',
    walletIs(`approved_at = '${SINCE}'`) + noted({ to: 'expired' }),
    firstIs(isSince('approved_at')),
    true,
  ],
  ['with what is wrong', noted({ to: 'expired', last_error: 'e' }), firstIs('last_error'), 'e'],
  [
    'leaves its audit row, with what it replaced',
    activeToo() + noted({ to: 'active' }),
    `(SELECT details -> 'replaced' FROM audit_events WHERE event_id = '${ID('5')}')`,
    [ID('2')],
  ],
  [
    'which is nothing where there was nothing',
    noted({ to: 'active' }),
    `(SELECT details ? 'replaced' FROM audit_events WHERE event_id = '${ID('5')}')`,
    false,
  ],
  ...Object.entries({
    'the same name is replaced': [activeToo(), 'active', ['replaced', true]],
    'one whose time is over is expired': [
      activeToo({ valid_until: SINCE }),
      'active',
      ['expired', true],
    ],
    'another name stays': [activeToo({ agent_name: 'o' }), 'active', ['active', false]],
    'one that ends replaces nothing': [activeToo(), 'expired', ['active', false]],
  } satisfies Record<string, [string, string, unknown]>).map(
    ([name, [first, to, state]]): Clause => [
      name,
      first + noted({ to }),
      walletsAre('state, next_look_at IS NULL', `address = 'y'`),
      [state],
    ],
  ),
  ['what is due is taken', ...taken('', 'count(*)::integer'), 1],
  [
    'what is not due is not',
    ...taken(walletIs(`next_look_at = '${LATER}'`), 'count(*)::integer'),
    0,
  ],
  [
    'what is looked at no more is not',
    ...taken(walletIs('next_look_at = NULL'), 'count(*)::integer'),
    0,
  ],
  [
    'no more than requested, the longest due',
    ...taken(
      alsoWallet({ agent_name: 'o', next_look_at: SINCE }) + alsoActed,
      `jsonb_agg(t ->> 'address')`,
      1,
    ),
    ['y'],
  ],
  [
    'in the order in which they were made',
    ...taken(
      alsoWallet({ agent_name: 'o', created_at: SINCE }) + alsoActed,
      `jsonb_agg(t ->> 'address')`,
    ),
    ['y', 'x'],
  ],
  [
    "it is the caller's for its time",
    '',
    `(SELECT (t ->> 'lease')::timestamptz BETWEEN svc_now() + interval '50 seconds' AND svc_now() + interval '60 seconds' FROM jsonb_array_elements(take_perp_wallets(60, 9)) t)`,
    true,
  ],
  ['no other caller takes it', `SELECT take_perp_wallets(60, 9);`, 'take_perp_wallets(60, 9)', []],
  ['with the signer of the master', ...taken('', `t -> 'signer_key'`), 'old'],
  [
    'with who signs for it now',
    ...taken(
      `UPDATE signers SET replaced_by = 'new' WHERE signer_key = 'old';`,
      `t -> 'signer_key'`,
    ),
    'new',
  ],
  [
    'with how that is',
    ...taken(
      `UPDATE signers SET status = 'disabled' WHERE signer_key = 'old';`,
      `t -> 'signer_status'`,
    ),
    'disabled',
  ],
  [
    'a signer that is not registered is active',
    ...taken(`DELETE FROM signers;`, `t -> 'signer_status'`),
    'active',
  ],
  [
    'with its own nonce',
    ...taken(alsoWallet({ agent_name: 'o', next_look_at: null }) + alsoActed, `t -> 'nonce'`),
    1,
  ],
  ['the first signature is sent', `SELECT ${save('a')};`, save('b'), 'a'],
  ['a signature is stored', `SELECT ${save('a')};`, `(SELECT signature FROM perp_actions)`, 'a'],
  [
    'of one wallet',
    `${alsoActed} SELECT ${save('a')};`,
    `(SELECT signature FROM perp_actions WHERE nonce = 2)`,
    null,
  ],
  ['none is sent once it is active', walletIs(`state = 'active'`), save('a'), null],
  [
    'none is stored then',
    walletIs(`state = 'active'`) + `SELECT ${save('a')};`,
    `(SELECT signature FROM perp_actions)`,
    null,
  ],
  ['none of a wallet that is not there', '', `save_perp_approval('${ID('6')}', 'a')`, null],
  ['none is sent while frozen', `UPDATE cutover SET mode = 'frozen';`, save('a'), null],
  [
    'none is stored then, either',
    `UPDATE cutover SET mode = 'frozen'; SELECT ${save('a')};`,
    `(SELECT signature FROM perp_actions)`,
    null,
  ],
  [
    'nor is one that was stored before',
    `SELECT ${save('a')}; ${masterIs('disabled')}`,
    save('b'),
    null,
  ],
  ...Object.entries({ active: 'a', deprecated: 'a', disabled: null, retired: null }).map(
    ([status, sent]): Clause => [
      `the master's signer is ${status}`,
      masterIs(status),
      save('a'),
      sent,
    ],
  ),
  ['its signer is not registered', 'DELETE FROM signers;', save('a'), 'a'],
  [
    'its signer was replaced by one that is disabled',
    `${masterIs('deprecated')} UPDATE signers SET replaced_by = 'new' WHERE signer_key = 'old'; UPDATE signers SET status = 'disabled' WHERE signer_key = 'new';`,
    save('a'),
    null,
  ],
  [
    'its signer was disabled before it was replaced',
    `${masterIs('disabled')} UPDATE signers SET replaced_by = 'new' WHERE signer_key = 'old';`,
    save('a'),
    'a',
  ],
]);

const state = (ask: string, authority = 'NULL', most = 9): string =>
  `perp_strategy_state('strategy', ${authority}, ${String(most)}) ${ask}`;
const opened = "-> 'open_movement_count'";
const accountSeen = (fields: object): string =>
  `note_perp_account(${doc({ address: MASTER, withdrawable: '1.50', account_value: '2', open_positions: 3, checked_at: SINCE, ...fields })})`;
const accountIs = `(SELECT withdrawable::float FROM perp_accounts)`;

holds('what is known of a strategy', [
  ['its account is the master', '', state(`->> 'account'`), MASTER],
  ['or its own', binding(`sub_account_address = 's'`), state(`->> 'account'`), 's'],
  ['of an unknown strategy', '', `perp_strategy_state('z', NULL, 9)`, null],
  ['its movements', '', state(opened), 3],
  ['but for those that ended', was('ended_at = now()'), state(opened), 2],
  ['and those of another strategy', was(`strategy_id = 'z'`), state(opened), 2],
  ['to an agent, its own', was(`agent = 'a'`), state(opened, `'a'`), 1],
  [
    'to an agent, listed',
    was(`agent = 'a'`),
    `jsonb_array_length(${state(`-> 'open_movements'`, `'a'`)})`,
    1,
  ],
  ['listed', was('ended_at = now()'), `jsonb_array_length(${state(`-> 'open_movements'`)})`, 2],
  [
    'no more than requested',
    '',
    `jsonb_array_length(${state(`-> 'open_movements'`, 'NULL', 2)})`,
    2,
  ],
  [
    'the newest first',
    was(`created_at = '${LATER}'`),
    state(`#>> '{open_movements,0,movement_id}' = '${OWN}'`, 'NULL', 1),
    true,
  ],
  ['with what they move', '', state(`#>> '{open_movements,0,amount}'`), '3'],
  [
    'what the venue reported of it',
    `SELECT ${accountSeen({})};`,
    state(`-> 'seen' ->> 'withdrawable'`),
    '1.5',
  ],
  [
    'not what it reported of another',
    `SELECT ${accountSeen({ address: 'x' })};`,
    state(`-> 'seen'`),
    null,
  ],
  [
    'a later report counts',
    `SELECT ${accountSeen({})}; SELECT ${accountSeen({ withdrawable: '9', checked_at: LATER })};`,
    accountIs,
    9,
  ],
  [
    'an earlier one does not',
    `SELECT ${accountSeen({})}; SELECT ${accountSeen({ withdrawable: '9', checked_at: BEFORE })};`,
    accountIs,
    1.5,
  ],
  [
    'nor one of the same moment',
    `SELECT ${accountSeen({})}; SELECT ${accountSeen({ withdrawable: '9' })};`,
    accountIs,
    1.5,
  ],
]);

/** A change of the key, as if it were made from outside: with the triggers. */
const guarded = 'SET LOCAL session_replication_role = origin;';
const keyIs = (columns: string, key = 'key'): string =>
  `(SELECT ${columns} FROM api_client_keys WHERE key_id = '${key}')`;
const changed = (fields: string): string => `${guarded} UPDATE api_client_keys SET ${fields};`;
const ONLY_REVOKED = 'an issued key can only be revoked';
const someLimits = { authority_key: 'authority', max_notional: '7', max_ttl_seconds: 60 };
const revokedKey = `UPDATE api_client_keys SET status = 'revoked', revoked_at = '${SINCE}';`;
const newKey = (fields: object = {}): string =>
  `issue_key(${doc({ client_id: ID('9'), client_name: 'client', key_id: 'k2', role: 'operator', secret: '6162', audit: AUDIT, authority_audit: { create: [{ ...AUDIT[0], event_id: ID('6') }], update: [{ ...AUDIT[0], event_id: ID('7') }] }, ...fields })})`;
const madeKey = (fields: object = {}): string => `SELECT ${newKey(fields)};`;
const agents = (authority: object = someLimits, more: object = {}): object => ({
  role: 'agent',
  replace: true,
  authority: { allowed_assets: null, allowed_chains: null, ...authority },
  ...more,
});
const authorityIs = (columns: string, key = 'authority'): string =>
  `(SELECT jsonb_build_array(${columns}) FROM agent_authorities WHERE authority_key = '${key}')`;
const LIMITS = 'max_notional::float, allowed_assets, allowed_chains, max_ttl_seconds';
const limited = `UPDATE agent_authorities SET max_notional = 5, allowed_assets = '{A}', allowed_chains = '{C}', max_ttl_seconds = 50;`;
const audited = (event: string): string =>
  `(SELECT count(*)::integer FROM audit_events WHERE event_id = '${ID(event)}')`;
const auditOf = (event: string): string =>
  `(SELECT details FROM audit_events WHERE event_id = '${ID(event)}')`;

holds('keys', [
  ['are revoked', changed(`status = 'revoked', revoked_at = now()`), keyIs('status'), 'revoked'],
  ['are not deleted', `${guarded} DELETE FROM api_client_keys;`, keyIs('status'), ONLY_REVOKED],
  ['do not come back', revokedKey + changed(`status = 'active'`), keyIs('status'), ONLY_REVOKED],
  ...[
    `key_id = 'other'`,
    `client_id = '${ID('9')}'`,
    `role = 'admin'`,
    `secret = 'x'`,
    `cert_fingerprint = 'x'`,
    'authority_key = NULL',
    `created_at = '${SINCE}'`,
  ].map((fields): Clause => [
    `do not change: ${fields}`,
    changed(fields),
    keyIs('status'),
    ONLY_REVOKED,
  ]),
  ['are made for the client of that name', '', `${newKey()} ->> 'client_id'`, ID('1')],
  ['or for a new one', '', `${newKey({ client_name: 'other' })} ->> 'client_id'`, ID('9')],
  [
    'or for a new one of that name',
    `UPDATE api_clients SET status = 'inactive';`,
    `${newKey()} ->> 'client_id'`,
    ID('9'),
  ],
  [
    'say whether the client is new',
    madeKey({ client_name: 'other' }),
    `${auditOf('5')} -> 'new_client'`,
    true,
  ],
  [
    'say that it is not',
    madeKey(),
    `${auditOf('5')} - 'replaced_key_id'`,
    { client_id: ID('1'), client_name: 'client', role: 'operator', new_client: false },
  ],
  ['are not made twice', '', newKey({ key_id: 'key' }), 'key_exists'],
  [
    'are what was requested',
    madeKey({ cert_fingerprint: 'f' }),
    keyIs(
      `jsonb_build_array(client_id, role, encode(secret, 'hex'), cert_fingerprint, authority_key, status)`,
      'k2',
    ),
    [ID('1'), 'operator', '6162', 'f', null, 'active'],
  ],
  ['of an agent have its authority', madeKey(agents()), keyIs('authority_key', 'k2'), 'authority'],
  [
    'of another role leave authorities alone',
    limited + madeKey({ authority: null }),
    authorityIs(LIMITS),
    [5, ['A'], ['C'], 50],
  ],
  [
    'make an authority with its limits',
    madeKey(
      agents({ ...someLimits, authority_key: 'new', allowed_assets: ['B'], allowed_chains: ['D'] }),
    ),
    authorityIs(LIMITS, 'new'),
    [7, ['B'], ['D'], 60],
  ],
  [
    'or without',
    madeKey(agents({ authority_key: 'new' })),
    authorityIs(LIMITS, 'new'),
    [null, [], [], null],
  ],
  [
    'change the someLimits that they name',
    limited + madeKey(agents({ ...someLimits, allowed_assets: ['B'], allowed_chains: ['D'] })),
    authorityIs(LIMITS),
    [7, ['B'], ['D'], 60],
  ],
  [
    'and no other',
    limited + madeKey(agents({ authority_key: 'authority' })),
    authorityIs(LIMITS),
    [5, ['A'], ['C'], 50],
  ],
  [
    'may take all assets away',
    limited + madeKey(agents({ ...someLimits, allowed_assets: [] })),
    authorityIs('allowed_assets, allowed_chains'),
    [[], ['C']],
  ],
  [
    'may take all chains away',
    limited + madeKey(agents({ ...someLimits, allowed_chains: [] })),
    authorityIs('allowed_assets, allowed_chains'),
    [['A'], []],
  ],
  [
    'leave the audit row of a new authority',
    madeKey(agents({ authority_key: 'new' })),
    `jsonb_build_array(${audited('6')}, ${audited('7')})`,
    [1, 0],
  ],
  [
    'or of a changed one',
    limited + madeKey(agents()),
    `jsonb_build_array(${audited('6')}, ${audited('7')})`,
    [0, 1],
  ],
  [
    'with what was before and is now',
    limited + madeKey(agents()),
    `${auditOf('7')} #>> '{before,max_notional}' || ' ' || (${auditOf('7')} #>> '{after,max_notional}')`,
    '5 7',
  ],
  [
    'and none where nothing changed',
    limited + madeKey(agents({ authority_key: 'authority' })),
    `jsonb_build_array(${audited('6')}, ${audited('7')})`,
    [0, 0],
  ],
  [
    'do not take an authority from another key',
    '',
    newKey(agents(someLimits, { replace: false })),
    'authority_bound key',
  ],
  [
    'nor where nothing says so',
    '',
    newKey(agents(someLimits, { replace: null })),
    'authority_bound key',
  ],
  ['take it where that is requested', madeKey(agents()), keyIs('status'), 'revoked'],
  ['and say from whom', '', `${newKey(agents())} ->> 'replaced_key_id'`, 'key'],
  [
    'revoke no key of another authority',
    madeKey(agents({ ...someLimits, authority_key: 'new' })),
    keyIs('status'),
    'active',
  ],
  [
    'have it where its key was revoked',
    revokedKey,
    `${newKey(agents(someLimits, { replace: false }))} -> 'replaced_key_id'`,
    null,
  ],
  [
    'replace one key',
    `INSERT INTO api_client_keys (key_id, client_id, role, secret, created_at) VALUES ('k3', '${ID('1')}', 'operator', '', now());` +
      madeKey(agents()),
    keyIs('status', 'k3'),
    'active',
  ],
  [
    'revoked say what they were',
    '',
    `revoke_key('key', '[]')`,
    { key_id: 'key', client_id: ID('1'), role: 'agent', was: 'active' },
  ],
  [
    'revoked are so',
    `SELECT revoke_key('key', '[]');`,
    keyIs(`status = 'revoked' AND revoked_at IS NOT NULL`),
    true,
  ],
  [
    'one is revoked',
    `INSERT INTO api_client_keys (key_id, client_id, role, secret, created_at) VALUES ('k3', '${ID('1')}', 'operator', '', now()); SELECT revoke_key('key', '[]');`,
    keyIs('status', 'k3'),
    'active',
  ],
  ['revoked again were so', revokedKey, `revoke_key('key', '[]') ->> 'was'`, 'revoked'],
  [
    'and keep since when',
    `${revokedKey} SELECT revoke_key('key', '[]');`,
    keyIs(isSince('revoked_at')),
    true,
  ],
  [
    'leave the audit row of it',
    `SELECT revoke_key('key', ${doc(AUDIT)});`,
    auditOf('5'),
    { client_id: ID('1'), role: 'agent' },
  ],
  [
    'and none when it is repeated',
    `${revokedKey} SELECT revoke_key('key', ${doc(AUDIT)});`,
    audited('5'),
    0,
  ],
  ['that are not there', '', `revoke_key('z', '[]')`, null],
]);
