/** Commands that send one operation of the API and print its answer. */
import type { OperationId, ResultOf } from '../http/operations.ts';
import {
  answerOf,
  command,
  type ArgumentSpecs,
  type Call,
  type CommandSpec,
  type Leaf,
  type OptionSpecs,
} from './command.ts';
import { flag } from './options.ts';
import type { Sent, Session } from './session.ts';
import type { View } from './view.ts';

/** The option `--yes` of each command that asks for confirmation. */
export const YES = { yes: flag('do not ask (for scripts); what will be done is still shown') };

export type NoArguments = Readonly<Record<never, string>>;
export type NoOptions = Readonly<Record<never, OptionSpecs[string]>>;

/** A call with these arguments and any options. */
export interface With<Args> {
  readonly session: Session;
  readonly args: Args;
}

interface OperationSpec<
  Id extends OperationId,
  A extends ArgumentSpecs,
  O extends OptionSpecs,
> extends Omit<CommandSpec<A, O>, 'answer' | 'run'> {
  /** Makes the input of the operation; left out when the operation has no input. */
  readonly input?: (call: Call<A, O>) => Sent<Id> | Promise<Sent<Id>>;
  /** Question to confirm before the request is sent; adds the option `--yes` to the command. */
  readonly ask?: string | ((call: Call<A, O>) => string);
  /** Fields or text shown with the question. Default: the request body, else the arguments. */
  readonly what?: (call: Call<A, O>, sent: Sent<Id>) => object | string | Promise<string>;
  /** Returns the answer as text for people. */
  readonly show: (
    session: Session,
    answer: ResultOf<Id>,
    sent: Sent<Id>,
  ) => string | Promise<string>;
  /** Called after the answer is printed. */
  readonly after?: (answer: ResultOf<Id>, call: Call<A, O>) => void;
}

/** Returns a command that sends the operation once and prints its answer. */
export function operation<
  Id extends OperationId,
  const A extends ArgumentSpecs = NoArguments,
  const O extends OptionSpecs = NoOptions,
>(id: Id, { input, ask, what, show, after, ...spec }: OperationSpec<Id, A, O>): Leaf {
  return command<A, OptionSpecs>({
    ...spec,
    options: { ...spec.options, ...(ask === undefined ? {} : YES) },
    answer: answerOf(id),
    run: async ({ session, args, options: { yes, ...options } }) => {
      // The cast is safe: without `yes`, only the options of the spec are left.
      const call: Call<A, O> = { session, args, options: options as Call<A, O>['options'] };
      const sent = (await input?.(call)) ?? ({} as Sent<Id>);
      if (ask !== undefined) {
        const fields = (await what?.(call, sent)) ?? sent.body ?? args;
        await session.confirm(typeof ask === 'string' ? ask : ask(call), {
          yes: yes === true,
          what: typeof fields === 'string' ? fields : session.aside.record(rowsOf(fields)),
        });
      }
      const answer = await session.call(id, sent);
      await session.print(answer, () => show(session, answer, sent));
      after?.(answer, call);
    },
  });
}

/** Returns the fields of an object for display: text unchanged, other values as JSON. */
export function rowsOf(fields: object): Parameters<View['record']>[0] {
  return Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}
