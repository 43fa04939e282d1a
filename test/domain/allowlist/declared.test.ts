/**
 * Whom a team's own action type pays: what its executor declares, and every address that it does
 * not declare to be none.
 */
import fc from 'fast-check';
import {
  typesWithoutPayees,
  tokensOf,
  withoutKnown,
  type DeclaredPayees,
} from '../../../domain/allowlist/declared.ts';
import { destinationsOf, type Paying } from '../../../domain/allowlist/destinations.ts';
import type { ChainFinality } from '../../../domain/chains/finality.ts';
import type { Destination } from '../../../domain/allowlist/destination.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import type { ChainAssets } from '../../../domain/plan/tokens.ts';

const BY_TAG: ChainFinality = {
  read: 'finalized_tag',
  confirmations: null,
  typical_age_seconds: 900,
  override_reason: null,
};
const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'b2'.repeat(20)}`;
const TOKEN = `0x${'c3'.repeat(20)}`;
const padded = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`;

const evm = { field: 'to', family: 'evm' } as const;
const cex = { field: 'to', family: 'cex' } as const;

function executor(more: Partial<DeclaredPayees> = {}): DeclaredPayees {
  return { action_types: ['acme_payout'], sends: true, payees: [evm], not_payees: [], ...more };
}

function destinations(
  of: DeclaredPayees | undefined,
  config: JsonObject,
  more: Partial<Paying> = {},
): readonly Destination[] {
  return destinationsOf({
    node: { node_key: 'n', node_kind: 'action', action_type: 'acme_payout', config },
    executor: of,
    intent: { asset: 'USDC', amount: '1' },
    input_params: {},
    ...more,
  });
}

/** Each as `family chain address`, or what is wrong with it; `?` marks what no field declares. */
const paid = (...args: Parameters<typeof destinations>): readonly string[] =>
  destinations(...args).map(({ chain_family, chain_id, address, problem, aside }) =>
    problem === undefined
      ? `${aside === true ? '?' : ''}${chain_family} ${chain_id === null ? '' : `${String(chain_id)} `}${address}`
      : problem,
  );

describe('a declared field', () => {
  test.each<[string, DeclaredPayees, JsonObject, Partial<Paying>, readonly string[]]>([
    ['of the config', executor(), { to: A }, {}, [`evm ${A}`]],
    ['on the chain of the config', executor(), { to: A, chain_id: 5 }, {}, [`evm 5 ${A}`]],
    [
      'on the chain of its own field',
      executor({ payees: [{ ...evm, chain_id_field: 'net.id' }] }),
      { to: A, net: { id: '137' } },
      {},
      [`evm 137 ${A}`],
    ],
    [
      'on the chain of its own field, which the request alone fills',
      executor({ payees: [{ ...evm, chain_id_field: 'target' }] }),
      { to: A, chain_id: 1 },
      { input_params: { target: 137 } },
      [`evm 1 ${A}`, `evm 137 ${A}`],
    ],
    [
      'on an unknown chain',
      executor({ payees: [{ ...evm, chain_id_field: 'target' }] }),
      { to: A, chain_id: 1, target: 'polygon' },
      {},
      [`evm ${A}`, `evm 1 ${A}`],
    ],
    [
      'on the intent’s chain',
      executor(),
      { to: A },
      { intent: { asset: 'U', amount: '1', chain_id: 7 } },
      [`evm 7 ${A}`],
    ],
    [
      'at a path',
      executor({ payees: [{ field: 'a.b', family: 'evm' }] }),
      { a: { b: A } },
      {},
      [`evm ${A}`],
    ],
    ['with a list', executor(), { to: [A, [B]] }, {}, [`evm ${A}`, `evm ${B}`]],
    [
      'in a list',
      executor({ payees: [{ field: 'orders.to', family: 'evm' }] }),
      { orders: [{ to: A }, { to: B }] },
      {},
      [`evm ${A}`, `evm ${B}`],
    ],
    ['in 32 bytes', executor(), { to: padded(A) }, {}, [`evm ${A}`]],
    [
      'of the intent',
      executor({ payees: [{ field: 'destination_address', family: 'evm' }] }),
      {},
      { intent: { asset: 'U', amount: '1', destination_address: A } },
      [`evm ${A}`],
    ],
    ['of the parameters', executor(), {}, { input_params: { to: A } }, [`evm ${A}`]],
    [
      'of another family',
      executor({ payees: [cex] }),
      { to: 'bc1qacme', chain_id: 5 },
      {},
      ['cex bc1qacme'],
    ],
    ['that is no address', executor(), { to: 'evil.eth' }, {}, ['evm evil.eth']],
    [
      'each of two',
      executor({ payees: [evm, { field: 'fee_to', family: 'cex' }] }),
      { to: A, fee_to: 'desk' },
      {},
      [`evm ${A}`, 'cex desk'],
    ],
    ['that no plan fills', executor(), { wallet_name: 'x' }, {}, ['to names no payee']],
    [
      'that only one of two fills',
      executor({ payees: [evm, { field: 'fee_to', family: 'cex' }] }),
      { to: A },
      {},
      [`evm ${A}`, 'fee_to names no payee'],
    ],
    ['that is null', executor(), { to: null }, {}, ['to names no payee']],
    ['that is an empty list', executor(), { to: [] }, {}, ['to names no payee']],
    ['that is empty', executor(), { to: '' }, {}, ['to is not text']],
    ['that is a number', executor(), { to: 7 }, {}, ['to is not text']],
    ['that is an object', executor(), { to: { address: A } }, {}, ['to is not text']],
    ['of which one is no text', executor(), { to: [A, false] }, {}, ['to is not text']],
    [
      'that an object only inherits',
      executor({ payees: [{ field: 'constructor.name', family: 'cex' }] }),
      {},
      {},
      ['constructor.name names no payee'],
    ],
  ])('%s', (_name, of, config, more, expected) => {
    expect(paid(of, config, more)).toEqual(expected);
  });

  test('of the config goes before the request’s, where an address is then nothing that is declared', () => {
    expect(paid(executor(), { to: A }, { input_params: { to: B } })).toEqual([
      `evm ${A}`,
      `?evm ${B}`,
    ]);
  });

  test.each<[string, JsonObject | null, readonly string[]]>([
    ['nothing', null, [`evm ${A}`]],
    ['an empty action', {}, [`evm ${A}`]],
    ['the same', { to: A, amount: '1' }, [`evm ${A}`]],
    [
      'the same in another form',
      { to: [padded(A.toUpperCase().replace('0X', '0x'))] },
      [`evm ${A}`],
    ],
    [
      'somebody else',
      { to: B },
      ['what was prepared does not name exactly the same in to as the plan'],
    ],
    [
      'one more',
      { to: [A, B] },
      ['what was prepared does not name exactly the same in to as the plan'],
    ],
    [
      'no payee',
      { amount: '1' },
      ['what was prepared does not name exactly the same in to as the plan'],
    ],
    ['a number', { to: 1 }, ['what was prepared does not name exactly the same in to as the plan']],
  ])('held against what was prepared: %s', (_name, prepared_action, expected) => {
    expect(paid(executor(), { to: A }, { prepared_action })).toEqual(expected);
  });

  test('keeps the case that means something, and that alone', () => {
    const of = executor({ payees: [cex] });
    expect(paid(of, { to: 'TAbc' }, { prepared_action: { to: 'tabc' } })).toEqual([
      expect.stringContaining('exactly the same'),
    ]);
    expect(
      paid(of, { to: A }, { prepared_action: { to: `0x${A.slice(2).toUpperCase()}` } }),
    ).toEqual([`cex ${A}`]);
  });

  test('must be listed on the chain that was prepared as well', () => {
    expect(
      paid(executor(), { to: A, chain_id: 1 }, { prepared_action: { to: A, chain_id: 5 } }),
    ).toEqual([`evm 1 ${A}`, `evm 5 ${A}`]);
  });
});

describe('an executor that serves a built-in type', () => {
  const of = (type: string, more: Partial<DeclaredPayees> = {}) =>
    executor({ action_types: [type], payees: [{ field: 'account', family: 'cex' }], ...more });
  const node = (action_type: string, config: JsonObject): Partial<Paying> => ({
    node: { node_key: 'n', node_kind: 'action', action_type, config },
  });

  test.each<[string, string, JsonObject, Partial<Paying>, readonly string[]]>([
    [
      'that pays an address',
      'cex_withdrawal',
      { destination_address: 'desk', account: 'iban' },
      {},
      ['cex desk', 'cex iban'],
    ],
    ['that pays no one', 'cex_internal_transfer', { account: 'iban' }, {}, ['cex iban']],
    ['that does nothing', 'noop', { account: 'iban' }, {}, ['cex iban']],
    [
      'with a field that no plan fills',
      'cex_withdrawal',
      { destination_address: 'desk' },
      {},
      ['cex desk'],
    ],
    [
      'with a field of the request',
      'noop',
      {},
      { input_params: { account: 'iban' } },
      ['cex iban'],
    ],
    [
      'with a field that is only prepared',
      'noop',
      {},
      { prepared_action: { account: 'iban' } },
      ['account names no payee'],
    ],
    [
      'with a field that is prepared otherwise',
      'noop',
      { account: 'iban' },
      { prepared_action: { account: 'other' } },
      ['what was prepared does not name exactly the same in account as the plan'],
    ],
  ])('%s is held to what it declares too', (_name, type, config, more, expected) => {
    expect(paid(of(type), config, { ...node(type, config), ...more })).toEqual(expected);
  });

  test('is not, where it declares that it moves nothing, or in a type that is not its own', () => {
    const config = { account: 'iban' };
    expect(paid(of('noop', { sends: false }), config, node('noop', config))).toEqual([]);
    expect(paid(of('cex_withdrawal'), config, node('noop', config))).toEqual([]);
  });
});

describe('an address that no field declares', () => {
  const none = executor({ payees: [] });
  test.each(['to', 'address', 'wallet_address', 'wallet', 'dest', 'to_wallet', 'payout_addr', 'x'])(
    'is a payee as %s',
    (name) => {
      for (const held of [
        B,
        padded(B),
        ` ${B}`,
        B.toUpperCase(),
        [B],
        { deep: [{ er: B }] },
      ] as const) {
        expect(paid(none, { [name]: held }).map((each) => each.toLowerCase())).toEqual([
          `?evm ${B}`,
        ]);
      }
    },
  );

  test.each<[string, JsonObject, Partial<Paying>]>([
    ['a name of a field', { shares: { [B]: '10' } }, {}],
    ['the parameters', {}, { input_params: { note: { x: B } } }],
    ['what was prepared', {}, { prepared_action: { calls: [{ target: B }] } }],
    ['the intent', {}, { intent: { asset: 'U', amount: '1', destination_address: B } }],
    ['shared config that is none', {}, { input_params: { node_config: [B] } }],
  ])('is a payee in %s', (_name, config, more) => {
    expect(paid(none, config, more)).toEqual([`?evm ${B}`]);
  });

  test.each<[string, JsonObject, Partial<Paying>]>([
    ['part of a longer text', { memo: `for ${B}` }, {}],
    ['too short', { x: '0x12' }, {}],
    ['of another length', { hash: `0x${'e'.repeat(64)}` }, {}],
    ['shared config, which the config has', {}, { input_params: { node_config: { x: B } } }],
    ['an earlier output', {}, { output: { contract: B } }],
  ])('is none where it is %s', (_name, config, more) => {
    expect(paid(none, config, more)).toEqual([]);
  });

  test('is none in a field that is declared to be none, at any depth below it', () => {
    const of = executor({ payees: [], not_payees: ['audit.wallets', 'from'] });
    expect(
      paid(of, { audit: { wallets: [{ main: B }] }, from: B }, { prepared_action: { from: B } }),
    ).toEqual([]);
    expect(paid(of, { audit: { wallet: B } })).toEqual([`?evm ${B}`]);
    expect(paid(of, { other: { from: B } })).toEqual([`?evm ${B}`]);
  });

  test('is none where it is the declared payee once more', () => {
    expect(
      paid(
        executor({ payees: [cex] }),
        { to: A },
        { prepared_action: { to: A, receiver: A.toUpperCase().replace('0X', '0x') } },
      ),
    ).toEqual([`cex ${A}`]);
  });

  test('is none where it is the plan’s own token or signer', () => {
    const found = destinations(executor(), { to: A, token_address: TOKEN, from: B });
    expect(
      withoutKnown(found, [TOKEN.toUpperCase().replace('0X', '0x'), B]).map(
        ({ address }) => address,
      ),
    ).toEqual([A]);
    // A declared payee must be listed even then.
    expect(
      withoutKnown(destinations(executor(), { to: TOKEN }), [TOKEN]).map(({ address }) => address),
    ).toEqual([TOKEN]);
  });
});

test('a plan’s tokens are those of its template and of the venues, not what a caller calls one', () => {
  const chains: ChainAssets = [
    {
      venue_key: 'v',
      chain_id: 1,
      native_asset: 'ETH',
      tokens: [{ asset: 'USDC', address: TOKEN }],
      finality: BY_TAG,
      bridges: {},
      deposit_venues: [],
    },
  ];
  const tokens = (token_address: string, shared: JsonObject, listed: ChainAssets) =>
    tokensOf([{ config: { token_address } }, { config: {} }], { node_config: shared }, listed);
  expect(tokens(B, {}, [])).toEqual([B]);
  expect(tokens(B, { token_address: A }, [])).toEqual([B]);
  expect(tokens(B, { token_address: B }, chains)).toEqual([]);
  expect(tokens(TOKEN, { token_address: TOKEN }, chains)).toEqual([TOKEN]);
});

describe('an executor', () => {
  test('that sends nothing pays no one', () => {
    expect(paid(executor({ sends: false }), { to: A })).toEqual([]);
  });

  test.each<[string, DeclaredPayees | undefined]>([
    ['is not known', undefined],
    [
      'does not declare whom it pays',
      { action_types: ['acme_payout'], sends: true, not_payees: [] },
    ],
    ['declares it for other types', executor({ action_types: ['acme_refund'], payees: [] })],
    ['sends nothing, of other types', executor({ action_types: ['acme_refund'], sends: false })],
  ])('that %s pays nothing', (_name, of) => {
    expect(paid(of, {})).toEqual(['its executor does not declare whom acme_payout pays']);
  });

  test('does not decide for built-in types', () => {
    const node = {
      node_key: 'n',
      node_kind: 'action',
      action_type: 'evm_native_transfer',
      config: { destination_address: A },
    } as const;
    expect(paid(undefined, {}, { node })).toEqual([`evm ${A}`]);
    expect(paid(executor({ sends: false }), {}, { node })).toEqual([`evm ${A}`]);
  });

  test('pays no one whom a plan can choose where it says so for its own types', () => {
    const of = (more: Partial<DeclaredPayees>) =>
      typesWithoutPayees(executor({ action_types: ['noop', 'a', 'b'], ...more }));
    expect(of({ payees: [] })).toEqual(['a', 'b']);
    expect(of({ sends: false })).toEqual(['a', 'b']);
    expect(of({})).toEqual([]);
    expect(typesWithoutPayees({ action_types: ['a'], sends: true, not_payees: [] })).toEqual([]);
  });

  test('that watches pays no one', () => {
    const node = {
      node_key: 'n',
      node_kind: 'observe',
      action_type: 'acme_payout',
      config: { to: A },
    } as const;
    expect(paid(undefined, {}, { node })).toEqual([]);
  });
});

test('an address is found however deep it is hidden', () => {
  const wrap = fc.array(fc.oneof(fc.constant('list'), fc.string({ minLength: 1 })), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(
      wrap,
      fc.constantFrom('config', 'input_params', 'prepared_action'),
      (path, place) => {
        fc.pre(!path.includes('node_config') && !path.includes('__proto__') && path[0] !== 'to');
        const hidden = path.reduceRight<JsonValue>(
          (inner, key) => (key === 'list' ? [inner] : { [key]: inner }),
          {
            x: B,
          },
        );
        const held: JsonObject = { hidden };
        const more =
          place === 'config'
            ? {}
            : { [place]: place === 'prepared_action' ? { ...held, to: A } : held };
        expect(paid(executor(), place === 'config' ? { ...held, to: A } : { to: A }, more)).toEqual(
          [`evm ${A}`, `?evm ${B}`],
        );
      },
    ),
  );
});
