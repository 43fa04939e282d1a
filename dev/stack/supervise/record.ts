import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockHolder, readLock, takeLock } from '../../bootstrap/lock.mjs';
import { type ProcessIdentity, endProcess, isAlive } from '../../bootstrap/identity.mjs';

/** URLs of a running stack. */
export interface StackUrls {
  apiUrl: string;
  opsUrl: string;
  uiUrl: string | null;
  temporalAddress: string;
  /** Connects as the owner of the tables; the service itself uses a role with fewer rights. */
  databaseUrl: string;
  chainUrl: string;
  paperVenueUrl: string;
}

/** A supervised process, recorded so that a later start can find and end it. */
export interface RecordedChild extends ProcessIdentity {
  name: string;
  stage: number;
  stopSignal: NodeJS.Signals;
}

/** Content of `<dataDir>/stack.json`, which describes the stack of that folder. */
export interface StackRecord {
  supervisor: ProcessIdentity;
  state: 'starting' | 'running';
  urls: StackUrls | null;
  children: RecordedChild[];
}

/** The folder's stack already runs, or is starting: then `urls` is null. */
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
 * Locks a data folder for this process; rejects with StackAlreadyRunning when a live stack has it.
 */
export async function claimDataDir(dataDir: string): Promise<() => void> {
  const lock = await takeLock(lockFile(dataDir));
  if (lock.release !== undefined) return lock.release;
  throw new StackAlreadyRunning(dataDir, lock.holder, readRecord(dataDir));
}

/** Returns the live stack of a data folder, or null. */
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

/** Replaces the record in one step, so that no process reads an incomplete file. */
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
