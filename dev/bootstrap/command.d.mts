export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  logFile?: string;
  signal?: AbortSignal;
}
export function runCommand(command: string, args: string[], options?: CommandOptions): Promise<number>;
export function signalCommands(name: NodeJS.Signals): void;
export function commandsEnded(timeoutMs: number): Promise<void>;
export function tail(file: string, lines?: number): string;
