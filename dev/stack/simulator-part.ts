import { join } from 'node:path';
import { built } from '../bootstrap/programs.mjs';
import { ROOT } from './ports.ts';
import type { ChildSpec } from './supervise/child.ts';

/**
 * Describes the process of a simulator: the program `name`, ready when its log reports so. The
 * simulator itself waits for its chain.
 */
export function simulatorPart(
  name: string,
  logDir: string,
  env: Record<string, string>,
  program = name,
): ChildSpec {
  return {
    name,
    command: process.execPath,
    args: [built(program)],
    cwd: ROOT,
    env,
    ipc: true,
    logFile: join(logDir, `${name}.log`),
    stage: 2,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    readyTimeoutMs: 60_000,
    isReady: async (log) => log().includes('{"ready":true'),
  };
}
