/** A scripted connection to Coinbase, and the examples of its answers in wire/coinbase.json. */
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
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const EXAMPLES = JSON.parse(
  read('test/venues/cex/wire/coinbase.json'),
) as readonly Example[];
export const FACTS = read('docs/coinbase-facts.md');

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

export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** The first record of an example that is a list, or its only record, with other values. */
export function rowOf(call: string, index = 0, changes: object = {}): Row {
  const { data } = example(call, index);
  const first: unknown = Array.isArray(data) ? data[0] : data;
  return { ...(first as Row), ...changes };
}

/** A page of a list; without `next` it is the last one. */
export const page = (rows: readonly object[], next: string | null = null): object => ({
  pagination: { limit: 100, order: 'desc', next_uri: next },
  data: rows,
});

export const ACCOUNTS = 'v2PrivateGetAccounts';
export const TRANSACTIONS = 'v2PrivateGetAccountsAccountIdTransactions';
export const SEND = 'v2PrivatePostAccountsAccountIdTransactions';
export const BALANCES = 'v3PrivateGetBrokerageAccounts';

export const WALLET = '2bbf394c-193b-5b2a-9155-3b4732659ede';
export const ADDRESS = '1AUJ8z5RuHRTqD1eikyfUUetzGmdWLGkpT';

/** The documented accounts: a vault and a wallet of BTC. */
export const accounts = (changes: object = {}): object =>
  page(
    (example('accounts')['data'] as readonly Row[]).map((each) =>
      each.id === WALLET ? { ...each, ...changes } : each,
    ),
  );

/** The documented balance, of the wallet. */
export const balances = (changes: object = {}): object => {
  const [first] = example('balances')['accounts'] as readonly object[];
  return { accounts: [{ ...first, uuid: WALLET, ...changes }], has_next: false, cursor: '' };
};

/** As the documented send of 0.1 BTC, of which 0.0004 are kept back for the fee. */
export const ORDER: WithdrawalOrder = {
  client_id: 'df087dce-92a8-45cf-b112-60aad22c0976',
  asset: 'BTC',
  network: 'bitcoin',
  address: ADDRESS,
  tag: null,
  amount: '0.1004',
  fee_limit: '0.0004',
};

/** A completed send of {@link ORDER} with a fee of 0.0003, in the form of 2024. */
export const sent = (changes: object = {}): Row => ({
  id: '3c04e35e-8e5a-5ff1-9155-00675db4ac02',
  type: 'send',
  status: 'completed',
  amount: { amount: '-0.10030000', currency: 'BTC' },
  created_at: new Date().toISOString(),
  idem: ORDER.client_id,
  network: {
    status: 'confirmed',
    hash: '463397c87beddd9a61ade61359a13adc9efea26062191fe07147037bce7f33ed',
    network_name: 'bitcoin',
    transaction_fee: { amount: '0.00030000', currency: 'BTC' },
  },
  to: { resource: 'bitcoin_address', address: ADDRESS },
  ...changes,
});

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
  const requests: Sent[] = [];
  const ask = async (method: string, parameters: Parameters): Promise<object> => {
    const defined = Object.fromEntries(
      Object.entries(parameters).filter(([, value]) => value !== undefined),
    ) as Parameters;
    requests.push({ method, parameters: defined });
    const found: unknown = answers[method];
    if (found === undefined) throw new Error(`the script has no answer to ${method}`);
    return typeof found === 'function' ? (found as Answering)(defined) : (found as object);
  };
  return { sent: requests, connection: { ask, find: ask } };
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
