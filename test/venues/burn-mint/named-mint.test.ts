/** What a transaction that a person names proves of a burn that no attester signs for. */
import { concat, type Hex, type TransactionReceipt } from 'viem';
import { withFields } from '../../../dev/simulators/bridge/attester/message.ts';
import { BURN_TOKEN } from '../../../dev/simulators/bridge/contracts/artifacts.ts';
import type { NamedMints, RecordedBurn } from '../../../domain/bridges/named-mint.ts';
import type { Attested } from '../../../venues/burn-mint/attester.ts';
import { createMintReader } from '../../../venues/burn-mint/named-mint.ts';
import type { EvmChains, EvmConnection } from '../../../venues/evm/client.ts';
import {
  approveBurns,
  burn,
  mintCall,
  startLanes,
  STRANGER,
  usdb,
  type BurnTerms,
} from '../../dev/bridge-stack.ts';
import { attest, burnt, call, executorsOf, nonceOf, signatures } from './lanes-desk.ts';
import { started } from '../../support/started.ts';

const lanes = started(() => startLanes());
beforeAll(async () => {
  await approveBurns(lanes.near);
});

const says = { attested: [], anew: [] };
const desk = () => executorsOf(lanes, says);
const NOWHERE: Hex = `0x${'ab'.repeat(32)}`;

/** A burn that is mined and that no attester knows, as its node has recorded it. */
async function waiting(): Promise<RecordedBurn & { readonly message: Hex }> {
  const executors = desk();
  const { context, journal, message } = await burnt(lanes, executors);
  const { next_state, output = {} } = await executors.burn.observe(context, call(), journal);
  expect([next_state, output['message']]).toEqual(['OBSERVING', message]);
  const { config, asset, amount } = context;
  return { config, asset, amount, output, message };
}
const bring = async ({ message, attestation }: Attested): Promise<TransactionReceipt> =>
  lanes.far.send(mintCall(lanes.far, message, attestation), STRANGER);
/** Brought, and final. */
async function brought(message: Hex, nonce: string): Promise<TransactionReceipt> {
  const receipt = await bring(await attest(message, nonceOf(nonce)));
  expect(receipt.status).toBe('success');
  await lanes.far.mine(100);
  return receipt;
}
const read = (
  named: RecordedBurn,
  { transactionHash }: Pick<TransactionReceipt, 'transactionHash'>,
  chains: EvmChains = desk().chains,
): Promise<NamedMints> =>
  createMintReader({ chains, venues: desk().venues }).read(
    named,
    transactionHash,
    AbortSignal.timeout(20_000),
  );
const refused = (reason: string) => expect.objectContaining({ ok: false, reason });

it('is proven by the message that was taken, byte for byte as it was signed', async () => {
  const named = await waiting();
  const own = await attest(named.message, nonceOf('proven'));
  const receipt = await bring(own);
  // A block that may still go proves nothing.
  expect(await read(named, receipt)).toEqual(refused('not_final'));
  await lanes.far.mine(100);
  const { transactionHash: hash } = receipt;
  expect(await read(named, receipt)).toEqual({
    ok: true,
    mints: [
      {
        burn: {
          attested_message: own.message,
          attestation: '0x',
          mint_tx_hash: hash,
          message_nonce: nonceOf('proven'),
          finality_executed: 2_000,
          fee_executed: '0',
        },
        mint: expect.objectContaining({
          tx_hash: hash,
          received_amount: '2.5',
          fee_amount: '0',
          message_nonce: nonceOf('proven'),
        }),
      },
    ],
  });
});

describe('nothing is proven by', () => {
  test.each<readonly [string, BurnTerms, string]>([
    ['another amount', { amount: usdb('2.4') }, 'no_mint'],
    ['another highest fee', { amount: usdb('2.5'), maxFee: 1n }, 'no_mint'],
    // No event tells these two: the calldata does.
    ['another finality', { amount: usdb('2.5'), threshold: 1000 }, 'another_message'],
    ['another caller', { amount: usdb('2.5'), caller: STRANGER.address }, 'another_message'],
  ])('the mint of a burn of %s', async (what, terms, reason) => {
    const named = await waiting();
    const { message } = await burn(lanes.near, lanes.far, terms);
    expect(await read(named, await brought(message, what))).toEqual(refused(reason));
  });

  it('a transaction that is nowhere, that reverted, or that mints nothing', async () => {
    const named = await waiting();
    expect(await read(named, { transactionHash: NOWHERE })).toEqual(refused('not_found'));
    const message = withFields(named.message, { nonce: nonceOf('unsigned') });
    const attestation = concat([...(await signatures('0x00'))]);
    const reverted = await bring({ message, attestation });
    expect(reverted.status).toBe('reverted');
    await lanes.far.mine(100);
    expect(await read(named, reverted)).toEqual(refused('reverted'));
    const { burnToken } = lanes.far.contracts;
    const other = await lanes.far.send({
      to: burnToken,
      abi: BURN_TOKEN.abi,
      functionName: 'approve',
      args: [burnToken, 0n],
    });
    await lanes.far.mine(100);
    expect(await read(named, other)).toEqual(refused('no_mint'));
  });

  it('a mint that is older than the burn', async () => {
    const { message } = await burn(lanes.near, lanes.far, { amount: usdb('2.5') });
    const receipt = await brought(message, 'older');
    const named = await waiting();
    expect(await read(named, receipt)).toEqual(refused('before_burn'));
  });

  it('what one endpoint alone shows', async () => {
    const named = await waiting();
    const receipt = await brought(named.message, 'one alone');
    expect(await read(named, receipt)).toMatchObject({ ok: true });
    const behind = (): Promise<never | null> => Promise.resolve(null);
    expect(await read(named, receipt, besides({ find: behind }))).toEqual(refused('not_found'));
    const other = await brought(named.message, 'another mint of it');
    const lies = { find: () => Promise.resolve({ ...receipt, logs: other.logs } as never) };
    expect(await read(named, receipt, besides(lies))).toMatchObject({ ok: false });
  });

  it('a burn without a recorded message, or with another than the planned one', async () => {
    const named = await waiting();
    const receipt = await brought(named.message, 'recorded');
    for (const message of [undefined, '0x00', withFields(named.message, { amount: usdb('2.6') })]) {
      const output = { ...named.output, message: message ?? null };
      expect(await read({ ...named, output }, receipt)).toEqual(refused('burn_unrecorded'));
    }
  });

  it('a chain of other venue entries than it was burnt under', async () => {
    const named = await waiting();
    const receipt = await brought(named.message, 'other entries');
    const output = { ...named.output, venue_entries: 'others' };
    await expect(read({ ...named, output }, receipt)).rejects.toMatchObject({
      code: 'VENUE_ENTRY_CHANGED',
    });
  });
});

/** The chains with a second endpoint, which is as the first but for this. */
function besides(differs: Partial<EvmConnection>): EvmChains {
  const { chains } = desk();
  return {
    ...chains,
    open: async (chainId, options) => {
      const first = await chains.open(chainId, options);
      return {
        ...first,
        witnesses: (question) => Promise.all([question(first), question({ ...first, ...differs })]),
      };
    },
  };
}
