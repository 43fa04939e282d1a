/** Decides when the facts of a chain in the bridge registry are too old to be used. */
import type { BridgeChain } from './registry.ts';

/** Time of the database's clock (ISO 8601), and the largest age of a fresh snapshot. */
export interface SnapshotClock {
  readonly now: string;
  readonly maxAgeSeconds: number;
}

/** Returns since when a snapshot is stale, ISO 8601; null while it is fresh. */
export function staleSince(
  chain: Pick<BridgeChain, 'snapshot_stale' | 'stale_detected_at' | 'snapshot_at' | 'created_at'>,
  { now, maxAgeSeconds }: SnapshotClock,
): string | null {
  if (chain.snapshot_stale || chain.snapshot_at === null)
    return chain.stale_detected_at ?? chain.created_at;
  const until = Date.parse(chain.snapshot_at) + maxAgeSeconds * 1_000;
  return Date.parse(now) > until ? new Date(until).toISOString() : null;
}
