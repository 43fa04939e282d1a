/**
 * What comes to the deposit addresses, over a made-up chain: every log is booked once, whatever
 * happens between.
 */
import fc from 'fast-check';
import { getAddress } from 'viem';
import { chainInfo, VENUE_DEPOSIT_ADDRESSES } from '../../dev/simulators/chain/accounts.ts';
import { VENUE_ACCOUNTS } from '../../dev/simulators/paper-venue/accounts.ts';
import type {
  ReadChain,
  TokenTransfer,
  VenueChain,
} from '../../dev/simulators/paper-venue/chain.ts';
import { createDepositObserver } from '../../dev/simulators/paper-venue/deposit-observe.ts';
import { depositAddress, watchDeposits } from '../../dev/simulators/paper-venue/deposits.ts';
import { openLedger, type Ledger } from '../../dev/simulators/paper-venue/ledger.ts';
import { chainFileSchema } from '../../dev/simulators/paper-venue/settings.ts';
import { contextOf } from '../executors/fake-server.ts';
import { NO_CHAIN, PAYEE, tempFolder } from './paper-venue-stack.ts';

const TOKEN = getAddress(NO_CHAIN.tokens['USDC']!.address);
const opening = { identity: 'test', postings: [] };
let folder: ReturnType<typeof tempFolder>;
let ledger: Ledger;

beforeEach(() => {
  folder = tempFolder();
  ledger = openLedger(folder.path, opening);
});
afterEach(() => {
  ledger.close();
  folder.remove();
});

/** Blocks of transfers; `blocks` may be changed as a chain that reorganises changes. */
function madeUpChain() {
  const blocks: { hash: string; transfers: TokenTransfer[] }[] = [];
  const reads: [bigint, bigint][] = [];
  const chain: ReadChain = {
    block: async (of) => {
      const number = of === 'latest' ? BigInt(blocks.length - 1) : of;
      const hash = blocks[Number(number)]?.hash;
      return hash === undefined ? null : { number, hash };
    },
    tokenTransfers: async ({ to, from, until }) => {
      reads.push([from, until]);
      return blocks
        .slice(Number(from), Number(until) + 1)
        .flatMap(({ transfers }) => transfers.filter((each) => to.includes(each.to)));
    },
  };
  return { chain, blocks, reads };
}
const transfer = (tx: number, account: string, units: bigint): TokenTransfer => ({
  tx_hash: `0x${tx.toString(16).padStart(64, '0')}`,
  token: TOKEN,
  to: account === 'stranger' ? PAYEE : depositAddress(NO_CHAIN, account),
  units,
});
const held = (account: string) => ledger.book.balance(account, 'SPOT', 'USDC');

test('the addresses of the embedded stack are those that are written down', () => {
  const chain = chainFileSchema.parse(chainInfo(1));
  const derived = VENUE_ACCOUNTS.map((account) => [account, depositAddress(chain, account)]);
  expect(Object.fromEntries(derived)).toEqual(VENUE_DEPOSIT_ADDRESSES);
  expect(chain.withdrawalFees).toEqual({ USDT: '1' });
});

test('each account has an address of its own, the same at every start', () => {
  const addresses = VENUE_ACCOUNTS.map((account) => depositAddress(NO_CHAIN, account));
  expect(new Set(addresses).size).toBe(VENUE_ACCOUNTS.length);
  expect(addresses).toEqual(VENUE_ACCOUNTS.map((account) => depositAddress(NO_CHAIN, account)));
});

test('every log is booked once: two of one transaction, a scan again, a restart and a block made anew', async () => {
  const { chain, blocks, reads } = madeUpChain();
  const watcher = watchDeposits(ledger, chain, NO_CHAIN);
  expect(watcher.scannedTo()).toBe(-1n);
  blocks.push({ hash: 'a', transfers: [] });
  blocks.push({
    hash: 'b',
    transfers: [
      transfer(1, 'paper-main', 5n),
      transfer(1, 'paper-main', 5n),
      transfer(1, 'stranger', 7n),
      transfer(2, 'paper-sub-a', 0n),
    ],
  });
  await watcher.scan();
  await Promise.all([watcher.scan(), watcher.scan()]);
  expect([held('paper-main'), held('paper-sub-a'), watcher.scannedTo()]).toEqual([10n, 0n, 1n]);
  blocks.push({ hash: 'c', transfers: [transfer(3, 'paper-sub-a', 4n)] });
  await watcher.scan();
  // Only what is new was read.
  expect(reads).toEqual([
    [0n, 1n],
    [2n, 2n],
  ]);
  await watcher.stop();

  ledger.close();
  ledger = openLedger(folder.path, opening);
  const next = watchDeposits(ledger, chain, NO_CHAIN);
  await next.scan();
  expect([held('paper-main'), held('paper-sub-a')]).toEqual([10n, 4n]);
  // The last block is made again with its transaction, and one more before it.
  blocks.splice(
    2,
    1,
    { hash: 'd', transfers: [transfer(4, 'paper-sub-b', 9n)] },
    { hash: 'e', transfers: [transfer(3, 'paper-sub-a', 4n)] },
  );
  await next.scan();
  expect([held('paper-main'), held('paper-sub-a'), held('paper-sub-b')]).toEqual([10n, 4n, 9n]);
  expect(ledger.book.deposits.all()).toHaveLength(4);
  await next.stop();
});

test('a chain that is away is read again later, and no deposit is lost', async () => {
  const { chain, blocks } = madeUpChain();
  const state = { away: true };
  const away: ReadChain = {
    ...chain,
    tokenTransfers: (question) =>
      state.away ? Promise.reject(new Error('away')) : chain.tokenTransfers(question),
  };
  const watcher = watchDeposits(ledger, away, NO_CHAIN);
  blocks.push({ hash: 'a', transfers: [transfer(1, 'paper-main', 5n)] });
  await expect(watcher.scan()).rejects.toThrow('away');
  expect(watcher.scannedTo()).toBe(-1n);
  state.away = false;
  await watcher.scan();
  expect(held('paper-main')).toBe(5n);
  await watcher.stop();
});

test('whatever blocks come, go and come again and whenever the venue is started anew, each log is booked exactly once', async () => {
  const block = fc.array(
    fc.record({
      account: fc.constantFrom(...VENUE_ACCOUNTS, 'stranger'),
      units: fc.bigInt(1n, 9n),
    }),
    {
      maxLength: 3,
    },
  );
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('block' as const), block }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('again' as const),
        depth: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('scan' as const, 'restart' as const) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const place = tempFolder();
      let own = openLedger(place.path, opening);
      const { chain, blocks } = madeUpChain();
      let watcher = watchDeposits(own, chain, NO_CHAIN);
      let count = 0;
      for (const each of [...steps, { kind: 'scan' as const }]) {
        count += 1;
        if (each.kind === 'block') {
          blocks.push({
            hash: `h${count}`,
            transfers: each.block.map(({ account, units }) => transfer(count, account, units)),
          });
        }
        // The last blocks are made again: the same transactions, an empty block before them, other
        // hashes.
        if (each.kind === 'again') {
          const redone = blocks
            .splice(-each.depth)
            .map(({ transfers }, index) => ({ hash: `r${count}-${index}`, transfers }));
          blocks.push({ hash: `e${count}`, transfers: [] }, ...redone);
        }
        if (each.kind === 'scan' && blocks.length > 0) await watcher.scan();
        if (each.kind === 'restart') {
          await watcher.stop();
          own.close();
          own = openLedger(place.path, opening);
          watcher = watchDeposits(own, chain, NO_CHAIN);
        }
      }
      for (const account of VENUE_ACCOUNTS) {
        const sent = blocks.flatMap(({ transfers }) =>
          transfers.filter(({ to }) => to === depositAddress(NO_CHAIN, account)),
        );
        expect(own.book.balance(account, 'SPOT', 'USDC')).toBe(
          sent.reduce((sum, { units }) => sum + units, 0n),
        );
      }
      await watcher.stop();
      own.close();
      place.remove();
    }),
    { numRuns: 60 },
  );
});

test('that a transaction brings nothing is believed only when its block was read and is final', async () => {
  const look = async (block: bigint, finalized: bigint, scanned: bigint) => {
    const chain = {
      receipt: async () => ({ block, succeeded: true }),
      finalizedBlock: async () => finalized,
    } as unknown as VenueChain;
    const deposits = {
      addressOf: () => NO_CHAIN.accounts.venueHotWallet.address,
      scan: async () => undefined,
      scannedTo: () => scanned,
      stop: async () => undefined,
    } as const;
    const observer = createDepositObserver({ ledger, chain, deposits, settings: NO_CHAIN });
    const matched = { node_key: 'send', output: { tx_hash: `0x${'1'.repeat(64)}` } };
    const config = { venue: 'paper-main', match_from: 'send' };
    return (await observer.look(contextOf({ action_type: 'cex_deposit_observe', config, matched })))
      .next_state;
  };
  expect(await look(5n, 4n, 9n)).toBe('OBSERVING');
  expect(await look(5n, 9n, 4n)).toBe('OBSERVING');
  expect(await look(5n, 5n, 5n)).toBe('FAILED');
});
