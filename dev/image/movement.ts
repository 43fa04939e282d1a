/** Runs a movement through the API, with processes of the service that a runner starts. */
import pg from 'pg';
import { createClient } from '../../clients/http/index.ts';
import { loadStarterTemplates } from '../demo-api.ts';
import { withdrawal } from '../demo-scenes.ts';
import { demoMovement } from '../demo-story.ts';
import { ensureDevAllowlist } from '../stack/allowlist.ts';
import type { SigningKey } from '../stack/keys.ts';
import { freePort } from '../stack/ports.ts';
import { SERVICE_ROLE } from '../stack/postgres.ts';
import type { Stack } from '../stack/stack.ts';

/** Runs the production programs, as containers or processes. */
export interface Runner {
  prepare(): Promise<void>;
  /** Runs a command to its end; returns its output. */
  command(env: Env, args: readonly string[]): Promise<string>;
  /** Starts a process of the service in the background. */
  start(name: string, env: Env, args: readonly string[]): Promise<void>;
  /** Returns whether the process passes its health check, or is ready. */
  healthy(name: string, path: '/healthz' | '/readyz'): Promise<boolean>;
  /** Stops the process as an orchestrator does; returns its exit status. */
  stop(name: string): Promise<number>;
  /** Ends all remaining processes. */
  end(): Promise<void>;
}

export type Env = Readonly<Record<string, string>>;

const PATIENCE_MS = 120_000;
const TEMPLATE = 'starter/withdraw-to-treasury';

/**
 * Runs a movement from an empty database to COMPLETED, using only the production programs; throws
 * at the first unexpected result.
 */
export async function moveFunds(stack: Stack, runner: Runner) {
  const opsPort = await freePort(Object.values(stack.ports));
  const database = await emptyDatabase(stack);
  const env = { ...stack.env, SVC_DATABASE_URL: database.serviceUrl };
  const migrating = Date.now();
  await runner.command({ SVC_DATABASE_OWNER_URL: database.ownerUrl }, [
    ...['fundadmin', 'database', 'migrate', '--grant-to', SERVICE_ROLE],
  ]);
  const migrate = since(migrating);
  await runner.command(env, ['fundadmin', 'config', 'check']);
  const issue = async (role: 'admin' | 'operator'): Promise<SigningKey> => {
    const args = ['--client-name', 'image', '--key-id', `image-${role}`, '--role', role];
    const asOwner = { ...env, SVC_DATABASE_URL: database.ownerUrl };
    const printed = await runner.command(asOwner, ['fundadmin', 'keys', 'issue', ...args]);
    const issued = JSON.parse(printed) as { key_id: string; hmac_secret: string };
    return { keyId: issued.key_id, secret: issued.hmac_secret };
  };
  const keys = { ...stack.keys, admin: await issue('admin'), operator: await issue('operator') };
  await ensureDevAllowlist({ ...stack, databaseUrl: database.ownerUrl });
  const start = async (role: 'api' | 'worker', port: number): Promise<Times> => {
    const started = Date.now();
    const passes = (path: '/healthz' | '/readyz') =>
      until(`${role}: ${path}`, () => runner.healthy(role, path)).then(() => since(started));
    await runner.start(role, { ...env, SVC_OPS_PORT: String(port) }, [
      'node',
      'dist/main.js',
      role,
    ]);
    return { healthy: await passes('/healthz'), ready: await passes('/readyz') };
  };
  const seconds = {
    api: await start('api', stack.ports.ops),
    worker: await start('worker', opsPort),
  };
  const operator = createClient({ baseUrl: stack.apiUrl, key: keys.operator });
  const templates = await loadStarterTemplates({ ...stack, keys });
  const template = templates.find(({ template_key }) => template_key === TEMPLATE);
  if (template === undefined) throw new Error('there is no starter template');
  const { balances } = withdrawal(stack.chain, stack.paperVenueUrl);
  const before = await balances();
  const started = Date.now();
  const { movement_id, compiled_plan_hash } = await operator.movements.create(
    demoMovement(template, stack.chain),
  );
  await operator.movements.approve(movement_id, { compiled_plan_hash, approver_id: 'image' });
  const movement = await until('the movement', async () => {
    const view = await operator.movements.get(movement_id);
    return ENDS.includes(view.request_state) ? view : false;
  });
  if (movement.request_state !== 'COMPLETED')
    throw new Error(`the movement is ${movement.request_state}: ${JSON.stringify(movement.nodes)}`);
  const moved = since(started);
  for (const role of ['worker', 'api']) {
    const status = await runner.stop(role);
    if (status !== 0) throw new Error(`${role} ended with status ${String(status)} after SIGTERM`);
  }
  return {
    request_state: movement.request_state,
    seconds: { migrate, ...seconds, movement: moved },
    balances: { before, after: await balances() },
  };
}

/** Creates an empty database on the same server as the stack's database. */
async function emptyDatabase(stack: Stack): Promise<{ ownerUrl: string; serviceUrl: string }> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query('CREATE DATABASE image_check').finally(() => client.end());
  const within = (url: string): string => url.replace(/\/[^/]*$/, '/image_check');
  return {
    ownerUrl: within(stack.databaseUrl),
    serviceUrl: within(stack.env['SVC_DATABASE_URL'] ?? ''),
  };
}

const ENDS: readonly string[] = [
  ...['COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED', 'CANCELLED', 'MANUAL_INTERVENTION'],
];

interface Times {
  readonly healthy: number;
  readonly ready: number;
}

const since = (started: number): number => Number(((Date.now() - started) / 1000).toFixed(2));

async function until<T>(what: string, look: () => Promise<T | false>): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const found = await look();
    if (found !== false) return found;
    if (Date.now() > deadline)
      throw new Error(`${what}: not within ${String(PATIENCE_MS / 1000)} s`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
