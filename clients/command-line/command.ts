/** Commands as data: the name, arguments, output and function of each command. */
import type { OptionSpec } from './options.ts';
import type { Session } from './session.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What a command prints with `--output json`: the unchanged answer of an API operation, or a value
 * of the schema; null for a command without JSON output. With `lines` the command prints
 * several such values, one on each line.
 */
export type Answer =
  | {
      readonly operation: string;
      /** `preview`: prints a dry run's answer. `dryRun`: prints that or the operation's answer. */
      readonly preview?: true;
      readonly dryRun?: true;
      readonly lines?: true;
    }
  | { readonly schema: JsonSchema; readonly lines?: true }
  | null;

export type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
/** Description of each argument, by argument name, in the order of the command line. */
export type ArgumentSpecs = Readonly<Record<string, string>>;
/** Values of the options with these specs, after they are read. */
export type OptionValues<O> = {
  readonly [K in keyof O]: O[K] extends OptionSpec<infer T> ? T : never;
};

export interface Call<A extends ArgumentSpecs, O extends OptionSpecs, S = Session> {
  readonly args: { readonly [K in keyof A]: string };
  readonly options: OptionValues<O>;
  readonly session: S;
}

export interface CommandSpec<A extends ArgumentSpecs, O extends OptionSpecs, S = Session> {
  readonly name: string;
  readonly about: string;
  /** Longer description, shown in the command's own help. */
  readonly details?: string;
  readonly examples?: readonly string[];
  readonly args?: A;
  readonly options?: O;
  readonly answer: Answer;
  readonly run: (call: Call<A, O, S>) => Promise<void>;
}

/** A command with erased types, as the command tree stores it. */
export interface Leaf<S = Session> {
  readonly name: string;
  readonly about: string;
  readonly details: string | undefined;
  readonly examples: readonly string[];
  readonly args: ArgumentSpecs;
  readonly options: OptionSpecs;
  readonly answer: Answer;
  readonly invoke: (
    session: S,
    args: readonly string[],
    options: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** Commands under a common first word, such as `movements`. */
export interface Group<S = Session> {
  readonly name: string;
  readonly about: string;
  readonly commands: readonly Leaf<S>[];
}
export type Entry<S = Session> = Leaf<S> | Group<S>;

export function isGroup<S>(entry: Entry<S>): entry is Group<S> {
  return 'commands' in entry;
}

const NO_ARGS = {};

/** Makes a command: `run` is typed by the arguments and options, then its types are erased. */
export function command<
  const A extends ArgumentSpecs = typeof NO_ARGS,
  const O extends OptionSpecs = typeof NO_ARGS,
  S = Session,
>(spec: CommandSpec<A, O, S>): Leaf<S> {
  const { name, about, details, examples = [], answer, run } = spec;
  const args: ArgumentSpecs = spec.args ?? {};
  const options: OptionSpecs = spec.options ?? {};
  return {
    name,
    about,
    details,
    examples,
    args,
    options,
    answer,
    invoke: (session, words, raw) =>
      run({
        session,
        // The casts are safe: args and options are built here from the keys of their specs.
        args: Object.fromEntries(
          Object.keys(args).map((key, index) => [key, words[index] ?? '']),
        ) as Call<A, O>['args'],
        options: Object.fromEntries(
          Object.entries(options).map(([key, option]) => [key, option.read(raw[key])]),
        ) as Call<A, O>['options'],
      }),
  };
}

/** Describes the output of a command that prints the answer of an API operation. */
export function answerOf(operation: string): Answer {
  return { operation };
}

/** Returns an argument's name as help shows it: `movement-id` for `movementId`. */
export function argumentOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
