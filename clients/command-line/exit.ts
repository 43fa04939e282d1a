/** How a program ends, and the faults that a person can mend. */

/** Exit statuses of every command line of this project. */
export const EXIT = {
  done: 0,
  failure: 1,
  usage: 2,
  refused: 3,
  unreachable: 4,
  timedOut: 5,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** What stands in the help and on the page. */
export const EXIT_MEANINGS: readonly (readonly [ExitStatus, string])[] = [
  [EXIT.done, 'done'],
  [EXIT.failure, 'it failed, or was found to be wrong'],
  [EXIT.usage, 'wrong usage, or something is missing in the environment'],
  [EXIT.refused, 'refused by the service'],
  [EXIT.unreachable, 'the service did not answer; what became of it may be unknown'],
  [EXIT.timedOut, 'a wait was over before what it waited for'],
  [EXIT.interrupted, 'interrupted (Ctrl-C)'],
];

/** Its message is all that is shown, on one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: ExitStatus;
  constructor(status: ExitStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Something is wrong with how the program was called, or with what it finds around it. */
export function usageError(message: string, options?: ErrorOptions): CommandError {
  return new CommandError(EXIT.usage, message, options);
}

/** The person has pressed Ctrl-C; nothing is said of what was not done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
