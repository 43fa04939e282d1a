/** Commands that ask one operation and print what it answers. */
import type { InputArgs, OperationId, ResultOf } from '../http/operations.ts';
import {
  answerOf,
  command,
  type ArgumentSpecs,
  type Call,
  type CommandSpec,
  type Leaf,
  type OptionSpecs,
} from './command.ts';
import type { Session } from './session.ts';

interface Reading<
  Id extends OperationId,
  A extends ArgumentSpecs,
  O extends OptionSpecs,
> extends Omit<CommandSpec<A, O>, 'answer' | 'run'> {
  /** What is sent; nothing where the operation takes nothing. */
  readonly input?: (call: Omit<Call<A, O>, 'session'>) => InputArgs<Id>[0];
  /** The answer as people read it. */
  readonly show: (session: Session, answer: ResultOf<Id>) => string | Promise<string>;
}

/** The command that sends the operation once and prints its answer. */
export function reading<
  Id extends OperationId,
  const A extends ArgumentSpecs = Readonly<Record<never, string>>,
  const O extends OptionSpecs = Readonly<Record<never, OptionSpecs[string]>>,
>(operation: Id, { input, show, ...spec }: Reading<Id, A, O>): Leaf {
  return command<A, O>({
    ...spec,
    answer: answerOf(operation),
    run: async ({ session, args, options }) => {
      const answer = await session.call(
        operation,
        ...([input?.({ args, options })] as InputArgs<Id>),
      );
      await session.print(answer, () => show(session, answer));
    },
  });
}
