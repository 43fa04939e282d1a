import { join } from 'node:path';
import { built } from '../bootstrap/programs.mjs';
import { ROOT } from './ports.ts';
import { simulatorPart } from './simulator-part.ts';
import type { ChildSpec } from './supervise/child.ts';

/** Roles of the service that a process has. */
export type ServiceRole = 'all' | 'api' | 'worker';

/** Describes a process of the service, which is ready when its operations listener reports so. */
export function servicePart(options: {
  role: ServiceRole;
  env: Record<string, string>;
  opsPort: number;
  logDir: string;
}): ChildSpec {
  const { role, env, opsPort, logDir } = options;
  const name = role === 'all' ? 'service' : role;
  return {
    name,
    command: process.execPath,
    args: [built('main'), role],
    cwd: ROOT,
    env,
    ipc: true,
    logFile: join(logDir, `${name}.log`),
    stage: 1,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 15_000,
    readyTimeoutMs: 120_000,
    isReady: () => saysReady(`http://127.0.0.1:${opsPort}/readyz`),
  };
}

/** Describes the paper venue's process. */
export function paperVenuePart(options: {
  dataDir: string;
  chainFile: string;
  port: number;
  logDir: string;
}): ChildSpec {
  const { dataDir, chainFile, port, logDir } = options;
  return simulatorPart('paper-venue', logDir, {
    PAPER_PORT: String(port),
    PAPER_DATA_DIR: join(dataDir, 'paper-venue'),
    PAPER_CHAIN_FILE: chainFile,
  });
}

/** Returns true when the URL reports ready, else its response or error as text. */
async function saysReady(url: string): Promise<true | string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    const said = await answer.text();
    return answer.status === 200 || `${url} answered ${String(answer.status)}: ${said}`;
  } catch (error) {
    return `${url} gave no answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}
