/** Commands as data: what they are called, take, answer and do. */
import type { OptionSpec } from './options.ts';
import type { Session } from './session.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What a command prints with `--output json`: the answer of an operation of the API as it came, or
 * something of its own. With `lines` it prints one such value on each line, as they come.
 */
export type Answer =
  | {
      readonly operation: string;
      /** What a dry run answers; `dryRun`: that, or what the operation answers. */
      readonly preview?: true;
      readonly dryRun?: true;
      readonly lines?: true;
    }
  | { readonly schema: JsonSchema; readonly lines?: true }
  | null;

export type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
/** What each argument is, by its name, in the order of the command line. */
export type ArgumentSpecs = Readonly<Record<string, string>>;
/** What the options of these specs hold once they are read. */
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
  /** More than a line, for its own help. */
  readonly details?: string;
  readonly examples?: readonly string[];
  readonly args?: A;
  readonly options?: O;
  readonly answer: Answer;
  readonly run: (call: Call<A, O, S>) => Promise<void>;
}

/** A command whose types are erased, as the tree holds it. */
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

/** Commands of one thing. */
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

/** Types `run` by the arguments and options, then erases them for the tree. */
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
        // Both have exactly the keys that these were made from.
        args: Object.fromEntries(
          Object.keys(args).map((key, index) => [key, words[index] ?? '']),
        ) as Call<A, O>['args'],
        options: Object.fromEntries(
          Object.entries(options).map(([key, option]) => [key, option.read(raw[key])]),
        ) as Call<A, O>['options'],
      }),
  };
}

/** What an operation of the API answers. */
export function answerOf(operation: string): Answer {
  return { operation };
}

/** How an argument is written: `movementId` is `<movement-id>`. */
export function argumentOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
