/** A process id together with the moment the process started. */
export interface ProcessIdentity {
  pid: number;
  start: string;
}
export function startMark(pid: number): string | null;
export function identify(pid: number): ProcessIdentity | null;
export function isAlive(identity: ProcessIdentity): boolean;
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals, options?: { group?: boolean }): boolean;
export function waitGone(identity: ProcessIdentity, timeoutMs: number): Promise<boolean>;
export function endProcess(identity: ProcessIdentity, options?: { signal?: NodeJS.Signals; timeoutMs?: number }): Promise<void>;
