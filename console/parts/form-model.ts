/** Forms as data: what an operator fills in, and the body that is made of it. Pure. */

export type EntryKind =
  | 'text'
  /** Text over several lines. */
  | 'long'
  /** Digits; a number in the body. */
  | 'integer'
  /** Digits with a fraction; a string in the body, with every digit. */
  | 'decimal'
  | 'boolean'
  /** Words between commas or line breaks. */
  | 'list'
  /** `name=value`, one a line. */
  | 'pairs'
  | 'json';

export interface Entry {
  /** Where it stands in the body; `['intent', 'asset']`. */
  readonly at: readonly string[];
  readonly label: string;
  readonly kind: EntryKind;
  /** What becomes of an empty one. */
  readonly empty: 'required' | 'left_out' | 'null';
  readonly options?: readonly string[];
  readonly hint?: string;
  readonly initial?: string;
}

/** By {@link idOf}. */
export type Values = Readonly<Record<string, string>>;

export type FormReading =
  | { readonly ok: true; readonly body: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string };

/** The name of an entry among the values. */
export function idOf({ at }: Pick<Entry, 'at'>): string {
  return at.join('/');
}

/** What the form holds before anything is typed. */
export function initialValues(entries: readonly Entry[]): Values {
  return Object.fromEntries(entries.map((entry) => [idOf(entry), entry.initial ?? '']));
}

/** The body, or the first thing that is missing or wrong, as a sentence. */
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
  json: 'JSON',
};

/** Undefined for what is none of its kind. */
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
        return JSON.parse(text) as unknown;
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

/** Sets an own property, whatever its name: names may be others' text. */
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
