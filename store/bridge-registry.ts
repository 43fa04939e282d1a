/** Reads and changes the bridge registry (prisma/functions/bridge-registry.sql). */
import type { PathFacts } from '../domain/bridges/path-ready.ts';
import type {
  BridgeChain,
  BridgePath,
  BridgePathFields,
  BridgePathKey,
  BridgeRegistry,
} from '../domain/bridges/registry.ts';
import type { JsonObject } from '../domain/json.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { writeAudited } from './audited-write.ts';
import { auditRow } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf, isoOfOrNull } from './json.ts';

/** A row, and the database's time when the row was read. */
export interface At<T> {
  readonly now: string;
  readonly row: T;
}

/** The fields of a chain that operators set. */
export type BridgeChainFields = Pick<
  BridgeChain,
  'chain' | 'endpoint_identity' | 'finality_age_seconds' | 'operator_label'
>;

/** The outcome of a change; only `done` changed anything. */
export type ChainChange =
  | ({ readonly outcome: 'done' } & At<BridgeChain>)
  | { readonly outcome: 'chain_exists' }
  | { readonly outcome: 'endpoint_identity_conflict'; readonly chain: string | null }
  | { readonly outcome: 'chain_in_use'; readonly path_baselines: number };

export type PathChange =
  | ({ readonly outcome: 'done' } & At<BridgePath>)
  | { readonly outcome: 'path_baseline_exists' }
  | { readonly outcome: 'chain_not_found'; readonly chain: string };

/** The outcome as the SQL functions return it. */
type Stored<Change> =
  Change extends At<infer Row>
    ? { readonly outcome: 'done'; readonly at: string; readonly row: Row }
    : Change;

type ChainAnswer = Stored<ChainChange> | null;
type PathAnswer = Stored<PathChange> | null;

export async function createBridgeChain(
  db: Database,
  fields: BridgeChainFields,
  audit: AuditEntry,
): Promise<ChainChange> {
  const answer = await writeAudited<ChainAnswer>(db, { audit, outcome: 'done' }, (row) => {
    const doc = JSON.stringify({ ...fields, audit: [row] });
    return db.sql<{ answer: ChainAnswer }>`SELECT create_bridge_chain(${doc}::jsonb) AS answer`;
  });
  return must(toChainChange(answer));
}

/**
 * Replaces a chain's fields; null for an unknown chain. A new endpoint identity clears the drill
 * results of the chain's paths.
 */
export async function replaceBridgeChain(
  db: Database,
  fields: BridgeChainFields,
  audit: AuditEntry,
): Promise<ChainChange | null> {
  const doc = JSON.stringify({ ...fields, audit: [auditRow(db, audit)] });
  const rows = await run(
    () => db.sql<{ answer: ChainAnswer }>`SELECT replace_bridge_chain(${doc}::jsonb) AS answer`,
  );
  return toChainChange(rows[0]?.answer ?? null);
}

/** Deletes a chain; null for an unknown chain. */
export async function deleteBridgeChain(
  db: Database,
  chain: string,
  audit: AuditEntry,
): Promise<ChainChange | null> {
  const answer = await writeAudited<ChainAnswer>(db, { audit, outcome: 'done' }, (row) => {
    const doc = JSON.stringify({ chain, audit: [row] });
    return db.sql<{ answer: ChainAnswer }>`SELECT delete_bridge_chain(${doc}::jsonb) AS answer`;
  });
  return toChainChange(answer);
}

export async function createBridgePath(
  db: Database,
  path: BridgePathFields,
  audit: AuditEntry,
): Promise<PathChange> {
  const answer = await writeAudited<PathAnswer>(db, { audit, outcome: 'done' }, (row) => {
    const doc = JSON.stringify({ path, audit: [row] });
    return db.sql<{ answer: PathAnswer }>`SELECT create_bridge_path(${doc}::jsonb) AS answer`;
  });
  return must(toPathChange(answer));
}

/** Replaces a path's fields; null for an unknown path. */
export async function replaceBridgePath(
  db: Database,
  path: BridgePathFields,
  audit: AuditEntry,
): Promise<PathChange | null> {
  const doc = JSON.stringify({ path, audit: [auditRow(db, audit)] });
  const rows = await run(
    () => db.sql<{ answer: PathAnswer }>`SELECT replace_bridge_path(${doc}::jsonb) AS answer`,
  );
  return toPathChange(rows[0]?.answer ?? null);
}

/** Deletes a path; null for an unknown path. */
export async function deleteBridgePath(
  db: Database,
  path: BridgePathKey,
  audit: AuditEntry,
): Promise<PathChange | null> {
  const answer = await writeAudited<PathAnswer>(db, { audit, outcome: 'done' }, (row) => {
    const doc = JSON.stringify({ path, audit: [row] });
    return db.sql<{ answer: PathAnswer }>`SELECT delete_bridge_path(${doc}::jsonb) AS answer`;
  });
  return toPathChange(answer);
}

/**
 * Records that a drill passed over a path; null for an unknown path. `ends` are the contracts of
 * each end, by the identity of its endpoint (`endContracts`).
 */
export async function noteBridgeDrill(
  db: Database,
  path: BridgePathKey,
  {
    evidence_path,
    ends,
  }: { readonly evidence_path: string; readonly ends: Readonly<Record<string, string>> },
  audit: AuditEntry,
): Promise<PathChange | null> {
  const doc = JSON.stringify({ path, evidence_path, ends, audit: [auditRow(db, audit)] });
  const rows = await run(
    () => db.sql<{ answer: PathAnswer }>`SELECT note_bridge_drill(${doc}::jsonb) AS answer`,
  );
  return toPathChange(rows[0]?.answer ?? null);
}

/** Returns every chain, ordered by name, and the database's time. */
export async function listBridgeChains(db: Database): Promise<At<readonly BridgeChain[]>> {
  const rows = await run(
    () => db.sql<{ now: Date; rows: readonly BridgeChain[] }>`
      SELECT svc_now() AS now, coalesce((SELECT jsonb_agg(to_jsonb(c) ORDER BY c.chain)
        FROM bridge_chains c), '[]'::jsonb) AS rows`,
  );
  const [found] = rows;
  if (found === undefined) throw new Error('the query for the bridge chains returned no row');
  return { now: found.now.toISOString(), row: found.rows.map(toChain) };
}

/** Returns one chain, or null. */
export async function readBridgeChain(
  db: Database,
  chain: string,
): Promise<At<BridgeChain> | null> {
  const rows = await run(
    () => db.sql<{ now: Date; row: BridgeChain }>`
      SELECT svc_now() AS now, to_jsonb(c) AS row FROM bridge_chains c WHERE chain = ${chain}`,
  );
  const [found] = rows;
  return found === undefined ? null : { now: found.now.toISOString(), row: toChain(found.row) };
}

/** Returns every path, ordered by its chains and asset. */
export async function listBridgePaths(db: Database): Promise<readonly BridgePath[]> {
  const rows = await run(
    () => db.sql<{ row: BridgePath }>`
      SELECT bridge_path_view(p) AS row FROM bridge_paths p ORDER BY src_chain, dst_chain, asset`,
  );
  return rows.map(({ row }) => toPath(row));
}

/** Returns every chain and path, and the database's time, at one moment. */
export async function readBridgeRegistry(db: Database): Promise<BridgeRegistry> {
  const rows = await run(
    () => db.sql<{
      now: Date;
      chains: readonly BridgeChain[] | null;
      paths: readonly BridgePath[] | null;
    }>`
      SELECT svc_now() AS now,
        (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.chain) FROM bridge_chains c) AS chains,
        (SELECT jsonb_agg(row) FROM (SELECT bridge_path_view(p) AS row FROM bridge_paths p
          ORDER BY src_chain, dst_chain, asset) o) AS paths`,
  );
  const [found] = rows;
  if (found === undefined) throw new Error('the query for the bridge registry returned no row');
  return {
    now: found.now.toISOString(),
    chains: (found.chains ?? []).map(toChain),
    paths: (found.paths ?? []).map(toPath),
  };
}

/** Returns one path, or null. */
export async function readBridgePath(
  db: Database,
  { src_chain, dst_chain, asset }: BridgePathKey,
): Promise<BridgePath | null> {
  const rows = await run(
    () => db.sql<{ row: BridgePath }>`
      SELECT bridge_path_view(p) AS row FROM bridge_paths p
      WHERE src_chain = ${src_chain} AND dst_chain = ${dst_chain} AND asset = ${asset}`,
  );
  return rows[0] === undefined ? null : toPath(rows[0].row);
}

/** Identifies a chain by its name or its endpoint identity. */
export type BridgeChainRef = { readonly chain: string } | { readonly endpoint_identity: string };

/**
 * Returns all facts that decide whether a path may be used, with the database's time, in one
 * statement.
 */
export async function readPathFacts(
  db: Database,
  path: {
    readonly source: BridgeChainRef;
    readonly destination: BridgeChainRef;
    readonly asset: string;
  },
): Promise<PathFacts & { readonly now: string; readonly version: string }> {
  const [source, destination] = [namesOf(path.source), namesOf(path.destination)];
  const rows = await run(
    () => db.sql<{
      now: Date;
      version: string;
      source: BridgeChain | null;
      destination: BridgeChain | null;
      baseline: BridgePath | null;
    }>`
      SELECT svc_now() AS now, bridge_path_version(s, d, p) AS version, to_jsonb(s) AS source, to_jsonb(d) AS destination,
        CASE WHEN p.asset IS NOT NULL THEN bridge_path_view(p) END AS baseline
      FROM (SELECT 1) one
      LEFT JOIN bridge_chains s ON s.chain = ${source.chain}
        OR lower(s.endpoint_identity) = lower(${source.identity})
      LEFT JOIN bridge_chains d ON d.chain = ${destination.chain}
        OR lower(d.endpoint_identity) = lower(${destination.identity})
      LEFT JOIN bridge_paths p ON p.src_chain = s.chain AND p.dst_chain = d.chain
        AND p.asset = ${path.asset}`,
  );
  const [found] = rows;
  if (found === undefined) throw new Error('the query for the facts of a path returned no row');
  return {
    now: found.now.toISOString(),
    version: found.version,
    source: found.source === null ? null : toChain(found.source),
    destination: found.destination === null ? null : toChain(found.destination),
    baseline: found.baseline === null ? null : toPath(found.baseline),
  };
}

function namesOf(ref: BridgeChainRef): {
  readonly chain: string | null;
  readonly identity: string | null;
} {
  return 'chain' in ref
    ? { chain: ref.chain, identity: null }
    : { chain: null, identity: ref.endpoint_identity };
}

/** The facts that a chain's endpoint reported; `facts` is null when the endpoint did not answer. */
export interface ReportedChain extends Pick<BridgeChain, 'chain' | 'endpoint_identity'> {
  readonly facts: JsonObject | null;
}

export interface RefreshedChains extends At<readonly BridgeChain[]> {
  /** Chains whose facts have changed. */
  readonly changed: readonly string[];
}

/**
 * Stores what the endpoints reported. All calls to them started after `startedAt` (database time,
 * ISO 8601).
 */
export async function refreshBridgeChains(
  db: Database,
  reported: readonly ReportedChain[],
  { startedAt, audit }: { readonly startedAt: string; readonly audit: AuditEntry },
): Promise<RefreshedChains> {
  const doc = JSON.stringify({ told: reported, asked_at: startedAt, audit: [auditRow(db, audit)] });
  const rows = await run(
    () =>
      db.sql<{
        answer: { at: string; changed: readonly string[]; chains: readonly BridgeChain[] };
      }>`SELECT refresh_bridge_chains(${doc}::jsonb) AS answer`,
  );
  const [found] = rows;
  if (found === undefined) throw new Error('the refresh of the bridge chains returned no row');
  const { at, changed, chains } = found.answer;
  return { now: isoOf(at), changed, row: chains.map(toChain) };
}

function must<T>(change: T | null): T {
  if (change === null) throw new Error('the change of the bridge registry returned no row');
  return change;
}

function toChainChange(answer: ChainAnswer): ChainChange | null {
  return answer?.outcome === 'done'
    ? { outcome: 'done', now: isoOf(answer.at), row: toChain(answer.row) }
    : answer;
}

function toPathChange(answer: PathAnswer): PathChange | null {
  return answer?.outcome === 'done'
    ? { outcome: 'done', now: isoOf(answer.at), row: toPath(answer.row) }
    : answer;
}

function toChain(row: BridgeChain): BridgeChain {
  return {
    chain: row.chain,
    endpoint_identity: row.endpoint_identity,
    finality_age_seconds: row.finality_age_seconds,
    snapshot_version: row.snapshot_version,
    snapshot_stale: row.snapshot_stale,
    stale_detected_at: isoOfOrNull(row.stale_detected_at),
    operator_label: row.operator_label,
    snapshot_at: isoOfOrNull(row.snapshot_at),
    created_at: isoOf(row.created_at),
    updated_at: isoOf(row.updated_at),
  };
}

function toPath(row: BridgePath): BridgePath {
  return {
    src_chain: row.src_chain,
    dst_chain: row.dst_chain,
    asset: row.asset,
    expected_latency_seconds: row.expected_latency_seconds,
    detection_latency_budget_seconds: row.detection_latency_budget_seconds,
    fee_native_budget: row.fee_native_budget,
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    last_drill_pass_at: isoOfOrNull(row.last_drill_pass_at),
    last_drill_evidence_path: row.last_drill_evidence_path,
    last_drill_contracts: row.last_drill_contracts,
    baseline_source: row.baseline_source,
    operator_label: row.operator_label,
    created_at: isoOf(row.created_at),
    updated_at: isoOf(row.updated_at),
  };
}
