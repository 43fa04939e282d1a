/** Nonce lanes: taking them, noting what the chain shows, and their view for people. */
import type { EvmUnsignedTransaction } from '../domain/executor.ts';
import type { LaneRaise, RaisedCaps } from '../domain/lanes/caps.ts';
import type { OpenClaim } from '../domain/lanes/duties.ts';
import type { Actor } from '../domain/roles.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { toTransaction, type TransactionRow } from './evm-transactions.ts';
import { run } from './faults.ts';

export interface OpenLane {
  readonly chain_id: number;
  /** Lower case. */
  readonly address: string;
  /** Its lowest open claims, in order. */
  readonly claims: readonly OpenClaim[];
}

type ClaimRow = Omit<OpenClaim, 'versions'> & { readonly versions: readonly TransactionRow[] };

/**
 * Takes the nonce lanes with open claims, or noted as stuck, that no process tends; they are the
 * caller's for `seconds`, so that one process at a time reads the chain for each. At most `most`
 * claims of each.
 */
export async function takeLanes(
  db: Database,
  seconds: number,
  most: number,
): Promise<readonly OpenLane[]> {
  const rows = await run(
    () =>
      db.sql<{
        lanes: readonly (Omit<OpenLane, 'claims'> & { claims: readonly ClaimRow[] | null })[];
      }>`SELECT take_lanes(${seconds}::double precision, ${most}::integer) AS lanes`,
  );
  return (rows[0]?.lanes ?? []).map((lane) => ({
    ...lane,
    claims: (lane.claims ?? []).map((claim) => ({
      ...claim,
      versions: claim.versions.map(toTransaction),
    })),
  }));
}

/** A nonce whose zero-value transaction cannot be signed or paid for. */
export interface StuckNonce {
  readonly nonce: number;
  readonly why: string;
}

/** Notes the chain's counts, the claims that a final block settled by hash, and the stuck nonce. */
export async function noteLane(
  db: Database,
  seen: {
    readonly chain_id: number;
    readonly address: string;
    readonly mined: number;
    readonly final: number;
    readonly settled: readonly {
      readonly transaction_id: string;
      readonly mined_hash: string | null;
    }[];
    readonly stuck: StuckNonce | null;
  },
): Promise<void> {
  const doc = JSON.stringify(seen);
  await run(() => db.sql`SELECT note_lane(${doc}::jsonb)`);
}

export interface Filling {
  readonly chain_id: number;
  readonly address: string;
  readonly nonce: number;
  readonly signer_key: string;
  readonly unsigned: EvmUnsignedTransaction;
  readonly raw_tx: string;
  readonly tx_hash: string;
  /** Where the nonce already has a filling: its claim and newest version. */
  readonly replaces?: { readonly claim: string; readonly over: string };
}

/**
 * Stores the transaction that fills a nonce of no node. False when another process was faster, or
 * this process stops: then what was signed must not be sent.
 */
export async function fillNonce(db: Database, filling: Filling): Promise<boolean> {
  if (!db.mayBegin()) return false;
  const { replaces, ...rest } = filling;
  const doc = JSON.stringify({ ...rest, ...replaces, transaction_id: newId(), kind: 'cancel' });
  const rows = await run(
    () => db.sql<{ stored: boolean }>`SELECT fill_nonce(${doc}::jsonb) AS stored`,
  );
  return rows[0]?.stored ?? false;
}

/** A lane as people see it. */
export interface LaneView {
  readonly chain_id: number;
  readonly address: string;
  /** Who signs for it; null before its first claim. */
  readonly signer_key: string | null;
  readonly next_nonce: number;
  /** The chain's count at the last look; null before the first. */
  readonly mined_nonce: number | null;
  readonly final_nonce: number | null;
  readonly seen_at: string | null;
  /** Claimed nonces that are in no block yet. */
  readonly open_nonces: number;
  readonly oldest_open_seconds: number | null;
  /** Mined, and not final yet. */
  readonly unfinal_nonces: number;
  readonly stuck: (StuckNonce & { readonly since: string }) | null;
  readonly raise: LaneRaise | null;
}

/** Every lane there is. */
export async function readLanes(db: Database): Promise<readonly LaneView[]> {
  const rows = await run(
    () => db.sql<{ lanes: readonly LaneView[] }>`SELECT lane_views() AS lanes`,
  );
  return rows[0]?.lanes ?? [];
}

interface LaneKey {
  readonly chain_id: number;
  readonly address: string;
}

/** The raise of the lane's caps that holds now. */
export async function readLaneRaise(
  db: Database,
  { chain_id, address }: LaneKey,
): Promise<LaneRaise | null> {
  const rows = await run(
    () => db.sql<{ raise: LaneRaise | null }>`
      SELECT raise_of(l) AS raise FROM nonce_lanes l
      WHERE chain_id = ${chain_id} AND address = lower(${address})`,
  );
  return rows[0]?.raise ?? null;
}

/** Raises the lane's caps, in place of the raise before; false where there is no such lane. */
export async function raiseLaneCaps(
  db: Database,
  change: LaneKey & {
    readonly raise: RaisedCaps & { readonly reason: string; readonly raised_by: Actor };
    /** How long it holds; 0 ends it. */
    readonly ttl_seconds: number;
    readonly audit: AuditEntry;
  },
): Promise<boolean> {
  const doc = JSON.stringify({ ...change, audit: auditRows(db, [change.audit]) });
  const rows = await run(
    () => db.sql<{ raised: boolean }>`SELECT raise_lane_caps(${doc}::jsonb) AS raised`,
  );
  return rows[0]?.raised ?? false;
}
