import { encodeFunctionData, erc20Abi, getAddress, type Hex } from 'viem';
import type { SignRequest } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { TokenDecimals } from '../../../venues/evm/decimals.ts';
import {
  verifyEvmTransfer,
  type EvmTransferExpectation,
} from '../../../venues/evm/verify-sign-request.ts';

const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const DESTINATION = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const THIEF = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

const transfer = (to: string, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(to), amount] });
const GOOD_DATA = transfer(DESTINATION, 25_000_000n);

const payload = (changes: JsonObject = {}): JsonObject => ({
  chain_id: 31_337,
  to: TOKEN,
  value: '0',
  data: GOOD_DATA,
  gas: '60000',
  max_fee_per_gas: '2000000000',
  max_priority_fee_per_gas: '1000000000',
  ...changes,
});
const request = (changes: JsonObject = {}): SignRequest => ({
  kind: 'evm_transaction',
  payload: payload(changes),
});

const erc20: EvmTransferExpectation = {
  action_type: 'evm_erc20_transfer',
  chain_id: 31_337,
  token_address: TOKEN,
  destination_address: DESTINATION,
  amount: '25',
  decimals: 6 as TokenDecimals,
};
const native: EvmTransferExpectation = {
  action_type: 'evm_native_transfer',
  chain_id: 31_337,
  destination_address: DESTINATION,
  amount: '0.5',
  decimals: 18 as TokenDecimals,
};
const payment = (changes: JsonObject = {}) =>
  request({ to: DESTINATION, value: '500000000000000000', data: '0x', ...changes });

describe('the planned transfer is accepted', () => {
  it('of a token, whatever the case of the addresses', () => {
    expect(verifyEvmTransfer(request(), erc20)).toEqual({ ok: true });
    expect(
      verifyEvmTransfer(request({ to: TOKEN.toLowerCase() }), {
        ...erc20,
        destination_address: DESTINATION.toLowerCase(),
      }),
    ).toEqual({
      ok: true,
    });
  });

  it("of the chain's own coin", () => {
    expect(verifyEvmTransfer(payment(), native)).toEqual({ ok: true });
    expect(verifyEvmTransfer(payment(), { ...native, token_address: null })).toEqual({ ok: true });
  });
});

describe('a hostile sign request is refused', () => {
  const word = GOOD_DATA.slice(10, 74);
  test.each<[string, JsonObject, RegExp]>([
    ['another payee', { data: transfer(THIEF, 25_000_000n) }, /goes to/],
    ['a larger amount', { data: transfer(DESTINATION, 25_000_001n) }, /moves 25000001/],
    ['a smaller amount', { data: transfer(DESTINATION, 24_999_999n) }, /moves 24999999/],
    ['bytes after the arguments', { data: `${GOOD_DATA}00` }, /exactly one payee/],
    ['a whole word after the arguments', { data: `${GOOD_DATA}${word}` }, /exactly one payee/],
    ['missing bytes', { data: GOOD_DATA.slice(0, -2) }, /exactly one payee/],
    [
      'dirt above the payee',
      { data: `${GOOD_DATA.slice(0, 10)}ff${GOOD_DATA.slice(12)}` },
      /canonically/,
    ],
    ['approve in place of transfer', { data: `0x095ea7b3${GOOD_DATA.slice(10)}` }, /not transfer/],
    ['transferFrom', { data: `0x23b872dd${word}${GOOD_DATA.slice(10)}` }, /not transfer/],
    ['no calldata', { data: '0x' }, /not transfer/],
    ['a value beside the tokens', { value: '1' }, /no value/],
    ['another token', { to: THIEF }, /token is/],
    ['another chain', { chain_id: 1 }, /chain 1/],
    ['an access list', { access_list: [] }, /malformed/],
    ['an authorization list', { authorization_list: [] }, /malformed/],
    ['another transaction type', { type: 'eip4844' }, /malformed/],
    ['a nonce of its own', { nonce: 7 }, /malformed/],
    ['a value in hex', { value: '0x0' }, /malformed: value/],
    ['a value that is no number', { value: '1e18' }, /malformed: value/],
    ['a value of more than 256 bits', { value: (2n ** 256n).toString() }, /malformed: value/],
    ['a number where a string belongs', { gas: 60_000 }, /malformed: gas/],
    [
      'a priority fee above the whole fee',
      { max_priority_fee_per_gas: '2000000001' },
      /priority fee/,
    ],
  ])('with %s', (_name, changes, problem) => {
    const verdict = verifyEvmTransfer(request(changes), erc20);
    expect(verdict).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });

  test.each<[string, JsonObject, RegExp]>([
    ['another payee', { to: THIEF }, /pays/],
    ['another amount', { value: '500000000000000001' }, /sends/],
    ['calldata', { data: '0x00' }, /no data/],
    ['another chain', { chain_id: 1 }, /chain 1/],
  ])('for a native transfer with %s', (_name, changes, problem) => {
    expect(verifyEvmTransfer(payment(changes), native)).toEqual({
      ok: false,
      problem: expect.stringMatching(problem),
    });
  });

  it('of another kind', () => {
    expect(verifyEvmTransfer({ kind: 'evm_typed_data', payload: payload() }, erc20)).toMatchObject({
      ok: false,
    });
  });

  it('whose gas may cost more than allowed', () => {
    expect(verifyEvmTransfer(request(), { ...erc20, max_gas_cost_wei: '120000000000000' })).toEqual(
      { ok: true },
    );
    expect(
      verifyEvmTransfer(request(), { ...erc20, max_gas_cost_wei: '119999999999999' }),
    ).toMatchObject({ ok: false });
  });
});

describe('a plan that cannot be compared is refused', () => {
  test.each<[string, Partial<EvmTransferExpectation>]>([
    ['an amount with too many digits', { amount: '25.0000001' }],
    ['an amount of zero', { amount: '0' }],
    ['no token', { token_address: null }],
    ['another action', { action_type: 'perp_deposit' }],
  ])('with %s', (_name, changes) => {
    expect(verifyEvmTransfer(request(), { ...erc20, ...changes })).toMatchObject({ ok: false });
  });

  it('with a token for a native transfer', () => {
    expect(verifyEvmTransfer(payment(), { ...native, token_address: TOKEN })).toMatchObject({
      ok: false,
    });
  });
});
