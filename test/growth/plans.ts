/**
 * What Postgres does for each statement of a connection, also for those inside functions: plans
 * with their true rows, as `auto_explain` tells them.
 */
import type pg from 'pg';
import { connectDatabase, type Database } from '../../prisma/client.ts';

/** A node of a plan in Postgres' own words, as far as it is looked at. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that was run, with its plan. */
export interface Explained {
  readonly text: string;
  readonly plan: PlanNode;
}

export interface Watched {
  readonly db: Database;
  /** The plans since the last call. */
  take(): readonly Explained[];
}

const EXPLAIN = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  // Reading a clock twice for each row would be most of what is measured.
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  // To this client and not into the server's log.
  'auto_explain.log_level': 'notice',
};

/**
 * A client of one connection, as the owner of the database. One connection sees everything that a
 * statement comes to when it is prepared and has been run often.
 */
export function watchPlans(url: string, settings: Readonly<Record<string, string>> = {}): Watched {
  let seen: Explained[] = [];
  const onConnect = (connection: pg.PoolClient): void => {
    connection.on('notice', ({ message }) => {
      const explained = message === undefined ? null : explainedOf(message);
      if (explained !== null) seen.push(explained);
    });
  };
  const sessionSettings = { ...EXPLAIN, ...settings };
  return {
    db: connectDatabase({ url, poolSize: 1, onConnect, sessionSettings }),
    take: () => {
      const taken = seen;
      seen = [];
      return taken;
    },
  };
}

function explainedOf(message: string): Explained | null {
  const begin = message.indexOf('{');
  if (!message.startsWith('duration:') || begin < 0) return null;
  const logged = JSON.parse(message.slice(begin)) as {
    readonly 'Query Text': string;
    readonly Plan: PlanNode;
  };
  return { text: logged['Query Text'], plan: logged.Plan };
}

/** What a statement did that it should not have done. */
export interface Finding {
  readonly what: string;
  readonly text: string;
}

export interface Bounds {
  /** The tables that grow. */
  readonly big: ReadonlySet<string>;
  /** Rows that one place of a plan may read, all its turns together. */
  readonly rows: number;
  /** Pages of 8 kB that a whole statement may touch. */
  readonly blocks: number;
}

/** Sequential scans of tables that grow, and reads beyond the bounds. */
export function findingsOf(explained: Explained, bounds: Bounds): readonly Finding[] {
  const text = explained.text.replace(/\s+/g, ' ').trim();
  const found = (what: string): Finding => ({ what, text });
  const blocks = blocksOf(explained.plan);
  return [
    ...(blocks > bounds.blocks ? [found(`${String(blocks)} blocks`)] : []),
    ...nodesOf(explained.plan).flatMap((node) => {
      const table = node['Relation Name'];
      const loops = node['Actual Loops'] ?? 0;
      if (loops === 0) return [];
      const rows = readBy(node) * loops;
      const name = `${node['Node Type']} on ${table ?? node['Index Name'] ?? '?'}`;
      if (table !== undefined && !bounds.big.has(table)) return [];
      if (node['Node Type'] === 'Seq Scan') return [found(`${name}, ${String(rows)} rows`)];
      const isScan = table !== undefined || node['Node Type'] === 'Bitmap Index Scan';
      return isScan && rows > bounds.rows ? [found(`${name}, ${String(rows)} rows`)] : [];
    }),
  ];
}

function readBy(node: PlanNode): number {
  return (
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  );
}

function blocksOf(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** A plan's nodes, the outermost first. */
export function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
