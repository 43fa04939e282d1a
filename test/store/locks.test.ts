/**
 * Each lock that a function of the database takes, against somebody who holds the weakest lock that
 * conflicts with it: the function waits at that very statement, or passes over what is held where
 * it says SKIP LOCKED. The locks are read from the texts of the functions: one without a case
 * fails, and so does a case whose lock is gone or has become a weaker one.
 */
import pg from 'pg';
import { functionBodies } from '../../prisma/functions-migration.ts';
import { ADDRESS, doc, ID, MASTER, startMadeUp } from './made-up.ts';
import { agreedPlan, TEMPLATE } from './support.ts';
import { started } from '../support/started.ts';

interface Lock {
  /** `<function>: <what is locked, and how>`, by which its case is found. */
  readonly name: string;
  readonly fn: string;
  /**
   * Where its statement begins: the line of the body, as Postgres counts them; null among the
   * declarations.
   */
  readonly line: number | null;
  /** Null where no rows are locked. */
  readonly table: string | null;
  readonly strength: string;
  /** It takes what it can have at once. */
  readonly skips: boolean;
}

/** The weakest lock that one of this strength has to wait for. */
const AGAINST: Readonly<Record<string, string>> = {
  'FOR UPDATE': 'FOR KEY SHARE',
  'FOR NO KEY UPDATE': 'FOR SHARE',
  'FOR SHARE': 'FOR NO KEY UPDATE',
  'FOR KEY SHARE': 'FOR UPDATE',
  pg_advisory_xact_lock: 'pg_advisory_xact_lock_shared',
  pg_advisory_xact_lock_shared: 'pg_advisory_xact_lock',
  pg_try_advisory_xact_lock: 'pg_advisory_xact_lock_shared',
  'LOCK TABLE': 'LOCK TABLE',
  // Functions that are there to be called for the lock that they take.
  cutover_now: 'pg_advisory_xact_lock',
  lock_authority: 'pg_advisory_xact_lock_shared',
  lock_signer_pools: 'FOR KEY SHARE',
};

/** From where the statement begins that has something at `end`. */
function statementBefore(body: string, end: number): number {
  const before = /[\s\S]*(?:;|\b(?:THEN|LOOP|BEGIN|ELSE)\b)/.exec(body.slice(0, end));
  return before?.[0].length ?? 0;
}

/** The table of the FROM that a locking clause at `end` belongs to. */
function tableBefore(body: string, end: number): string {
  let depth = 0;
  for (let at = end; at > 0; at -= 1) {
    if (body[at] === ')') depth += 1;
    if (body[at] === '(') depth -= 1;
    const found = depth <= 0 ? /^FROM (\w+)/.exec(body.slice(at, at + 80)) : null;
    if (found !== null) return found[1] ?? '';
  }
  throw new Error('a lock without a table');
}

function locksOf(fn: string, text: string): Lock[] {
  // Of the same length, so that lines stay what they are.
  const body = text.replace(/--.*/g, (comment) => ' '.repeat(comment.length));
  const line = (at: number): number => body.slice(0, at).split('\n').length;
  const found = [
    ...body.matchAll(
      /\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b|\bpg_(?:try_)?advisory\w*|\bLOCK TABLE\b|\b(?:cutover_now|lock_authority|lock_signer_pools)\b/g,
    ),
  ];
  const names = new Map<string, number>();
  return found.map(({ 0: strength, index }) => {
    const start = statementBefore(body, index);
    const first = start + (/\S/.exec(body.slice(start))?.index ?? 0);
    const declared = start < body.search(/^\s*BEGIN\b/m);
    const table = strength.startsWith('FOR ') ? tableBefore(body, index) : null;
    const skips = strength.includes('_try_') || /^[^;)]*SKIP LOCKED/.test(body.slice(index));
    const plain = `${fn}: ${[table ?? [], strength, skips && table !== null ? 'SKIP LOCKED' : []].flat().join(' ')}`;
    const count = (names.get(plain) ?? 0) + 1;
    names.set(plain, count);
    const name = count === 1 ? plain : `${plain} (${String(count)})`;
    return { name, fn, line: declared ? null : line(first), table, strength, skips };
  });
}

const LOCKS = functionBodies().flatMap(({ name, body }) => locksOf(name, body));

/** What the cutover is locked by. */
const ONCE = 7_203_118_846;
/** Movements, as made-up.ts has them. */
let waiting: string;
let sending: string;
let signed: string;

interface Case {
  /** Of rows: which of them somebody holds. Else the number that is locked, or the tables. */
  readonly held: string;
  readonly call: string;
  /** What is so before the call, in its transaction. */
  readonly first?: string;
  /** Postgres puts it in the place of its call, and tells no place in it. */
  readonly inlined?: true;
}

const chain = doc({ chain: 'near', endpoint_identity: '1:A', finality_age_seconds: 1 });
const path = { src_chain: 'near', dst_chain: 'far', asset: 'USDC' };
const rotation = doc({ key: 'old', other_key: 'new', declared: [], asked: {} });
const restore = doc({
  ...{ incident: 'i', send_seconds: 1, signature_seconds: 1, audit: [] },
  drain: { mode: 'drain' },
});
const wallet = { strategy_id: 'strategy', address: 'w', agent_name: 'n', signer_key: 'old' };
/** A rule of approval whose limit adds up movements. */
const rule = `INSERT INTO approval_rules VALUES ('rule', '{"applies_to": "movement",
  "when": {"outflow_above": [{"asset": "*", "amount": "0", "within_seconds": 60}]},
  "require": [{"group": "g", "threshold": 1}]}', 1, now(), now())`;
/** A rule for changes of the allowlist, and an open request for one. */
const ruleOfChange = `INSERT INTO approval_rules VALUES ('changes', '{"applies_to": "allowlist",
  "when": {}, "require": [{"group": "g", "threshold": 1}]}', 1, now(), now())`;
const change = {
  request_id: ID('9'),
  author: { client_id: 'author' },
  kinds: ['allowlist'],
  ...{ method: 'POST', path: '/', body: {}, break_glass: false },
  ...{ subject: 'allowed_addresses', row_after: { address: 'a' } },
};
const changeDocument = JSON.stringify({
  ...{ id: change.request_id, author: change.author, kinds: change.kinds },
  ...{ method: 'POST', path: '/', body: {} },
  ...{ subject: change.subject, before: null, after: change.row_after },
});
const openRequest = `INSERT INTO change_requests (request_id, kinds, author, method, path, body, subject,
    row_after, document, hash, rules, created_at)
  SELECT r.request_id, r.kinds, r.author, r.method, r.path, r.body, r.subject, r.row_after,
    '${changeDocument}', encode(sha256('${changeDocument}'), 'hex'), '[]', svc_now()
  FROM jsonb_populate_record(NULL::change_requests, '${JSON.stringify(change)}') r`;
const agentKey = {
  client_id: ID('2'),
  client_name: 'client',
  authority: { authority_key: 'authority', allowed_assets: null, allowed_chains: null },
};
/** A movement of an agent's plan. */
const drafted = {
  movement_id: ID('3'),
  template_id: ID('1'),
  template_key: 'agent/authority/x',
  template_version: 1,
  asset: 'USDC',
  amount: '1',
  current_frontier: [],
  most_open: 0,
  client_scope: 's',
  approval_ttl_seconds: 1,
  outflow: [],
  limit_amount: '1',
  pooled: false,
};
const draft = {
  movement: drafted,
  compiled_plan: { ...agreedPlan(drafted), input_params: {} },
  timeline: [],
};

/** By the lock's name. */
const cases = (): Readonly<Record<string, Case>> => ({
  'allow_address: allowed_addresses FOR UPDATE': {
    held: `address = '${ADDRESS}'`,
    call: `allow_address(${doc({ id: ID('1'), chain_family: 'evm', address: ADDRESS, reason: 'r', by: 'b', cooling_seconds: 0 })})`,
  },
  'set_allowed_address: allowed_addresses FOR UPDATE': {
    held: `address = '${ADDRESS}'`,
    call: `set_allowed_address(${doc({ id: ID('1'), active: false })})`,
  },
  'set_allowed_chain: allowed_addresses FOR UPDATE': {
    held: `address = '${ADDRESS}'`,
    call: `set_allowed_chain(${doc({ id: ID('1'), chain_id: 5 })})`,
  },
  'address_problem: allowed_addresses FOR SHARE': {
    held: `address = '${ADDRESS}'`,
    call: `address_problem(${doc({ chain_family: 'evm', address: ADDRESS })})`,
  },
  'take_budget: auto_approve_policies FOR NO KEY UPDATE': {
    held: 'true',
    call: `take_budget('${waiting}', '${ID('1')}', 1, 'reserved', true)`,
  },
  'update_policy: auto_approve_policies FOR NO KEY UPDATE': {
    held: 'true',
    call: `update_policy(${doc({ policy_id: ID('1'), patch: {} })})`,
  },
  'check_approval_guard: plan_templates FOR NO KEY UPDATE': {
    held: `template_key = 'test/store'`,
    call: `check_approval_guard('${waiting}', ${doc({ template_key: 'test/store' })})`,
  },
  'update_template_admin: plan_templates FOR UPDATE': {
    held: `template_key = 'test/store'`,
    call: `update_template_admin(${doc({ template_key: 'test/store', patch: {} })})`,
  },
  'retire_template_version: plan_template_versions FOR NO KEY UPDATE': {
    held: 'true',
    call: `retire_template_version(${doc({ template_id: TEMPLATE.template_id, reason: 'r' })})`,
  },
  'create_movement: plan_template_versions FOR SHARE': {
    held: 'true',
    call: `create_movement(${doc({
      movement: { template_id: TEMPLATE.template_id },
      compiled_plan: { template: { template_id: TEMPLATE.template_id } },
    })})`,
  },
  'with_version: plan_template_versions FOR SHARE': {
    held: 'true',
    call: `(SELECT template_version FROM with_version(jsonb_populate_record(NULL::template_proposals,
      ${doc({ template_key: 'k', plan_digest: 'd', proposal_kind: 'static', max_amount: '1' })}), '{}', 1))`,
    first: `SET LOCAL session_replication_role = replica;
      UPDATE template_proposals SET status = 'auto_promoted', promotion_mode = 'auto',
        template_id = '${TEMPLATE.template_id}', template_key = 'k', template_version = 1,
        plan_digest = 'd', max_amount = 1`,
  },
  'note_attention: movements FOR NO KEY UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `note_attention('${waiting}', '${ID('1')}', '{}', '[]')`,
  },
  'seal_audit: pg_try_advisory_xact_lock': {
    held: `hashtextextended('audit_seals', 0)`,
    call: `seal_audit(0, '[]')`,
  },
  'guard_seal: pg_advisory_xact_lock': {
    held: `hashtextextended('audit_seals', 0)`,
    call: `seal_audit(0, ${doc([{ position: 1, event_id: ID('1') }])})`,
    // Alone with the head it has the lock already; a writer past it does not.
    first: `CREATE OR REPLACE FUNCTION seal_audit(head bigint, seals jsonb) RETURNS boolean
      LANGUAGE sql AS $$ INSERT INTO audit_seals (position, event_id, event_hash, chain_hash, mac,
        sealed_at) VALUES (1, '${ID('1')}', '', '', '', now()) RETURNING true $$`,
  },
  'grant_service: pg_advisory_xact_lock': {
    held: `hashtextextended('grant_service', 0)`,
    call: `grant_service('role_of_later')`,
    first: 'CREATE ROLE role_of_later',
  },
  'locked_path_version: bridge_chains FOR SHARE': {
    held: `chain = 'far'`,
    call: `locked_path_version(${doc({ source: '1:a', destination: '2:b', asset: 'USDC' })})`,
  },
  'locked_path_version: bridge_paths FOR SHARE': {
    held: 'true',
    call: `locked_path_version(${doc({ source: '1:a', destination: '2:b', asset: 'USDC' })})`,
  },
  'replace_bridge_chain: bridge_chains FOR UPDATE': {
    held: `chain = 'near'`,
    call: `replace_bridge_chain(${chain})`,
  },
  'replace_bridge_chain: bridge_paths FOR UPDATE': {
    held: 'true',
    call: `replace_bridge_chain(${chain} || '{"endpoint_identity": "3:C"}')`,
  },
  'delete_bridge_chain: bridge_chains FOR UPDATE': {
    held: `chain = 'near'`,
    call: `delete_bridge_chain(${chain})`,
  },
  'create_bridge_path: bridge_chains FOR KEY SHARE': {
    held: `chain = 'far'`,
    call: `create_bridge_path(${doc({ path: { ...path, asset: 'USDT' } })})`,
  },
  'replace_bridge_path: bridge_paths FOR UPDATE': {
    held: 'true',
    call: `replace_bridge_path(${doc({ path })})`,
  },
  'note_bridge_drill: bridge_chains FOR SHARE': {
    held: `chain = 'far'`,
    call: `note_bridge_drill(${doc({ path, evidence_path: 'e' })})`,
  },
  'refresh_bridge_chains: bridge_chains FOR UPDATE': {
    held: `chain = 'far'`,
    call: `refresh_bridge_chains(${doc({ told: [] })})`,
  },
  'claim_callbacks: callbacks FOR UPDATE SKIP LOCKED': {
    held: 'webhook IS NULL',
    call: `(SELECT count(*) FROM claim_callbacks(5, 1, NULL))`,
  },
  'claim_callbacks: callbacks FOR UPDATE SKIP LOCKED (2)': {
    held: 'webhook IS NOT NULL',
    call: `(SELECT count(*) FROM claim_callbacks(5, 1, NULL))`,
  },
  'claim_callbacks: callbacks FOR UPDATE SKIP LOCKED (3)': {
    held: 'true',
    call: `(SELECT count(*) FROM claim_callbacks(5, 1, '${waiting}'))`,
  },
  'settle_callback: movements FOR NO KEY UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `settle_callback(${doc({ movement_id: waiting, event_id: ID('1'), status: 'delivered' })})`,
  },
  'redeliver_callback: callbacks FOR UPDATE': {
    held: 'true',
    call: `redeliver_callback(${doc({ event_id: ID('1'), states: ['pending'] })})`,
  },
  'apply_transfer_step: capital_transfers FOR UPDATE': {
    held: 'true',
    call: `apply_transfer_step(${doc({ transfer_id: ID('1'), states: [] })})`,
  },
  'claim_holder: payments FOR UPDATE': {
    held: 'true',
    call: `claim_holder('${waiting}', 'pay', ${doc([{ source: 's', reference: 'r', amount: 1, total: 1 }])}, now())`,
  },
  'lock_claims: payments FOR UPDATE': {
    held: 'true',
    first: `INSERT INTO payment_claims (source, reference, movement_id, node_key, amount, created_at)
      VALUES ('s', 'r', '${waiting}', 'pay', 1, now())`,
    call: `lock_claims('${waiting}', 'pay')`,
  },
  'reassign_claims: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `reassign_claims(${doc({ movement_id: waiting })}, ${doc({ movement_id: waiting })})`,
  },
  'fold_counts: pg_try_advisory_xact_lock': { held: '7034967', call: 'fold_counts(1)' },
  'rebuild_counts: pg_advisory_xact_lock': { held: '7034967', call: 'rebuild_counts()' },
  'rebuild_counts: LOCK TABLE': {
    held: 'callbacks IN ROW EXCLUSIVE MODE',
    call: 'rebuild_counts()',
  },
  'cutover_now: pg_advisory_xact_lock_shared': { held: String(ONCE), call: 'cutover_now()' },
  'set_cutover_mode: pg_advisory_xact_lock': {
    held: String(ONCE),
    call: `set_cutover_mode('{"mode": "frozen"}')`,
  },
  'set_cutover_mode: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `set_cutover_mode('{"mode": "normal"}')`,
    first: `UPDATE cutover SET mode = 'frozen'; UPDATE movement_nodes SET frozen_since = now()
      WHERE movement_id = '${waiting}'`,
  },
  'binding_problems: executors FOR SHARE': {
    held: 'true',
    call: `binding_problems('{"executors": ["e"]}', '${waiting}')`,
  },
  'binding_problems: signers FOR SHARE': {
    held: `signer_key = 'old'`,
    call: `binding_problems('{"signers": [{"signer_key": "old"}]}', '${waiting}')`,
  },
  'try_fence: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `try_fence('${waiting}', 'pay', 1, 'e', 1, '${ID('1')}', '[]')`,
  },
  'try_fence: movement_nodes FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `try_fence('${waiting}', 'pay', 1, 'e', 1, '${ID('1')}', '[]')`,
  },
  'send_lane_problem: pg_advisory_xact_lock': {
    held: `hashtextextended('send_lane l', 0)`,
    call: `send_lane_problem('${waiting}', 'pay', 'l')`,
  },
  'issue_key: api_clients FOR UPDATE': {
    held: 'true',
    call: `issue_key(${doc({ client_id: ID('2'), client_name: 'client' })})`,
  },
  'issue_key: api_client_keys FOR UPDATE': {
    held: 'true',
    call: `issue_key(${doc(agentKey)})`,
  },
  'revoke_key: api_client_keys FOR UPDATE': { held: 'true', call: `revoke_key('key', '[]')` },
  'release_nonce: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `release_nonce('${waiting}', 'pay', 1, 0, '{}')`,
  },
  'fill_nonce: nonce_lanes FOR UPDATE': {
    held: 'true',
    call: `fill_nonce(${doc({ chain_id: 1, address: ADDRESS, nonce: 9 })})`,
  },
  'raise_lane_caps: nonce_lanes FOR UPDATE': {
    held: 'true',
    call: `raise_lane_caps(${doc({ chain_id: 1, address: ADDRESS })})`,
  },
  'take_lanes: nonce_lanes FOR UPDATE SKIP LOCKED': {
    held: 'true',
    call: 'jsonb_array_length(take_lanes(1, 5))',
  },
  'claim_nonce: nonce_lanes FOR UPDATE': {
    held: 'true',
    call: `claim_nonce('${waiting}', 'pay', 1, ${doc({ chain_id: 1, address: ADDRESS })}, now())`,
  },
  'claim_perp_nonce: perp_lanes FOR UPDATE': {
    held: 'true',
    call: `claim_perp_nonce('${MASTER}', NULL, NULL, NULL, '${ID('1')}')`,
  },
  'save_perp_signature: movement_nodes FOR SHARE': {
    held: `movement_id = '${sending}'`,
    call: `save_perp_signature('${sending}', 'pay', 1, 0, 's')`,
  },
  'perp_problem: perp_master FOR UPDATE': {
    held: 'true',
    call: `perp_problem(${doc({ signer: MASTER, deposit: '1' })}, '${waiting}')`,
  },
  'perp_problem: perp_bindings FOR SHARE': {
    held: 'true',
    call: `perp_problem(${doc({ signer: MASTER })}, '${waiting}')`,
  },
  'create_top_up: perp_bindings FOR UPDATE': {
    held: 'true',
    call: `create_top_up('{}', 'strategy', 1, '[]')`,
  },
  'pause_perp_binding: perp_bindings FOR UPDATE': {
    held: 'true',
    call: `pause_perp_binding(${doc({ strategy_id: 'strategy', paused: true, reason: 'r' })})`,
  },
  'create_perp_wallet: perp_lanes FOR UPDATE': {
    held: 'true',
    call: `create_perp_wallet(${doc({ wallet })})`,
  },
  'take_perp_wallets: perp_agent_wallets FOR UPDATE SKIP LOCKED': {
    held: 'true',
    call: 'jsonb_array_length(take_perp_wallets(1, 5))',
  },
  'save_perp_approval: cutover_now': {
    held: String(ONCE),
    call: `save_perp_approval('${ID('1')}', 's')`,
  },
  'save_perp_approval: signers FOR SHARE': {
    held: `signer_key = 'old'`,
    call: `save_perp_approval('${ID('1')}', 's')`,
  },
  'save_perp_approval: perp_agent_wallets FOR SHARE': {
    held: 'true',
    call: `save_perp_approval('${ID('1')}', 's')`,
  },
  'note_perp_wallet: perp_agent_wallets FOR UPDATE': {
    held: 'true',
    call: `note_perp_wallet(${doc({ wallet_id: ID('1'), from: 'active' })})`,
  },
  'take_over: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `take_over('${waiting}', 'pay', 1, false)`,
  },
  'take_over: movement_nodes FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `take_over('${waiting}', 'pay', 1, false)`,
  },
  'lock_authority: pg_advisory_xact_lock': {
    held: `hashtextextended('agent_authority a', 0)`,
    call: `lock_authority('a')`,
    inlined: true,
  },
  'promote_proposal: template_proposals FOR UPDATE': {
    held: 'true',
    call: `promote_proposal(${doc({ proposal_id: ID('1'), authority_key: 'authority' })})`,
  },
  'set_executor_status: executors FOR UPDATE': {
    held: 'true',
    call: `set_executor_status('{"key": "e", "declared": {}, "status": "disabled"}')`,
  },
  'set_signer_status: signers FOR UPDATE': {
    held: `signer_key = 'old'`,
    call: `set_signer_status('{"key": "old", "declared": {}, "status": "disabled"}')`,
  },
  'set_expected_identity: signers FOR UPDATE': {
    held: `signer_key = 'old'`,
    call: `set_expected_identity('{"key": "old", "declared": {}}')`,
  },
  'after_restore: pg_advisory_xact_lock': {
    held: String(ONCE),
    call: `after_restore(${restore})`,
  },
  'after_restore: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `after_restore(${restore})`,
  },
  'after_restore: capital_transfers FOR UPDATE': {
    held: 'true',
    call: `after_restore(${restore})`,
  },
  'lock_signer_pools: reservation_pools FOR UPDATE': {
    held: `venue_key = 'chain:old'`,
    call: `lock_signer_pools('old', 'new')`,
  },
  'rotate_signer: pg_advisory_xact_lock': {
    held: String(ONCE),
    call: `rotate_signer(${rotation})`,
  },
  'rotate_signer: movements FOR UPDATE': {
    held: `movement_id = '${signed}'`,
    call: `rotate_signer(${rotation})`,
  },
  'rotate_signer: movement_nodes FOR UPDATE': {
    held: `movement_id = '${signed}'`,
    call: `rotate_signer(${rotation})`,
  },
  'rotate_signer: signers FOR UPDATE': {
    held: `signer_key = 'new'`,
    call: `rotate_signer(${rotation})`,
  },
  'retire_signer: pg_advisory_xact_lock': {
    held: String(ONCE),
    call: `retire_signer(${rotation})`,
  },
  'retire_signer: signers FOR UPDATE': {
    held: `signer_key = 'old'`,
    call: `retire_signer(${rotation})`,
  },
  'create_transfer: cutover_now': { held: String(ONCE), call: `create_transfer('{}')` },
  'apply_transfer_step: cutover_now': {
    held: String(ONCE),
    call: `apply_transfer_step(${doc({ transfer_id: ID('1'), states: [], fence: {} })})`,
  },
  'create_movement: cutover_now': { held: String(ONCE), call: `create_movement(${doc(draft)})` },
  'send_stops: cutover_now': { held: String(ONCE), call: `send_stops('${waiting}', 'pay', '{}')` },
  'try_fence: cutover_now': {
    held: String(ONCE),
    call: `try_fence('${waiting}', 'pay', 1, 'e', 1, '${ID('1')}', '[]')`,
  },
  'apply_transition: cutover_now': {
    held: String(ONCE),
    call: `apply_transition(${doc({ movement_id: waiting, nodes: [{ node_key: 'pay', set: { state: 'SUBMITTING' } }] })})`,
  },
  'apply_transition: cutover_now (2)': {
    held: String(ONCE),
    call: `apply_transition(${doc({ movement_id: waiting, command_kind: 'retry' })})`,
  },
  'create_movement: lock_authority': {
    held: `hashtextextended('agent_authority authority', 0)`,
    call: `create_movement(${doc(draft)})`,
    first: 'SET LOCAL session_replication_role = replica',
  },
  'issue_key: lock_authority': {
    held: `hashtextextended('agent_authority authority', 0)`,
    call: `issue_key(${doc(agentKey)})`,
  },
  'create_proposal: lock_authority': {
    held: `hashtextextended('agent_authority authority', 0)`,
    call: `create_proposal('{"proposal": {"authority_key": "authority"}}')`,
  },
  'promote_proposal: lock_authority': {
    held: `hashtextextended('agent_authority authority', 0)`,
    call: `promote_proposal(${doc({ proposal_id: ID('1'), authority_key: 'authority' })})`,
  },
  'replace_signer: lock_signer_pools': {
    held: `venue_key = 'chain:old'`,
    call: `replace_signer('old', 'new', '{"known_addresses": []}', '{}', now())`,
  },
  'hold_approval_rules: pg_advisory_xact_lock_shared': {
    held: `hashtextextended('approval_rules', 0)`,
    call: 'hold_approval_rules()',
    inlined: true,
  },
  'change_approvers: pg_advisory_xact_lock': {
    held: `hashtextextended('approval_rules', 0)`,
    call: `change_approvers('{"audit": []}')`,
  },
  'ask_change: change_requests FOR UPDATE': {
    held: `request_id = '${change.request_id}'`,
    call: `ask_change('{allowlist}', 'allowed_addresses', NULL, '{"address": "a"}')`,
    first: ruleOfChange,
  },
  'create_change: pg_advisory_xact_lock': {
    held: `hashtextextended('change_requests author', 0)`,
    call: `create_change(${doc({ request: change })})`,
    first: ruleOfChange,
  },
  'create_change: change_requests FOR UPDATE': {
    held: `request_id = '${change.request_id}'`,
    call: `create_change(${doc({ request: change })})`,
    first: ruleOfChange,
  },
  'decide_change: change_requests FOR UPDATE': {
    held: `request_id = '${change.request_id}'`,
    call: `decide_change(${doc({ request_id: change.request_id })})`,
  },
  'withdraw_change_approval: change_requests FOR UPDATE': {
    held: `request_id = '${change.request_id}'`,
    call: `withdraw_change_approval(${doc({ request_id: change.request_id })})`,
  },
  'end_change: change_requests FOR UPDATE': {
    held: `request_id = '${change.request_id}'`,
    call: `end_change(${doc({ request_id: change.request_id, state: 'rejected' })})`,
  },
  'record_decision: pg_advisory_xact_lock': {
    held: `hashtextextended('passkey id', 0)`,
    call: `record_decision('{"evidence": {"credential_id": "id"}}', NULL, NULL, NULL, NULL, now())`,
  },
  'revoke_passkey: pg_advisory_xact_lock': {
    held: `hashtextextended('passkey id', 0)`,
    call: `revoke_passkey('{"credential_id": "id"}')`,
  },
  'decide_approval: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `decide_approval(${doc({ approve: { movement_id: waiting } })})`,
    first: rule,
  },
  'withdraw_approval: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `withdraw_approval(${doc({ record: { movement_id: waiting } })})`,
  },
  'mark_compromised: pg_advisory_xact_lock': {
    held: `hashtextextended('approval_rules', 0)`,
    call: `mark_compromised('{}')`,
  },
  'hold_approval_windows: pg_advisory_xact_lock': {
    held: `hashtextextended('approval_windows', 0)`,
    call: `apply_transition(${doc({ movement_id: waiting, approval: { by: 'auth_off' }, plan_hash: 'a'.repeat(64), set: {} })})`,
    first: rule,
  },
  'apply_transition: movements FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `apply_transition(${doc({ movement_id: waiting })})`,
  },
  'apply_transition: movement_nodes FOR UPDATE': {
    held: `movement_id = '${waiting}'`,
    call: `apply_transition(${doc({ movement_id: waiting, nodes: [{ node_key: 'pay', set: {} }] })})`,
  },
  'apply_transition: nonce_lanes FOR UPDATE': {
    held: 'true',
    call: `apply_transition(${doc({ movement_id: sending, nodes: [{ node_key: 'pay', states: ['SUBMITTING'], set: {}, version: { claim: ID('1') } }] })})`,
  },
  'apply_transition: evm_transactions FOR UPDATE': {
    held: 'true',
    call: `apply_transition(${doc({ movement_id: sending, nodes: [{ node_key: 'pay', states: ['SUBMITTING'], set: {}, settles: { transaction_id: ID('1') } }] })})`,
  },
});

const LOCK_NOT_AVAILABLE = '55P03';
let holder: pg.Client;
let caller: pg.Client;
const made = started(() => startMadeUp());
beforeAll(async () => {
  ({ waiting, sending, signed } = made);
  [holder, caller] = [await made.connect(), await made.connect()];
  await holder.query(openRequest);
});

async function hold({ table, strength }: Lock, { held }: Case): Promise<void> {
  const against = AGAINST[strength] ?? '';
  if (against.startsWith('FOR ')) {
    const rows = table ?? 'reservation_pools';
    const { rowCount } = await holder.query(`SELECT 1 FROM ${rows} WHERE ${held} ${against}`);
    expect(rowCount).toBeGreaterThan(0);
  } else if (against === 'LOCK TABLE') await holder.query(`LOCK TABLE ${held}`);
  else await holder.query(`SELECT ${against}(${held})`);
}

interface Called {
  readonly answer?: unknown;
  /** Why it failed. */
  readonly code?: string | undefined;
  /** In which functions, the innermost first, and in which line of each. */
  readonly places?: readonly { readonly fn: string; readonly line: number | null }[];
}

/** What becomes of the call, in a transaction that is taken back. */
async function called({ call, first }: Case): Promise<Called> {
  await caller.query('BEGIN');
  try {
    if (first !== undefined) await caller.query(first);
    // No other session works in this database: who waits so long waits for the holder.
    await caller.query(`SET LOCAL lock_timeout = '20ms'`);
    return { answer: (await caller.query(`SELECT ${call} AS answer`)).rows[0]?.answer };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const places = [
      ...(error.where ?? '').matchAll(/PL\/pgSQL function (\w+)\(.*? (?:line (\d+) at|during) /g),
    ].map(([, fn = '', line]) => ({ fn, line: line === undefined ? null : Number(line) }));
    return { code: error.code, places };
  } finally {
    await caller.query('ROLLBACK');
  }
}

test('every lock of the functions has a case, and every case its lock', () => {
  expect(LOCKS.length).toBeGreaterThan(60);
  expect(Object.keys(cases()).sort()).toEqual(LOCKS.map(({ name }) => name).sort());
});

test.each(LOCKS)('is waited for by whoever comes second: $name', async (lock) => {
  const each = cases()[lock.name];
  if (each === undefined) throw new Error('a lock needs a case: who holds what it waits for');
  const free = await called(each);
  expect(free.code).not.toBe(LOCK_NOT_AVAILABLE);
  await holder.query('BEGIN');
  try {
    await hold(lock, each);
    const met = await called(each);
    if (lock.skips) {
      expect([free.code, met.code]).toEqual([undefined, undefined]);
      expect(met.answer).not.toEqual(free.answer);
      return;
    }
    expect(met.code).toBe(LOCK_NOT_AVAILABLE);
    if (each.inlined === true) return;
    const { fn, line } = lock;
    // Nothing that it calls waits for anything else.
    if (lock.table !== null) expect(met.places?.[0]).toEqual({ fn, line });
    else expect(met.places).toContainEqual({ fn, line });
  } finally {
    await holder.query('ROLLBACK');
  }
});
