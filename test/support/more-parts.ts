/** Parts that a test adds to its stack: another worker, another exchange. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chainFile } from '../../dev/stack/chain.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { paperVenuePart, servicePart } from '../../dev/stack/service.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';

/** A wallet of the local chain (anvil's account 5) that no other part pays from. */
export const SECOND_HOT_WALLET = {
  address: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  privateKey: '0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba',
} as const;

export interface MoreParts {
  /** Starts a process of the role `worker` with the stack's own settings. */
  worker(name: string): Promise<void>;
  /**
   * Starts a process of the role `api` with the stack's own settings, or others; answers its
   * address.
   */
  api(name: string, settings?: Readonly<Record<string, string>>): Promise<string>;
  /** Starts a paper venue that pays from {@link SECOND_HOT_WALLET}, which somebody has to fund. */
  venue(name: string, port: number): Promise<void>;
  stop(): Promise<void>;
}

/** Must be stopped before the stack is, which the parts use. */
export function moreParts(stack: Stack): MoreParts {
  const dataDir = mkdtempSync(join(tmpdir(), 'more-parts-'));
  const logDir = join(stack.dataDir, 'logs');
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  return {
    api: async (name, settings = {}) => {
      const opsPort = await freePort(Object.values(stack.ports));
      const port = await freePort([...Object.values(stack.ports), opsPort]);
      const env = {
        ...stack.env,
        ...settings,
        SVC_OPS_PORT: String(opsPort),
        SVC_PORT: String(port),
      };
      const spec = servicePart({ role: 'api', env, opsPort, logDir });
      await supervisor.add({ ...spec, name, logFile: join(logDir, `${name}.log`) });
      return `http://127.0.0.1:${port}`;
    },
    worker: async (name) => {
      const opsPort = await freePort(Object.values(stack.ports));
      const spec = servicePart({
        role: 'worker',
        env: { ...stack.env, SVC_OPS_PORT: String(opsPort) },
        opsPort,
        logDir,
      });
      await supervisor.add({ ...spec, name, logFile: join(logDir, `${name}.log`) });
    },
    venue: async (name, port) => {
      const folder = join(dataDir, name);
      mkdirSync(folder, { recursive: true });
      const chain = JSON.parse(readFileSync(chainFile(stack.dataDir), 'utf8')) as {
        readonly accounts: object;
      };
      const file = join(folder, 'chain.json');
      writeFileSync(
        file,
        JSON.stringify({
          ...chain,
          accounts: { ...chain.accounts, venueHotWallet: SECOND_HOT_WALLET },
        }),
      );
      const spec = paperVenuePart({
        dataDir: folder,
        chainFile: file,
        port,
        logDir: folder,
      });
      await supervisor.add({ ...spec, name });
    },
    stop: async () => {
      await supervisor.stopAll();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
