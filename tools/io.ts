/** What a command of `fundadmin` may use of its process, so that tests can give it another one. */
export interface ToolIo {
  readonly env: NodeJS.ProcessEnv;
  /** Results: standard output. */
  readonly out: (text: string) => void;
  /** Everything else a person reads: standard error. */
  readonly err: (text: string) => void;
}

/**
 * A fault that the caller can mend: its message is all that is shown, and the exit status is 1
 * unless it says otherwise.
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
