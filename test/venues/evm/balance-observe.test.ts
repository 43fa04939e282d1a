import { parseUnits, toHex, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ExecutionContext, ExecutionResult, Executor } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { createEvmBalanceObserveExecutor } from '../../../venues/evm/balance-observe.ts';
import { payToken } from './support/pay-token.ts';
import { asTheyAre, startChain } from './support/chain.ts';
import { call, chainsOf, contextOf, MemoryJournal } from './support/node.ts';
import { started } from '../../support/started.ts';

let address: Address;
const chain = started(() => startChain());

beforeEach(() => {
  address = privateKeyToAccount(generatePrivateKey()).address;
});

/** Each call is another process: nothing but the stored output goes from one to the next. */
const fresh = (extra?: Record<string, unknown>): Executor =>
  createEvmBalanceObserveExecutor(chainsOf(chain, extra));

function contextFor(config: JsonObject, changes: Partial<ExecutionContext> = {}): ExecutionContext {
  const { signer: _none, ...context } = contextOf(
    { key: '', address },
    { address, min_increase: '1', ...config },
  );
  return { ...context, amount: '1', action_type: 'evm_balance_observe', ...changes };
}

const observe = (context: ExecutionContext, prior?: ExecutionResult, executor = fresh()) =>
  executor.observe(
    prior?.output === undefined ? context : { ...context, prior: { output: prior.output } },
    call(),
    new MemoryJournal(),
  );

const setEth = async (eth: string) => {
  await chain.client.setBalance({ address, value: parseUnits(eth, 18) });
  await chain.client.mine({ blocks: 1 });
};

/** An id of a movement that was created at this time of the chain, in seconds. */
const createdAt = (seconds: number): string => {
  const hex = (seconds * 1000).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

describe('an observed balance', () => {
  it('takes its amount of what came since the first observation, across restarts', async () => {
    await setEth('5');
    const context = contextFor({});
    const first = await observe(context);
    expect(first).toMatchObject({
      next_state: 'OBSERVING',
      output: { baseline_amount: '5' },
      retry_after_seconds: 0.1,
    });
    expect(await observe(context, first)).toEqual(first);
    await setEth('5.999');
    expect(await observe(context, first)).toEqual(first);
    await setEth('6.25');
    expect(await observe(context, first)).toMatchObject({
      next_state: 'COMPLETED',
      output: { baseline_amount: '5', balance: '6.25', received_amount: '1' },
    });
  });

  it('takes one payment of a token of exactly its amount, and no other', async () => {
    const payer = await chain.account({ tokens: '100' });
    const pay = (tokens: string) => payToken(chain, payer.key, { to: address, tokens });
    const context = contextFor({ token_address: chain.token, min_increase: '2' }, { amount: '7' });
    const first = await observe(context);
    await pay('8');
    await pay('3');
    expect(await observe(context, first)).toMatchObject({ next_state: 'OBSERVING' });
    const hash = await pay('7');
    const payment = { source: 'evm:31337', reference: `${hash}#0`, amount: '7', total: '7' };
    const done = await observe(context, first);
    expect(done).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '7', tx_hash: hash },
    });
    expect(done.output?.['payments']).toEqual([{ ...payment, source: expect.any(String) }]);
    // Another of the same amount: they cannot be distinguished.
    await pay('7');
    expect(await observe(context, first)).toMatchObject({
      next_state: 'OBSERVING',
      error_code: 'PAYMENT_AMBIGUOUS',
    });
  });

  it('takes exactly its amount of a transaction that pays several, and none where two would do', async () => {
    const payer = await chain.account({ tokens: '100' });
    const hash = await payToken(chain, payer.key, { to: address, tokens: '7' });
    // As an exchange that sends many withdrawals at once: the same payment in other amounts.
    const paying = (...tokens: readonly string[]): void =>
      chain.tellReceipts((receipt) => {
        const [log] = (receipt?.['logs'] ?? []) as readonly object[];
        const data = (each: string) => toHex(parseUnits(each, 6), { size: 32 });
        const logs = tokens.map((each, at) => ({ ...log, data: data(each), logIndex: toHex(at) }));
        return receipt === null || receipt['transactionHash'] !== hash
          ? receipt
          : { ...receipt, logs };
      });
    const matched = { node_key: 'pay', output: { tx_hash: hash } };
    const context = contextFor(
      { token_address: chain.token, min_increase: '1', match_from: 'pay' },
      { amount: '7', matched },
    );
    const first = await observe(context);
    try {
      paying('5', '7', '9');
      expect(await observe(context, first)).toMatchObject({
        next_state: 'COMPLETED',
        output: {
          received_amount: '7',
          payments: [{ reference: `${hash.toLowerCase()}#1`, amount: '7', total: '7' }],
        },
      });
      for (const amounts of [
        ['7', '7', '9'],
        ['5', '9'],
      ]) {
        paying(...amounts);
        expect(await observe(context, first)).toMatchObject({
          next_state: 'OBSERVING',
          error_code: 'PAYMENT_AMBIGUOUS',
        });
      }
    } finally {
      chain.tellReceipts(asTheyAre);
    }
  });

  it('takes what the transaction brought that another node reported, whatever its amount', async () => {
    const payer = await chain.account({ tokens: '100' });
    const hash = await payToken(chain, payer.key, { to: address, tokens: '6.5' });
    await payToken(chain, payer.key, { to: address, tokens: '7' });
    const matched = { node_key: 'pay', output: { tx_hash: hash } };
    const context = contextFor(
      { token_address: chain.token, min_increase: '2', match_from: 'pay' },
      { amount: '7', matched },
    );
    const first = await observe(context);
    expect(await observe(context, first)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '6.5', tx_hash: hash },
    });
    // A bridge's first leg was mined on another chain: what came is known by its amount.
    await payToken(chain, payer.key, { to: address, tokens: '7' });
    const burnt = { node_key: 'pay', output: { tx_hash: `0x${'1'.repeat(64)}`, packet: {} } };
    expect(await observe({ ...context, matched: burnt }, first)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '7' },
    });
    const more = { ...context, config: { ...context.config, min_increase: '6.6' } };
    expect(await observe(more, first)).toMatchObject({
      next_state: 'OBSERVING',
      error_code: 'DEPOSIT_AMOUNT_MISMATCH',
    });
  });

  it('takes what another node reported once its block is as deep as required, and not before', async () => {
    const payer = await chain.account({ tokens: '100' });
    const context = contextFor(
      { token_address: chain.token, match_from: 'pay' },
      { amount: '7', completion_assurance: 'destination_finalized' },
    );
    const block = await observe(context);
    await chain.finalize();
    const whole = await observe(context, block);
    expect(whole.output).toMatchObject({ baseline_amount: '0' });
    const tx_hash = await payToken(chain, payer.key, { to: address, tokens: '7' });
    const reported = { ...context, matched: { node_key: 'pay', output: { tx_hash } } };
    expect(await observe(reported, whole)).toMatchObject({ next_state: 'OBSERVING' });
    await chain.finalize();
    expect(await observe(reported, whole)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '7', tx_hash },
    });
  });

  it('takes nothing that another node reported of a block that the chain no longer has', async () => {
    const payer = await chain.account({ tokens: '100' });
    const context = contextFor({ token_address: chain.token, match_from: 'pay' }, { amount: '7' });
    const first = await observe(context);
    const tx_hash = await payToken(chain, payer.key, { to: address, tokens: '7' });
    const reported = { ...context, matched: { node_key: 'pay', output: { tx_hash } } };
    // As an endpoint that lags behind a reorganisation.
    const blockHash = `0x${'0'.repeat(64)}`;
    chain.tellReceipts((receipt) => receipt && { ...receipt, blockHash });
    try {
      expect(await observe(reported, first)).toMatchObject({ next_state: 'OBSERVING' });
    } finally {
      chain.tellReceipts(asTheyAre);
    }
    expect(await observe(reported, first)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '7', tx_hash },
    });
  });

  it('keeps no payment of a block that is not final: the block may go, and the payment with it', async () => {
    const payer = await chain.account({ tokens: '100' });
    const second = await chain.account({ tokens: '100' });
    const context = contextFor({ token_address: chain.token }, { amount: '7' });
    const first = await observe(context);
    const hash = await payToken(chain, payer.key, { to: address, tokens: '7' });
    const rival = { amount: '7', baseline_block: null, tx_hash: null };
    const arrivals = { claimed: async () => [], waiting: async () => [rival] };
    const found = await fresh().observe(
      { ...context, prior: { output: first.output! } },
      call(),
      Object.assign(new MemoryJournal(), { arrivals }),
    );
    expect(found).toMatchObject({
      next_state: 'OBSERVING',
      error_code: 'PAYMENT_AMBIGUOUS',
      output: { candidates: [] },
    });
    expect(found.output).not.toHaveProperty('searched_to');
    await chain.client.request({ method: 'anvil_rollback' as 'anvil_mine', params: [1] as never });
    await chain.client.dropTransaction({ hash });
    await chain.client.mine({ blocks: 1 });
    const gone = await observe(context, found);
    expect(gone).toMatchObject({ next_state: 'OBSERVING' });
    expect(gone).not.toHaveProperty('error_code');
    // By another payer: the first one would make the same transaction again.
    const tx_hash = await payToken(chain, second.key, { to: address, tokens: '7' });
    expect(await observe(context, gone)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '7', tx_hash },
    });
  });

  it('sees payments between creation of the movement and the first look with `movement_start`', async () => {
    await setEth('2');
    const { timestamp } = await chain.client.getBlock();
    await chain.client.increaseTime({ seconds: 100 });
    // A block between, since the chain counts a balance that is set by hand to the block before.
    await chain.client.mine({ blocks: 1 });
    await setEth('4');
    const movement_id = createdAt(Number(timestamp) + 50);
    const late = await observe(contextFor({}, { movement_id }));
    expect(late.output).toMatchObject({ baseline_amount: '4' });
    const context = contextFor({ baseline: 'movement_start' }, { movement_id });
    const first = await observe(context);
    expect(first.output).toMatchObject({ baseline_amount: '2' });
    expect(await observe(context, first)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '1' },
    });
  });

  it('is believed only as deep as the assurance asks', async () => {
    await setEth('1');
    await chain.finalize();
    const context = contextFor({}, { completion_assurance: 'destination_finalized' });
    const block = await observe(context);
    expect(block.output).toMatchObject({
      baseline_block: String(await chain.client.getBlockNumber()),
    });
    expect(block.output).not.toHaveProperty('baseline_amount');
    await chain.client.mine({ blocks: 1 });
    await setEth('3');
    await chain.finalize();
    const whole = await observe(context, block);
    expect(whole).toMatchObject({
      next_state: 'OBSERVING',
      output: { ...block.output, baseline_amount: '1' },
    });
    await setEth('9');
    expect(await observe(context, whole)).toMatchObject({
      next_state: 'COMPLETED',
      output: { received_amount: '1' },
    });
  });

  it.each(['first_observation', 'movement_start'])(
    'counts nothing that was paid before, however far the final block is behind: %s',
    async (baseline) => {
      await setEth('1');
      await chain.finalize();
      // Paid to this address for something else, a moment before the movement, and not final when
      // it is first looked at.
      await chain.client.mine({ blocks: 1 });
      await setEth('6');
      await chain.client.increaseTime({ seconds: 60 });
      const { timestamp } = await chain.client.getBlock();
      const context = contextFor(
        { baseline },
        {
          completion_assurance: 'destination_finalized',
          movement_id: createdAt(Number(timestamp) + 30),
        },
      );
      let last = await observe(context);
      expect(last.output).not.toHaveProperty('baseline_amount');
      for (let look = 0; look < 4; look += 1) {
        await chain.client.mine({ blocks: 1 });
        await chain.finalize();
        last = await observe(context, last);
        expect(last).toMatchObject({ next_state: 'OBSERVING' });
      }
      expect(last.output).toMatchObject({ baseline_amount: '6' });
      await chain.client.mine({ blocks: 1 });
      await setEth('8');
      await chain.finalize();
      expect(await observe(context, last)).toMatchObject({
        next_state: 'COMPLETED',
        output: { received_amount: '1' },
      });
    },
  );

  it('fails with `movement_start` when the movement id contains no time', async () => {
    const context = contextFor(
      { baseline: 'movement_start' },
      { movement_id: 'f47ac10b-58cc-4372-a567-0e02b2c3d479' },
    );
    expect(await observe(context)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'BASELINE_UNAVAILABLE',
    });
  });
});

describe('its preflight', () => {
  it('passes a sound config and fails the node on any other', async () => {
    expect(await fresh().preflight(contextFor({}), call())).toBeNull();
    expect(await fresh().preflight(contextFor({ min_increase: '0' }), call())).toMatchObject({
      error_code: 'CONFIG_INVALID',
    });
    expect(await fresh().preflight(contextFor({ min_increase: 1 }), call())).toMatchObject({
      error_code: 'CONFIG_INVALID',
    });
    expect(
      await fresh().preflight(
        contextFor({ min_increase: '0.0000001', token_address: chain.token }),
        call(),
      ),
    ).toMatchObject({
      error_code: 'AMOUNT_PRECISION',
    });
    expect(
      await fresh({ chain_id: 1 }).preflight(contextFor({ chain_id: 1 }), call()),
    ).toMatchObject({ error_code: 'CHAIN_ID_MISMATCH' });
  });

  it('and prepare or submit, which have nothing to do, are refused', async () => {
    await expect(fresh().prepare(contextFor({}), call())).rejects.toMatchObject({
      kind: 'rejected',
      code: 'PHASE_NOT_SUPPORTED',
    });
    const input = { context: contextFor({}), prepared_action: {}, journal: new MemoryJournal() };
    await expect(fresh().submit(input, call())).rejects.toMatchObject({
      code: 'PHASE_NOT_SUPPORTED',
    });
  });
});
