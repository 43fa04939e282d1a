import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { identify } from '../../bootstrap/identity.mjs';
import { ROOT } from '../ports.ts';
import { type ChildSpec, ManagedChild } from './child.ts';
import { type RecordedChild, type StackUrls, removeRecord, writeRecord } from './record.ts';

const BACKOFF_MS = [100, 500, 1_000, 2_000, 5_000];
const STEADY_MS = 30_000;

interface Entry {
  child: ManagedChild;
  /** True when the stack's owner stopped the part: no restart. */
  stopped: boolean;
  failures: number;
  startedAt: number;
  timer: NodeJS.Timeout | null;
}

/** Starts, restarts, records and stops the parts of one stack. */
export class Supervisor {
  private readonly entries = new Map<string, Entry>();
  private readonly self = identify(process.pid);
  private readonly reaper: ChildProcess;
  private readonly abort = new AbortController();
  private urls: StackUrls | null = null;
  private stopped: Promise<void> | null = null;
  private readonly options: { dataDir: string; restart: boolean; log: (line: string) => void };
  private readonly onProcessExit = (): void => {
    for (const entry of this.entries.values()) entry.child.killNow();
  };

  constructor(options: { dataDir: string; restart: boolean; log: (line: string) => void }) {
    this.options = options;
    this.write();
    const script = join(ROOT, 'dev', 'stack', 'supervise', 'reaper.mjs');
    this.reaper = spawn(process.execPath, [script, options.dataDir, this.self?.start ?? ''], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.reaper.on('error', () => undefined);
    this.reaper.unref();
    process.once('exit', this.onProcessExit);
  }

  /** Starts a new part and waits until it is ready. */
  async add(spec: ChildSpec): Promise<void> {
    this.abort.signal.throwIfAborted();
    const entry: Entry = {
      child: new ManagedChild(spec),
      stopped: false,
      failures: 0,
      startedAt: Date.now(),
      timer: null,
    };
    this.entries.set(spec.name, entry);
    entry.child.onSpawn = () => {
      entry.startedAt = Date.now();
      this.write();
    };
    await entry.child.start(this.abort.signal);
    // Only a part that was ready once is restarted; an earlier failure is the caller's to handle.
    entry.child.onExit = (unexpected, how) => this.ended(entry, unexpected, how);
    if (!entry.child.running) this.ended(entry, true, 'right after its start');
  }

  /** Starts a part that was stopped or has died; resolves when it is ready. */
  async start(name: string): Promise<void> {
    const entry = this.entry(name);
    entry.stopped = false;
    this.clearTimer(entry);
    await entry.child.start(this.abort.signal);
  }

  /** Stops a part; the part stays stopped until it is started again. */
  async stop(name: string): Promise<void> {
    const entry = this.entry(name);
    entry.stopped = true;
    this.clearTimer(entry);
    await entry.child.stop();
    this.write();
  }

  /** Stops a part, and starts it again as `change` describes it; resolves when it is ready. */
  async replace(name: string, change: (spec: ChildSpec) => ChildSpec): Promise<void> {
    const { spec } = this.entry(name).child;
    await this.stop(name);
    await this.add(change(spec));
  }

  /** Sends a signal to a part; after SIGKILL waits until the part has ended. */
  async kill(name: string, signal: NodeJS.Signals): Promise<void> {
    const { child } = this.entry(name);
    if (child.kill(signal) && signal === 'SIGKILL') await child.waitExit();
  }

  /** Returns the process id of a part; null while it is stopped. */
  pid(name: string): number | null {
    const { child } = this.entry(name);
    return child.running ? child.pid : null;
  }

  /** Whether the stack is stopping; this explains failures of parts from now on. */
  get stopping(): boolean {
    return this.abort.signal.aborted;
  }

  names(): string[] {
    return [...this.entries.keys()];
  }

  /** Records the URLs: from now on other processes may use the stack. */
  announce(urls: StackUrls): void {
    this.urls = urls;
    this.write();
  }

  /** Stops all parts, stage after stage. Safe to call again and during a start. */
  stopAll(): Promise<void> {
    this.stopped ??= this.stopStages();
    return this.stopped;
  }

  /** Kills all remaining processes; `stopAll` then ends immediately. */
  hurry(): void {
    for (const entry of this.entries.values()) entry.child.killNow();
  }

  private async stopStages(): Promise<void> {
    this.abort.abort(new Error('The stack is being stopped.'));
    const entries = [...this.entries.values()];
    for (const entry of entries) {
      entry.stopped = true;
      this.clearTimer(entry);
    }
    for (const stage of [...new Set(entries.map(({ child }) => child.spec.stage))].sort(
      (a, b) => a - b,
    )) {
      const together = entries.filter(({ child }) => child.spec.stage === stage);
      await Promise.all(together.map(({ child }) => child.stop()));
    }
    process.off('exit', this.onProcessExit);
    removeRecord(this.options.dataDir);
    await this.endReaper();
  }

  private async endReaper(): Promise<void> {
    const { reaper } = this;
    if (reaper.exitCode !== null || reaper.signalCode !== null || reaper.pid === undefined) return;
    reaper.ref();
    const gone = new Promise((resolve) => reaper.once('exit', resolve));
    reaper.kill('SIGKILL');
    await gone;
  }

  private ended(entry: Entry, unexpected: boolean, how: string): void {
    this.write();
    if (!unexpected || entry.stopped || !this.options.restart || this.abort.signal.aborted) return;
    if (Date.now() - entry.startedAt > STEADY_MS) entry.failures = 0;
    const { name, logFile } = entry.child.spec;
    const delay = BACKOFF_MS[Math.min(entry.failures, BACKOFF_MS.length - 1)] ?? 5_000;
    entry.failures += 1;
    this.options.log(`  ! ${name} ended (${how}), starting it again; its log is ${logFile}`);
    this.clearTimer(entry);
    entry.timer = setTimeout(() => void this.restart(entry), delay);
  }

  private async restart(entry: Entry): Promise<void> {
    const { name } = entry.child.spec;
    try {
      await entry.child.start(this.abort.signal);
      this.options.log(`  ✓ ${name} is back`);
    } catch (error) {
      if (this.abort.signal.aborted || entry.stopped) return;
      // A part that died during this start has already planned its next start.
      if (!entry.child.running && entry.timer?.hasRef() !== true)
        this.ended(entry, true, 'not ready');
      this.options.log(
        `  ! ${name}: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`,
      );
    }
  }

  private clearTimer(entry: Entry): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
  }

  private entry(name: string): Entry {
    const entry = this.entries.get(name);
    if (entry !== undefined) return entry;
    throw new Error(`There is no part named ${name}; the parts are ${this.names().join(', ')}.`);
  }

  private write(): void {
    if (this.self === null || this.stopped !== null) return;
    const children = [...this.entries.values()].flatMap(({ child }): RecordedChild[] => {
      const { name, stage, stopSignal } = child.spec;
      return child.running && child.identity !== null
        ? [{ name, stage, stopSignal, ...child.identity }]
        : [];
    });
    const state = this.urls === null ? 'starting' : 'running';
    writeRecord(this.options.dataDir, { supervisor: this.self, state, urls: this.urls, children });
  }
}
