import { inspect } from 'node:util';
import { formatEther, getAddress, parseGwei, type Address, type Hex } from 'viem';
import type { JsonObject } from '../../../domain/json.ts';
import type { SignedNode } from '../../../domain/signing.ts';
import { startChain } from './support/chain.ts';
import { call, chainsOf, contextOf, executorOf } from './support/node.ts';
import { createEvmChains } from '../../../venues/evm/client.ts';
import { createEvmSigning } from '../../../venues/evm/signing.ts';
import { createEvmTransferExecutor } from '../../../venues/evm/transfer.ts';
import { started } from '../../support/started.ts';

const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/**
 * Answers 0 to `transfer` and 1 to everything else: a token that says false where others revert.
 */
const FALSE_TOKEN: Hex = '0x60003560f81c60a9141560005260206000f3';
const chain = started(() => startChain());

const erc20 = (changes: JsonObject = {}): JsonObject => ({
  token_address: chain.token,
  destination_address: DESTINATION,
  ...changes,
});

describe('preflight passes', () => {
  it('an ERC-20 transfer that the signer can pay for', async () => {
    const account = await chain.account();
    expect(await executorOf(chain).preflight(contextOf(account, erc20()), call())).toBeNull();
  });

  it('a native transfer to a destination in lower case', async () => {
    const account = await chain.account();
    const context = contextOf(
      account,
      { destination_address: DESTINATION.toLowerCase() },
      { amount: '0.5' },
    );
    expect(await executorOf(chain).preflight(context, call())).toBeNull();
  });

  it('a config that carries keys for others', async () => {
    const account = await chain.account();
    const context = contextOf(
      account,
      erc20({ venue: 'local', amount_ref: 'intent', note: { deep: [1] } }),
    );
    expect(await executorOf(chain).preflight(context, call())).toBeNull();
  });
});

describe('preflight fails the node', () => {
  const refused = async (
    config: JsonObject,
    changes: Parameters<typeof contextOf>[2] = {},
    funds?: { eth?: string; tokens?: string },
  ) => {
    const account = await chain.account(funds);
    return executorOf(chain).preflight(contextOf(account, config, changes), call());
  };

  test.each([
    ['a wrong checksum', { destination_address: DESTINATION.replace('C5', 'c5') }, /checksum/],
    ['the zero address', { destination_address: `0x${'0'.repeat(40)}` }, /zero/],
    ['a short address', { destination_address: '0x1234' }, /malformed/],
    ['no destination', { destination_address: null }, /destination_address/],
    ['a chain id in a string', { chain_id: '31337' }, /chain_id/],
  ])('with %s', async (_name, changes: JsonObject, message) => {
    const result = await refused(erc20(changes));
    expect(result).toMatchObject({ next_state: 'FAILED', error_code: 'CONFIG_INVALID' });
    expect(result?.error_message).toMatch(message);
  });

  it('when the destination is the token contract itself', async () => {
    expect(await refused(erc20({ destination_address: chain.token }))).toMatchObject({
      error_code: 'CONFIG_INVALID',
    });
  });

  it('when a native transfer names a token', async () => {
    const result = await refused(erc20(), { action_type: 'evm_native_transfer' });
    expect(result).toMatchObject({ error_code: 'CONFIG_INVALID' });
  });

  it('when the amount has more digits than the token', async () => {
    expect(await refused(erc20(), { amount: '1.0000001' })).toMatchObject({
      next_state: 'FAILED',
      error_code: 'AMOUNT_PRECISION',
    });
  });

  it('when the signer holds too few tokens', async () => {
    expect(await refused(erc20(), {}, { tokens: '24' })).toMatchObject({
      error_code: 'INSUFFICIENT_FUNDS',
      error_message: expect.stringContaining('24 of the 25'),
    });
  });

  it('when the signer cannot pay for gas', async () => {
    expect(await refused(erc20(), {}, { eth: '0.000000001' })).toMatchObject({
      error_code: 'INSUFFICIENT_FUNDS',
    });
  });

  it('when the whole native balance is to be sent and nothing is left for gas', async () => {
    expect(await refused({ destination_address: DESTINATION }, { amount: '1' })).toMatchObject({
      error_code: 'INSUFFICIENT_FUNDS',
    });
  });

  it('when there is no contract at the token address', async () => {
    expect(await refused(erc20({ token_address: `0x${'ab'.repeat(20)}` }))).toMatchObject({
      error_code: 'TOKEN_MISSING',
    });
  });

  it('when the contract is no token', async () => {
    const address = getAddress(`0x${'cd'.repeat(20)}`);
    await chain.client.setCode({ address, bytecode: '0x00' });
    expect(await refused(erc20({ token_address: address }))).toMatchObject({
      error_code: 'TOKEN_INVALID',
    });
  });

  it('when the token would answer false', async () => {
    const address: Address = getAddress(`0x${'fa'.repeat(20)}`);
    await chain.client.setCode({ address, bytecode: FALSE_TOKEN });
    expect(await refused(erc20({ token_address: address }), { amount: '0.1' })).toMatchObject({
      error_code: 'TRANSACTION_WOULD_REVERT',
    });
  });

  it('when no signer is bound', async () => {
    const { signer: _none, ...context } = contextOf(await chain.account(), erc20());
    expect(await executorOf(chain).preflight(context, call())).toMatchObject({
      error_code: 'SIGNER_MISSING',
    });
  });

  it('when no venue is bound to the chain', async () => {
    expect(await refused(erc20({ chain_id: 5 }))).toMatchObject({
      error_code: 'CHAIN_NOT_CONFIGURED',
    });
  });
});

describe('an endpoint of another chain', () => {
  const misled = () => createEvmTransferExecutor(chainsOf(chain, { chain_id: 1 }));

  it('fails preflight and prepare, so that nothing is signed', async () => {
    const context = contextOf(await chain.account(), erc20({ chain_id: 1 }));
    expect(await misled().preflight(context, call())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'CHAIN_ID_MISMATCH',
    });
    expect(await misled().prepare(context, call())).toMatchObject({
      next_state: 'FAILED',
      error_code: 'CHAIN_ID_MISMATCH',
    });
  });

  it('is a fault in every later phase, and down for health', async () => {
    expect(await misled().health(call())).toMatchObject({ state: 'down' });
    const signing = createEvmSigning(chainsOf(chain, { chain_id: 1 }));
    await expect(signing.nextNonce(1, DESTINATION, call())).rejects.toMatchObject({
      code: 'CHAIN_ID_MISMATCH',
    });
  });
});

describe('prepare', () => {
  it('answers the unsigned transaction and the facts of the plan, and sends nothing', async () => {
    const account = await chain.account();
    const before = chain.sends.length;
    const result = await executorOf(chain).prepare(contextOf(account, erc20()), call());
    expect(result).toMatchObject({
      next_state: 'SUBMITTING',
      prepared_action: {
        chain_id: 31_337,
        amount: '25',
        base_units: '25000000',
        decimals: 6,
        from_address: account.address,
      },
      sign_request: {
        kind: 'evm_transaction',
        payload: { chain_id: 31_337, to: chain.token, value: '0' },
      },
    });
    expect(chain.sends.length).toBe(before);
  });

  it('offers no more than the cap of the venue', async () => {
    const account = await chain.account();
    const result = await executorOf(chain, { max_fee_per_gas_gwei: '2.5' }).prepare(
      contextOf(account, erc20()),
      call(),
    );
    expect(BigInt(String(result.sign_request?.payload['max_fee_per_gas']))).toBeLessThanOrEqual(
      parseGwei('2.5'),
    );
  });

  it('waits, retryably, while the chain asks for more than the cap', async () => {
    const account = await chain.account();
    const prepared = executorOf(chain, { max_fee_per_gas_gwei: '0.000000001' }).prepare(
      contextOf(account, erc20()),
      call(),
    );
    await expect(prepared).rejects.toMatchObject({
      name: 'ExecutorFault',
      kind: 'server_error',
      code: 'FEE_ABOVE_CAP',
    });
  });
});

describe('what a transaction may cost its signer', () => {
  const cost = (payload: JsonObject = {}): bigint =>
    BigInt(String(payload['gas'])) * BigInt(String(payload['max_fee_per_gas']));
  const tight = { max_gas_cost_wei: '150000000000000' };
  const listed = () => ({ tokens: [{ asset: 'TST', address: chain.token }] });
  const planned = (config: JsonObject): SignedNode => ({
    node: { node_key: 'pay', action_type: 'evm_erc20_transfer', config, asset: 'TST' },
    executor: undefined,
    intent: { asset: 'TST', amount: '25' },
    input_params: {},
    amount: '25',
  });

  /** Prepares on a block whose base fee is 10 gwei, of which twice as much is offered. */
  async function prepare(venue: object, funds?: { readonly eth: string }) {
    const account = await chain.account(funds);
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10_000_000_000n });
    await chain.client.mine({ blocks: 1 });
    return executorOf(chain, { ...venue }).prepare(contextOf(account, erc20()), call());
  }

  it('bounds what is offered, and waits while the chain asks for more', async () => {
    const free = cost((await prepare({})).sign_request?.payload);
    expect(free).toBeGreaterThan(0n);
    const least = (free * 3n) / 4n;
    const bounded = cost(
      (await prepare({ max_gas_cost_wei: String(least) })).sign_request?.payload,
    );
    expect(bounded).toBeLessThanOrEqual(least);
    expect(bounded).toBeGreaterThan(least - 1_000_000n);
    await expect(prepare({ max_gas_cost_wei: '1000' })).rejects.toMatchObject({
      kind: 'server_error',
      code: 'FEE_ABOVE_CAP',
    });
  });

  it('is judged of every request, whoever made it', async () => {
    const config = { chain_id: 31_337, ...erc20() };
    const { sign_request } = await executorOf(chain).prepare(
      contextOf(await chain.account(), erc20()),
      call(),
    );
    const asks = (max_fee_per_gas: string, venue: object = {}) =>
      createEvmSigning(chainsOf(chain, { ...listed(), ...venue })).check(
        planned(config),
        {
          from: '',
          foreign: false,
          now_ms: 0,
          request: {
            ...sign_request!,
            payload: {
              ...sign_request!.payload,
              gas: '100000',
              max_fee_per_gas,
              max_priority_fee_per_gas: '1',
            },
          },
        },
        call(),
      );
    expect(await asks('1500000000', tight)).toBeNull();
    expect(await asks('1500000001', tight)).toMatch(
      /gas may cost 150000000100000 wei, more than the 150000000000000 allowed/,
    );
    // Where the venue says nothing: 0.05 of the coin.
    expect(await asks('500000000000')).toBeNull();
    expect(await asks('500000000001')).toMatch(/gas may cost/);
  });

  describe('on a rollup', () => {
    const oracle = getAddress(`0x${'4f'.repeat(20)}`);
    /** Answers 0x0186a0 times 10^9, 0.0001 of the coin, to everything. */
    const fee = 100_000_000_000_000n;
    beforeAll(() =>
      chain.client.setCode({
        address: oracle,
        bytecode: `0x65${fee.toString(16).padStart(12, '0')}60005260206000f3`,
      }),
    );

    it('counts the charge of the chain beneath', async () => {
      const config = { chain_id: 31_337, ...erc20() };
      const { sign_request } = await executorOf(chain).prepare(
        contextOf(await chain.account(), erc20()),
        call(),
      );
      const payload = {
        ...sign_request!.payload,
        gas: '100000',
        max_fee_per_gas: '500000000',
        max_priority_fee_per_gas: '1',
      };
      const asks = (venue: object, more: object = {}) =>
        createEvmSigning(chainsOf(chain, { ...listed(), ...venue })).check(
          planned(config),
          {
            from: '',
            foreign: false,
            now_ms: 0,
            request: { ...sign_request!, payload: { ...payload, ...more } },
          },
          call(),
        );
      // 50,000 gwei of gas and 100,000 beneath are 150,000.
      expect(await asks({ ...tight, l1_fee_oracle: oracle })).toBeNull();
      expect(
        await asks({ ...tight, l1_fee_oracle: oracle }, { max_fee_per_gas: '500000001' }),
      ).toMatch(/gas may cost 150000000100000 wei/);
      expect(await asks(tight, { max_fee_per_gas: '500000001' })).toBeNull();
      await expect(asks({ l1_fee_oracle: `0x${'5f'.repeat(20)}` })).rejects.toMatchObject({
        kind: 'rejected',
        code: 'L1_FEE_UNKNOWN',
      });
    });

    it('is left for by what is offered, and must be there beside the gas', async () => {
      const free = cost((await prepare({})).sign_request?.payload);
      const least = (free * 3n) / 4n;
      // Half as much again is left for the charge, which may rise before the block.
      const beneath = (fee * 3n) / 2n;
      const bounded = await prepare({
        max_gas_cost_wei: String(least + beneath),
        l1_fee_oracle: oracle,
      });
      expect(cost(bounded.sign_request?.payload)).toBeLessThanOrEqual(least);
      expect(cost(bounded.sign_request?.payload)).toBeGreaterThan(least - 1_000_000n);
      const enough = formatEther(free + beneath);
      expect(await prepare({ l1_fee_oracle: oracle }, { eth: enough })).toMatchObject({
        next_state: 'SUBMITTING',
      });
      const short = formatEther(free + beneath - 1n);
      expect(await prepare({ l1_fee_oracle: oracle }, { eth: short })).toMatchObject({
        error_code: 'INSUFFICIENT_FUNDS',
      });
      expect(await prepare({ l1_fee_oracle: `0x${'5f'.repeat(20)}` })).toMatchObject({
        next_state: 'FAILED',
        error_code: 'L1_FEE_UNKNOWN',
      });
    });
  });
});

describe('an endpoint that does not answer', () => {
  it('is a retryable fault that tells neither the URL nor its access key', async () => {
    const chains = chainsOf({ url: 'http://127.0.0.1:9/v2/s3cr3t-access-key' });
    const account = await chain.account();
    const fault: unknown = await createEvmTransferExecutor(chains)
      .preflight(contextOf(account, erc20()), call())
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: 'ExecutorFault', kind: 'unreachable' });
    expect(inspect(fault, { depth: 10, showHidden: true })).not.toContain('s3cr3t');
  });

  it('ends when the caller aborts', async () => {
    const account = await chain.account();
    const preflight = executorOf(chain).preflight(contextOf(account, erc20()), {
      signal: AbortSignal.abort(),
    });
    await expect(preflight).rejects.toMatchObject({ name: 'ExecutorFault', kind: 'timeout' });
  });

  it('leaves health unknown when no chain is configured at all', async () => {
    expect(await createEvmTransferExecutor(createEvmChains([])).health(call())).toMatchObject({
      state: 'unknown',
    });
    expect(await executorOf(chain).health(call())).toEqual({ state: 'up' });
  });
});
