/** A search over several looks: every block is searched while it is final, and none for nothing. */
import fc from 'fast-check';
import { hexToBigInt, type Hex } from 'viem';
import type { BlockRange } from '../../../venues/evm/find-log.ts';
import {
  rangesToSearch,
  readSearched,
  searchedRecord,
  searchLogs,
  type Found,
  type Searched,
} from '../../../venues/evm/search-logs.ts';

const of = { address: '0x0000000000000000000000000000000000000001', topics: [] } as const;
const AT_ONCE = { milliseconds: 0 };

/** A chain of so many blocks with one log. */
function chain(newest: bigint, final: bigint, log: bigint | null) {
  const requested: BlockRange[] = [];
  const client = {
    getBlock: ({ blockTag }: { readonly blockTag: string }) =>
      Promise.resolve({ number: blockTag === 'finalized' ? final : newest }),
    request: ({ params: [range] }: { params: [{ fromBlock: Hex; toBlock: Hex }] }) => {
      const [from, to] = [hexToBigInt(range.fromBlock), hexToBigInt(range.toBlock)];
      requested.push({ from, to });
      const has = log !== null && log >= from && log <= to;
      return Promise.resolve(has ? [{ transactionHash: '0xaa' }] : []);
    },
  };
  const connection = {
    ask: (question: (of: typeof client) => unknown) => question(client),
    venue: { finality: { confirmations: null } },
  };
  return { requested, connection: connection as never };
}

it('comes to its end over several looks, and searches no final block twice', async () => {
  const { requested, connection } = chain(20_500n, 20_400n, 3n);
  let seen: Found = { kind: 'unfinished', searched: { from: 0n, to: 0n } };
  let searched: Searched | null = null;
  let looks = 0;
  for (; seen.kind === 'unfinished' && looks < 100; looks += 1) {
    seen = await searchLogs(connection, { ...of, since: 0n }, searched, AT_ONCE);
    // As a node keeps it.
    if (seen.kind === 'unfinished') searched = readSearched(searchedRecord(seen.searched));
  }
  expect(seen).toEqual({ kind: 'found', hash: '0xaa' });
  expect(looks).toBe(21);
  const final = requested.filter(({ to }) => to <= 20_400n);
  expect(final.reduce((sum, { from, to }) => sum + to - from + 1n, 0n)).toBe(20_401n);
});

test.each([0n, 9_399n, 9_400n, 9_401n, 9_500n, 499n])('finds what is in block %s', async (log) => {
  const { connection } = chain(9_500n, 9_400n, log);
  expect(await searchLogs(connection, { ...of, since: 0n }, null)).toEqual({
    kind: 'found',
    hash: '0xaa',
  });
});

it('ends where there is nothing, also since a block that is not there yet', async () => {
  const { requested, connection } = chain(2_500n, 2_400n, null);
  expect(await searchLogs(connection, { ...of, since: 7n }, null)).toEqual({ kind: 'nowhere' });
  expect(await searchLogs(connection, { ...of, since: 9_999n }, null)).toEqual({ kind: 'nowhere' });
  expect(requested.every(({ from }) => from >= 7n)).toBe(true);
});

const block = fc.bigInt({ min: 0n, max: 20_000n });
test('whatever is searched, all of it is, and only what is final counts', () => {
  fc.assert(
    fc.property(block, block, block, block, block, (...five) => {
      const [since = 0n, from = 0n, to = 0n, final = 0n, newest = 0n] = five.toSorted((a, b) =>
        a < b ? -1 : 1,
      );
      const done: BlockRange[] = [{ from, to }];
      const has = (at: bigint) => done.some((each) => at >= each.from && at <= each.to);
      for (const { range, after } of rangesToSearch({ from, to }, { since, newest, final })) {
        expect(range.to - range.from < 1_000n && range.from <= range.to).toBe(true);
        expect(has(range.from) || has(range.to)).toBe(false);
        done.push(range);
        expect(after.to <= final && has(after.from) && has(after.to)).toBe(true);
      }
      const total = done.reduce((sum, each) => sum + each.to - each.from + 1n, 0n);
      expect(total).toBe(newest - since + 1n);
    }),
  );
});

test.each([null, {}, { from: '1' }, { from: 'x', to: '2' }, { from: 1, to: 2 }, 'text'])(
  '%j is no search that goes on',
  (value) => {
    expect(readSearched(value)).toBeNull();
  },
);
