/** Command options as data, each with the function that reads its value. */
import { InvalidArgumentError, Option } from 'commander';
import { usageError } from './exit.ts';

export interface OptionSpec<T> {
  readonly about: string;
  /** Placeholder for the value in the help; absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly many?: boolean;
  /** The value is a file name, so that examples use the name of a file. */
  readonly file?: boolean;
  /** Throws an error with a clear message when the value is not valid. */
  readonly check?: (text: string) => void;
  readonly read: (raw: unknown) => T;
}

/** Options that every command of a program takes; a program may have only some of these. */
export interface Globals {
  readonly profile?: string;
  readonly output?: string;
  readonly quiet?: boolean;
}

const textOf = (raw: unknown): string | undefined => (typeof raw === 'string' ? raw : undefined);

/** Returns an option that takes any text. */
export function text(value: string, about: string): OptionSpec<string | undefined> {
  return { about, value, read: textOf };
}

/** Returns an option that takes one of `choices`. */
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

/** Returns a switch: an option without a value. */
export function flag(about: string): OptionSpec<boolean> {
  return { about, read: (raw) => raw === true };
}

/** Returns an option that may be repeated. */
export function many(value: string, about: string): OptionSpec<readonly string[]> {
  return {
    about: `${about} (may be repeated)`,
    value,
    many: true,
    read: (raw) => (Array.isArray(raw) ? raw.map(String) : []),
  };
}

/** Parses `key=value` pairs into an object, each key once. `option` is named in the error. */
export function pairs(texts: readonly string[], option: string): Record<string, string> {
  const read = new Map<string, string>();
  for (const pair of texts) {
    const at = pair.indexOf('=');
    if (at < 1) throw usageError(`${option} takes <key>=<value>, not "${pair}".`);
    const key = pair.slice(0, at);
    if (read.has(key)) throw usageError(`${option} takes each key once; "${key}" is there twice.`);
    read.set(key, pair.slice(at + 1));
  }
  return Object.fromEntries(read);
}

/** Returns an option that takes a whole number. */
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

/** Returns an option that takes a decimal amount; the value stays text to keep all digits. */
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

/** Returns an option that takes the name of a file to read, or `-` for standard input. */
export function file(about: string): OptionSpec<string | undefined> {
  return { about, value: 'file', file: true, read: textOf };
}

/** Returns the same option, but required. */
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

/** Returns an option's flag: `--approver-id` for `approverId`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Returns the option as an object of the commander library. */
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
