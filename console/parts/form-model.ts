/**
 * Forms as data: the entries that an operator fills in, and the request body made from them. Pure.
 */
import { lossesIn } from '../../domain/json-text.ts';

export type EntryKind =
  | 'text'
  /** Text over several lines. */
  | 'long'
  /** A whole number; a JSON number in the body. */
  | 'integer'
  /** A decimal number; a string with every digit in the body. */
  | 'decimal'
  | 'boolean'
  /** Words, separated by commas or line breaks. */
  | 'list'
  /** `name=value`, one pair on each line. */
  | 'pairs'
  | 'json';

export interface Entry {
  /** Path of the value in the body, such as `['intent', 'asset']`. */
  readonly at: readonly string[];
  readonly label: string;
  readonly kind: EntryKind;
  /** How an empty entry is treated: refused, left out of the body, or sent as null. */
  readonly empty: 'required' | 'left_out' | 'null';
  readonly options?: readonly string[];
  readonly hint?: string;
  readonly initial?: string;
}

/** Form values, keyed by {@link idOf}. */
export type Values = Readonly<Record<string, string>>;

export type FormReading =
  | { readonly ok: true; readonly body: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string };

/** Returns the key of an entry in {@link Values}. */
export function idOf({ at }: Pick<Entry, 'at'>): string {
  return at.join('/');
}

/** Returns the form's values before anything is typed. */
export function initialValues(entries: readonly Entry[]): Values {
  return Object.fromEntries(entries.map((entry) => [idOf(entry), entry.initial ?? '']));
}

/** Returns the request body, or a sentence about the first missing or wrong entry. */
export function readForm(entries: readonly Entry[], values: Values): FormReading {
  const body: Record<string, unknown> = {};
  for (const entry of entries) {
    const typed = values[idOf(entry)] ?? '';
    const text = entry.kind === 'long' ? typed : typed.trim();
    if (text.trim() === '') {
      if (entry.empty === 'required') return { ok: false, problem: `Fill in: ${entry.label}.` };
      if (entry.empty === 'null') put(body, entry.at, null);
      continue;
    }
    const value = valueOf(entry.kind, text);
    if (value === undefined)
      return { ok: false, problem: `${entry.label} must be ${FORMS[entry.kind]}.` };
    put(body, entry.at, value);
  }
  return { ok: true, body };
}

const FORMS: Readonly<Record<EntryKind, string>> = {
  text: 'text',
  long: 'text',
  integer: 'a whole number',
  decimal: 'a decimal number with a point, without an exponent',
  boolean: 'true or false',
  list: 'words between commas',
  pairs: 'name=value, one a line, each name once',
  json: 'JSON with each name once and long numbers as text',
};

/** Returns the typed value of a text; undefined when the text does not fit `kind`. */
function valueOf(kind: EntryKind, text: string): unknown {
  switch (kind) {
    case 'text':
    case 'long':
      return text;
    case 'integer': {
      const value = Number(text);
      return /^-?\d+$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
    }
    case 'decimal':
      return /^-?\d+(\.\d+)?$/.test(text) ? text : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'list':
      return text
        .split(/[,\n]/)
        .map((word) => word.trim())
        .filter((word) => word !== '');
    case 'pairs':
      return pairsOf(text);
    case 'json':
      try {
        const value: unknown = JSON.parse(text);
        return lossesIn(text).length === 0 ? value : undefined;
      } catch {
        return undefined;
      }
  }
}

function pairsOf(text: string): Readonly<Record<string, string>> | undefined {
  const pairs: Record<string, string> = {};
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const at = line.indexOf('=');
    const name = line.slice(0, at).trim();
    if (at < 0 || name === '' || Object.hasOwn(pairs, name)) return undefined;
    put(pairs, [name], line.slice(at + 1).trim());
  }
  return pairs;
}

/** Sets an own property of any name, also `__proto__`: other parties may choose the names. */
function put(target: object, at: readonly string[], value: unknown): void {
  const [name = '', ...rest] = at;
  if (rest.length === 0) {
    Object.defineProperty(target, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return;
  }
  const own = Object.getOwnPropertyDescriptor(target, name)?.value as unknown;
  const child = typeof own === 'object' && own !== null ? own : {};
  if (child !== own) put(target, [name], child);
  put(child, rest, value);
}
