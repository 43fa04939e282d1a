/** The stack of a run in a folder of its own, with the few ways in which the run looks at it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { choosePorts, type PortName } from '../../dev/stack/ports.ts';
import { ANY_FREE_PORTS, startStack, type Stack } from '../../dev/stack/stack.ts';
import { signedFetch } from '../support/signed-fetch.ts';
import type { Dice } from './random.ts';
import type { Strike } from './schedule.ts';
import type { Parts } from './storm.ts';
import { createTeam, teamExecutor, type Team } from './team.ts';

const CALLBACK_SETTINGS = {
  SVC_CALLBACK_ALLOWED_HOSTS_CSV: '127.0.0.1',
  SVC_CALLBACK_HMAC_SECRET: 'fault-run-secret',
};
export const SETTINGS = {
  SVC_RATE_LIMIT_ENABLED: 'false',
  SVC_SWEEP_IDLE_SECONDS: '5',
  SVC_AUTO_APPROVE_ENABLED: 'true',
  ...CALLBACK_SETTINGS,
};
/** Sends without an answer soon need a person, so that the run covers it. */
export const ASKS_SOON = { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '5' };
/**
 * The bridge registry looks at the chains once, before the storm, and that counts for as long as a
 * run may take: a refresh that meets a chain which is down would close its paths.
 */
const LOOKED_AT_ONCE = { SVC_BRIDGE_SNAPSHOT_MAX_AGE_SECONDS: '604800' };
/** What a run is about: everything, or one lane. */
export type Lane = 'mix' | 'bridges' | 'perps';
const LANE_SETTINGS = {
  mix: ASKS_SOON,
  bridges: LOOKED_AT_ONCE,
  perps: { SVC_UNPROVEN_ASK_SECONDS: '1' },
} as const;
const API_PREFIX = '/v3';

/** The signer of the agent that a strategy at the perps venue has. */
export const AGENT = 'storm-agent';
function agent(dataDir: string) {
  const private_key_file = join(dataDir, 'agent.key');
  writeFileSync(private_key_file, `0x${'a7'.repeat(32)}`, { mode: 0o600 });
  return {
    signers: [
      {
        signer_key: AGENT,
        profile: AGENT,
        chain_family: 'evm',
        backend: 'local',
        private_key_file,
      },
    ],
  };
}

export interface Run {
  readonly stack: Stack;
  /** The service's processes and the team's worker. */
  readonly parts: Parts;
  readonly team: Team;
  /** Plans the strikes of a run over this stack; when left out, `planStrikes` does. */
  readonly strikes?: (dice: Dice, kills: number) => readonly Strike[];
  /** What disturbs the stack beside the strikes, until `over` aborts. */
  readonly disturb?: (dice: Dice, over: AbortSignal) => Promise<void>;
  readonly apiUrl: string;
  query<R extends object>(sql: string): Promise<R[]>;
  /** A GET of the API, for after the kills. */
  read<T>(path: string): Promise<T>;
  /** Status of the newest run of a workflow, null when Temporal knows none. */
  statusOfRun(workflowId: string): Promise<string | null>;
  /** Sets the venue's faults; null removes them. Returns the counts of its calls so far. */
  venueFaults(
    faults: object | null,
  ): Promise<{ readonly calls: number; readonly answers_lost: number }>;
  /** Ends everything; removes the folder unless `keep`. */
  close(keep: boolean): Promise<void>;
}

/**
 * Starts API, worker, Temporal and Postgres as processes that stay down when they are killed, and
 * beside them the bridges or a team's worker.
 */
export async function startRunStack(
  signal: AbortSignal,
  log: (line: string) => void,
  lane: Lane = 'mix',
): Promise<Run> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fault-run-'));
  let stack: Stack;
  try {
    const ports = await choosePorts(ANY_FREE_PORTS, Object.keys(ANY_FREE_PORTS) as PortName[]);
    // A run over one lane has no team and no person: every movement must end by itself.
    const more =
      lane === 'mix'
        ? { executors: [teamExecutor(dataDir)] }
        : lane === 'perps'
          ? agent(dataDir)
          : {};
    stack = await startStack({
      settings: { dataDir, ports },
      split: true,
      restart: false,
      bridges: lane === 'bridges',
      perp: lane === 'perps',
      more,
      signal,
      log,
      env: { ...SETTINGS, ...LANE_SETTINGS[lane] },
    });
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
  const team = createTeam(dataDir, stack.temporalAddress);
  try {
    if (lane === 'mix') await team.start();
  } catch (error) {
    await stack.stop();
    throw error;
  }
  return runOn(stack, team);
}

/** The ways in which a run looks at a stack that runs; `close` ends both. */
export function runOn(
  stack: Stack,
  team: Team,
  more: Partial<Pick<Run, 'parts' | 'strikes' | 'disturb'>> = {},
): Run {
  const apiUrl = `${stack.apiUrl}${API_PREFIX}`;
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 4 });
  // Idle connections die with every kill of Postgres; the next query gets a new one.
  pool.on('error', () => undefined);
  const connection = Connection.lazy({ address: stack.temporalAddress });
  const temporal = new Client({ connection });
  return {
    stack,
    parts: {
      kill: (name) => (name === 'team' ? team.kill() : stack.kill(name)),
      startChild: (name) => (name === 'team' ? team.start() : stack.startChild(name)),
    },
    team,
    apiUrl,
    query: async <R extends object>(sql: string) =>
      (await pool.query<R & pg.QueryResultRow>(sql)).rows,
    read: async <T>(path: string) => {
      const answer = await signedFetch(stack.keys.admin, apiUrl + path, {
        signal: AbortSignal.timeout(30_000),
      });
      if (answer.status !== 200)
        throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as T;
    },
    statusOfRun: async (workflowId) => {
      try {
        return (await temporal.workflow.getHandle(workflowId).describe()).status.name;
      } catch (error) {
        if (error instanceof Error && error.name === 'WorkflowNotFoundError') return null;
        throw error;
      }
    },
    venueFaults: async (faults) => {
      const body =
        faults === null
          ? {}
          : { body: JSON.stringify(faults), headers: { 'content-type': 'application/json' } };
      const answer = await fetch(`${stack.paperVenueUrl}/faults`, {
        method: faults === null ? 'DELETE' : 'POST',
        ...body,
      });
      if (answer.status !== 200)
        throw new Error(`the venue refused the faults: ${await answer.text()}`);
      const counts = await fetch(`${stack.paperVenueUrl}/faults/counts`);
      return (await counts.json()) as { calls: number; answers_lost: number };
    },
    close: async (keep) => {
      await Promise.allSettled([pool.end(), connection.close()]);
      await team.stop();
      await stack.stop();
      if (!keep) rmSync(stack.dataDir, { recursive: true, force: true });
    },
    ...more,
  };
}
