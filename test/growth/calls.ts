/**
 * Everything that the API and the loops behind it ask of the database: every route with each of its
 * filters, and every function of the store that runs without a caller.
 */
import { randomUUID } from 'node:crypto';
import { encodeCursor } from '../../api/http/paging.ts';
import { LARGEST_SKEW_SECONDS } from '../../platform/config/settings.ts';
import { tokenHash } from '../../platform/one-time.ts';
import type { Database } from '../../prisma/client.ts';
import { readListed } from '../../store/allowlist.ts';
import { noteAttention, readEndedBadly, readReasonsForRuns } from '../../store/attention.ts';
import { BEGINNING, readHead, readUnsealed } from '../../store/audit-seals.ts';
import { writeAuditOnce } from '../../store/audit.ts';
import { readFreeFacts } from '../../store/auto-approve.ts';
import { refreshBalances } from '../../store/balances.ts';
import { readBridgeRegistry, readPathFacts } from '../../store/bridge-registry.ts';
import { claimCallbacks, settleCallback } from '../../store/callbacks.ts';
import {
  claimTransfers,
  loadTransfer,
  readTransferRow,
  wakeTransfer,
} from '../../store/capital-transfers.ts';
import { noteClock } from '../../store/clock.ts';
import { claimCommands, keepCommands, noteTaken, writeWake } from '../../store/commands.ts';
import { readDue } from '../../store/due.ts';
import { dropOldSessions, openSession, useSession } from '../../store/dashboard-sessions.ts';
import { fillKey, readEnrolment, readOperatorKey } from '../../store/dashboard-keys.ts';
import { foldCounts } from '../../store/counts.ts';
import { readConsoleEvents, removeConsoleEvents } from '../../store/console-events.ts';
import { readConditionScope } from '../../store/conditions.ts';
import { readCutover } from '../../store/cutover.ts';
import { readOpenOfAgent } from '../../store/movement-reads.ts';
import { readDatabaseRole } from '../../store/database-role.ts';
import { readTransactions, readUnknownNonces } from '../../store/evm-transactions.ts';
import { readSealedSecret } from '../../store/keys.ts';
import { noteLane, takeLanes } from '../../store/lanes.ts';
import { noteLateLook, takeLateLooks } from '../../store/late-looks.ts';
import { returnLeases, takeLeases } from '../../store/leases.ts';
import { createRequestDesk } from '../../store/request-desk.ts';
import { readFigures } from '../../store/metrics.ts';
import { readPerpTerms } from '../../store/perp-terms.ts';
import {
  loadMovement,
  noteNextLook,
  readEnd,
  readMovementView,
  readPhase,
  readPlanNodes,
  takeOver,
} from '../../store/phases.ts';
import { ping } from '../../store/ping.ts';
import { noteAgentWallet, takeAgentWallets } from '../../store/perp-venue.ts';
import {
  createProposal,
  expireDue,
  readGrant,
  readProposalKeyUse,
  type NewProposal,
} from '../../store/proposals.ts';
import { clearOrphans } from '../../store/registry.ts';
import {
  answerLooks,
  forgetLook,
  readLookAnswer,
  requestLook,
  takeLooks,
} from '../../store/requested-looks.ts';
import {
  dropOldNonces,
  takeCountedNonces,
  takeNonce,
  takeNonces,
} from '../../store/request-nonces.ts';
import { readNewestRestore } from '../../store/restore.ts';
import { noteClockWait } from '../../store/transfer-clock-waits.ts';
import { dropOldCallbacks, dropOldCommands } from '../../store/retention.ts';
import {
  FIRST_ID,
  noteStuckRuns,
  readSuspects,
  removeStuckRuns,
  renewStuckRuns,
} from '../../store/stuck-runs.ts';
import {
  claimIdle,
  countOpen,
  listOpen,
  listOpenTransfers,
  listUnwoken,
  listWaiting,
  noteSwept,
  readTraceParent,
  returnWaitingTurn,
  takeWaitingTurn,
} from '../../store/sweeps.ts';
import { SEEDED } from './seed.ts';
import { MOVEMENT, TEMPLATE, type Request, type CallerName, type World } from './world.ts';

/** Rows of a seeded database that calls are about. */
export interface Samples {
  /** Of the middle of all, in time. */
  readonly movement_id: string;
  readonly at: string;
  readonly template_id: string;
  readonly policy_id: string;
  readonly transfer_id: string;
  readonly event_id: string;
  readonly proposal_id: string;
  /** Movements that wait for an approval. */
  readonly waiting: readonly { readonly movement_id: string; readonly hash: string }[];
  /** Movements with a node `n1` that is being observed. */
  readonly running: readonly string[];
  readonly dead: readonly string[];
}

export interface Call {
  readonly name: string;
  /** The route's id, or null for what no caller asks. */
  readonly route: string | null;
  /** Functions of the store that it stands for. */
  readonly store: readonly string[];
  readonly query: readonly string[];
  /** How long it takes is compared with a small database. */
  readonly measured: boolean;
  /** Rows that one step of a plan may read, where the call does not return a page of rows. */
  readonly rows?: number;
  /** Pages of 8 kB that one statement may touch, where it is more than for a page of rows. */
  readonly blocks?: number;
  run(world: World, db: Database, samples: Samples, turn: number): Promise<unknown>;
}

/** Finds them by the way that the seed made them. */
export async function samplesOf(db: Database): Promise<Samples> {
  const one = async <Row>(rows: Promise<Row[]>): Promise<Row> => {
    const [row] = await rows;
    if (row === undefined) throw new Error('the database is not seeded');
    return row;
  };
  const middle = await one(
    db.sql<{ movement_id: string; at: Date; template_id: string }>`
      SELECT movement_id, created_at AS at, template_id FROM movements
      WHERE request_state = 'COMPLETED' AND created_at >= (SELECT min(created_at)
        + (max(created_at) - min(created_at)) / 2 FROM movements) ORDER BY created_at LIMIT 1`,
  );
  const transfer = await one(
    db.sql<{ transfer_id: string }>`SELECT transfer_id FROM capital_transfers LIMIT 1`,
  );
  const proposal = await one(
    db.sql<{ id: string }>`SELECT proposal_id::text AS id FROM template_proposals LIMIT 1`,
  );
  const callback = await one(db.sql<{ event_id: string }>`SELECT event_id FROM callbacks LIMIT 1`);
  const policy = await one(
    db.sql<{ policy_id: string }>`
      SELECT policy_id FROM auto_approve_policies WHERE strategy_id = ${SEEDED.strategy}`,
  );
  const waiting = await db.sql<{ movement_id: string; hash: string }>`
    SELECT movement_id, compiled_plan_hash AS hash
    FROM movements JOIN movement_plans USING (movement_id)
    WHERE request_state = 'PENDING_APPROVAL' AND ended_at IS NULL
      AND expires_at > now() + interval '1 hour' ORDER BY created_at DESC LIMIT 60`;
  const running = await db.sql<{ movement_id: string }>`
    SELECT movement_id FROM movements WHERE request_state = 'EXECUTING' LIMIT 20`;
  const dead = await db.sql<{ event_id: string }>`
    SELECT event_id FROM callbacks WHERE status = 'dead_letter' LIMIT 20`;
  return {
    movement_id: middle.movement_id,
    at: middle.at.toISOString(),
    template_id: middle.template_id,
    policy_id: policy.policy_id,
    transfer_id: transfer.transfer_id,
    event_id: callback.event_id,
    proposal_id: proposal.id,
    waiting,
    running: running.map((row) => row.movement_id),
    dead: dead.map((row) => row.event_id),
  };
}

const PROPOSAL: NewProposal = {
  authority_key: SEEDED.agent,
  proposal_kind: 'ephemeral',
  asset: 'USDC',
  requested_notional: '6',
  ttl_seconds: 60,
  request: {},
  bridge_attempt: false,
  client_scope: 'growth',
  idempotency_key: null,
  created_by: {},
  decided: {
    status: 'auto_promoted',
    reasons: [],
    max_amount: '6',
    plan_digest: 'plan-3',
    template_key: `${SEEDED.agentNamespace}/pay`,
    template: {
      template_key: `${SEEDED.agentNamespace}/pay`,
      name: 'growth',
      owner: null,
      nodes: [],
      edges: [],
      graph_shape: 'linear',
      approval_policy: {},
      risk_controls: {},
      completion_policy: { completion_assurance: 'provider_completed' },
      created_by: null,
      audit: () => [],
    },
  },
  limits: { max_notional: null, allowed_assets: [], allowed_chains: [], max_ttl_seconds: null },
  audit: () => [],
};

const CHAIN_REGISTRY = '/bridge-c/chain-registry';
const PATH_BASELINES = '/bridge-c/path-baselines';
const PERP_BINDING = `/perp-venue/strategy-bindings/${SEEDED.strategy}`;

type PathOf = (samples: Samples, turn: number) => string;
type Filters = Readonly<Record<string, string | ((samples: Samples) => string)>>;

/** A route that reads; one call for each way of asking. */
function get(
  route: string,
  path: string | PathOf,
  ways: readonly Filters[] = [{}],
  caller: CallerName = 'admin',
): readonly Call[] {
  return ways.map((filters) => {
    const names = Object.keys(filters).map((name) => name.replace(/\..*/, ''));
    const set = Object.entries(filters).map(([name, value]) =>
      typeof value === 'string' ? `${name}=${value}` : name,
    );
    return {
      name: [caller === 'admin' ? route : `${route} of an agent`, ...set].join(' '),
      route,
      store: [],
      query: names,
      measured: true,
      run: (world, _db, samples, turn) => {
        const values = Object.entries(filters).map(([name, value]): [string, string] => [
          name,
          typeof value === 'string' ? value : value(samples),
        ]);
        const query = new URLSearchParams(values).toString();
        const base = typeof path === 'string' ? path : path(samples, turn);
        return world.ask({ caller, path: query === '' ? base : `${base}?${query}` });
      },
    };
  });
}

/** A route that writes, or whose question is a body. */
function send(
  route: string,
  input: (samples: Samples, turn: number) => Request & { readonly method?: string },
  measured = false,
): Call {
  return {
    name: route,
    route,
    store: [],
    query: [],
    measured,
    run: (world, _db, samples, turn) => world.ask({ method: 'POST', ...input(samples, turn) }),
  };
}

/** What a loop, an activity or the operations page asks. */
function own(
  names: string | readonly string[],
  run: (db: Database, samples: Samples, turn: number) => Promise<unknown>,
  measured = false,
): Call {
  const store = typeof names === 'string' ? [names] : names;
  return {
    name: store.join(' and '),
    route: null,
    store,
    query: [],
    measured,
    run: (_world, db, samples, turn) => run(db, samples, turn),
  };
}

const cursor = ({ at, movement_id }: Samples): string =>
  encodeCursor({ created_at: at, id: movement_id });
const MIDDLE: Filters = { cursor };
const PAGE: Filters = { limit: '50' };
const SPAN: Filters = { created_from: () => '2000-01-01T00:00:00Z', created_to: ({ at }) => at };

const movement: PathOf = ({ movement_id }) => `/movements/${movement_id}`;
const transfer: PathOf = ({ transfer_id }) => `/capital-transfers/${transfer_id}`;
/** The n-th movement that waits, so that no two calls want the same one. */
const waiting = ({ waiting: all }: Samples, nth: number): Samples['waiting'][number] => {
  const found = all[nth % all.length];
  if (found === undefined) throw new Error('no movement waits');
  return found;
};
const running = ({ running: all }: Samples, nth: number): string => all[nth % all.length] ?? '';

const AUDIT: readonly Filters[] = [
  PAGE,
  MIDDLE,
  { time_range_start: ({ at }) => at, time_range_end: () => new Date().toISOString() },
  { actor_client_id: SEEDED.client },
  { actor_client_id: '00000000-0000-4000-8000-000000000000' },
  { actor_key_id: 'key-1' },
  { entity_type: 'movement' },
  { entity_type: 'movement', entity_key: ({ movement_id }) => movement_id },
  { entity_key: SEEDED.rareEntity },
  { action: 'movement.create' },
  { action: 'executor.update_status' },
  { request_id: 'request-1' },
  { outcome: 'denied' },
  { outcome: 'success' },
  { namespace: SEEDED.agentNamespace },
];

/** Every call. Those that write stand behind those that are measured. */
export const CALLS: readonly Call[] = [
  ...get('listMovements', '/movements', [
    PAGE,
    MIDDLE,
    SPAN,
    { external_reference: 'none' },
    { external_reference: 'none', asset: 'USDC' },
    { 'metadata.desk': 'emea' },
    { 'metadata.desk': 'emea', cursor },
    { 'metadata.desk': 'none', asset: 'USDC' },
    { 'metadata.desk': 'emea', 'metadata.run': SEEDED.rareEntity, asset: 'USDC' },
    { 'metadata.desk': 'emea', needs_attention: 'true' },
    { 'metadata.desk': 'emea', external_reference: 'none' },
    { state: 'COMPLETED' },
    { state: 'FAILED', cursor },
    { state: 'EXPIRED' },
    { strategy_id: SEEDED.strategy },
    { strategy_id: SEEDED.rareStrategy },
    { template_key: 'growth/t3' },
    { template_key: 'growth/none' },
    { asset: 'USDC' },
    { asset: 'USDC', cursor },
    { asset: SEEDED.rareAsset },
    { asset: SEEDED.otherAsset },
    { asset: 'NONE' },
    { needs_attention: 'true' },
    { needs_attention: 'true', cursor },
  ]),
  ...get('getAuditSeal', '/audit/seal'),
  ...get('searchAll', '/search', [
    { q: ({ movement_id }) => movement_id },
    { q: ({ transfer_id }) => transfer_id },
    { q: ({ proposal_id }) => proposal_id },
    { q: `0x${'7'.padStart(64, '0')}` },
    { q: '0x00000000000000000000000000000000000000aa' },
    { q: 'none' },
  ]),
  ...get('searchAll', '/search', [{ q: ({ movement_id }) => movement_id }, { q: 'none' }], 'agent'),
  // No open movement has failed, which is known only after the last of them.
  ...get('listMovements', '/movements', [{ needs_attention: 'true', state: 'FAILED' }]).map(
    (call) => ({ ...call, rows: 2_500 }),
  ),
  // Nor has one of the open ones the pair; as above, all that are open are read, and no more.
  ...get('listMovements', '/movements', [
    { 'metadata.run': SEEDED.rareEntity, needs_attention: 'true' },
  ]).map((call) => ({ ...call, rows: 2_500, measured: false })),
  ...get('listMovements', '/movements', [PAGE, MIDDLE, { state: 'FAILED' }], 'agent'),
  ...get('getMovement', movement),
  ...get('getMovementPlan', (samples) => `${movement(samples, 0)}/plan`),
  ...get('getMovementTimeline', (samples) => `${movement(samples, 0)}/timeline`),
  ...get('getMovementGraph', (samples) => `${movement(samples, 0)}/graph`, [{ format: 'mermaid' }]),
  ...get('getPlanTemplateGraph', ({ template_id }) => `/plan-templates/${template_id}/graph`, [
    { format: 'json' },
  ]),
  ...get('listPlanTemplates', '/plan-templates', [
    PAGE,
    SPAN,
    { template_key: 'growth/t3' },
    { executable: 'true', cursor },
    { status: 'retired' },
  ]),
  ...get('getPlanTemplate', ({ template_id }) => `/plan-templates/${template_id}`),
  ...get('listRoutes', '/route-catalog', [{ include_health: 'true', status: 'all' }]),
  send(
    'recommendRoutes',
    () => ({ path: '/routes/recommend', body: { asset: 'USDC', amount: '3' } }),
    true,
  ),
  ...get('listExecutors', '/executors'),
  ...get('listSigners', '/signers'),
  ...get('getCutoverMode', '/admin/cutover-mode'),
  ...get('listBalances', '/balances', [
    {},
    { venue_key: 'venue-3', asset: 'USDC', account_type: 'SPOT', fresh: 'true' },
  ]),
  ...get('listCapitalTransfers', '/capital-transfers', [
    PAGE,
    MIDDLE,
    SPAN,
    { state: 'COMPLETED' },
    { state: 'FAILED' },
    { strategy_id: SEEDED.strategy },
    { strategy_id: SEEDED.rareStrategy },
    { source_venue: 'venue-5' },
    { source_venue: SEEDED.rareEntity },
    { destination_venue: SEEDED.rareEntity },
    { asset: 'USDC' },
    { asset: SEEDED.rareAsset },
    { needs_attention: 'true' },
    { needs_attention: 'true', cursor },
  ]),
  ...get('getCapitalTransfer', transfer),
  ...get('getCapitalTransferTimeline', (samples) => `${transfer(samples, 0)}/timeline`),
  ...get('listAutoApprovePolicies', '/auto-approve-policies'),
  ...get('getAutoApprovePolicy', ({ policy_id }) => `/auto-approve-policies/${policy_id}`),
  ...get('getBudget', `/budgets/${SEEDED.strategy}`, [{}, { client_id: SEEDED.client }]),
  ...get('listPeople', '/people'),
  ...get('listApproverGroups', '/approver-groups'),
  ...get('listApprovalRules', '/approval-rules'),
  ...get('listPasskeys', '/passkeys'),
  ...get('listMovementApprovers', ({ movement_id }) => `/movements/${movement_id}/approvers`),
  // Requests of people, of which the seed makes none.
  ...get('listChangeRequests', '/change-requests', [
    PAGE,
    MIDDLE,
    SPAN,
    { state: 'open', kind: 'allowlist' },
    { break_glass: 'true' },
  ]),
  ...get('listCallbacks', '/callbacks', [
    PAGE,
    MIDDLE,
    SPAN,
    { status: 'delivered' },
    { status: 'dead_letter' },
    { status: 'pending' },
    { movement_id: ({ movement_id }) => movement_id },
    { transfer_id: ({ transfer_id }) => transfer_id },
    { webhook: 'desk' },
  ]),
  ...get('listAuditEvents', '/audit/events', AUDIT),
  // Two conditions at once: what one of them has is read.
  ...get('listRegistryAudit', '/registry/audit', [
    ...AUDIT.filter((each) => each['entity_type'] === undefined),
    { entity_type: 'executor' },
  ]).map((call, index) => (index === 0 ? call : { ...call, rows: 25_000 })),
  ...get('getAgentAuthority', `/agent-authorities/${SEEDED.agent}`),
  ...get('listTemplateProposals', '/template-proposals', [
    PAGE,
    MIDDLE,
    SPAN,
    { status: 'submitted' },
    { authority_key: SEEDED.agent, status: 'expired' },
  ]),
  ...get('getTemplateProposal', ({ proposal_id }) => `/template-proposals/${proposal_id}`),
  ...get('whoami', '/whoami'),
  ...get('getSignerRotationHistory', '/admin/signers/signer-1/rotation-history'),
  ...get('listBridgeChains', CHAIN_REGISTRY),
  ...get('getBridgeChain', `${CHAIN_REGISTRY}/chain-7`),
  ...get('listPathBaselines', PATH_BASELINES),
  ...get('getPathBaseline', `${PATH_BASELINES}/chain-1/chain-2/USDC`),
  ...get('getStrategyBinding', PERP_BINDING),
  ...get('listAgentWallets', `${PERP_BINDING}/agent-wallets`),
  ...get('getEmergencyState', `${PERP_BINDING}/emergency-state`),
  ...get('getEmergencyState', `${PERP_BINDING}/emergency-state`, [{}], 'agent'),
  own('readFigures', (db) => readFigures(db, 300), true),

  // What the loops of every worker ask, every second or more often.
  own('readDue', (db) => readDue(db)),
  // With what is claimed it counts what is open, as far as it makes leases longer.
  own(['claimCommands', 'keepCommands', 'noteTaken'], async (db) => {
    const due = await claimCommands(db, 50);
    // All that were due are leased from the first turn on.
    const ids = [...due.map(({ command_id }) => command_id), randomUUID()];
    await keepCommands(db, ids, 5);
    await noteTaken(db, ids);
  }),
  own(['takeWaitingTurn', 'returnWaitingTurn', 'listWaiting'], async (db) => {
    const turn = await takeWaitingTurn(db, 0);
    if (turn === null) throw new Error('no turn was due');
    await returnWaitingTurn(db, turn, 0);
    const { next } = await listWaiting(db, null, { idleSeconds: 30, limit: 200 });
    await listWaiting(db, next, { idleSeconds: 30, limit: 200 });
  }),
  // It counts all that are open, from an index alone.
  { ...own('countOpen', countOpen), rows: 2_500 },
  own('listOpen', async (db) => {
    const { next } = await listOpen(db, null, 200);
    await listOpen(db, next, 200);
  }),
  own('listOpenTransfers', listOpenTransfers),
  own('writeWake', (db, samples, turn) => writeWake(db, running(samples, turn))),
  own('wakeTransfer', (db, { transfer_id }) => wakeTransfer(db, transfer_id)),
  own('readNewestRestore', (db) => readNewestRestore(db)),
  own('claimIdle', (db) => claimIdle(db, { idleSeconds: 30, limit: 50 })),
  own('listUnwoken', (db) => listUnwoken(db, { idleSeconds: 30, limit: 50 })),
  own(['readSuspects', 'noteStuckRuns', 'removeStuckRuns'], async (db, samples, turn) => {
    const after = { unread: FIRST_ID, known: FIRST_ID };
    const { at } = await readSuspects(db, after, { seconds: 60, limit: 100 });
    const id = running(samples, turn);
    const stuck = {
      kind: 'movement',
      id,
      run_id: 'r',
      cause: 'task_fails',
      message: null,
    } as const;
    await noteStuckRuns(db, at, [stuck]);
    const later = await readSuspects(db, after, { seconds: 60, limit: 100 });
    await removeStuckRuns(db, later.at, [id]);
  }),
  own('noteClock', (db) => noteClock(db)),
  own('renewStuckRuns', (db) => renewStuckRuns(db, new Date().toISOString())),
  own('noteSwept', (db, samples, turn) =>
    noteSwept(db, [
      {
        movement_id: running(samples, turn),
        xmin: '1',
        strategy_id: 'treasury',
        asset: 'USDC',
        amount: '1',
        template_key: 'growth/t3',
      },
    ]),
  ),
  own('readTraceParent', (db, samples, turn) => readTraceParent(db, running(samples, turn))),
  own('claimTransfers', (db) => claimTransfers(db, { idleSeconds: 30, limit: 50 })),
  own(['claimCallbacks', 'settleCallback'], async (db) => {
    const [first] = await claimCallbacks(db, { limit: 2, leaseSeconds: 0 });
    const { event_id = '', movement_id = null, attempts = 0 } = first ?? {};
    if (movement_id === null) throw new Error('no callback of a movement was due');
    await settleCallback(db, {
      event_id,
      movement_id,
      seen_attempts: attempts,
      attempts: attempts + 1,
      status: 'delivered',
      last_error: null,
      timeline: [],
    });
    await claimCallbacks(db, { limit: 1, leaseSeconds: 0, movementId: movement_id });
  }),
  // It reads all open movements: each must be read to know its reason.
  {
    ...own('readReasonsForRuns', (db) => readReasonsForRuns(db, 5_000)),
    rows: 2_500,
    blocks: 60_000,
  },
  // It looks at all that ended badly within a week, up to its limit.
  { ...own('readEndedBadly', (db) => readEndedBadly(db, 5_000)), rows: 2_500, blocks: 50_000 },
  // With what that may have read; one change is one row by its key.
  own('noteAttention', (db, { movement_id }) =>
    noteAttention(
      db,
      new Map([[movement_id, { reason: 'observed_long', node_key: 'n1' }]]),
      new Map([[movement_id, { state: 'CANCELLED', reason: 'failed' }]]),
    ),
  ),
  {
    // It looks at so many rows at a time, whether or not they are sealed.
    ...own(['readHead', 'readUnsealed'], async (db) => {
      await readHead(db);
      await readUnsealed(db, { newest_seconds: 30 }, { limit: 500, scan: 1_000 });
      await readUnsealed(db, { newest_seconds: 3_600 }, { limit: 500, scan: 1_000 });
      await readUnsealed(db, BEGINNING, { limit: 500, scan: 1_000 });
    }),
    rows: 1_500,
  },
  own(['foldCounts'], (db) => foldCounts(db, 10_000)),
  own('dropOldNonces', (db) =>
    dropOldNonces(db, { keepSeconds: 2 * LARGEST_SKEW_SECONDS + 60, atMost: 5_000 }),
  ),
  own('dropOldCommands', (db) => dropOldCommands(db, { keepDays: 30, atMost: 1_000 })),
  own('removeConsoleEvents', (db) =>
    removeConsoleEvents(db, { keepSeconds: 3_600, atMost: 1_000 }),
  ),
  own('readConsoleEvents', async (db) => {
    const { position } = await readConsoleEvents(db, null, 1);
    await readConsoleEvents(db, { ...position, xid: 0n }, 1_000);
  }),
  own('dropOldCallbacks', (db) => dropOldCallbacks(db, { keepDays: 365, atMost: 1_000 })),
  own('dropOldSessions', (db) => dropOldSessions(db, { keepDays: 30, atMost: 1_000 })),
  own(['takeLateLooks', 'noteLateLook'], async (db, { movement_id }) => {
    await takeLateLooks(db, {
      called: ['executor-1'],
      followed: ['executor-2'],
      pauseSeconds: 60,
      limit: 50,
    });
    const node = { movement_id, node_key: 'n1', attempt: 1, epoch: 1 };
    for (const outcome of ['unsettled', 'open', 'answered'] as const)
      await noteLateLook(db, node, outcome, 60);
  }),
  own(['takeLanes', 'noteLane'], async (db) => {
    const [lane] = await takeLanes(db, 0, 200);
    if (lane === undefined) throw new Error('no lane has open claims');
    const { chain_id, address, claims } = lane;
    const [oldest] = claims;
    await noteLane(db, {
      chain_id,
      address,
      mined: oldest?.nonce ?? 0,
      final: 0,
      settled: [{ transaction_id: oldest?.transaction_id ?? '', mined_hash: null }],
      stuck: null,
    });
  }),
  own(['takeAgentWallets', 'noteAgentWallet'], async (db) => {
    const [wallet] = await takeAgentWallets(db, 0, 1);
    if (wallet === undefined) throw new Error('no agent wallet was due');
    const { wallet_id, state: from, lease } = wallet;
    const note = { wallet_id, from, last_error: null, to: null, lease, next_seconds: 0 };
    await noteAgentWallet(db, note);
  }),
  own(['requestLook', 'takeLooks', 'answerLooks', 'readLookAnswer', 'forgetLook'], async (db) => {
    const id = await requestLook(db, { kind: 'balances', subject: 'venue-9' });
    const known = { signers: ['dev-treasury'], venues: ['venue-9'] };
    await takeLooks(db, { known, atMost: 50, seconds: 15 });
    await answerLooks(db, [id], { ok: true, address: null });
    await readLookAnswer(db, id);
    await forgetLook(db, id);
  }),
  own(['takeLeases', 'returnLeases'], async (db) => {
    await takeLeases(db, { names: ['balances', 'attention'], holder: 'growth', seconds: 30 });
    await returnLeases(db, { names: ['balances', 'attention'], holder: 'growth' });
  }),
  own('createRequestDesk', async (db) => {
    const [desk, key] = [createRequestDesk(db), 'a'.repeat(64)];
    await desk.take(key, 1, { capacity: 100, units_per_second: 100 }, 1_000);
    await desk.stoppedFor(key);
    await desk.stop(key, 0);
    await (await desk.takeTurn(key, 1_000))?.release();
  }),
  own('expireDue', (db) => expireDue(db)),
  own('createProposal', async (db) => {
    await createProposal(db, PROPOSAL);
    await readProposalKeyUse(db, 'seeded', 'proposal-20');
  }),
  own('readGrant', async (db) => {
    const [of] = await db.sql<{ id: string }>`
      SELECT template_id::text AS id FROM template_proposals
      WHERE promotion_mode = 'admin' ORDER BY template_id LIMIT 1`;
    await readGrant(db, of?.id ?? '');
  }),
  // What the fence of a deposit at the perps venue asks of the others.
  own('other_deposits', (db) => db.sql`SELECT other_deposits(${randomUUID()}::uuid, 'n1', now())`),
  own('refreshBalances', (db) =>
    refreshBalances(
      db,
      'venue-9',
      () => Promise.resolve({ pools: [], outlook: { quota: null, closed: [] } }),
      (error) => {
        throw error;
      },
    ),
  ),
  own('clearOrphans', (db) => clearOrphans(db, ['signer-1'], 105)),

  // What the phases of a movement and of a transfer ask.
  own('loadMovement', (db, samples, turn) => loadMovement(db, running(samples, turn), 'run')),
  own('readEnd', (db, samples, turn) => readEnd(db, running(samples, turn))),
  own('readMovementView', (db, samples, turn) => readMovementView(db, running(samples, turn))),
  own('readPhase', (db, samples, turn) => readPhase(db, running(samples, turn), 'n1')),
  own('readPlanNodes', (db, samples, turn) => readPlanNodes(db, running(samples, turn))),
  own('readConditionScope', (db, samples, turn) => readConditionScope(db, running(samples, turn))),
  own('noteNextLook', (db, samples, turn) =>
    noteNextLook(db, { movement_id: running(samples, turn), node_key: 'n1', attempt: 1 }, 5),
  ),
  own('takeOver', (db, samples, turn) =>
    takeOver(db, {
      movement_id: running(samples, turn),
      node_key: 'n1',
      attempt: 1,
      from_observe: true,
    }),
  ),
  own('readTransactions', (db, samples, turn) =>
    readTransactions(db, { movement_id: running(samples, turn), node_key: 'n1', attempt: 1 }),
  ),
  own('claim_nonce', (db, samples, turn) => {
    const address = `0x${'0'.repeat(39)}1`;
    const claim = {
      ...{ transaction_id: randomUUID(), chain_id: 1, address, signer_key: 'signer-1' },
      unsigned: {},
    };
    return db.sql`SELECT nonce FROM claim_nonce(${running(samples, turn)}::uuid, 'n1',
      ${1_000 + turn}::integer, ${JSON.stringify(claim)}::jsonb || (SELECT
        jsonb_build_object('chain_nonce', mined_count) FROM nonce_lanes
        WHERE chain_id = 1 AND address = ${address}), svc_now())`;
  }),
  own('readPerpTerms', (db, samples, turn) =>
    readPerpTerms(db, {
      movement_id: running(samples, turn),
      node_key: 'n1',
      attempt: 1,
      deposit: '5',
    }),
  ),
  own('readListed', (db) => readListed(db, [{ chain_family: 'evm', address: '0x1' }])),
  own(['loadTransfer', 'readTransferRow'], async (db, { transfer_id }, turn) => {
    await loadTransfer(db, transfer_id, `run-${String(turn)}`);
    await readTransferRow(db, transfer_id);
  }),
  own('noteClockWait', (db, { transfer_id }) => noteClockWait(db, transfer_id, 'a clock')),
  own('readCutover', (db) => readCutover(db)),
  own('readOpenOfAgent', (db) => readOpenOfAgent(db, SEEDED.agent)),
  own('readPathFacts', (db) =>
    readPathFacts(db, {
      source: { chain: 'chain-1' },
      asset: 'USDC',
      destination: { endpoint_identity: `2:0x${'0'.repeat(39)}2` },
    }),
  ),
  own('readBridgeRegistry', (db) => readBridgeRegistry(db)),
  own('readUnknownNonces', (db) =>
    readUnknownNonces(db, { chain_id: 1, from: `0x${'0'.repeat(40)}` }, 0),
  ),

  // What stands before every request.
  own(
    ['readSealedSecret', 'takeNonces', 'takeCountedNonces', 'takeNonce'],
    async (db, _samples, turn) => {
      await readSealedSecret(db, 'key-1');
      await takeNonces(db, [{ key_id: 'key-1', nonce: randomUUID() }]);
      await takeCountedNonces(db, [{ key_id: 'key-1', nonce: randomUUID() }]);
      await takeNonce(db, { key_id: 'dashboard', nonce: `${String(turn)}-${randomUUID()}` });
    },
  ),
  own(['readOperatorKey', 'readEnrolment', 'fillKey'], async (db) => {
    await readOperatorKey(db, 'operator-7');
    await readEnrolment(db, tokenHash('code'));
    await fillKey(db, randomUUID(), Buffer.from('sealed'), []);
  }),
  own(['openSession', 'useSession'], async (db) => {
    const token_hash = tokenHash(randomUUID());
    const session = { session_id: randomUUID(), token_hash, operator: 'operator-7', key_mark: 'k' };
    await openSession(db, session, []);
    await useSession(db, token_hash);
  }),
  own('writeAuditOnce', (db) =>
    writeAuditOnce(db, randomUUID(), {
      action: 'auth.refused',
      entity_type: 'request',
      entity_key: 'x',
      outcome: 'denied',
      details: {},
    } as unknown as Parameters<typeof writeAuditOnce>[2]),
  ),
  own('readFreeFacts', (db) => readFreeFacts(db, 'growth/t3')),
  own(['ping', 'readDatabaseRole'], async (db) => {
    await ping(db);
    await readDatabaseRole(db);
  }),

  // What people and programs change.
  send('createMovement', (_samples, turn) => ({
    path: '/movements',
    body: { ...MOVEMENT, idempotency_key: `${String(turn)}-${randomUUID()}` },
  })),
  send('approveMovement', (samples, turn) => {
    const { movement_id, hash } = waiting(samples, turn);
    const body = { compiled_plan_hash: hash, approver_id: 'desk' };
    return { path: `/movements/${movement_id}/approve`, body };
  }),
  send('rejectMovement', (samples, turn) => ({
    path: `/movements/${waiting(samples, 20 + turn).movement_id}/reject`,
    body: {},
  })),
  send('createTemplateProposal', () => ({
    caller: 'agent',
    path: `/agent-authorities/${SEEDED.agent}/template-proposals`,
    body: {
      asset: 'USDC',
      protocol_family: 'pigeon',
      proposal_kind: 'static',
      ttl_seconds: 60,
      source_chain: 'a',
      destination_chain: 'b',
      destination_chain_id: 1,
      destination_address: '0x1',
      signer_profile: 'p',
      requested_notional: '5',
    },
  })),
  send('redeliverCallback', ({ dead }, turn) => ({
    path: `/callbacks/${dead[turn % dead.length] ?? ''}/redeliver`,
  })),
  send('createCapitalTransfer', (_samples, turn) => ({
    path: '/capital-transfers',
    body: {
      source_venue: 'venue-0',
      destination_venue: 'venue-1',
      asset: 'USDC',
      amount: '1',
      reason: 'growth',
      idempotency_key: `${String(turn)}-${randomUUID()}`,
    },
  })),
  send('createPlanTemplate', (_samples, turn) => ({
    path: '/plan-templates',
    body: { ...TEMPLATE, template_key: `growth/made-${String(turn)}-${randomUUID()}` },
  })),
  send('updatePlanTemplateAdmin', () => ({
    method: 'PATCH',
    path: '/plan-templates/growth/pay',
    body: { daily_cap_amount: '5', daily_cap_asset: 'USDC' },
  })),
  send('updateAutoApprovePolicy', ({ policy_id }) => ({
    method: 'PATCH',
    path: `/auto-approve-policies/${policy_id}`,
    body: { max_amount_per_window: '1000000000' },
  })),
  send('createAutoApprovePolicy', (_samples, turn) => ({
    path: '/auto-approve-policies',
    body: {
      client_id: SEEDED.client,
      strategy_id: `made-${String(turn)}-${randomUUID()}`,
      is_active: true,
      allowed_templates: [],
      allowed_assets: ['USDC'],
    },
  })),
  send('verifyRegistryDrift', () => ({ path: '/registry/verify-drift' })),
];

const BY_KEY = 'changes one row that its key names, through functions that other calls run';
const REQUESTS = 'reads one request of people by its key, with the people of its rules';
const FEW = 'looks at all chains of the bridge, which are few whatever else grows';
const ONCE = 'is called by a person once in the life of a signer, and reads all that it ever sent';

/** Routes without a call, and why. */
export const WITHOUT_CALL: Readonly<Record<string, string>> = {
  createBridgeAttempt: 'makes a proposal and a movement, as the calls of these do',
  promoteTemplateProposal: BY_KEY,
  challengeMovementApproval: 'reads one movement by its key, and the passkeys of one person',
  challengeChangeRequestApproval: REQUESTS,
  challengePasskey: 'reads the passkeys of one person',
  offerPasskey: BY_KEY,
  getChangeRequest: REQUESTS,
  getChangeRequestDocument: REQUESTS,
  approveChangeRequest: BY_KEY,
  rejectChangeRequest: BY_KEY,
  withdrawChangeRequest: BY_KEY,
  withdrawApproval: BY_KEY,
  withdrawChangeRequestApproval: BY_KEY,
  retirePlanTemplate: BY_KEY,
  cancelMovement: BY_KEY,
  resumeMovement: BY_KEY,
  retryMovement: BY_KEY,
  resetMovementAllowances: 'makes movements, as their create does; reads one by its key',
  acknowledgeMovement: BY_KEY,
  resolveMovementNode: BY_KEY,
  reassignNodePayment: BY_KEY,
  cancelNodeTransaction: BY_KEY,
  resolveCapitalTransfer: BY_KEY,
  createMasterAccount: BY_KEY,
  createStrategyBinding: BY_KEY,
  createAgentWallet: BY_KEY,
  pauseStrategy: BY_KEY,
  topUpAgentWallet: 'creates a movement, and sums what a strategy has open by its index',
  updateExecutorStatus: BY_KEY,
  updateSignerStatus: BY_KEY,
  raiseLaneCaps: BY_KEY,
  setExpectedSignerIdentity: BY_KEY,
  setCutoverMode: BY_KEY,
  rotateSigner: ONCE,
  listSignerHoldings: ONCE,
  listSignerAllowances: ONCE,
  retireSigner: ONCE,
  createBridgeChain: BY_KEY,
  replaceBridgeChain: BY_KEY,
  deleteBridgeChain: BY_KEY,
  refreshBridgeRegistry: FEW,
  createPathBaseline: BY_KEY,
  replacePathBaseline: BY_KEY,
  deletePathBaseline: BY_KEY,
  recordDrillPass: BY_KEY,
};

/** Functions of the store that loops and activities use and that have no call, and why. */
export const STORE_WITHOUT_CALL: Readonly<Record<string, string>> = {
  applyTransition: 'approve and reject run it',
  applyAndRead: 'is that transition, and reads a node and its movement by key',
  tryFence: 'is that transition with its checks, all by key',
  findFence: 'reads an event and its node by key',
  mayBeWritten: 'reads an error',
  databaseFault: 'reads an error',
  readSendLane: 'reads its attempt by key, and those of a lane, which no attempt here has',
  readKept: 'commits nothing but a record of its own',
  applyTransferStep: BY_KEY,
  notePending: BY_KEY,
  noteReason: BY_KEY,
  fillNonce: BY_KEY,
  saveSigned: BY_KEY,
  claimAuthorization: BY_KEY,
  readClaimed: BY_KEY,
  isAllowing: 'reads the nodes of one movement',
  readOpenBurns: 'reads the few burns that are under way, by an index of its own',
  readWaiting: 'reads the few nodes that wait at an address, by an index of its own',
  claimPerpNonce: BY_KEY,
  readPerpAction: BY_KEY,
  savePerpSignature: BY_KEY,
  saveApprovalSignature: BY_KEY,
  noteAuthorizationMined: BY_KEY,
  releaseNonce: BY_KEY,
  readLaneRaise: BY_KEY,
  needsClaim: BY_KEY,
  wasDisplaced: BY_KEY,
  freezeNode: BY_KEY,
  readPhaseAndView: 'reads a node and its movement by key, with functions that other calls run',
  openQuestion: BY_KEY,
  isOpenQuestion: BY_KEY,
  closeQuestion: BY_KEY,
  hasStartedSubmit: BY_KEY,
  readDatabaseClock: 'reads no table',
  databaseAheadMs: 'reads no table',
  readSessionSettings: 'reads no table',
  readStops: BY_KEY,
  noteAccepted: BY_KEY,
  addSeals: BY_KEY,
  saveExecutorHealth: BY_KEY,
  saveObservedIdentity: BY_KEY,
};
