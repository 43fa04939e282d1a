/**
 * What the dialect of Coinbase reads and sends has a source: an example of the call in
 * wire/coinbase.json, or the page of facts.
 */
import * as answers from '../../../../venues/cex/dialects/coinbase/answers.ts';
import { coinbase } from '../../../../venues/cex/dialects/coinbase/dialect.ts';
import {
  ACCOUNTS,
  accounts,
  BALANCES,
  balances,
  call,
  EXAMPLES,
  example,
  FACTS,
  ORDER,
  page,
  PERIOD,
  scripted,
  SEND,
  sent as sentRow,
  TRANSACTIONS,
} from './coinbase-script.ts';

const NETWORK = answers.network.unwrap().unwrap();
const TO = answers.to.unwrap().unwrap();

/** The schemas of each call's answer. */
const READ: Readonly<Record<string, readonly { readonly shape: object }[]>> = {
  v3PublicGetBrokerageTime: [answers.serverTime],
  v3PrivateGetBrokerageKeyPermissions: [answers.keyPermissions],
  [BALANCES]: [answers.balances, answers.balance],
  [ACCOUNTS]: [answers.account, answers.code, answers.currency],
  [TRANSACTIONS]: [answers.transaction, NETWORK, TO],
  [SEND]: [answers.transaction, NETWORK.omit({ network_name: true }), TO],
};

const ofMethod = (method: string) => EXAMPLES.filter(({ ccxt_method }) => ccxt_method === method);

/** Whether the page of facts has the name in code. */
const isFact = (name: string): boolean => FACTS.includes(`\`${name}\``);

/** Every key in a value, at any depth. */
function keysIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(keysIn);
  return Array.isArray(value) ? nested : [...Object.keys(value), ...nested];
}

test('every field that is read is in an example of the call', () => {
  const unknown = Object.entries(READ).flatMap(([method, schemas]) => {
    const known = new Set(ofMethod(method).flatMap(({ answer }) => keysIn(answer)));
    return schemas
      .flatMap(({ shape }) => Object.keys(shape))
      .filter((field) => !known.has(field))
      .map((field) => ({ method, field }));
  });
  expect(unknown).toEqual([]);
});

/** Calls everything that the dialect has, and returns what was sent. */
async function everythingSent() {
  const tagged = { ...ORDER, tag: '77' };
  const [wallet] = (accounts() as { data: readonly { currency: object }[] }).data;
  const currency = { ...wallet?.currency, destination_tag_regex: '[0-9]+' };
  const { connection, sent } = scripted({
    v3PublicGetBrokerageTime: example('time', 1),
    v3PrivateGetBrokerageKeyPermissions: example('keyFault'),
    [BALANCES]: (parameters) => ({
      ...balances(),
      ...('cursor' in parameters ? {} : { has_next: true, cursor: '789100' }),
    }),
    [ACCOUNTS]: accounts({ currency }),
    [TRANSACTIONS]: (parameters) =>
      'starting_after' in parameters
        ? page([])
        : page([sentRow()], '/v2/accounts/a/transactions?starting_after=next'),
    [SEND]: { data: sentRow({ status: 'pending' }) },
  });
  await coinbase.time(connection, call);
  await coinbase.keyFault(connection, { withdraw: true }, call);
  await coinbase.balances(connection, ['SPOT'], call);
  await coinbase.withdrawalTerms(connection, tagged, call);
  const quote = (await coinbase.quote?.(connection, tagged, call)) ?? {};
  await coinbase.withdraw(connection, tagged, quote, call);
  const { client_id, asset } = tagged;
  if (coinbase.search.by === 'client_id')
    await coinbase.search.find(connection, { client_id, asset, period: PERIOD }, call);
  const deposit = { transaction: 'ab'.repeat(32), asset, period: PERIOD };
  await coinbase.findDeposits(connection, deposit, call);
  await coinbase.records(connection, { period: PERIOD, subs: [] }, call);
  return sent;
}

test('every call is known, and every parameter is in a request of it, or on the page', async () => {
  const sent = await everythingSent();
  expect([...new Set(sent.map(({ method }) => method))].sort()).toEqual(Object.keys(READ).sort());
  expect(Object.keys(READ).filter((method) => !isFact(method))).toEqual([]);
  const names = sent.flatMap(({ method, parameters }) =>
    Object.keys(parameters).map((name) => ({ method, name })),
  );
  const unknown = names.filter(
    ({ method, name }) =>
      !isFact(name) &&
      !ofMethod(method).some(({ request }) => Object.hasOwn(request?.params ?? {}, name)),
  );
  expect(unknown).toEqual([]);
  // The test drives pages and tags.
  expect(names.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['cursor', 'starting_after', 'destination_tag', 'network', 'idem']),
  );
});
