import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ProcessIdentity, endProcess, identify } from '../../bootstrap/identity.mjs';
import { tail } from '../../bootstrap/command.mjs';

/** How to start, recognise and stop one part of the stack. */
export interface ChildSpec {
  name: string;
  command: string;
  args: string[];
  cwd: string;
  env?: Record<string, string>;
  uid?: number;
  gid?: number;
  /** Gives a Node.js child a channel to this process; it closes when this process ends. */
  ipc?: boolean;
  logFile: string;
  /** Parts stop in order of their stages; parts of one stage stop together. */
  stage: number;
  stopSignal: NodeJS.Signals;
  stopTimeoutMs: number;
  readyTimeoutMs: number;
  /** A failed start whose log matches is repeated until `readyTimeoutMs` is over. */
  transientFault?: RegExp;
  beforeStart?(): Promise<void>;
  /**
   * Called repeatedly until it returns true; a text says what the part waits for. `log` returns the
   * output of this start so far.
   */
  isReady(log: () => string): Promise<boolean | string>;
}

/** A part ended, or did not become ready, during its start. */
export class ChildStartError extends Error {
  override name = 'ChildStartError';
  readonly child: string;

  constructor(child: string, what: string, logFile: string, log: string) {
    const end = log.trimEnd().split('\n').slice(-15).join('\n');
    super(`${child} ${what}. End of ${logFile}:\n${end === '' ? '(no output)' : end}`);
    this.child = child;
  }
}

const MAX_LOG_BYTES = 20 * 1024 * 1024;
const POLL_MS = 25;

/** One supervised process, which can be started again after it ended. */
export class ManagedChild {
  readonly spec: ChildSpec;
  identity: ProcessIdentity | null = null;
  /** Called when the process has ended; `unexpected` is false when this class ended it. */
  onExit: (unexpected: boolean, how: string) => void = () => undefined;
  /** Called as soon as the process exists, before it is ready. */
  onSpawn: () => void = () => undefined;
  private process: ChildProcess | null = null;
  private exited: Promise<void> = Promise.resolve();
  private expected = false;
  private lastExit = '';

  constructor(spec: ChildSpec) {
    this.spec = spec;
  }

  get pid(): number | null {
    return this.identity?.pid ?? null;
  }

  get running(): boolean {
    return this.process !== null;
  }

  /** Starts the process and waits until it is ready. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.running) return;
    const deadline = Date.now() + this.spec.readyTimeoutMs;
    for (;;) {
      try {
        await this.startOnce(deadline, signal);
        return;
      } catch (error) {
        const again =
          this.spec.transientFault?.test(error instanceof Error ? error.message : '') ?? false;
        if (!again || Date.now() > deadline || signal?.aborted === true) throw error;
        await pause(150);
      }
    }
  }

  private async startOnce(deadline: number, signal?: AbortSignal): Promise<void> {
    await this.spec.beforeStart?.();
    signal?.throwIfAborted();
    const offset = this.launch();
    const log = (): string => logSince(this.spec.logFile, offset);
    while (this.running) {
      const ready = await this.spec.isReady(log);
      if (ready === true) return;
      if (signal?.aborted === true || Date.now() > deadline) {
        await this.stop();
        signal?.throwIfAborted();
        const seconds = Math.round(this.spec.readyTimeoutMs / 1000);
        throw new ChildStartError(
          this.spec.name,
          `was not ready after ${seconds} s${ready === false ? '' : ` (${ready})`}`,
          this.spec.logFile,
          log(),
        );
      }
      await pause(POLL_MS);
    }
    throw new ChildStartError(
      this.spec.name,
      `ended while starting (${this.lastExit})`,
      this.spec.logFile,
      log(),
    );
  }

  /** Spawns the process; returns the offset of its output in the log file. */
  private launch(): number {
    const { spec } = this;
    const { fd, offset } = openLog(spec.logFile);
    this.expected = false;
    const child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: { ...process.env, ...spec.env },
      ...(spec.uid === undefined ? {} : { uid: spec.uid }),
      ...(spec.gid === undefined ? {} : { gid: spec.gid }),
      // A separate process group: Ctrl-C in the terminal reaches only this process, which stops
      // parts in order.
      detached: true,
      // Output goes directly to the file: a broken pipe must not end a part when this process ends.
      stdio: spec.ipc === true ? ['ignore', fd, fd, 'ipc'] : ['ignore', fd, fd],
    });
    closeSync(fd);
    this.process = child;
    this.identity = child.pid === undefined ? null : identify(child.pid);
    this.exited = new Promise((resolve) => {
      const ended = (how: string): void => {
        if (this.process !== child) return;
        this.process = null;
        this.lastExit = how;
        if (child.pid !== undefined) sweepGroup(child.pid);
        resolve();
        this.onExit(!this.expected, how);
      };
      child.once('error', (error) => ended(error.message));
      child.once('exit', (code, by) =>
        ended(by === null ? `exit status ${code ?? '?'}` : `killed by ${by}`),
      );
    });
    if (this.process !== null) this.onSpawn();
    return offset;
  }

  /** Only sends a signal; the supervisor handles the consequences. */
  kill(signal: NodeJS.Signals): boolean {
    return this.process?.kill(signal) ?? false;
  }

  /** Stops the process with its stop signal, then with SIGKILL, and waits for its end. */
  async stop(): Promise<void> {
    this.expected = true;
    if (!this.running || this.identity === null) return this.exited;
    await endProcess(this.identity, {
      signal: this.spec.stopSignal,
      timeoutMs: this.spec.stopTimeoutMs,
    });
    await this.exited;
  }

  /** Kills the process without waiting: last resort while this process exits. */
  killNow(): void {
    this.expected = true;
    const pid = this.process?.pid;
    if (pid !== undefined) sweepGroup(pid);
  }

  /** Waits until the process has ended for any reason. */
  waitExit(): Promise<void> {
    return this.exited;
  }

  /** Returns the end of the part's log, for messages. */
  logTail(): string {
    return tail(this.spec.logFile);
  }
}

/** Kills the process group, so that no process of a part outlives it. */
function sweepGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // the process group is already empty
  }
}

function openLog(file: string): { fd: number; offset: number } {
  mkdirSync(dirname(file), { recursive: true });
  let offset = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (offset > MAX_LOG_BYTES) {
    renameSync(file, `${file}.1`);
    offset = 0;
  }
  return { fd: openSync(file, 'a'), offset };
}

function logSince(file: string, offset: number): string {
  try {
    return readFileSync(file).subarray(offset).toString('utf8');
  } catch {
    return '';
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
