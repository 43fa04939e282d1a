/** What a command may use of its process, so that tests can give it another one. */

export interface Io {
  readonly env: NodeJS.ProcessEnv;
  /** Results: standard output. */
  readonly out: (text: string) => void;
  /** Everything else that a person reads: standard error. */
  readonly err: (text: string) => void;
  /** Which of the three streams are terminals. */
  readonly terminal: { readonly in: boolean; readonly out: boolean; readonly err: boolean };
  /** How many characters fit on a line of the terminal; absent where there is none. */
  readonly columns?: number;
  /** All of standard input. */
  readonly read: () => Promise<string>;
  /** Aborted once the person presses Ctrl-C. */
  readonly signal: AbortSignal;
}
