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
/** Names of arguments to what they are, in the order in which they are given. */
export type ArgumentSpecs = Readonly<Record<string, string>>;
type ValueOf<S> = S extends OptionSpec<infer T> ? T : never;

export interface Call<A extends ArgumentSpecs, O extends OptionSpecs> {
  readonly args: { readonly [K in keyof A]: string };
  readonly options: { readonly [K in keyof O]: ValueOf<O[K]> };
  readonly session: Session;
}

export interface CommandSpec<A extends ArgumentSpecs, O extends OptionSpecs> {
  readonly name: string;
  readonly about: string;
  /** More than a line, for its own help. */
  readonly details?: string;
  readonly examples?: readonly string[];
  readonly args?: A;
  readonly options?: O;
  readonly answer: Answer;
  readonly run: (call: Call<A, O>) => Promise<void>;
}

/** A command whose types are erased, as the tree holds it. */
export interface Leaf {
  readonly name: string;
  readonly about: string;
  readonly details: string | undefined;
  readonly examples: readonly string[];
  readonly args: ArgumentSpecs;
  readonly options: OptionSpecs;
  readonly answer: Answer;
  readonly invoke: (
    session: Session,
    args: readonly string[],
    options: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** Commands of one thing. */
export interface Group {
  readonly name: string;
  readonly about: string;
  readonly commands: readonly Leaf[];
}
export type Entry = Leaf | Group;

export function isGroup(entry: Entry): entry is Group {
  return 'commands' in entry;
}

const NO_ARGS = {};

/** Types `run` by the arguments and options, then erases them for the tree. */
export function command<
  const A extends ArgumentSpecs = typeof NO_ARGS,
  const O extends OptionSpecs = typeof NO_ARGS,
>(spec: CommandSpec<A, O>): Leaf {
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
    invoke: (session, given, raw) =>
      run({
        session,
        // Both have exactly the keys that these were made from.
        args: Object.fromEntries(
          Object.keys(args).map((key, index) => [key, given[index] ?? '']),
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

/** Every command with the words that call it. */
export function leavesOf(
  tree: readonly Entry[],
): readonly { readonly path: string; readonly leaf: Leaf }[] {
  return tree.flatMap((entry) =>
    isGroup(entry)
      ? entry.commands.map((leaf) => ({ path: `${entry.name} ${leaf.name}`, leaf }))
      : [{ path: entry.name, leaf: entry }],
  );
}

/** How an argument is written: `movementId` is `<movement-id>`. */
export function argumentOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
