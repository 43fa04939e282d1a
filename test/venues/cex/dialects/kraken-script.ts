/** A scripted connection to Kraken, and the examples of its answers in wire/kraken.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ROOT } from '../../../../dev/stack/ports.ts';
import { ExecutorFault } from '../../../../domain/executor.ts';
import type { CexConnection, Parameters } from '../../../../venues/cex/connection.ts';
import type { WithdrawalOrder } from '../../../../venues/cex/dialect.ts';

export interface Example {
  readonly call: string;
  readonly ccxt_method: string | null;
  readonly request: { readonly params: Readonly<Record<string, unknown>> } | null;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly kind: string;
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const EXAMPLES = JSON.parse(read('test/venues/cex/wire/kraken.json')) as readonly Example[];
export const FACTS = read('docs/kraken-facts.md');

/** The answers of a call's examples, in the order of the file. */
export function answersOf(call: string): readonly Example['answer'][] {
  return EXAMPLES.filter((each) => each.call === call).map(({ answer }) => answer);
}

/** The answer of one example of a call. */
export function example(call: string, index = 0): Example['answer'] {
  const found = answersOf(call)[index];
  if (found === undefined) throw new Error(`no example ${String(index)} of ${call}`);
  return found;
}

export const good = (result: unknown): object => ({ error: [], result });

/** The first record of an example that is a list, with other values. */
export function recordOf(call: string, index: number, changes: object = {}): object {
  const [record] = example(call, index)['result'] as readonly object[];
  return { ...record, ...changes };
}

const asset = (altname: string, status = 'enabled'): object => ({
  aclass: 'currency',
  altname,
  decimals: 10,
  display_decimals: 5,
  collateral_value: 1,
  status,
});

/** The documented assets, and others by the names of docs/kraken-facts.md, 14. */
export const assets = (changes: Readonly<Record<string, object>> = {}): object =>
  good({
    ...(example('assets')['result'] as object),
    XETH: asset('ETH'),
    XXDG: asset('XDG'),
    XTZ: asset('XTZ'),
    ...Object.fromEntries(
      ['ATOM', 'DASH', 'DOT', 'USDC', 'USDT'].map((name) => [name, asset(name)]),
    ),
    ...changes,
  });

/** The documented assets, with this status of XXBT. */
export const assetsWith = (status: string): object => assets({ XXBT: asset('XBT', status) });

/** As the documented entry of the address book: 0.725 BTC over Bitcoin. */
export const ORDER: WithdrawalOrder = {
  client_id: 'c',
  asset: 'BTC',
  network: 'Bitcoin',
  address: 'bc1qxdsh4sdd29h6ldehz0se5c61asq8cgwyjf2y3z',
  tag: null,
  amount: '0.725',
  fee_limit: null,
};

/** The documented answers for {@link ORDER}, with a fee that adds up. */
export const ANSWERS: Readonly<Record<string, object>> = {
  publicGetAssets: assets(),
  privatePostWithdrawMethods: example('withdrawalTerms.methods'),
  privatePostWithdrawAddresses: example('addressBook'),
  privatePostWithdrawInfo: example('withdrawalTerms.info', 2),
};

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
        const { error = [] } = answer as { readonly error?: readonly string[] };
        return error.some((each) => absent.includes(each)) ? null : answer;
      },
    },
  };
}

const BY_RUNTIME: readonly string[] = ['constructor', 'then', 'toJSON'];

/** Wraps an answer so that the names of all fields that are read from it are in `names`. */
export function watched<T extends object>(value: T, names: Set<string>): T {
  return new Proxy(value, {
    get(target, name): unknown {
      const found: unknown = Reflect.get(target, name);
      if (typeof name === 'string' && !Array.isArray(target) && !BY_RUNTIME.includes(name))
        names.add(name);
      return typeof found === 'object' && found !== null ? watched(found, names) : found;
    },
  });
}

/** The names of all fields in an answer, at any depth. */
export function fieldsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(fieldsOf)];
}

export const call = { signal: new AbortController().signal };

export const DAY = 86_400_000;
export const PERIOD = { from: Date.now() - DAY, to: Date.now() + DAY };

export async function faultOf(work: Promise<unknown>): Promise<ExecutorFault> {
  const fault = await work.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (fault instanceof ExecutorFault) return fault;
  throw new Error(`no fault but ${inspect(fault)}`);
}
