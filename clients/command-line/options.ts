/** Options of commands as data, each with how its value is read. */
import { InvalidArgumentError, Option } from 'commander';
import { usageError } from './exit.ts';

export interface OptionSpec<T> {
  readonly about: string;
  /** What stands for the value in the help; a switch has none. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly many?: boolean;
  /** For a file, so that completions offer some. */
  readonly file?: boolean;
  /** Refuses one value with a sentence. */
  readonly check?: (text: string) => void;
  readonly read: (raw: unknown) => T;
}

/** Options of the program, which every command takes; each program has some of them. */
export interface Globals {
  readonly profile?: string;
  readonly output?: string;
  readonly quiet?: boolean;
}

const textOf = (raw: unknown): string | undefined => (typeof raw === 'string' ? raw : undefined);

/** Any text. */
export function text(value: string, about: string): OptionSpec<string | undefined> {
  return { about, value, read: textOf };
}

/** One of a few words. */
export function choice<const C extends string>(
  choices: readonly C[],
  about: string,
): OptionSpec<C | undefined> {
  return {
    about,
    choices,
    value: 'word',
    read: (raw) => choices.find((each) => each === raw),
  };
}

/** A switch. */
export function flag(about: string): OptionSpec<boolean> {
  return { about, read: (raw) => raw === true };
}

/** An option that may be repeated. */
export function many(value: string, about: string): OptionSpec<readonly string[]> {
  return {
    about: `${about} (may be repeated)`,
    value,
    many: true,
    read: (raw) => (Array.isArray(raw) ? raw.map(String) : []),
  };
}

/** `key=value` pairs as an object. */
export function pairs(texts: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usageError(`${option} takes <key>=<value>, not "${pair}".`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** A whole number. */
export function whole(value: string, about: string): OptionSpec<number | undefined> {
  return {
    about,
    value,
    check: (word) => {
      if (!/^\d{1,10}$/.test(word)) throw new InvalidArgumentError('It must be a whole number.');
    },
    read: (raw) => (typeof raw === 'string' ? Number(raw) : undefined),
  };
}

/** A decimal amount; it stays text. */
export function amount(about: string): OptionSpec<string | undefined> {
  return {
    about,
    value: 'decimal',
    check: (word) => {
      if (!/^\d{1,20}(\.\d{1,18})?$/.test(word))
        throw new InvalidArgumentError('It must be a decimal such as 250.5.');
    },
    read: textOf,
  };
}

/** A file to read, `-` for standard input. */
export function file(about: string): OptionSpec<string | undefined> {
  return { about, value: 'file', file: true, read: textOf };
}

/** The same option, made mandatory. */
export function required<T>(spec: OptionSpec<T | undefined>): OptionSpec<T> {
  return {
    ...spec,
    required: true,
    read: (raw) => {
      const value = spec.read(raw);
      if (value === undefined) throw new Error('a required option has no value');
      return value;
    },
  };
}

/** How the option is written: `approverId` is `--approver-id`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The option as commander takes it. */
export function commanderOption(name: string, spec: OptionSpec<unknown>): Option {
  const value = spec.value === undefined ? '' : ` <${spec.value}>`;
  const about = spec.required === true ? `${spec.about} (required)` : spec.about;
  const option = new Option(`${flagOf(name)}${value}`, about);
  if (spec.choices !== undefined) option.choices(spec.choices);
  else if (spec.check !== undefined || spec.many === true)
    option.argParser((word: string, before: unknown) => {
      spec.check?.(word);
      return spec.many === true ? [...(Array.isArray(before) ? before : []), word] : word;
    });
  return option.makeOptionMandatory(spec.required === true);
}
