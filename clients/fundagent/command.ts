/** Makes the commands of the agent's program. */
import {
  command,
  type ArgumentSpecs,
  type CommandSpec,
  type Leaf,
  type OptionSpecs,
} from '../command-line/command.ts';
import type { NoArguments, NoOptions } from '../command-line/operation.ts';
import type { Session } from './session.ts';

/** Makes a command that runs with the agent's session. */
export function agentCommand<
  const A extends ArgumentSpecs = NoArguments,
  const O extends OptionSpecs = NoOptions,
>(spec: Omit<CommandSpec<A, O, Session>, 'answer'>): Leaf<Session> {
  return command<A, O, Session>({ ...spec, answer: null });
}
