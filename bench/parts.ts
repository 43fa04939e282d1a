/** How the supervisor starts the bench's own processes. */
import { join } from 'node:path';
import { built } from '../dev/bootstrap/programs.mjs';
import { ROOT } from '../dev/stack/ports.ts';
import type { ChildSpec } from '../dev/stack/supervise/child.ts';

export const PROCESSES = ['remote', 'team', 'api', 'perimeter', 'worker', 'baseline'] as const;
export type ProcessName = (typeof PROCESSES)[number];
/** Processes that only some measurements start. */
type OtherProcess = 'delay';

export interface ProcessOptions {
  readonly settingsFile: string;
  readonly logDir: string;
  /** A folder for a CPU profile of each process, written when it ends. */
  readonly profileDir: string | null;
}

export function processPart(
  name: ProcessName | OtherProcess,
  { settingsFile, logDir, profileDir }: ProcessOptions,
): ChildSpec {
  // A folder each: every thread of a process writes a file.
  const profiling =
    profileDir === null ? [] : ['--cpu-prof', '--cpu-prof-dir', join(profileDir, name)];
  return {
    name,
    command: process.execPath,
    args: [...profiling, built(`bench-${name}`), settingsFile],
    cwd: ROOT,
    ipc: true,
    logFile: join(logDir, `${name}.log`),
    stage: 1,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 30_000,
    readyTimeoutMs: 120_000,
    isReady: async (log) => log().includes('{"ready":true}'),
  };
}
