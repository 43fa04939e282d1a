/** The parts of the process that a command may use; tests replace these parts. */

export interface Io {
  readonly env: NodeJS.ProcessEnv;
  /** Writes results to standard output. */
  readonly out: (text: string) => void;
  /** Writes all other text for the user to standard error. */
  readonly err: (text: string) => void;
  /** Whether standard input, output and error are terminals. */
  readonly terminal: { readonly in: boolean; readonly out: boolean; readonly err: boolean };
  /** Width of the terminal in characters; absent without a terminal. */
  readonly columns?: number;
  /** Reads standard input to its end. */
  readonly read: () => Promise<string>;
  /** Aborted when the user presses Ctrl-C. */
  readonly signal: AbortSignal;
}
