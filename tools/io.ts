/** The parts of the process that a command of `fundadmin` may use; tests replace them. */
export interface ToolIo {
  readonly env: NodeJS.ProcessEnv;
  /** Writes results, to standard output. */
  readonly out: (text: string) => void;
  /** Writes everything else that a person reads, to standard error. */
  readonly err: (text: string) => void;
  /** Set by the program before a command's action runs. */
  command?: RunningCommand;
}

/** The command that runs, as it was typed. */
export interface RunningCommand {
  /** Such as `keys issue`. */
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether records must name who runs it: see tools/acting.ts. */
  readonly recordsWho: boolean;
}

/**
 * Thrown for a fault that the caller can correct. Only its message is shown; the exit status is 1
 * unless `exitCode` is set.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly exitCode: number;
  constructor(
    message: string,
    options: { readonly exitCode?: number; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}
