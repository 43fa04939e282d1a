/** A synchronous standby beside the Postgres of a stack, and the fail-over to it. */
import { join } from 'node:path';
import { freePort } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import { copyRunning, isStandby, makeSynchronous, runFailover } from '../../dev/stack/standby.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';

export { query } from '../../dev/stack/standby.ts';

export interface Standby {
  /** The service's address, which names both servers, the first primary first. */
  readonly serviceUrl: string;
  /** The owner's addresses of each alone. */
  readonly first: string;
  readonly second: string;
  /** Fences the first, which is down, and promotes the second; what the script said. */
  failOver(): Promise<string>;
  /** Starts the first again, as it is after its fence. */
  startFirst(): Promise<void>;
  close(): Promise<void>;
}

/** Copies the running Postgres of the stack; its commits wait for the copy from then on. */
export async function addStandby(stack: Stack): Promise<Standby> {
  const { dataDir, databaseUrl: first, ports } = stack;
  const home = join(dataDir, 'standby');
  const port = await freePort(Object.values(ports));
  const parts = { logDir: join(dataDir, 'logs') };
  await copyRunning({ from: dataDir, to: home, primaryUrl: first });
  const made = await postgresPart({ ...parts, dataDir: home, port });
  const old = await postgresPart({ ...parts, dataDir, port: ports.postgres });
  const supervisor = new Supervisor({ dataDir: home, restart: false, log: () => undefined });
  const start = ({ spec, databaseUrl }: typeof made, name: string): Promise<void> =>
    supervisor.add({
      ...spec,
      name,
      logFile: join(parts.logDir, `${name}.log`),
      isReady: async () => (await isStandby(databaseUrl)) === true,
    });
  await start(made, 'postgres-second');
  await makeSynchronous(first);
  const service = new URL(stack.env['SVC_DATABASE_URL'] ?? '');
  return {
    serviceUrl: service.href.replace(service.host, `${service.host},127.0.0.1:${String(port)}`),
    first,
    second: made.databaseUrl,
    failOver: async () =>
      (await runFailover(old.spec, 'fence', join(dataDir, 'postgres'))) +
      (await runFailover(made.spec, 'promote', join(home, 'postgres'))),
    startFirst: () => start(old, 'postgres-first'),
    close: () => supervisor.stopAll(),
  };
}
