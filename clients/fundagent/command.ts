/** Commands as data: their words, what they take, and what they do. */
import type { OptionSpec } from '../command-line/options.ts';
import type { Session } from './session.ts';

type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
type ValueOf<S> = S extends OptionSpec<infer T> ? T : never;

interface CommandSpec<O extends OptionSpecs> {
  /** One word, or a group and one. */
  readonly words: readonly [string] | readonly [string, string];
  readonly about: string;
  /** The one argument, by its name. */
  readonly argument?: string;
  readonly options?: O;
  readonly run: (
    session: Session,
    options: { readonly [K in keyof O]: ValueOf<O[K]> },
    argument: string,
  ) => Promise<void>;
}

/** A command whose types are erased. */
export interface AgentCommand {
  readonly words: readonly string[];
  readonly about: string;
  readonly argument: string | null;
  readonly options: OptionSpecs;
  readonly invoke: (
    session: Session,
    raw: Readonly<Record<string, unknown>>,
    argument: string,
  ) => Promise<void>;
}

const NONE = {};

/** Types `run` by the options, then erases them. */
export function agentCommand<const O extends OptionSpecs = typeof NONE>(
  spec: CommandSpec<O>,
): AgentCommand {
  const { words, about, argument = null, run } = spec;
  const options: OptionSpecs = spec.options ?? {};
  return {
    words,
    about,
    argument,
    options,
    invoke: (session, raw, given) =>
      run(
        session,
        // It has exactly the keys that it was made from.
        Object.fromEntries(
          Object.entries(options).map(([name, option]) => [name, option.read(raw[name])]),
        ) as { readonly [K in keyof O]: ValueOf<O[K]> },
        given,
      ),
  };
}
