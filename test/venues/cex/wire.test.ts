/**
 * Examples of what exchanges send, for their dialects and for those that are to come
 * (docs/<exchange>-facts.md): each names its source, and the page of facts has every call. Nothing
 * here uses the service's own code.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../dev/stack/ports.ts';

interface Example {
  readonly call: string;
  /** Null: an error of any call, or a call that the exchange's class of ccxt does not have. */
  readonly ccxt_method: string | null;
  /** Null: the answer of any call. */
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly params: object;
  } | null;
  readonly answer: unknown;
  readonly kind: string;
  readonly source: string;
  readonly notes: string;
}

const KINDS: readonly string[] = ['recorded', 'documented', 'composed', 'asserted'];

/** A URL, or a file of a repository: `owner/repo@commit:path`. */
const SOURCE = /^(?:https:\/\/[\w.-]+\/\S+|[\w.-]+\/[\w.-]+@[\w.]+:[\w./-]+)/;

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What the example lacks. */
function faultsOf({ call, answer, kind, source }: Example): readonly string[] {
  const faults = [
    { fault: `no source: ${source}`, found: !SOURCE.test(source) },
    { fault: 'no answer', found: typeof answer !== 'object' || answer === null },
    { fault: `unknown kind: ${kind}`, found: !KINDS.includes(kind) },
  ];
  return faults.filter(({ found }) => found).map(({ fault }) => `${call}: ${fault}`);
}

describe.each(['bybit', 'coinbase', 'kraken', 'okx'])('the examples of %s', (exchange) => {
  const examples = JSON.parse(read(`test/venues/cex/wire/${exchange}.json`)) as readonly Example[];

  test('have a source, an answer and a known kind each', () => {
    expect(examples.length).toBeGreaterThan(40);
    expect(examples.flatMap(faultsOf)).toEqual([]);
  });

  test('name methods that the library has', async () => {
    const library: Readonly<Record<string, unknown>> = await import('ccxt');
    const Class = library[exchange] as new (settings: object) => object;
    const client = new Class({});
    const methods = new Set(examples.flatMap(({ ccxt_method }) => ccxt_method ?? []));
    expect(methods.size).toBeGreaterThan(10);
    expect(
      [...methods].filter((method) => typeof Reflect.get(client, method) !== 'function'),
    ).toEqual([]);
  });

  test('lack a method only as errors of any call, or as calls of another API', () => {
    const without = examples.filter(({ ccxt_method }) => ccxt_method === null);
    expect(
      without
        .map(({ call }) => call)
        .filter((call) => !/^(?:error body|funding beta: )|\(Futures API\)$/.test(call)),
    ).toEqual([]);
    expect(
      examples.filter(({ ccxt_method, request }) => request === null && ccxt_method !== null),
    ).toEqual([]);
  });

  test('have every call on the page of facts', () => {
    const page = read(`docs/${exchange}-facts.md`);
    const calls = examples.flatMap(({ ccxt_method, request }) => [
      ...(request === null ? [] : [`${request.method} ${request.path}`]),
      ...(ccxt_method === null ? [] : [ccxt_method]),
    ]);
    expect([...new Set(calls)].filter((call) => !page.includes(`\`${call}\``))).toEqual([]);
  });
});

test.each<[string, Partial<Example>, string]>([
  ['no source', { source: 'a colleague' }, 'a call: no source: a colleague'],
  ['no answer', { answer: null }, 'a call: no answer'],
  ['an unknown kind', { kind: 'guessed' }, 'a call: unknown kind: guessed'],
])('an example with %s is found', (_, changes, fault) => {
  const example: Example = {
    call: 'a call',
    ccxt_method: null,
    request: null,
    answer: {},
    kind: 'recorded',
    source: 'ccxt/ccxt@v4.5.84:js/src/okx.js (comment)',
    notes: '',
  };
  expect(faultsOf(example)).toEqual([]);
  expect(faultsOf({ ...example, ...changes })).toEqual([fault]);
});
