/** Answers made from the schemas of the API: a value for each field, found nowhere else. */
import { z } from 'zod';
import { groupedAmount, stateInWords } from '../../console/parts/format.ts';

export interface Leaf {
  /** `balance.balances[].asset`. */
  readonly path: string;
  readonly value: unknown;
  /** Where only few values are possible: another of them; else undefined. */
  readonly other: unknown;
  /** Puts another value in its place. */
  readonly put: (value: unknown) => void;
}

type Schema = Readonly<Record<string, unknown>> & {
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

let count = 0;

/** An answer of the schema, with its fields as leaves whose paths begin with `name`. */
export function answerFor(schema: z.ZodType, name: string) {
  const described = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema;
  const named = (described['$defs'] ?? {}) as Readonly<Record<string, Schema>>;
  const leaves: Leaf[] = [];
  const holder: { answer?: unknown } = {};
  fill(holder, 'answer', described, { path: name, named, leaves });
  return { answer: holder.answer, leaves };
}

interface Place {
  readonly path: string;
  /** Schemas by their place, of those that are named. */
  readonly named: Readonly<Record<string, Schema>>;
  readonly leaves: Leaf[];
}

function fill(holder: object, key: string | number, schema: Schema, at: Place): void {
  const set = (value: unknown): void => {
    Object.assign(holder, { [key]: value });
  };
  const reference = schema['$ref'];
  if (typeof reference === 'string')
    return fill(holder, key, at.named[reference.replace('#/$defs/', '')] ?? {}, at);
  const { anyOf, properties, items, type } = schema;
  if (anyOf !== undefined)
    return fill(holder, key, anyOf.find((each) => each['type'] !== 'null') ?? {}, at);
  if (properties !== undefined) {
    const value = {};
    set(value);
    for (const [name, each] of Object.entries(properties))
      fill(value, name, each, { ...at, path: `${at.path}.${name}` });
    return;
  }
  if (items !== undefined) {
    const value: unknown[] = [];
    set(value);
    return fill(value, 0, items, { ...at, path: `${at.path}[]` });
  }
  count += 1;
  const value = valueOf(schema, count);
  const put = (next: unknown): void =>
    set(type === 'object' ? { [`key${String(count)}`]: next } : next);
  at.leaves.push({ path: at.path, value, other: otherThan(schema), put });
  put(value);
}

function valueOf({ type, format, pattern, ...schema }: Schema, index: number): unknown {
  const values = schema['enum'];
  if (Array.isArray(values)) return values[0] as unknown;
  if (schema['const'] !== undefined) return schema['const'];
  if (type === 'integer' || type === 'number') return 700_000 + index;
  if (type === 'boolean') return true;
  if (format === 'uuid') return `01920000-0000-7000-8000-${String(index).padStart(12, '0')}`;
  if (format === 'date-time') return new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  if (typeof pattern === 'string' && pattern.includes('[0-9]'))
    return `9${String(1000 + index)}.25`;
  return `value-${String(index)}`;
}

function otherThan({ type, ...schema }: Schema): unknown {
  const values = schema['enum'];
  if (Array.isArray(values)) return values.at(-1) as unknown;
  return type === 'boolean' ? false : undefined;
}

/** Whether the page shows a value, in one of the forms that pages have for it. */
export function isIn(html: string, value: unknown): boolean {
  const text = String(value);
  const words = [
    text,
    groupedAmount(text),
    stateInWords(text),
    text.toLowerCase(),
    text.replaceAll('_', ' '),
  ];
  const escaped = (each: string): string => each.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return words.some((each) => html.includes(escaped(each)));
}
