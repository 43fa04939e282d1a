/** A scripted connection to Bybit, and the examples of its answers in wire/bybit.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ROOT } from '../../../../dev/stack/ports.ts';
import { ExecutorFault } from '../../../../domain/executor.ts';
import type { CexConnection, Parameters } from '../../../../venues/cex/connection.ts';

export interface Example {
  readonly call: string;
  readonly ccxt_method: string | null;
  readonly request: { readonly params: Readonly<Record<string, unknown>> } | null;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly notes: string;
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const EXAMPLES = JSON.parse(read('test/venues/cex/wire/bybit.json')) as readonly Example[];
export const FACTS = read('docs/bybit-facts.md');

/** The answer of an example, by the example's name. */
export function example(name: string): Example['answer'] {
  const found = EXAMPLES.find((each) => each.call === name);
  if (found === undefined) throw new Error(`no example ${name}`);
  return found.answer;
}

export const resultIn = (name: string): object => example(name)['result'] as object;

/** One record of an example that is a list, with other values. */
export function recordOf(name: string, changes: object = {}, index = 0): object {
  const { rows, list } = resultIn(name) as { rows?: readonly object[]; list?: readonly object[] };
  const found = (rows ?? list ?? [])[index];
  if (found === undefined) throw new Error(`no record ${String(index)} of ${name}`);
  return { ...found, ...changes };
}

export const good = (result: unknown): object => ({
  retCode: 0,
  retMsg: 'OK',
  result,
  retExtInfo: {},
  time: 1_672_196_571_239,
});

/** A page that is the last one. Lists have one of two names. */
export const pageOf = (...records: readonly object[]): object =>
  good({ rows: records, list: records, nextPageCursor: '' });

export interface Sent {
  readonly method: string;
  readonly parameters: Parameters;
}

export type Answering = (parameters: Parameters) => object;
export type Answers = Readonly<Record<string, object | Answering>>;

/** Answers, or functions that make them, by method; another method is an error. */
export function scripted(answers: Answers): {
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
        const { retCode } = answer as { readonly retCode?: unknown };
        return absent.includes(String(retCode)) ? null : answer;
      },
    },
  };
}

/** The documented answers of a key, with the permissions that a master's key needs. */
export const keyOf = (changes: object = {}): object =>
  good({
    ...resultIn('keyFault'),
    readOnly: 0,
    permissions: { Wallet: ['AccountTransfer', 'SubMemberTransfer', 'Withdraw'] },
    ...changes,
  });
export const KEY = 'privateGetV5UserQueryApi';
/** The uid of the documented key. */
export const MASTER = '1448939';

export const call = { signal: new AbortController().signal };

export const DAY = 86_400_000;
export const NOW = Date.now();
export const PERIOD = { from: NOW - DAY, to: NOW + DAY };

export async function faultOf(work: Promise<unknown>): Promise<ExecutorFault> {
  const fault = await work.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (fault instanceof ExecutorFault) return fault;
  throw new Error(`no fault but ${inspect(fault)}`);
}
