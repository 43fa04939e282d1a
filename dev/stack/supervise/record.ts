import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockHolder, readLock, takeLock } from '../../bootstrap/lock.mjs';
import { type ProcessIdentity, endProcess, isAlive } from '../../bootstrap/identity.mjs';

/** Where a running stack can be reached. */
export interface StackUrls {
  apiUrl: string;
  opsUrl: string;
  uiUrl: string | null;
  temporalAddress: string;
  /** As the owner of the tables; the service itself connects as a role that may do less. */
  databaseUrl: string;
  chainUrl: string;
  paperVenueUrl: string;
}

/** One supervised process, so that a later start can find and end it. */
export interface RecordedChild extends ProcessIdentity {
  name: string;
  stage: number;
  stopSignal: NodeJS.Signals;
}

/** What `<dataDir>/stack.json` says about the stack of that folder. */
export interface StackRecord {
  supervisor: ProcessIdentity;
  state: 'starting' | 'running';
  urls: StackUrls | null;
  children: RecordedChild[];
}

/** The folder's stack is up already (or starting: then `urls` is null). */
export class StackAlreadyRunning extends Error {
  override name = 'StackAlreadyRunning';
  readonly urls: StackUrls | null;
  readonly supervisor: ProcessIdentity;

  constructor(dataDir: string, holder: LockHolder, record: StackRecord | null) {
    const urls = record?.state === 'running' ? record.urls : null;
    super(
      urls === null
        ? `Process ${holder.pid} is starting a stack in ${dataDir}. Wait for it, or stop it with \`kill ${holder.pid}\`.`
        : `The stack of ${dataDir} runs already (process ${holder.pid}) at ${urls.apiUrl}. ` +
            'Use it, stop that process, or set SVC_DATA_DIR and other ports for a second one.',
    );
    this.urls = urls;
    this.supervisor = holder;
  }
}

/**
 * Takes a data folder for this process; fails with StackAlreadyRunning when a live stack has it.
 */
export async function claimDataDir(dataDir: string): Promise<() => void> {
  const lock = await takeLock(lockFile(dataDir));
  if (lock.release !== undefined) return lock.release;
  throw new StackAlreadyRunning(dataDir, lock.holder, readRecord(dataDir));
}

/** The live stack of a data folder, or null. */
export function findRunningStack(dataDir: string): StackRecord | null {
  const holder = readLock(lockFile(dataDir));
  const record = readRecord(dataDir);
  if (holder === null || record === null || !isAlive(holder)) return null;
  return record.supervisor.pid === holder.pid && record.state === 'running' ? record : null;
}

/** Ends the processes that an earlier stack of this folder left running; returns their names. */
export async function endOrphans(dataDir: string): Promise<string[]> {
  const record = readRecord(dataDir);
  const orphans = (record?.children ?? []).filter(isAlive);
  for (const stage of [...new Set(orphans.map((child) => child.stage))].sort((a, b) => a - b)) {
    const together = orphans.filter((child) => child.stage === stage);
    await Promise.all(
      together.map((child) => endProcess(child, { signal: child.stopSignal, timeoutMs: 4_000 })),
    );
  }
  removeRecord(dataDir);
  return orphans.map((child) => child.name);
}

/** Replaces the record in one step: no process reads half of it. */
export function writeRecord(dataDir: string, record: StackRecord): void {
  const draft = `${recordFile(dataDir)}.draft`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, recordFile(dataDir));
}

/** Removes the record of a stack that has stopped. */
export function removeRecord(dataDir: string): void {
  rmSync(recordFile(dataDir), { force: true });
}

function readRecord(dataDir: string): StackRecord | null {
  const file = recordFile(dataDir);
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StackRecord;
  } catch {
    return null;
  }
}

function recordFile(dataDir: string): string {
  return join(dataDir, 'stack.json');
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'stack.lock');
}
