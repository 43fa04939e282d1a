/** Stores template proposals of agents (prisma/functions/proposals.sql). */
import type { AuthorityLimits, Grant } from '../domain/agents/authority.ts';
import { AGENT_TEMPLATE_VERSIONS } from '../domain/agents/bounds.ts';
import type { PromotionMode, ProposalKind, ProposalReason } from '../domain/agents/proposal.ts';
import type { JsonObject } from '../domain/json.ts';
import { normalize } from '../domain/money.ts';
import { PROPOSAL_TABLE, type ProposalStatus } from '../domain/states/proposal.ts';
import { assertMove } from '../domain/states/table.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run, writeOrFind } from './faults.ts';
import { isoOf } from './json.ts';
import { beforePosition, type PagePosition } from './paging.ts';
import { templateDocument, type NewTemplate } from './templates.ts';

/** The most proposals that one statement expires. */
const MOST_AT_ONCE = 200;

export interface ProposalRecord {
  readonly proposal_id: string;
  readonly authority_key: string;
  readonly status: ProposalStatus;
  readonly promotion_mode: PromotionMode | null;
  readonly template_key: string | null;
  readonly template_version: number | null;
  readonly reasons: readonly ProposalReason[];
  /** Why the request matches no blueprint. */
  readonly problem: string | null;
  /** The request of the agent, in normal form. */
  readonly request: JsonObject;
  readonly bridge_attempt: boolean;
  /** For a bridge attempt: the movement that it created. */
  readonly movement_id: string | null;
  readonly expires_at: string;
  readonly created_at: string;
}

/** The decision to promote a proposal, and the template version that follows from it. */
export interface Promotion {
  readonly reasons: readonly ProposalReason[];
  readonly template_key: string;
  /** A digest of the plan; different plans have different digests. */
  readonly plan_digest: string;
  /** The amount that the template version has to allow. */
  readonly max_amount: string;
  /** The version to create if no existing version fits; it gets the next version number. */
  readonly template: Omit<NewTemplate, 'version'>;
}

export interface NewProposal {
  readonly authority_key: string;
  readonly proposal_kind: ProposalKind;
  readonly asset: string;
  readonly requested_notional: string;
  readonly ttl_seconds: number;
  readonly request: JsonObject;
  readonly bridge_attempt: boolean;
  readonly client_scope: string;
  readonly idempotency_key: string | null;
  readonly created_by: JsonObject;
  readonly decided:
    | ({ readonly status: 'auto_promoted' } & Promotion)
    | {
        readonly status: 'submitted' | 'rejected';
        readonly reasons: readonly ProposalReason[];
        readonly problem: string | null;
      };
  /** The limits by which the proposal was decided. */
  readonly limits: AuthorityLimits;
  readonly audit: (proposalId: string) => readonly AuditEntry[];
}

/**
 * `used`: an earlier proposal has this idempotency key. `outdated`: the limits have changed since
 * the decision.
 */
export type CreateProposalOutcome =
  | { readonly outcome: 'created' | 'used'; readonly row: ProposalRecord }
  | { readonly outcome: 'outdated' };

/**
 * Writes a proposal, promoted or not, with its audit row. If the connection breaks, looks up the
 * proposal by its id before returning.
 */
export async function createProposal(
  db: Database,
  proposal: NewProposal,
): Promise<CreateProposalOutcome> {
  const proposal_id = newId();
  const { decided, limits, ttl_seconds, audit, ...fields } = proposal;
  if (decided.status !== 'submitted') assertMove(PROPOSAL_TABLE, 'submitted', decided.status);
  const doc = JSON.stringify({
    proposal: {
      proposal_id,
      ...fields,
      ...columnsOf(decided),
      status: decided.status,
      promotion_mode: decided.status === 'auto_promoted' ? 'auto' : null,
    },
    template: decided.status === 'auto_promoted' ? templateOf(db, decided) : null,
    limits: limitsDocument(limits),
    ttl_seconds,
    most_versions: AGENT_TEMPLATE_VERSIONS,
    audit: auditRows(db, audit(proposal_id)),
  });
  return writeOrFind<CreateProposalOutcome>(
    db,
    async () =>
      toOutcome(
        await db.sql<{
          answer: Answer<'created' | 'used' | 'outdated'>;
        }>`SELECT create_proposal(${doc}::jsonb) AS answer`,
      ),
    async () => {
      const found = await findProposal(db, proposal_id);
      return found === null ? null : { outcome: 'created', row: found };
    },
  );
}

export type PromoteOutcome =
  | { readonly outcome: 'promoted' | 'not_submitted'; readonly row: ProposalRecord }
  | { readonly outcome: 'outdated' };

/**
 * Promotes a proposal for an administrator; the outcome tells if it is no longer submitted or has
 * expired.
 */
export async function promoteProposal(
  db: Database,
  of: Pick<ProposalRecord, 'proposal_id' | 'authority_key'>,
  promotion: Promotion & { readonly limits: AuthorityLimits; readonly audit: AuditEntry },
): Promise<PromoteOutcome> {
  assertMove(PROPOSAL_TABLE, 'submitted', 'auto_promoted');
  const [audit] = auditRows(db, [promotion.audit]);
  const doc = JSON.stringify({
    proposal_id: of.proposal_id,
    authority_key: of.authority_key,
    promoted: {
      ...columnsOf(promotion),
      status: 'auto_promoted',
      promotion_mode: 'admin',
    },
    template: templateOf(db, promotion),
    limits: limitsDocument(promotion.limits),
    audit: [audit],
    expired_audit: auditRows(db, [expiryAudit(of.proposal_id)]),
  });
  return writeOrFind<PromoteOutcome>(
    db,
    async () =>
      toOutcome(
        await db.sql<{
          answer: Answer<'promoted' | 'not_submitted' | 'outdated'>;
        }>`SELECT promote_proposal(${doc}::jsonb) AS answer`,
      ),
    async () => {
      const written = await db.sql`
        SELECT FROM audit_events WHERE event_id = ${audit?.event_id ?? ''}::uuid`;
      const found = written.length === 0 ? null : await findProposal(db, of.proposal_id);
      return found === null ? null : { outcome: 'promoted', row: found };
    },
  );
}

/** Returns a proposal; if it is due to expire, first writes it as expired. Null: unknown id. */
export async function readProposal(
  db: Database,
  proposalId: string,
): Promise<ProposalRecord | null> {
  return current(
    db,
    () => db.sql<{ row: Row }>`
      SELECT proposal_view(p) AS row FROM template_proposals p
      WHERE proposal_id = ${proposalId}::uuid`,
  );
}

export interface ProposalFilter {
  readonly status?: ProposalStatus | undefined;
  readonly authority_key?: string | undefined;
  /** The only authority whose proposals the caller may see; null: the caller may see all. */
  readonly only: string | null;
}

/** Returns up to `limit` proposals after the position, newest first, with their present status. */
export async function listProposals(
  db: Database,
  { status: wanted, authority_key, only }: ProposalFilter,
  { limit, after }: { readonly limit: number; readonly after: PagePosition | null },
): Promise<readonly ProposalRecord[]> {
  const [status, authority] = [wanted ?? null, authority_key ?? only];
  if (only !== null && authority !== only) return [];
  // The filter must see the present status, even before the loop has expired due proposals.
  await expireDue(db);
  const { at, id } = beforePosition(after);
  const rows = await run(
    () => db.sqlPlanned<{ row: Row }>`
      SELECT proposal_view(p) AS row FROM template_proposals p
      WHERE (p.created_at, p.proposal_id) < (${at}::timestamptz, ${id}::uuid)
        AND (${status}::text IS NULL OR p.status = ${status})
        AND (${authority}::text IS NULL OR p.authority_key = ${authority})
      ORDER BY p.created_at DESC, p.proposal_id DESC LIMIT ${limit}::integer`,
  );
  return rows.map(({ row }) => toRecord(row));
}

/**
 * Returns the proposal that used the key within the client's scope, with its present status; else
 * null.
 */
export async function readProposalKeyUse(
  db: Database,
  clientScope: string,
  key: string,
): Promise<ProposalRecord | null> {
  return current(
    db,
    () => db.sql<{ row: Row }>`
      SELECT proposal_view(p) AS row FROM template_proposals p
      WHERE client_scope = ${clientScope} AND idempotency_key = ${key}`,
  );
}

async function current(
  db: Database,
  read: () => Promise<{ row: Row }[]>,
): Promise<ProposalRecord | null> {
  const [found] = await run(read);
  if (found?.row.due !== true) return found === undefined ? null : toRecord(found.row);
  await expireProposals(db, [found.row.proposal_id]);
  return findProposal(db, found.row.proposal_id);
}

async function findProposal(db: Database, proposalId: string): Promise<ProposalRecord | null> {
  const [found] = await run(
    () => db.sql<{ row: Row }>`
      SELECT proposal_view(p) AS row FROM template_proposals p
      WHERE proposal_id = ${proposalId}::uuid`,
  );
  return found === undefined ? null : toRecord(found.row);
}

/**
 * Returns asset, largest amount and chains of the proposals that administrators promoted to this
 * version; null without any.
 */
export async function readGrant(db: Database, templateId: string): Promise<Grant | null> {
  const rows = await run(
    () => db.sql<{ asset: string; amount: string; source: string; destination: string }>`
      SELECT asset, trim_scale(requested_notional)::text AS amount,
        request ->> 'source_chain' AS source, request ->> 'destination_chain' AS destination
      FROM template_proposals
      WHERE template_id = ${templateId}::uuid AND promotion_mode = 'admin'
      ORDER BY requested_notional DESC LIMIT 1`,
  );
  const [row] = rows;
  return row === undefined
    ? null
    : { asset: row.asset, amount: row.amount, chains: [row.source, row.destination] };
}

/** Expires all due proposals, oldest first; returns their number. May run in several processes. */
export async function expireDue(db: Database): Promise<number> {
  for (let ended = 0; ;) {
    const due = await readDue(db);
    if (due.length > 0) ended += await expireProposals(db, due);
    if (due.length < MOST_AT_ONCE) return ended;
  }
}

async function readDue(db: Database): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ id: string }>`
      SELECT proposal_id::text AS id FROM template_proposals
      WHERE status = 'submitted' AND expires_at <= (SELECT svc_now())
      ORDER BY expires_at LIMIT ${MOST_AT_ONCE}::integer`,
  );
  return rows.map(({ id }) => id);
}

/** Expires those of the proposals that are due by the database's clock; returns their number. */
async function expireProposals(db: Database, ids: readonly string[]): Promise<number> {
  assertMove(PROPOSAL_TABLE, 'submitted', 'expired');
  const doc = JSON.stringify(
    ids.map((proposal_id) => ({
      proposal_id,
      audit: auditRows(db, [expiryAudit(proposal_id)]),
    })),
  );
  const rows = await run(
    () => db.sql<{ ended: number }>`SELECT expire_proposals(${doc}::jsonb) AS ended`,
  );
  return rows[0]?.ended ?? 0;
}

function expiryAudit(proposalId: string): AuditEntry {
  return {
    action: 'template_proposal.expire',
    entity_type: 'template_proposal',
    entity_key: proposalId,
    outcome: 'success',
    actor_role: 'system',
  };
}

function columnsOf(decided: NewProposal['decided'] | Promotion): JsonObject {
  const { reasons } = decided;
  if (!('template' in decided)) return { reasons, problem: decided.problem };
  const { template_key, plan_digest, max_amount } = decided;
  return { reasons, template_key, plan_digest, max_amount };
}

function templateOf(db: Database, { template }: Promotion): Record<string, unknown> {
  return templateDocument(db, newId(), { ...template, version: 0 });
}

/** Returns the limits in the form of the SQL function `authority_limits`. */
function limitsDocument(limits: AuthorityLimits): JsonObject {
  const { max_notional, allowed_assets, allowed_chains, max_ttl_seconds } = limits;
  return {
    max_notional: max_notional === null ? null : normalize(max_notional),
    allowed_assets,
    allowed_chains,
    max_ttl_seconds,
  };
}

type Row = ProposalRecord & { readonly due: boolean };
type Answer<Outcome extends string> = { readonly outcome: Outcome; readonly row?: Row };

function toOutcome<Outcome extends string>(
  rows: readonly { readonly answer: Answer<Outcome> }[],
):
  | { readonly outcome: Exclude<Outcome, 'outdated'>; readonly row: ProposalRecord }
  | { readonly outcome: 'outdated' } {
  const answer = rows[0]?.answer;
  if (answer === undefined) throw new Error('the write of the proposal returned no row');
  if (answer.row === undefined) return { outcome: 'outdated' };
  return {
    outcome: answer.outcome as Exclude<Outcome, 'outdated'>,
    row: toRecord(answer.row),
  };
}

function toRecord(row: Row): ProposalRecord {
  return {
    proposal_id: row.proposal_id,
    authority_key: row.authority_key,
    status: row.status,
    promotion_mode: row.promotion_mode,
    template_key: row.template_key,
    template_version: row.template_version,
    reasons: row.reasons,
    problem: row.problem,
    request: row.request,
    bridge_attempt: row.bridge_attempt,
    movement_id: row.movement_id,
    expires_at: isoOf(row.expires_at),
    created_at: isoOf(row.created_at),
  };
}
