/**
 * What exchanges show of withdrawals with each fetch of balances: over HTTP against the local
 * exchange, and from examples of the wire.
 */
import type { FetchedBalances } from '../../../domain/balances.ts';
import { expectedWait } from '../../../domain/withdrawal-outlook.ts';
import { createCexBalances } from '../../../venues/cex/balances.ts';
import { DIALECTS } from '../../../venues/cex/dialects/index.ts';
import { started } from '../../support/started.ts';
import { example, good, scripted } from './dialects/okx-script.ts';
import { call } from './support/desk.ts';
import { EXCHANGES, startWorlds, type World } from './support/world.ts';

const worlds = started(() => startWorlds());

/** The call of each exchange that shows it. */
const PATHS: Readonly<Record<string, string>> = {
  binance: '/sapi/v1/capital/config/getall',
  okx: '/api/v5/asset/currencies',
  kraken: '/0/public/Assets',
};
/** Kraken shows assets alone. */
const BY_NETWORK = ['binance', 'okx'];
const ALL = EXCHANGES.filter(([exchange]) => Object.hasOwn(PATHS, exchange));
const NETWORKED = ALL.filter(([exchange]) => BY_NETWORK.includes(exchange));
const OPENS = Date.UTC(2026, 11, 24, 6);

const openOf = (exchange: string): World => {
  const found = ALL.find(([name]) => name === exchange);
  if (found === undefined) throw new Error(`no format of ${exchange}`);
  return worlds.open(found[1]);
};

const fetched = ({ accounts }: World): Promise<FetchedBalances> => {
  const [main] = createCexBalances(accounts);
  if (main === undefined) throw new Error('no account is bound');
  return main.fetch(call());
};

test('each exchange that shows it is here', () => {
  const showing = [...DIALECTS].filter(([, dialect]) => dialect.outlook !== undefined);
  expect(showing.map(([name]) => name).sort()).toEqual(Object.keys(PATHS).sort());
});

describe.each(NETWORKED)('%s shows', (_exchange, format) => {
  const { open, suspended } = format.books.networks;

  test('the network that is suspended, and no other', async () => {
    const { outlook } = await fetched(worlds.open(format));
    expect(outlook?.closed).toEqual([{ asset: 'USDC', network: suspended, opens_at: null }]);
  });

  test('only networks of what the account has', async () => {
    const world = worlds.open(format);
    world.books.termsOf('TINY', open).enabled = false;
    const closed = async () => (await fetched(world)).outlook?.closed.map(({ asset }) => asset);
    expect(await closed()).toEqual(['USDC']);
    world.books.set(null, 'SPOT', 'TINY', '1');
    expect(await closed()).toEqual(['USDC', 'TINY']);
  });

  test('beforehand the very wait that the executor has', async () => {
    const world = worlds.open(format);
    const { outlook } = await fetched(world);
    const node = world.node({ network: suspended });
    const checked = await world.executorOf('cex_withdrawal').preflight(node, call());
    const planned = { asset: 'USDC', network: suspended, amount: node.amount };
    expect(outlook === null ? null : expectedWait(outlook, planned)).toMatchObject({
      code: 'VENUE_SUSPENDED',
      message: checked?.error_message,
    });
  });
});

test('OKX shows when a network is expected to open, and what is left of the quota', async () => {
  const world = openOf('okx');
  const { suspended } = world.desk.exchange.format.books.networks;
  world.books.termsOf('USDC', suspended).opens_at = OPENS;
  world.books.quota = { unit: 'USD', left: '9000.5' };
  expect((await fetched(world)).outlook).toEqual({
    quota: { left: '9000.5', unit: 'USD' },
    closed: [{ asset: 'USDC', network: suspended, opens_at: '2026-12-24T06:00:00.000Z' }],
  });
});

test('Kraken shows an asset that is suspended, on every network', async () => {
  const world = openOf('kraken');
  const { open } = world.desk.exchange.format.books.networks;
  // A single network that is suspended is not shown.
  expect((await fetched(world)).outlook).toEqual({ quota: null, closed: [] });
  world.books.termsOf('USDC', open).enabled = false;
  expect((await fetched(world)).outlook).toEqual({
    quota: null,
    closed: [{ asset: 'USDC', network: null, opens_at: null }],
  });
});

describe.each(ALL)('%s', (exchange, format) => {
  test.each(['error_500', 'malformed', 'hangup'] as const)(
    'loses no balances when it does not show it (%s)',
    async (kind) => {
      const world = worlds.open(format);
      const { pools, outlook } = await fetched(world);
      expect(outlook).not.toBeNull();
      world.desk.exchange.fail({ path: PATHS[exchange] ?? '', kind });
      expect(await fetched(world)).toEqual({ pools, outlook: null });
    },
  );

  test('needs one request for it', async () => {
    const world = worlds.open(format);
    await fetched(world);
    const { requests } = world.desk.exchange;
    const before = requests.length;
    await fetched(world);
    const paths = requests.slice(before).map(({ path }) => path);
    expect(paths.filter((path) => path === PATHS[exchange])).toHaveLength(1);
  });
});

describe('the quota of OKX', () => {
  const itemsOf = (name: string) => example(name)['data'] as readonly object[];
  const coins = itemsOf('withdrawal terms');
  const tokens = itemsOf('withdrawal terms, older form');
  const quotaOf = async (assets: readonly string[], ...items: readonly object[]) => {
    const { connection } = scripted({ privateGetAssetCurrencies: good(...items) });
    return (await DIALECTS.get('okx')?.outlook?.(connection, assets, call()))?.quota;
  };

  test('is that of all chains of what the account has', async () => {
    expect(await quotaOf(['USDT'], ...coins, ...tokens)).toEqual({ left: '500', unit: 'USD' });
    expect(await quotaOf(['BTC'], ...coins, ...tokens)).toEqual({ left: '10000000', unit: 'USD' });
  });

  test('is not known where chains differ, or one shows none', async () => {
    expect(await quotaOf(['USDT', 'BTC'], ...coins, ...tokens)).toBeNull();
    const none = coins.map((each) => ({ ...each, wdQuota: '' }));
    expect(await quotaOf(['BTC'], ...coins, ...none)).toBeNull();
    expect(await quotaOf([], ...coins, ...tokens)).toBeNull();
  });

  test('is never below zero', async () => {
    const over = coins.map((each) => ({ ...each, usedWdQuota: '10000000.5' }));
    expect(await quotaOf(['BTC'], ...over)).toEqual({ left: '0', unit: 'USD' });
  });

  test('a chain that does not say whether it pays out leaves all of it unknown', async () => {
    const strange = coins.map((each) => ({ ...each, canWd: 'yes' }));
    await expect(quotaOf(['BTC'], ...strange)).rejects.toMatchObject({ kind: 'protocol' });
    // What the account does not have may look as it likes.
    expect(await quotaOf(['USDT'], ...strange, ...tokens)).toEqual({ left: '500', unit: 'USD' });
  });
});
