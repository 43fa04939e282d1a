/**
 * The triggers of prisma/functions/change-requests.sql, each with every term of its condition: a
 * row that widens is refused while a rule of its kind holds, whoever writes it, and passes under
 * rules of other kinds; what narrows the same row passes. The statements are plain SQL of the
 * tables' owner.
 */
import pg from 'pg';
import { APPLIES_TO, type ApprovalRule, type RuleConditions } from '../../domain/approval/rule.ts';
import { started } from '../support/started.ts';
import { storeBench, TEMPLATE } from './support.ts';

const bench = storeBench();
const owner = started(async () => {
  const client = new pg.Client({ connectionString: bench.url });
  await client.connect();
  return { client, close: () => client.end() };
});

type Kind = ApprovalRule['applies_to'];
interface Case {
  readonly kind: Kind;
  readonly title: string;
  /** Statements that are run while no rule holds. */
  readonly setUp: string;
  readonly widens?: string | undefined;
  /** Passes although a rule of the kind holds. */
  readonly narrows?: string | undefined;
  /** The conditions of the rule. */
  readonly when?: RuleConditions;
  /** Another kind whose rules hold for the change, too. */
  readonly also?: Kind;
}

const ruleOf = (applies_to: Kind, when: RuleConditions = {}): ApprovalRule => ({
  applies_to,
  when,
  require: [{ group: 'desk', threshold: 1 }],
  initiator_may_approve: false,
  payee_author_may_approve: false,
  template_author_may_approve: false,
  reason_required: false,
});
const INSERT_RULE = `INSERT INTO approval_rules (name, rule, revision, created_at, updated_at)
  VALUES ($1, $2::jsonb, 1, now(), now())`;

/** What a request for a refused change would name. */
interface Refused {
  readonly kinds: readonly string[];
  readonly subject: string;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown>;
}

/** Why the change is refused under these rules; null: it passes. The database stays as it was. */
async function refusalOf(
  setUp: string,
  rules: readonly ApprovalRule[],
  change: string,
): Promise<Refused | null> {
  const { client } = owner;
  await client.query('BEGIN');
  try {
    await client.query(`${setUp}; SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED`);
    for (const rule of rules)
      await client.query(INSERT_RULE, [rule.applies_to, JSON.stringify(rule)]);
    // One result for each statement. What changes no row would prove nothing.
    for (const { rowCount } of [await client.query(change)].flat())
      expect(rowCount).toBeGreaterThan(0);
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    return null;
  } catch (error) {
    const { code, detail = '' } = error as pg.DatabaseError;
    if (code !== 'FM023') throw error;
    return JSON.parse(detail) as Refused;
  } finally {
    await client.query('ROLLBACK');
  }
}

/**
 * A statement that adds a row: the table, and `column=value`s, of which a later one counts.
 * Postgres reads each value as the type of its column.
 */
function insert(text: string): string {
  const [table = '', ...columns] = text.split(/\s+/).filter(Boolean);
  const row = new Map(
    columns.map((each) => {
      const [name = '', ...value] = each.split('=');
      return [name, `'${value.join('=')}'`];
    }),
  );
  return `INSERT INTO ${table} (${[...row.keys()].join()}) VALUES (${[...row.values()].join()})`;
}

const ID = '00000000-0000-4000-8000-000000000001';
const OTHER = ID.replace(/1$/, '2');
const MADE = 'created_at=now updated_at=now';
/** The least more than 10 that a column of amounts holds. */
const MORE = '10.000000000000000001';

const address = (more = ''): string =>
  insert(`allowed_addresses id=${ID} chain_family=evm address=0x${'a'.repeat(40)} chain_id=1
    reason=r usable_after=2030-01-02 created_by=t ${MADE} ${more}`);
const REVOKED = "active = false, revoked_at = now(), revoked_by = 't'";

const allows = (...templates: readonly (readonly [key: string, version: number | null])[]) =>
  JSON.stringify(
    templates.map(([template_key, template_version]) => ({ template_key, template_version })),
  );
const ONE = allows(['acme/pay', 1]);
const TWO = allows(['acme/pay', 1], ['acme/other', 1]);
const NEXT = allows(['acme/pay', 2]);
const ANY = allows(['acme/pay', null]);
const policy = (more = ''): string =>
  insert(`auto_approve_policies policy_id=${ID} client_id=${ID} strategy_id=alpha is_active=true
    allowed_templates=${ONE} allowed_assets={USDC} max_amount_per_request=10 window_hours=24
    max_amount_per_window=10 max_count_per_window=10 revision=1 ${MADE} ${more}`);
const NO_LIMITS = 'max_amount_per_window = null, max_count_per_window = null';

const TEMPLATES = ['acme/pay', 'system/pay', 'agent/pay']
  .map((template) => insert(`plan_templates template_key=${template} ${MADE}`))
  .join(';');
const CONFIG = { venue: 'v', limits: { most: '1234567890.123456789' } };
const node = (node_key: string, id: string, position: number): string =>
  insert(`plan_nodes id=${id} template_id=${ID} position=${String(position)} node_key=${node_key}
    node_kind=action action_type=acme_${node_key} has_side_effect=true
    config=${JSON.stringify(CONFIG)}`);
/** A version with a node that pays, and one that looks after it. */
const version = (template_key: string): string =>
  [
    insert(`plan_template_versions template_id=${ID} template_key=${template_key} version=2 name=n
      graph_shape=linear approval_policy={} risk_controls={} created_at=now
      completion_assurance=provider_completed`),
    node('pay', ID, 0),
    node('look', OTHER, 1),
    insert(`plan_edges id=${ID} template_id=${ID} position=0 from_key=pay to_key=look
      edge_type=on_success`),
  ].join(';');
const PAY = version('acme/pay');

const chain = (name: string, endpoint: string): string =>
  insert(`bridge_chains chain=${name} endpoint_identity=${endpoint} finality_age_seconds=900
    snapshot_stale=false facts={} snapshot_at=now ${MADE}`);
const NEAR = chain('near', '1:A');
const CHAINS = [NEAR, chain('far', '2:B'), chain('third', '3:C')].join(';');
const STALE = 'snapshot_stale = true, stale_detected_at = now()';
const PATH = insert(`bridge_paths src_chain=near dst_chain=far asset=USDC enabled=true ${MADE}
  expected_latency_seconds=60 detection_latency_budget_seconds=60 fee_native_budget=10`);
const DRILLED = "last_drill_pass_at = '2026-01-01', last_drill_evidence_path = 'e'";

const MASTER = insert('perp_master master_address=m signer_key=s network=testnet created_at=now');
const BINDING = insert(`perp_bindings strategy_id=alpha sub_account_address=s
  max_agent_balance=10 ${MADE}`);
const WALLET = insert(`perp_agent_wallets wallet_id=${ID} strategy_id=alpha agent_name=n
  signer_key=s address=w valid_until=now state=pending ${MADE}`);

const transfer = (more = ''): string =>
  insert(`capital_transfers transfer_id=${ID} client_scope=s idempotency_key=k request={}
    request_state=CREATED source_venue=a source_account_type=SPOT destination_venue=b
    destination_account_type=SPOT asset=USDC amount=${MORE} reason=r provider=p created_by={}
    claimed_until=now ${MADE} ${more}`);

const CLIENT = insert(`api_clients client_id=${ID} client_name=desk created_at=now`);
const SECRET = '5ec2e75ec2e7';
const key = (more: string): string =>
  insert(`api_client_keys key_id=k client_id=${ID} secret=\\x${SECRET} created_at=now ${more}`);
const AGENT_KEY = key('role=agent authority_key=bot');
const AUTHORITY = insert(`agent_authorities authority_key=bot max_notional=10 max_ttl_seconds=10
  allowed_assets={USDC} allowed_chains={near} ${MADE}`);
const PROPOSED = `${AUTHORITY}; ${insert(`template_proposals proposal_id=${ID} authority_key=bot
  status=submitted proposal_kind=static asset=USDC requested_notional=1 request={} reasons={}
  bridge_attempt=false client_scope=s created_by={} expires_at=now ${MADE}`)}`;
const PROMOTED = "status = 'auto_promoted', template_key = 'k', template_version = 1";
const promoted = (mode: string, template_id: string): string =>
  `${PROMOTED}, plan_digest = 'd', max_amount = 1, promotion_mode = '${mode}',` +
  ` template_id = '${template_id}'`;
const OPERATOR = insert(`dashboard_keys key_id=${ID} operator=olga role=operator allowlist=true
  replaces=false state=pending code_hash=\\x${'ab'.repeat(32)} code_until=now created_at=now
  created_by=t`);

const LANE = insert('nonce_lanes chain_id=1 address=a next_nonce=1 signer_key=one');
const LANE_RAISED = insert(`nonce_lanes chain_id=1 address=a next_nonce=1 signer_key=one
  cap_raise={"max_gas_cost_wei":"1"} cap_raised_until=2100-01-01`);

const PERSON = insert('people person=ann name=Ann created_at=now');
const PASSKEY = insert(`passkeys credential_id=id person=ann public_key=key counter=0
  origin=http://localhost enrolled_at=now`);

/** A case of statements that are written out. */
const added = (
  kind: Kind,
  title: string,
  setUp: string,
  widens?: string,
  narrows?: string,
): Case => ({ kind, title, setUp, widens, narrows });
/** A version of a template that a policy allows, or does not. */
const allowed = (title: string, more: string, widens?: string, narrows?: string): Case => ({
  ...added('policies', title, `${TEMPLATES}; ${policy(more)}`, widens, narrows),
  also: 'templates',
});
const ADDED: readonly Case[] = [
  added('allowlist', 'address', '', address(), address('active=f revoked_at=now revoked_by=t')),
  added('policies', 'policy', '', policy(), policy('is_active=false')),
  allowed('any version allowed', `allowed_templates=${ANY}`, PAY),
  allowed('template allowed', 'allowed_templates=[{"template_key":"acme/pay"}]', PAY),
  allowed('version allowed before it exists', `allowed_templates=${NEXT}`, PAY),
  allowed('another version allowed', `allowed_templates=${ONE}`, undefined, PAY),
  allowed('policy off', `allowed_templates=${ANY} is_active=f`, undefined, PAY),
  added('templates', 'version', TEMPLATES, PAY, version('system/pay')),
  added('bridge', 'chain', '', NEAR),
  added('bridge', 'path', CHAINS, PATH, 'DELETE FROM bridge_chains'),
  added('perps', 'master account', '', MASTER),
  added('perps', 'binding', '', BINDING),
  added('perps', 'wallet of an agent', BINDING, WALLET),
  added('keys', 'key', CLIENT, key('role=operator')),
  added('keys', 'key of an agent', `${CLIENT}; ${AUTHORITY}`, AGENT_KEY),
  added('keys', 'key of an operator', '', OPERATOR),
  added('keys', 'passkey', PERSON, PASSKEY),
  added('signers', 'lane with a raise', '', LANE_RAISED, LANE),
  {
    ...{ kind: 'keys', title: 'passkey that ends', setUp: `${PERSON}; ${PASSKEY}` },
    narrows: 'UPDATE passkeys SET revoked_at = now()',
  },
  // What waits for people by another row of the same transaction.
  {
    ...added('templates', 'promotion into a version', `${TEMPLATES}; ${PAY}; ${PROPOSED}`),
    narrows: `UPDATE template_proposals SET ${promoted('admin', ID)}`,
  },
  {
    ...added('keys', 'authority of a key', `${CLIENT}; ${AUTHORITY}; ${AGENT_KEY}`),
    narrows: 'UPDATE agent_authorities SET max_notional = 11',
  },
];

const above = (asset: string) => [{ asset, amount: '10' }];
/** Conditions of a rule that hold for the transfer, and what makes it one for which they do not. */
const TRANSFERS: readonly (readonly [string, RuleConditions, string?])[] = [
  ['any', {}],
  ['out of a venue', { venues: ['a'] }, 'source_venue=c'],
  ['into a venue', { venues: ['b'] }, 'destination_venue=c'],
  ['of an asset', { assets: ['WETH', 'USDC'] }, 'asset=DAI'],
  ['above any limit', { amount_above: above('*') }, 'amount=10'],
  ['above the limit of its asset', { amount_above: above('USDC') }, 'amount=10'],
  ['of an asset with a limit', { amount_above: above('USDC') }, 'asset=DAI'],
  ['out of a venue, above a limit', { venues: ['a'], amount_above: above('*') }, 'source_venue=c'],
];

const EXECUTOR = insert(`executors executor_key=e kind=local action_types={acme_payout} ${MADE}`);
const SIGNERS = ['one', 'two']
  .map((each) => `signers signer_key=${each} backend=local chain_family=evm ${MADE}`)
  .map((row) => insert(`${row} expected_signer_address=a`))
  .join(';');
/** A raise of a lane's caps; null leaves one as the chain has it. */
const raise = (cost: number | null, fee: number | null, until = '2100-01-01'): string => {
  const caps = { max_gas_cost_wei: cost?.toString(), max_fee_per_gas_gwei: fee?.toString() };
  const json = JSON.stringify({ ...caps, raised_at: '2026-01-01T00:00:00.000Z' });
  return `cap_raise = '${json}', cap_raised_until = '${until}'`;
};
const RAISED = raise(10, 10);
const OVER = raise(10, 10, '2020-01-01');
const KNOWN = TEMPLATE.template_id;
const OWN = `template_key = '${TEMPLATE.template_key}'`;
const CAP = "auto_approve_enabled = true, daily_cap_amount = 10, daily_cap_asset = 'USDC'";
/** Lines about a limit in a column that is 10. */
const limit = (column: string, more = MORE): string => `
  ${column} raised | - | ${column} = ${more} | ${column} = 9
  ${column} lifted | - | ${column} = null
  ${column} set | ${column} = null | - | ${column} = 1000`;
/**
 * Below `kind | table | how its rows are made | which of them it is`, lines of `title | before |
 * widens | narrows`: what a row is set to before, and then in each try; `-`: nothing.
 */
const UPDATES = `
allowlist | allowed_addresses | ${address()}
  taken back in | ${REVOKED} | active = true, revoked_at = null, revoked_by = null | chain_id = null
  another chain | - | chain_id = 2 | chain_id = 2, ${REVOKED}
  every chain | - | chain_id = null | label = 'x'
  one chain | chain_id = null | - | chain_id = 2
  another address | - | address = '0x${'b'.repeat(40)}' | reason = 'x'
  another family | chain_id = null | chain_family = 'cex' | ${REVOKED}
  cools for less time | - | usable_after = '2030-01-01' | usable_after = '2030-01-03'
  cools no longer | - | usable_after = null | usable_after = null, ${REVOKED}
  cools no longer on one chain | chain_id = null | chain_id = 2, usable_after = null
  cools | usable_after = null | - | usable_after = '2030-01-01'
policies | auto_approve_policies | ${policy()}
  on | is_active = false | is_active = true | max_amount_per_request = ${MORE}
  off | - | - | is_active = false, max_amount_per_request = ${MORE}
  of another client | - | client_id = '${OTHER}'
  of another strategy | - | strategy_id = 'beta'
  ${limit('max_amount_per_request')}
  ${limit('max_amount_per_window')}
  ${limit('max_count_per_window', '11')}
  another window | - | window_hours = 23 | window_hours = 25
  no window | ${NO_LIMITS} | window_hours = null
  a window | ${NO_LIMITS}, window_hours = null | - | window_hours = 1
  another asset | - | allowed_assets = '{USDC,WETH}' | allowed_assets = '{}'
  another template | - | allowed_templates = '${TWO}' | allowed_templates = '[]'
  another version | - | allowed_templates = '${NEXT}'
  every version | - | allowed_templates = '${ANY}'
  one version | allowed_templates = '${ANY}' | - | allowed_templates = '${ONE}'
  one of two templates | allowed_templates = '${TWO}' | - | allowed_templates = '${ONE}'
templates | plan_templates | UPDATE plan_templates SET ${CAP} WHERE ${OWN} | ${OWN}
  on | auto_approve_enabled = false | auto_approve_enabled = true | daily_cap_amount = null
  off | - | - | auto_approve_enabled = false, daily_cap_amount = ${MORE}
  a higher cap | - | daily_cap_amount = ${MORE} | daily_cap_amount = 9
  a cap in another asset | - | daily_cap_asset = 'WETH' | auto_approve_enabled = false
templates | template_proposals | ${PROPOSED}
  promoted | - | ${promoted('admin', KNOWN)} | ${promoted('auto', KNOWN)}
executors | executors | ${EXECUTOR}
  on | status = 'disabled' | status = 'active' | health_state = 'up'
  off | - | - | status = 'disabled'
signers | signers | ${SIGNERS} | signer_key = 'one'
  on | status = 'disabled' | status = 'active' | status = 'retired'
  on once deprecated | status = 'deprecated' | status = 'active' | status = 'disabled'
  on once retired | status = 'retired' | status = 'active' | status = 'disabled'
  another address | - | expected_signer_address = 'b' | status = 'disabled'
  any address | - | expected_signer_address = null | observed_signer_address = 'b'
  an address | expected_signer_address = null | expected_signer_address = 'b'
  a successor | - | replaced_by = 'two' | known_addresses = '{a}'
  no successor | replaced_by = 'two' | replaced_by = null
signers | nonce_lanes | ${LANE}
  a raise | - | ${raise(1, null)} | next_nonce = 2, mined_count = 1
  a raise of the other cap | - | ${raise(null, 1)} | ${OVER}
  a higher cost | ${RAISED} | ${raise(11, 10)} | ${raise(9, 10)}
  a higher fee | ${RAISED} | ${raise(10, 11)} | ${raise(10, null)}
  a longer one | ${RAISED} | ${raise(10, 10, '2100-01-02')} | ${raise(10, 10, '2099-01-01')}
  one for the other cap | ${raise(10, null)} | ${raise(10, 1)}
  one that is over | ${OVER} | ${raise(1, null)} | cap_raised_until = svc_now()
  the raise of another lane | ${RAISED} | address = 'b' | cap_raise = null, cap_raised_until = null
bridge | bridge_chains | ${NEAR}
  another name | - | chain = 'other' | facts = '{"a": 1}', snapshot_version = 1
  another endpoint | - | endpoint_identity = '3:C' | ${STALE}
  another finality | - | finality_age_seconds = 899 | finality_age_seconds = 901
bridge | bridge_paths | ${CHAINS}; ${PATH}
  on | enabled = false | enabled = true | disabled_reason = 'x'
  off | - | - | enabled = false
  another source | - | src_chain = 'third'
  another destination | - | dst_chain = 'third'
  another asset | - | asset = 'WETH'
  a drill | - | ${DRILLED} | operator_label = 'x'
  another drill | ${DRILLED} | last_drill_pass_at = now()
  no drill | ${DRILLED} | - | last_drill_pass_at = null, last_drill_evidence_path = null
  slower | - | expected_latency_seconds = 61 | expected_latency_seconds = 59
  seen later | - | detection_latency_budget_seconds = 61 | detection_latency_budget_seconds = 59
  dearer | - | fee_native_budget = ${MORE} | fee_native_budget = 9
perps | perp_master | ${MASTER}
  another account | - | master_address = 'n'
  another signer | - | signer_key = 't'
  another network | - | network = 'mainnet'
perps | perp_bindings | ${BINDING}
  unpaused | paused = true | paused = false | pause_reason = 'x'
  paused | - | - | paused = true, paused_changed_at = now()
  another sub-account | - | sub_account_address = 't'
  no sub-account | - | sub_account_address = null
  ${limit('max_agent_balance')}
cutover | cutover |
  frozen to drain | mode = 'frozen' | mode = 'drain' | reason = 'x'
  frozen to normal | mode = 'frozen' | mode = 'normal'
  drain to normal | mode = 'drain' | mode = 'normal' | mode = 'frozen'
  normal to drain | - | - | mode = 'drain'
  normal to frozen | - | - | mode = 'frozen'
keys | agent_authorities | ${AUTHORITY}
  another amount | - | max_notional = ${MORE} | max_notional = 9
  an amount | max_notional = null | max_notional = 1 | updated_at = '2030-01-01'
  no amount | - | - | max_notional = null
  ${limit('max_ttl_seconds', '11')}
  another asset | - | allowed_assets = '{USDC,WETH}' | allowed_assets = '{}'
  another chain | - | allowed_chains = '{near,far}' | allowed_chains = '{}'
`;

function updates(): Case[] {
  let [kind, table = '', rows = '', which = 'true']: string[] = [];
  return UPDATES.split('\n').flatMap((line) => {
    const parts = line.split('|').map((part) => part.trim());
    if (parts.length === 1) return [];
    if (!line.startsWith(' ')) {
      [kind, table = '', rows = '', which = 'true'] = parts;
      return [];
    }
    const [title = '', before, widens, narrows] = parts;
    const set = (what = '-'): string | undefined =>
      what === '-' ? undefined : `UPDATE ${table} SET ${what} WHERE ${which}`;
    const setUp = `${rows}; ${set(before) ?? ''}`;
    return [added(kind as Kind, `${table} ${title}`, setUp, set(widens), set(narrows))];
  });
}

const CASES: readonly Case[] = [
  ...ADDED,
  ...TRANSFERS.map(([title, when, other]) => ({
    ...added('capital_transfer', title, '', transfer(), other && transfer(other)),
    when,
  })),
  ...updates(),
];

/** The cases that have such a statement, each with its title first. */
const casesThat = (does: 'widens' | 'narrows') =>
  CASES.flatMap((each) => {
    const change = each[does];
    return change === undefined ? [] : [[`${each.kind}: ${each.title}`, each, change] as const];
  });
const kindsBut = (...kinds: readonly (Kind | undefined)[]) =>
  APPLIES_TO.filter((kind) => !kinds.includes(kind));

test.each(casesThat('widens'))('waits for people: %s', async (_title, each, change) => {
  const { kind, setUp, when, also } = each;
  const kinds = also === undefined ? [kind] : [also, kind];
  expect(await refusalOf(setUp, [ruleOf(kind, when)], change)).toMatchObject({ kinds });
  const others = kindsBut(...kinds).map((other) => ruleOf(other));
  expect(await refusalOf(setUp, others, change)).toBeNull();
});

test.each(casesThat('narrows'))('goes at once beside: %s', async (_title, each, change) => {
  const { kind, setUp, when, also } = each;
  const rules = kindsBut(also).map((other) => ruleOf(other, other === kind ? when : {}));
  expect(await refusalOf(setUp, rules, change)).toBeNull();
});

test('a request names the row, with what belongs to it and without what is secret', async () => {
  const setUp = `${TEMPLATES}; ${policy(`allowed_templates=${ANY}`)}`;
  const made = await refusalOf(setUp, [ruleOf('templates')], PAY);
  expect(made).toMatchObject({
    ...{ kinds: ['templates', 'policies'], subject: 'plan_template_versions', before: null },
    after: {
      ...{ template_key: 'acme/pay', version: '2' },
      nodes: ['pay', 'look'].map((node_key) => ({
        ...{ node_key, action_type: `acme_${node_key}`, config: CONFIG },
      })),
      edges: [{ from_key: 'pay', to_key: 'look', edge_type: 'on_success' }],
    },
  });
  // Ids and times differ at each try, and so does the number of an agent's version.
  expect(JSON.stringify(made)).not.toMatch(/"(template_id|id|created_at)":/);
  const proposed = await refusalOf(setUp, [ruleOf('templates')], version('agent/pay'));
  expect(proposed?.after).not.toHaveProperty('version');

  const issued = await refusalOf(`${CLIENT}; ${AUTHORITY}`, [ruleOf('keys')], AGENT_KEY);
  expect(issued).toMatchObject({
    ...{ kinds: ['keys'], subject: 'api_client_keys', before: null },
    after: {
      ...{ key_id: 'k', role: 'agent', client_name: 'desk' },
      authority: {
        ...{ namespace: 'agent/bot', max_notional: '10.000000000000000000' },
        ...{ max_ttl_seconds: '10', allowed_assets: ['USDC'], allowed_chains: ['near'] },
      },
    },
  });
  expect(issued?.after).not.toHaveProperty('secret');
  expect(JSON.stringify(issued)).not.toContain(SECRET);
});

test('a request names the row before and after, with all digits of its numbers', async () => {
  const raise = `UPDATE auto_approve_policies SET max_amount_per_request = ${MORE},
    updated_at = '2030-01-01'`;
  const raised = await refusalOf(policy(), [ruleOf('policies')], raise);
  const before = raised?.before ?? {};
  expect(before).toMatchObject({
    ...{ max_amount_per_request: '10.000000000000000000', window_hours: '24', is_active: true },
    ...{ client_id: ID, strategy_id: 'alpha', allowed_assets: ['USDC'] },
  });
  expect(before).not.toHaveProperty('policy_id');
  expect(raised).toEqual({
    ...{ kinds: ['policies'], subject: 'auto_approve_policies', before },
    after: { ...before, max_amount_per_request: MORE },
  });
});

/** Table, name, event, kind, and the columns that a request leaves out. */
const TRIGGERS = `
agent_authorities authority_needs_people UPDATE keys
allowed_addresses address_cools_need_people UPDATE allowlist id
allowed_addresses address_needs_people UPDATE allowlist id,usable_after
allowed_addresses new_address_needs_people INSERT allowlist id,usable_after
api_client_keys key_needs_people INSERT keys client_id,secret
auto_approve_policies new_policy_needs_people INSERT policies policy_id
auto_approve_policies policy_needs_people UPDATE policies policy_id
bridge_chains chain_needs_people UPDATE bridge stale_detected_at,snapshot_at,snapshot_version
bridge_chains new_chain_needs_people INSERT bridge stale_detected_at
bridge_paths new_path_needs_people INSERT bridge
bridge_paths path_needs_people UPDATE bridge last_drill_pass_at
capital_transfers transfer_needs_people INSERT capital_transfer
  transfer_id,claimed_until,callback_url,request
cutover cutover_needs_people UPDATE cutover changed_at,changed_by,previous_mode
dashboard_keys operator_needs_people INSERT keys key_id,code_hash,code_until
executors executor_needs_people UPDATE executors
  health_state,health_checked_at,health_by,health_stands_until
nonce_lanes lane_needs_people UPDATE signers
  next_nonce,unproven_from,mined_count,final_count,seen_at,tended_until,stuck_nonce,stuck_why,stuck_since
nonce_lanes new_lane_needs_people INSERT signers
  next_nonce,unproven_from,mined_count,final_count,seen_at,tended_until,stuck_nonce,stuck_why,stuck_since
passkeys passkey_needs_people INSERT keys enrolled_at
perp_agent_wallets wallet_needs_people INSERT perps wallet_id,valid_until,next_look_at
perp_bindings binding_needs_people UPDATE perps paused_changed_at
perp_bindings new_binding_needs_people INSERT perps
perp_master master_needs_people INSERT OR UPDATE perps
plan_template_versions version_needs_people INSERT templates template_id
plan_templates new_template_needs_people INSERT templates
plan_templates template_needs_people UPDATE templates
signers signer_needs_people UPDATE signers observed_at
template_proposals promotion_needs_people UPDATE templates template_id
`;

test('no trigger goes, is switched off or leaves out another column unnoticed', async () => {
  const found = await bench.sql<{ line: string }>(
    `SELECT trim(concat_ws(' ', tgrelid::regclass::text, tgname::text,
       CASE tgtype & 20 WHEN 4 THEN 'INSERT' WHEN 16 THEN 'UPDATE' ELSE 'INSERT OR UPDATE' END,
       replace(encode(tgargs, 'escape'), '\\000', ' '))) AS line
     FROM pg_trigger WHERE tgfoid = 'require_change'::regproc
       AND tgenabled = 'O' AND tgdeferrable AND tginitdeferred`,
  );
  const written = TRIGGERS.trim().replaceAll('\n ', '').split('\n');
  expect(found.map(({ line }) => line).sort()).toEqual(written);
});

test('a statement by itself is refused as well, and then nothing is written', async () => {
  const rows = () => bench.sql('SELECT id::text FROM allowed_addresses');
  await bench.sql(INSERT_RULE, 'allowlist', JSON.stringify(ruleOf('allowlist')));
  await expect(bench.sql(address())).rejects.toThrow('FM023');
  expect(await rows()).toEqual([]);
  await bench.sql('DELETE FROM approval_rules');
  await bench.sql(address());
  expect(await rows()).toEqual([{ id: ID }]);
});
