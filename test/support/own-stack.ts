/**
 * A stack of a test's own on free ports and a folder of its own, with the calls that tests make of
 * it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { choosePorts, type PortName } from '../../dev/stack/ports.ts';
import {
  ANY_FREE_PORTS,
  startStack,
  type Stack,
  type StackOptions,
} from '../../dev/stack/stack.ts';
import { starterTemplates } from '../../dev/stack/starter-templates.ts';
import { signedFetch } from './signed-fetch.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { movementWorkflowId } from '../../domain/messages.ts';
import type { MovementView, TimelineView } from './evidence.ts';
import { eventually, Stop } from './eventually.ts';
import { PATIENCE_MS } from './patience.mjs';
import { copyCluster } from './migrated-cluster.ts';
import { started } from './started.ts';

export { eventually, Stop };

const PREFIX = '/v3';
export const WITHDRAW_TO_TREASURY = 'starter/withdraw-to-treasury';

export interface JsonAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Created {
  readonly movement_id: string;
  readonly compiled_plan_hash: string;
  readonly request_state: string;
}

/** For a service whose requests need no signature. */
const UNKNOWN_KEY: SigningKey = { keyId: 'unknown', secret: 'nothing' };

const isOverloaded = ({ status, body }: JsonAnswer): boolean =>
  status === 503 && (body['detail'] as { error?: unknown } | undefined)?.error === 'overloaded';

/** The API as these tests use it; nothing is checked but what a method says. */
export class MovementApi {
  readonly #base: string;
  readonly #key: SigningKey;
  constructor(apiUrl: string, key: SigningKey = UNKNOWN_KEY) {
    this.#base = `${apiUrl}${PREFIX}`;
    this.#key = key;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<JsonAnswer> {
    const init =
      body === undefined
        ? { headers }
        : {
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json', ...headers },
          };
    const answer = await signedFetch(this.#key, this.#base + path, {
      method,
      ...init,
      signal: AbortSignal.timeout(30_000),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  /**
   * Sends and fails unless the status is as expected. What a busy API has not accepted is sent
   * again, as its answer says.
   */
  async expect(
    status: number,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const until = Date.now() + PATIENCE_MS;
    let answer = await this.send(method, path, body);
    while (status !== 503 && isOverloaded(answer) && Date.now() < until) {
      await sleep(1_000);
      answer = await this.send(method, path, body);
    }
    if (answer.status !== status)
      throw new Error(
        `${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
      );
    return answer.body;
  }

  /** Creates a movement of a template of version 1. */
  async create(
    template: string,
    options: { amount: string; ttl?: number; intent?: object; strategy?: string },
  ): Promise<Created> {
    const body = {
      template_key: template,
      template_version: 1,
      intent: { asset: 'USDC', amount: options.amount, ...options.intent },
      strategy_id: options.strategy ?? 'tests',
      ...(options.ttl === undefined ? {} : { approval_ttl_seconds: options.ttl }),
    };
    return (await this.expect(201, 'POST', '/movements', body)) as unknown as Created;
  }

  async approve(movement: Created): Promise<void> {
    const { movement_id, compiled_plan_hash } = movement;
    await this.expect(200, 'POST', `/movements/${movement_id}/approve`, {
      compiled_plan_hash,
      approver_id: 'tester',
    });
  }

  async act(action: 'resume' | 'retry' | 'cancel', movementId: string): Promise<void> {
    await this.expect(200, 'POST', `/movements/${movementId}/actions/${action}`);
  }

  async movement(movementId: string): Promise<MovementView> {
    return (await this.expect(200, 'GET', `/movements/${movementId}`)) as unknown as MovementView;
  }

  async timeline(movementId: string): Promise<readonly TimelineView[]> {
    return (await this.expect(
      200,
      'GET',
      `/movements/${movementId}/timeline`,
    )) as unknown as readonly TimelineView[];
  }

  /** Waits until the movement is in one of these states; another end is an error at once. */
  async reaches(
    movementId: string,
    states: string | readonly string[],
    timeoutMs = 60_000,
  ): Promise<MovementView> {
    const wanted = typeof states === 'string' ? [states] : states;
    let last = '';
    return eventually(
      async () => {
        const movement = await this.movement(movementId);
        last = `${movement.request_state} (${movement.nodes.map((node) => `${node.node_key} ${node.state}`).join(', ')})`;
        if (wanted.includes(movement.request_state)) return movement;
        if (['FAILED', 'EXPIRED', 'REJECTED', 'COMPLETED'].includes(movement.request_state))
          throw new Stop(
            `the movement ended ${movement.request_state} (${movement.error_code ?? ''}), not ${wanted.join('|')}`,
          );
        return null;
      },
      { timeoutMs, what: () => `${movementId} to become ${wanted.join('|')}; it is ${last}` },
    );
  }

  /** Waits until a node is in one of these states. */
  async nodeReaches(
    movementId: string,
    nodeKey: string,
    states: readonly string[],
    timeoutMs = PATIENCE_MS,
  ): Promise<MovementView> {
    return eventually(
      async () => {
        const movement = await this.movement(movementId);
        return movement.nodes.some(
          (node) => node.node_key === nodeKey && states.includes(node.state),
        )
          ? movement
          : null;
      },
      { timeoutMs, what: () => `node ${nodeKey} to become ${states.join('|')}` },
    );
  }
}

export interface OwnStack {
  readonly stack: Stack;
  readonly api: MovementApi;
  readonly temporal: Client;
  /** Runs one statement on the stack's database. */
  query<R extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<R[]>;
  /** Sets the paper venue's faults; null removes them. */
  venueFaults(faults: object | null): Promise<void>;
  /** Changes the chain's faults; null removes them. */
  chainFaults(faults: object | null): Promise<void>;
  /** The state of the movement's newest run, null when Temporal knows none. */
  runOf(
    movementId: string,
  ): Promise<{ readonly run_id: string; readonly status: string; readonly events: number } | null>;
  close(): Promise<void>;
}

export interface OwnStackOptions extends Pick<
  StackOptions,
  'split' | 'env' | 'service' | 'allow' | 'temporalConfig' | 'bridges' | 'perp'
> {
  /**
   * Entries of the registry file beside those of the embedded stack; the argument is the address of
   * the paper venue.
   */
  readonly executors?: (paperVenueUrl: string) => readonly object[];
  readonly signers?: readonly object[];
  /** Local signers beside it, by key, each with a profile of its own name. */
  readonly localSigners?: Readonly<Record<string, `0x${string}`>>;
  /**
   * A data folder to go on from, whose database is migrated, perhaps by another build; without it
   * the stack begins empty.
   */
  readonly from?: string;
}

/** Tests poll faster than callers may. */
const WITHOUT_LIMITS = { SVC_RATE_LIMIT_ENABLED: 'false' };

/**
 * Starts a stack whose parts stay down when they die, loads the starter templates and connects to
 * it.
 */
export async function startOwnStack({
  executors = () => [],
  signers = [],
  localSigners = {},
  from,
  ...options
}: OwnStackOptions = {}): Promise<OwnStack> {
  const dataDir = from ?? mkdtempSync(join(tmpdir(), 'own-stack-'));
  const lines: string[] = [];
  let stack: Stack;
  try {
    if (from === undefined) await copyCluster(dataDir);
    const ports = await choosePorts(ANY_FREE_PORTS, Object.keys(ANY_FREE_PORTS) as PortName[]);
    const folder = join(dataDir, 'test-config');
    mkdirSync(folder, { recursive: true });
    const keyFile = (signer: string): string => join(folder, `${signer}.key`);
    const local = Object.keys(localSigners).map((signer_key) => ({
      signer_key,
      profile: signer_key,
      chain_family: 'evm',
      backend: 'local',
      private_key_file: keyFile(signer_key),
    }));
    for (const [key, secret] of Object.entries(localSigners))
      writeFileSync(keyFile(key), secret, { mode: 0o600 });
    stack = await startStack({
      ...options,
      settings: { dataDir, ports },
      restart: false,
      durable: false,
      migrate: from === undefined,
      more: (paperVenueUrl) => ({
        executors: executors(paperVenueUrl),
        signers: [...signers, ...local],
      }),
      env: { ...WITHOUT_LIMITS, SVC_SWEEP_IDLE_SECONDS: '1', ...options.env },
      log: (line) => lines.push(line),
    });
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw new Error(`the stack did not start:\n${lines.join('\n')}`, { cause: error });
  }
  const api = new MovementApi(stack.apiUrl, stack.keys.admin);
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  const connection = Connection.lazy({ address: stack.temporalAddress });
  const temporal = new Client({ connection });
  if (options.service !== false) await driftOnceKnown(api);
  if (options.service !== false && from === undefined)
    for (const template of starterTemplates(stack.chain, stack.bridges, stack.perp))
      await api.expect(201, 'POST', '/plan-templates', template);
  return {
    stack,
    api,
    temporal,
    query: async (sql, values = []) => (await pool.query(sql, [...values])).rows,
    venueFaults: (faults) => setFaults(stack.paperVenueUrl, faults),
    chainFaults: (faults) => setFaults(stack.chain.rpcUrl, faults),
    runOf: async (movementId) => {
      try {
        const { runId, status, historyLength } = await temporal.workflow
          .getHandle(movementWorkflowId(movementId))
          .describe();
        return { run_id: runId, status: status.name, events: historyLength };
      } catch (error) {
        if (error instanceof Error && error.name === 'WorkflowNotFoundError') return null;
        throw error;
      }
    },
    close: async () => {
      await Promise.allSettled([pool.end(), connection.close()]);
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Such a stack for all tests of a file. */
export const ownStack = (options?: OwnStackOptions): OwnStack =>
  started(() => startOwnStack(options));

/**
 * The database has what a worker is bound to once its health was read, which takes seconds on a
 * busy machine; tests switch it off there, and rely on the reason that is shown. Returns the drift
 * that is left.
 */
export async function driftOnceKnown(api: MovementApi): Promise<unknown> {
  return eventually(
    async () => {
      const { drift } = await api.expect(200, 'POST', '/registry/verify-drift');
      return JSON.stringify(drift).includes('missing_in_database') ? null : drift;
    },
    { what: () => 'the registry to know what the worker is bound to' },
  );
}

async function setFaults(url: string, faults: object | null): Promise<void> {
  const init =
    faults === null
      ? { method: 'DELETE' }
      : {
          method: 'POST',
          body: JSON.stringify(faults),
          headers: { 'content-type': 'application/json' },
        };
  const answer = await fetch(`${url}/faults`, init);
  if (answer.status !== 200) throw new Error(`faults were refused: ${await answer.text()}`);
}
