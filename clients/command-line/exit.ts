/** Exit statuses of a program, and the errors that a person can correct. */

/** Exit statuses, the same for every command-line program of this project. */
export const EXIT = {
  done: 0,
  failure: 1,
  usage: 2,
  refused: 3,
  unreachable: 4,
  timedOut: 5,
  waits: 6,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Meaning of each exit status, as the help and the documentation show it. */
export const EXIT_MEANINGS: readonly (readonly [ExitStatus, string])[] = [
  [EXIT.done, 'done'],
  [EXIT.failure, 'it failed, or was found to be wrong'],
  [EXIT.usage, 'wrong usage, or something is missing in the environment'],
  [EXIT.refused, 'refused by the service'],
  [EXIT.unreachable, 'the service did not answer; what became of it may be unknown'],
  [EXIT.timedOut, 'the time to wait was over before the awaited state'],
  [EXIT.waits, 'the change waits for approvals; nothing was changed yet'],
  [EXIT.interrupted, 'interrupted (Ctrl-C)'],
];

/** An expected error: the program prints only its message, on one line, and no stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: ExitStatus;
  constructor(status: ExitStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Returns an error for wrong arguments, settings or files. */
export function usageError(message: string, options?: ErrorOptions): CommandError {
  return new CommandError(EXIT.usage, message, options);
}

/** The user pressed Ctrl-C; the program ends without an error message. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
