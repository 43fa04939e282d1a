/** In which blocks a log is looked for. */
import { hexToBigInt, type Hex } from 'viem';
import { findLog } from '../../../venues/evm/find-log.ts';

interface Range {
  readonly fromBlock: Hex;
  readonly toBlock: Hex;
}

/** A chain of so many blocks with logs in some; `requested` records the requested ranges. */
function chain(newest: bigint, logs: Readonly<Record<string, bigint>>) {
  const requested: [bigint, bigint][] = [];
  const client = {
    getBlock: () => Promise.resolve({ number: newest, timestamp: 0n }),
    request: ({ params: [range] }: { readonly params: [Range] }) => {
      const [first, last] = [hexToBigInt(range.fromBlock), hexToBigInt(range.toBlock)];
      requested.push([first, last]);
      const found = Object.entries(logs).filter(([, block]) => block >= first && block <= last);
      return Promise.resolve(found.map(([transactionHash]) => ({ transactionHash })));
    },
  };
  const connection = { ask: (question: (of: typeof client) => unknown) => question(client) };
  return { requested, connection: connection as never };
}
const of = { address: '0x0000000000000000000000000000000000000001', topics: [] } as const;

it('searches every block once, the newest first, a thousand at a time', async () => {
  const { requested, connection } = chain(2_500n, {});
  expect(await findLog(connection, { ...of, topics: [], since: 7n, until: 2_500n })).toBeNull();
  expect(requested).toEqual([
    [1_501n, 2_500n],
    [501n, 1_500n],
    [7n, 500n],
  ]);
});

test.each([1_501n, 1_500n, 501n, 500n, 7n])('finds what is in block %s', async (block) => {
  const { connection } = chain(2_500n, { '0xaa': block });
  expect(await findLog(connection, { ...of, topics: [], since: 7n, until: 2_500n })).toBe('0xaa');
});

it('finds nothing before its first block, nor behind its last', async () => {
  for (const block of [6n, 2_001n]) {
    const { connection } = chain(2_500n, { '0xaa': block });
    expect(await findLog(connection, { ...of, topics: [], since: 7n, until: 2_000n })).toBeNull();
  }
});

it('takes the newest of several', async () => {
  const { connection } = chain(10n, { '0xaa': 3n, '0xbb': 4n });
  expect(await findLog(connection, { ...of, topics: [], since: 0n, until: 10n })).toBe('0xbb');
});
