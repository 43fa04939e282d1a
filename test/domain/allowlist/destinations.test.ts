import fc from 'fast-check';
import { encodeFunctionData, erc20Abi } from 'viem';
import {
  destinationsOf,
  shownDestination,
  type Paying,
} from '../../../domain/allowlist/destinations.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'b2'.repeat(20)}`;
const TOKEN = `0x${'c3'.repeat(20)}`;

function paying(action_type: string, config: JsonObject, more: Partial<Paying> = {}): Paying {
  return {
    node: { node_key: 'n', node_kind: 'action', action_type, config },
    executor: undefined,
    intent: { asset: 'USDC', amount: '1' },
    input_params: {},
    ...more,
  };
}
const paid = (of: Paying) =>
  destinationsOf(of).map(({ address, chain_id }) =>
    chain_id === null ? address : `${chain_id}:${address}`,
  );
const erc20 = (config: JsonObject, more?: Partial<Paying>) =>
  paid(paying('evm_erc20_transfer', { chain_id: 1, token_address: TOKEN, ...config }, more));
const withdrawal = (config: JsonObject, more?: Partial<Paying>) =>
  paid(paying('cex_withdrawal', { venue: 'v', ...config }, more));

describe('a node on a chain', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['its config', erc20({ destination_address: A }), [`1:${A}`]],
    [
      'the intent, on its own chain and on the one that is used',
      erc20({}, { intent: { asset: 'U', amount: '1', destination_address: B, chain_id: 5 } }),
      [`5:${B}`, `1:${B}`],
    ],
    [
      'the intent, on its chain alone where the node names none',
      paid(
        paying(
          'evm_native_transfer',
          {},
          { intent: { asset: 'U', amount: '1', destination_address: B, chain_id: 5 } },
        ),
      ),
      [`5:${B}`],
    ],
    [
      'each chain that is named',
      erc20({ destination_address: A, destination_chain_id: 8453 }),
      [`1:${A}`, `8453:${A}`],
    ],
    [
      'the chain that was prepared',
      erc20(
        { destination_address: A },
        { prepared_action: { destination_address: A, chain_id: 5 } },
      ),
      [`1:${A}`, `5:${A}`],
    ],
    [
      'a name that is no address',
      erc20({}, { prepared_action: { destination_address: 'evil.eth' } }),
      ['1:evil.eth'],
    ],
    [
      'an object about the payee',
      erc20({ destination_address: { evm: A, token_address: TOKEN, amount: '0x10' } }),
      [`1:${A}`],
    ],
    [
      'such objects in a list',
      erc20({ recipients: [{ to: A }, { account: { main: B } }] }),
      [`1:${A}`, `1:${B}`],
    ],
    [
      'shared config that is none',
      erc20({}, { input_params: { node_config: [{ destination_address: B }] } }),
      [`1:${B}`],
    ],
    ['other spellings', erc20({ 'Destination-Address': A, to_addr: B }), [`1:${A}`, `1:${B}`]],
    ['what is no address as it is written', erc20({ destination_address: ` ${A}` }), [`1: ${A}`]],
    [
      'leading zeros and all',
      erc20({ destination_address: `0x00${A.slice(2)}` }),
      [`1:0x00${A.slice(2)}`],
    ],
    [
      'both',
      erc20(
        { destination_address: A },
        { intent: { asset: 'U', amount: '1', destination_address: B } },
      ),
      [`1:${A}`, `1:${B}`],
    ],
    [
      'one that appears twice',
      erc20({ destination_address: A }, { prepared_action: { destination_address: A } }),
      [`1:${A}`],
    ],
    [
      'input parameters',
      erc20({ destination_address: A }, { input_params: { deep: [{ recipientAddress: B }] } }),
      [`1:${A}`, `1:${B}`],
    ],
    [
      'what was prepared',
      erc20({ destination_address: A }, { prepared_action: { payee: { address: B } } }),
      [`1:${A}`, `1:${B}`],
    ],
    [
      'an earlier output',
      erc20({ destination_address: A }, { output: { next: { beneficiary: B } } }),
      [`1:${A}`, `1:${B}`],
    ],
    ['a list', erc20({ recipients: [A, B] }), [`1:${A}`, `1:${B}`]],
    ['32 bytes', erc20({ mint_recipient: `0x${'0'.repeat(24)}${A.slice(2)}` }), [`1:${A}`]],
    ['something that is no address', erc20({ destination_address: 7 }), ['1:7']],
    ['no one', erc20({ destination: 'arbitrum' }), []],
  ])('pays %s', (_name, found, expected) => {
    expect(found).toEqual(expected);
  });

  test('whose funds arrive elsewhere is strict about that chain', () => {
    const burn = destinationsOf(
      paying('cctp_burn', { chain_id: 1, destination_chain_id: 8453, mint_recipient: A }),
    );
    expect(burn).toEqual([
      { node_key: 'n', chain_family: 'evm', address: A, chain_id: 8453, strict: true },
    ]);
    expect(paid(paying('bridge_c_send', { chain_id: 1, destination_address: A }))).toEqual([A]);
  });

  test('pays whom its signature would', () => {
    const of = (sign_request: Paying['sign_request']) =>
      paid(paying('evm_erc20_transfer', { chain_id: 1 }, { sign_request: sign_request ?? null }));
    const call = (data: string) =>
      of({ kind: 'evm_transaction', payload: { chain_id: 5, to: TOKEN, value: '0', data } });
    expect(
      call(encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [B as never, 1n] })),
    ).toEqual([`5:${B}`]);
    expect(
      call(
        encodeFunctionData({
          abi: erc20Abi,
          functionName: 'transferFrom',
          args: [A as never, B as never, 1n],
        }),
      ),
    ).toEqual([`5:${B}`]);
    expect(call(`0xA9059CBB${'f'.repeat(128)}`)).toEqual([`5:0x${'f'.repeat(64)}`]);
    expect(call('0x12345678')).toEqual([]);
    expect(of({ kind: 'evm_transaction', payload: { to: B, value: '1', data: '0x' } })).toEqual([
      `1:${B}`,
    ]);
    expect(
      of({
        kind: 'evm_typed_data',
        payload: { domain: { chainId: 9 }, message: { from: A, to: B, value: '1' } },
      }),
    ).toEqual([`1:${B}`]);
    expect(
      of({ kind: 'evm_typed_data', payload: { message: { inner: { destination: B } } } }),
    ).toEqual([`1:${B}`]);
  });
});

describe('a withdrawal', () => {
  const intent = { asset: 'U', amount: '1', destination_address: B };
  test.each<[string, readonly string[], readonly string[]]>([
    [
      'its config',
      withdrawal({ destination_address: A }, { intent, input_params: { payee: B } }),
      [A],
    ],
    ['the intent where the config names none', withdrawal({}, { intent }), [B]],
    [
      'the parameters where neither does',
      withdrawal({}, { input_params: { payout: { withdrawal_address: 'bc1q' } } }),
      ['bc1q'],
    ],
    [
      'the request as well where the config names somebody, but not plainly',
      withdrawal({ recipient: A }, { intent, input_params: { payee: { wallet: TOKEN } } }),
      [A, B, TOKEN],
    ],
    [
      'what was prepared, too',
      withdrawal({ destination_address: A }, { prepared_action: { destination_address: B } }),
      [A, B],
    ],
    ['no one, which is no reason to pay', withdrawal({}), ['']],
  ])('pays %s', (_name, found, expected) => {
    expect(found).toEqual(expected);
  });
});

test.each([
  'noop',
  'manual_gate',
  'cex_internal_transfer',
  'cex_deposit_observe',
  'evm_balance_observe',
  'bridge_c_observe',
])('%s pays no one', (action_type) => {
  expect(
    destinationsOf(
      paying(
        action_type,
        { destination_address: A },
        { intent: { asset: 'U', amount: '1', destination_address: B } },
      ),
    ),
  ).toEqual([]);
});
test('observing pays no one, whatever is observed', () => {
  const { node, ...rest } = paying('evm_erc20_transfer', { destination_address: A });
  expect(destinationsOf({ ...rest, node: { ...node, node_kind: 'observe' } })).toEqual([]);
});

test('a payee is found however deep it is hidden', () => {
  const noise = fc
    .jsonValue({ maxDepth: 2 })
    .filter((value) => !JSON.stringify(value).includes('0x'));
  const wrap = fc.array(fc.oneof(fc.constantFrom('list'), fc.string({ minLength: 1 })), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(
      wrap,
      noise,
      fc.constantFrom('config', 'input_params', 'prepared_action', 'output'),
      (path, other, place) => {
        const hidden = path.reduce<unknown>(
          (inner, key) => (key === 'list' ? [other, inner] : { other, [key]: inner }),
          {
            destination_address: A,
          },
        );
        const held = (isObject(hidden) ? hidden : { hidden }) as JsonObject;
        const of =
          place === 'config'
            ? paying('evm_native_transfer', held)
            : paying('evm_native_transfer', {}, { [place]: held });
        fc.pre(!path.includes('node_config') && !path.includes('__proto__'));
        expect(paid(of)).toContain(A);
      },
    ),
  );
});

test.each(['cex_withdrawal', 'evm_erc20_transfer', 'evm_native_transfer'])(
  'people are shown the payee that is read, wherever it stands: %s',
  (type) => {
    const shown = (config: JsonObject, more: Partial<Paying> = {}) =>
      shownDestination(paying(type, { chain_id: 1, ...config }, more));
    expect(shown({ payee: B, destination_address: A })).toBe(A);
    expect(shown({ destination_address: A, payee: B })).toBe(A);
    expect(
      shown(
        { beneficiary: { address: B }, destination_address: A },
        { prepared_action: { payee: B, destination_address: A } },
      ),
    ).toBe(A);
    expect(shown({ payee: B })).toBe(B);
  },
);

test('a mint that was made elsewhere pays no one', () => {
  const prepared_action = { mint_recipient: A, chain_id: 1 };
  expect(paid(paying('cctp_mint', {}, { prepared_action }))).toEqual([`1:${A}`]);
  for (const minted_by of ['0xaa', null]) {
    const minted = { ...prepared_action, minted_by };
    expect(paid(paying('cctp_mint', {}, { prepared_action: minted }))).toEqual([]);
    // What says so and asks for a signature all the same is held to the list.
    const sign_request = { kind: 'evm_transaction', payload: {} } as const;
    const signs = paying('cctp_mint', {}, { prepared_action: minted, sign_request });
    expect(paid(signs)).toContain(`1:${A}`);
    expect(paid(paying('cctp_burn', {}, { prepared_action: minted }))).not.toEqual([]);
  }
});
