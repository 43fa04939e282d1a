/** Reads what the service has sent from, to and within accounts of an exchange. */
import { EXCHANGE_RECORDS } from '../domain/actions/cex.ts';
import { readDecimal } from '../domain/money.ts';
import type {
  OurTransferSide,
  StoredRecord,
  VenueRecordKind,
} from '../domain/reconcile/records.ts';
import type { TransferState } from '../domain/states/capital-transfer.ts';
import type { NodeState } from '../domain/states/node.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { iso, isoOrNull, stored } from './json.ts';

export interface OurRecordsQuery {
  /** The account whose withdrawals and deposits are read. */
  readonly venue_key: string;
  /** The accounts whose transfers are read: those that share a master. Empty: no transfers. */
  readonly family: readonly string[];
  /** ISO 8601. The exchange may have made a record of each in this time; the end is exclusive. */
  readonly since: string;
  readonly before: string;
}

/**
 * Returns up to `limit` records of each kind of source (sends of nodes, deposits, capital
 * transfers), in no order. Every attempt of a node that may have been sent has its own record. No
 * index finds them, so this reads every attempt.
 */
export async function readOurRecords(
  db: Database,
  query: OurRecordsQuery,
  limit: number,
): Promise<readonly StoredRecord[]> {
  return [
    ...(await readSends(db, query, limit)),
    ...(await readDeposits(db, query, limit)),
    ...(await readTransfers(db, query, limit)),
  ];
}

/** Which kind of record the exchange makes, by action type. */
const KINDS = JSON.stringify(EXCHANGE_RECORDS);

/** The columns of nodes and transfers alike. */
interface Row {
  readonly state: string;
  readonly external_ref: string | null;
  readonly asset: string;
  readonly amount: string | null;
  readonly since: Date;
  readonly until: Date | null;
}

interface NodeRow extends Row {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
}

interface SendRow extends NodeRow {
  readonly kind: VenueRecordKind;
  readonly send_key: string;
  /** As its output says; may be any text, since a person may have stated the output. */
  readonly fee: string | null;
  readonly network: string | null;
  readonly address: string | null;
  readonly tag: string | null;
  /** May be any text: the executor, which reads it, may not have seen it yet. */
  readonly fee_limit: string | null;
  readonly source_venue: string;
  readonly source_type: string;
  readonly destination_venue: string | null;
  readonly destination_type: string;
}

async function readSends(
  db: Database,
  { venue_key, family, since, before }: OurRecordsQuery,
  limit: number,
): Promise<readonly StoredRecord[]> {
  const accounts = JSON.stringify(family);
  const rows = await run(
    () => db.sql<SendRow>`
      SELECT c.kind, a.idempotency_key AS send_key, n.movement_id::text, n.node_key, a.attempt,
        -- The exchange may carry out at any later time what a person abandoned, which is never
        -- retried: an attempt before it has its own outcome.
        CASE WHEN l.latest AND is_abandoned(n) THEN 'UNKNOWN' WHEN l.latest THEN n.state
          ELSE coalesce(a.outcome, 'UNKNOWN') END AS state,
        CASE WHEN l.latest THEN n.external_ref ELSE a.external_ref END AS external_ref,
        c.plan ->> 'asset' AS asset,
        -- A withdrawal within the exchange has no transaction hash, and its fee was returned.
        CASE WHEN b.booked THEN n.output ->> 'received_amount'
          ELSE coalesce(s.amount, trim_scale(n.amount)::text) END AS amount,
        CASE WHEN l.latest THEN n.output ->> 'fee_amount' END AS fee,
        c.config ->> 'network' AS network, c.config ->> 'destination_address' AS address,
        c.config ->> 'tag' AS tag,
        CASE WHEN NOT b.booked THEN c.config ->> 'fee_limit' END AS fee_limit,
        c.config ->> 'venue' AS source_venue,
        upper(coalesce(c.config ->> 'account_type', 'SPOT')) AS source_type,
        c.config ->> 'destination_venue' AS destination_venue,
        upper(coalesce(c.config ->> 'destination_account_type', 'SPOT')) AS destination_type,
        a.started_at AS since,
        CASE WHEN l.latest AND is_abandoned(n) THEN NULL
          WHEN l.latest THEN least(n.submitted_at, a.ended_at) ELSE a.ended_at END AS until
      FROM node_attempts a
      JOIN movement_nodes n ON n.movement_id = a.movement_id AND n.node_key = a.node_key
      JOIN movement_plans p ON p.movement_id = n.movement_id
      -- OFFSET makes Postgres build the plan once, not at every use.
      CROSS JOIN LATERAL (SELECT node_plan(n.own_plan, p.input_params) AS plan OFFSET 0) w
      CROSS JOIN LATERAL (SELECT w.plan, w.plan -> 'config' AS config,
        ${KINDS}::jsonb ->> n.action_type AS kind) c
      CROSS JOIN LATERAL (SELECT a.attempt = n.attempt AS latest) l
      CROSS JOIN LATERAL (SELECT l.latest AND c.kind = 'withdrawal'
        AND n.output ->> 'tx_hash' IS NULL AND n.output ->> 'exchange_transaction' IS NOT NULL
        AND n.output ->> 'received_amount' IS NOT NULL AS booked) b
      -- The amount of each attempt stands in the timeline; the node has that of the last one.
      LEFT JOIN LATERAL (SELECT e.data ->> 'amount' AS amount FROM timeline_events e
        WHERE e.movement_id = a.movement_id AND e.event_type = 'node_submitting'
          AND e.data ->> 'idempotency_key' = a.idempotency_key
        ORDER BY e.sequence DESC LIMIT 1) s ON true
      WHERE ${KINDS}::jsonb ? n.action_type AND a.started_at < ${before}::timestamptz
        AND (a.ended_at IS NULL OR a.ended_at >= ${since}::timestamptz
          OR l.latest AND is_abandoned(n))
        AND CASE c.kind WHEN 'withdrawal' THEN c.config ->> 'venue' = ${venue_key}
          WHEN 'transfer' THEN ${accounts}::jsonb ? (c.config ->> 'venue')
            OR ${accounts}::jsonb ? (c.config ->> 'destination_venue')
          ELSE false END
      LIMIT ${limit}::integer`,
  );
  return rows.map((row): StoredRecord => {
    const { source_venue, source_type, destination_venue, destination_type, ...rest } = row;
    const { fee_limit, ...send } = rest;
    const limit = readDecimal(fee_limit);
    const isTransfer = row.kind === 'transfer';
    return {
      ...send,
      ...partsOf(row),
      transfer_id: null,
      fee: readDecimal(row.fee),
      ...(limit === null ? {} : { fee_limit: limit }),
      transaction: null,
      source: isTransfer ? sideOf(source_venue, source_type) : null,
      destination:
        isTransfer && destination_venue !== null
          ? sideOf(destination_venue, destination_type)
          : null,
    };
  });
}

interface DepositRow extends NodeRow {
  readonly network: string | null;
  readonly transaction: string | null;
}

async function readDeposits(
  db: Database,
  { venue_key, since, before }: OurRecordsQuery,
  limit: number,
): Promise<readonly StoredRecord[]> {
  const rows = await run(
    () => db.sql<DepositRow>`
      SELECT n.movement_id::text, n.node_key, n.attempt,
        CASE WHEN is_abandoned(n) THEN 'UNKNOWN' ELSE n.state END AS state, n.external_ref,
        w.plan ->> 'asset' AS asset, n.output ->> 'received_amount' AS amount,
        n.output ->> 'network' AS network, t.transaction,
        -- The deposit cannot be older than the send that it comes from.
        coalesce((SELECT min(a.started_at) FROM node_attempts a
          WHERE a.movement_id = n.movement_id AND a.node_key = f.node_key), m.created_at) AS since,
        CASE WHEN n.state = 'COMPLETED' THEN n.completed_at END AS until
      FROM movement_nodes n
      JOIN movements m ON m.movement_id = n.movement_id
      JOIN movement_plans p ON p.movement_id = n.movement_id
      CROSS JOIN LATERAL (SELECT node_plan(n.own_plan, p.input_params) AS plan OFFSET 0) w
      LEFT JOIN movement_nodes f ON f.movement_id = n.movement_id
        AND f.node_key = w.plan -> 'config' ->> 'match_from'
      -- As venues/cex/deposit-observe.ts reads it from the matched node. Payments without a hash
      -- were reassigned by a person, from a node that looked for another transaction.
      CROSS JOIN LATERAL (SELECT CASE
        WHEN n.output ->> 'tx_hash' IS NOT NULL THEN n.output ->> 'tx_hash'
        WHEN n.output ? 'payments' THEN NULL
        ELSE coalesce(nullif(f.output ->> 'tx_hash', ''),
          nullif(f.output ->> 'exchange_transaction', ''),
          substring(f.external_ref from '^(?:0x)?[0-9a-fA-F]{64}$')) END AS transaction) t
      WHERE ${KINDS}::jsonb ->> n.action_type = 'deposit'
        AND w.plan -> 'config' ->> 'venue' = ${venue_key}
        AND m.created_at < ${before}::timestamptz
        AND (n.state <> 'COMPLETED' OR n.completed_at >= ${since}::timestamptz)
        AND (t.transaction IS NOT NULL
          OR n.state NOT IN ('BLOCKED', 'READY', 'SKIPPED', 'CANCELLED'))
      LIMIT ${limit}::integer`,
  );
  return rows.map((row): StoredRecord => ({
    ...row,
    ...partsOf(row),
    kind: 'deposit',
    send_key: null,
    transfer_id: null,
    fee: null,
    address: null,
    tag: null,
    source: null,
    destination: null,
  }));
}

interface TransferRow extends Row {
  readonly transfer_id: string;
  readonly source_venue: string;
  readonly source_account_type: string;
  readonly destination_venue: string;
  readonly destination_account_type: string;
}

async function readTransfers(
  db: Database,
  { family, since, before }: OurRecordsQuery,
  limit: number,
): Promise<readonly StoredRecord[]> {
  const accounts = JSON.stringify(family);
  const rows = await run(
    () => db.sql<TransferRow>`
      SELECT t.transfer_id::text, t.request_state AS state,
        t.provider_transfer_id AS external_ref, t.asset, trim_scale(t.amount)::text AS amount,
        t.source_venue, t.source_account_type, t.destination_venue, t.destination_account_type,
        coalesce(sent.first_at, t.created_at) AS since,
        CASE WHEN t.ended_at IS NOT NULL THEN t.ended_at
          WHEN t.provider_transfer_id IS NOT NULL THEN t.updated_at END AS until
      FROM capital_transfers t
      CROSS JOIN LATERAL (SELECT min(e.occurred_at) AS first_at FROM capital_transfer_events e
        WHERE e.transfer_id = t.transfer_id AND e.to_state = 'SUBMITTING') sent
      WHERE (${accounts}::jsonb ? t.source_venue OR ${accounts}::jsonb ? t.destination_venue)
        AND t.created_at < ${before}::timestamptz
        AND (t.ended_at IS NULL OR t.ended_at >= ${since}::timestamptz)
      LIMIT ${limit}::integer`,
  );
  return rows.map((row): StoredRecord => ({
    ...partsOf(row),
    kind: 'transfer',
    send_key: row.transfer_id,
    movement_id: null,
    node_key: null,
    attempt: null,
    transfer_id: row.transfer_id,
    external_ref: row.external_ref,
    asset: row.asset,
    fee: null,
    network: null,
    address: null,
    tag: null,
    transaction: null,
    source: sideOf(row.source_venue, row.source_account_type),
    destination: sideOf(row.destination_venue, row.destination_account_type),
  }));
}

function partsOf({
  state,
  amount,
  since,
  until,
}: Row): Pick<StoredRecord, 'state' | 'amount' | 'since' | 'until'> {
  return {
    state: stored<NodeState | TransferState>(state),
    amount: readDecimal(amount),
    since: iso(since),
    until: isoOrNull(until),
  };
}

function sideOf(venue_key: string, account_type: string): OurTransferSide {
  return { venue_key, account_type: stored<OurTransferSide['account_type']>(account_type) };
}
