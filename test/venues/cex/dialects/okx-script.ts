/** A scripted connection to OKX, and the examples of its answers in wire/okx.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ROOT } from '../../../../dev/stack/ports.ts';
import { ExecutorFault } from '../../../../domain/executor.ts';
import type { CexConnection, Parameters } from '../../../../venues/cex/connection.ts';

export interface Example {
  readonly call: string;
  readonly ccxt_method: string | null;
  readonly request: { readonly params: Readonly<Record<string, string>> } | null;
  readonly answer: Readonly<Record<string, unknown>>;
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const EXAMPLES = JSON.parse(read('test/venues/cex/wire/okx.json')) as readonly Example[];
export const FACTS = read('docs/okx-facts.md');

/** The answer of an example, by the example's name. */
export function example(name: string): Example['answer'] {
  const found = EXAMPLES.find((each) => each.call === name);
  if (found === undefined) throw new Error(`no example ${name}`);
  return found.answer;
}

/** The same answer with other values in each of its items. */
export function changed(name: string, changes: object): object {
  const { data, ...rest } = example(name);
  const items = data as readonly object[];
  return { ...rest, data: items.map((item) => ({ ...item, ...changes })) };
}

export const good = (...data: readonly object[]): object => ({ code: '0', msg: '', data });

export interface Sent {
  readonly method: string;
  readonly parameters: Parameters;
}

type Answering = (parameters: Parameters) => object;

/** Answers, or functions that make them, by method; another method is an error. */
export function scripted(answers: Readonly<Record<string, object | Answering>>): {
  readonly connection: CexConnection;
  readonly sent: readonly Sent[];
} {
  const sent: Sent[] = [];
  const ask = async (method: string, parameters: Parameters): Promise<object> => {
    const defined = Object.fromEntries(
      Object.entries(parameters).filter(([, value]) => value !== undefined),
    ) as Parameters;
    sent.push({ method, parameters: defined });
    const found: unknown = answers[method];
    if (found === undefined) throw new Error(`the script has no answer to ${method}`);
    return typeof found === 'function' ? (found as Answering)(defined) : (found as object);
  };
  return {
    sent,
    connection: {
      ask,
      async find(method, parameters, { absent }) {
        const answer = await ask(method, parameters);
        const { code } = answer as { readonly code?: unknown };
        return absent.some((each) => each === code) ? null : answer;
      },
    },
  };
}

export const call = { signal: new AbortController().signal };

export async function faultOf(work: Promise<unknown>): Promise<ExecutorFault> {
  const fault = await work.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (fault instanceof ExecutorFault) return fault;
  throw new Error(`no fault but ${inspect(fault)}`);
}
