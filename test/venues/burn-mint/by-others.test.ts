/** Whether anybody has minted a burn, by several endpoints of which one lags. */
import type { EvmConnection } from '../../../venues/evm/client.ts';
import { byAnybody } from '../../../venues/burn-mint/by-others.ts';
import type { MintPlan } from '../../../venues/burn-mint/mint-act.ts';

const plan = {
  destination: { cctp: { message_transmitter: `0x${'1'.repeat(40)}` } },
  nonce: `0x${'2'.repeat(64)}`,
  since: 0n,
} as unknown as MintPlan;
const looking = { assurance: 'provider_completed', progress: {}, search: undefined } as const;

/** Endpoints that say of the nonce whether it is used; none of them shows a log. */
function endpoints(...used: readonly bigint[]): EvmConnection {
  const clients = used.map((times) => ({
    readContract: () => Promise.resolve(times),
    getBlock: () => Promise.resolve({ number: 7n }),
    request: () => Promise.resolve([]),
  }));
  const connection = (client: (typeof clients)[number]): object => ({
    ask: (question: (of: typeof client) => unknown) => question(client),
    read: client.readContract,
    venue: { finality: { confirmations: null } },
    witnesses: (question: (of: object) => unknown) =>
      Promise.all(clients.map((each) => question(connection(each)))),
  });
  return connection(clients[0]!) as EvmConnection;
}

it('somebody may have, where a single endpoint shows that the nonce is used', async () => {
  for (const used of [
    [0n, 1n],
    [1n, 0n],
  ])
    await expect(byAnybody(endpoints(...used), plan, looking)).rejects.toMatchObject({
      code: 'MINT_UNSEEN',
    });
});

it('is not minted where all of them show its nonce unused', async () => {
  expect(await byAnybody(endpoints(0n, 0n), plan, looking)).toBeNull();
});
