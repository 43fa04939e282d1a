/** Whether anybody has minted a burn, by several endpoints of which one lags. */
import type { EvmConnection } from '../../../venues/evm/client.ts';
import { judgeLanded, type Landed } from '../../../venues/evm/landed.ts';
import { byAnybody, byOthers } from '../../../venues/burn-mint/by-others.ts';
import type { MintPlan } from '../../../venues/burn-mint/mint-act.ts';

const plan = {
  destination: { cctp: { message_transmitter: `0x${'1'.repeat(40)}` } },
  nonce: `0x${'2'.repeat(64)}`,
  since: 0n,
} as unknown as MintPlan;
const looking = {
  assurance: 'provider_completed',
  phase: 'observe',
  progress: {},
  search: undefined,
} as const;

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
    venue: { finality: { confirmations: null }, native_asset: 'ETH' },
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

it('shows beside it what our own transaction, which was reverted, has cost', async () => {
  const instead = { next_state: 'COMPLETED', output: { tx_hash: '0x2' } };
  const landed = {
    act: { instead: () => Promise.resolve(instead) },
    signed: { tx_hash: '0x1', from: '0x3' },
    receipt: {
      status: 'reverted',
      blockNumber: 3n,
      gasUsed: 21_000n,
      effectiveGasPrice: 1_000_000_000n,
    },
  } as unknown as Landed;
  expect(await judgeLanded(endpoints(1n), landed, 'provider_completed', 'observe')).toEqual({
    ...instead,
    output: { tx_hash: '0x2', fee_amount: '0.000021', fee_asset: 'ETH' },
  });
});

it('is searched for from the start once a recovery has come to the end', async () => {
  const searched = { from: '0', to: '7', by: 'recover' };
  const recovering = { ...looking, phase: 'recover', progress: { kept: 'x', searched } } as const;
  const answer = await byAnybody(endpoints(1n, 1n), plan, recovering);
  expect(answer).toMatchObject({ next_state: 'OBSERVING', error_code: 'MINT_UNSEEN' });
  expect(answer?.output).toEqual({ kept: 'x' });
});

it('is not minted where all of them show its nonce unused', async () => {
  expect(await byAnybody(endpoints(0n, 0n), plan, looking)).toBeNull();
});

describe('a mint that no block shows now', () => {
  const phases = ['observe', 'recover'] as const;

  it.each(phases)('is gone once as many as required show its nonce unused (%s)', async (phase) => {
    expect(await byOthers(endpoints(0n, 0n), plan, { ...looking, phase }, null)).toBeNull();
    await expect(byOthers(endpoints(0n), plan, { ...looking, phase }, null)).resolves.toBeNull();
  });

  it.each(phases)('may be hidden where one of them shows it used (%s)', async (phase) => {
    for (const used of [
      [0n, 1n],
      [1n, 0n],
    ])
      await expect(
        byOthers(endpoints(...used), plan, { ...looking, phase }, null),
      ).rejects.toMatchObject({ code: 'MINT_UNSEEN' });
  });
});
