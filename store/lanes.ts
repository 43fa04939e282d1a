/**
 * Nonce lanes (the queue of transaction nonces of one account on one chain): takes them for work,
 * records what the chain shows, and returns them for display.
 */
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
  /** The lowest open claims of the nonce lane, in order. */
  readonly claims: readonly OpenClaim[];
}

type ClaimRow = Omit<OpenClaim, 'versions'> & { readonly versions: readonly TransactionRow[] };

/**
 * Takes nonce lanes that have open claims or are marked as stuck, and that no other process has
 * taken. The caller has them for `seconds`: only one process at a time reads the chain for a lane.
 * Each lane comes with at most `most` claims.
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

/**
 * Records the chain's nonce counts, the claims that a final block settled (by hash), and the stuck
 * nonce.
 */
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
  /**
   * Set when the nonce already has a filling transaction: the claim, and the newest version that
   * the new one replaces.
   */
  readonly replaces?: { readonly claim: string; readonly over: string };
}

/**
 * Stores the transaction that fills a nonce without a node. False when another process was faster,
 * or this process is stopping: then the signed bytes must not be sent.
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

/** A nonce lane as it is displayed. */
export interface LaneView {
  readonly chain_id: number;
  readonly address: string;
  /** The signer of the nonce lane; null before its first claim. */
  readonly signer_key: string | null;
  readonly next_nonce: number;
  /** The chain's count of mined nonces at the last look; null before the first look. */
  readonly mined_nonce: number | null;
  readonly final_nonce: number | null;
  readonly seen_at: string | null;
  /** Number of claimed nonces that are in no block yet. */
  readonly open_nonces: number;
  readonly oldest_open_seconds: number | null;
  /** Number of nonces that are mined and not final yet. */
  readonly unfinal_nonces: number;
  readonly stuck: (StuckNonce & { readonly since: string }) | null;
  readonly raise: LaneRaise | null;
}

/** Returns every nonce lane. */
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

/** Returns the raised fee caps of the nonce lane that are in force now. */
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

/** Raises the fee caps of a nonce lane, replacing an earlier raise; false for an unknown lane. */
export async function raiseLaneCaps(
  db: Database,
  change: LaneKey & {
    readonly raise: RaisedCaps & { readonly reason: string; readonly raised_by: Actor };
    /** Seconds that the raise is in force; 0 ends it. */
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
