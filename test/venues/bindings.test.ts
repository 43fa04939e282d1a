import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chainAssets,
  loadVenueBindings,
  parseVenueBindings,
  VenueBindingsError,
} from '../../venues/bindings.ts';

const evm = {
  venue_key: 'local',
  provider: 'evm',
  chain_id: 31_337,
  rpc_url: 'http://127.0.0.1:8545',
};
const paper = {
  venue_key: 'paper-main',
  provider: 'paper',
  account_role: 'master',
  account: 'main',
  url: 'http://127.0.0.1:9000',
};

function faultsOf(content: unknown): readonly string[] {
  try {
    parseVenueBindings(content);
  } catch (error) {
    if (error instanceof VenueBindingsError) return error.faults;
    throw error;
  }
  return [];
}

describe('the venues file', () => {
  it('gives its entries with defaults filled in', () => {
    const [first, second] = parseVenueBindings({ venues: [evm, paper] });
    expect(first).toMatchObject({
      ...evm,
      confirmations: 1,
      native_asset: 'ETH',
      max_gas_cost_wei: '50000000000000000',
      tokens: [],
    });
    expect(second).toEqual(paper);
  });

  it('binds each asset of a bridge to one contract, and each endpoint id to one chain', () => {
    const omni = { asset: 'OMNI', address: `0x${'1'.repeat(40)}` };
    const carried = (asset: string, digit: string) => ({ asset, oft: `0x${digit.repeat(40)}` });
    const bridge_c = (...tokens: object[]) => ({
      eid: 7,
      endpoint: `0x${'9'.repeat(40)}`,
      tokens,
    });
    const bridged = { ...evm, tokens: [omni], bridge_c: bridge_c(carried('OMNI', '2')) };
    expect(chainAssets(parseVenueBindings({ venues: [bridged] }))[0]?.bridges.bridge_c).toEqual({
      endpoint_identity: `7:0x${'9'.repeat(40)}`,
      carriers: [{ asset: 'OMNI', address: `0x${'2'.repeat(40)}` }],
    });
    const tokens = [carried('OMNI', '2'), carried('OMNI', '3'), carried('USDC', '2')];
    expect(
      faultsOf({
        venues: [
          bridged,
          { ...bridged, venue_key: 'b', chain_id: 31_338, finality: 'finalized_tag' },
          {
            ...evm,
            venue_key: 'c',
            chain_id: 31_339,
            finality: 'finalized_tag',
            tokens: [omni],
            bridge_c: { ...bridge_c(...tokens), eid: 8 },
          },
        ],
      }),
    ).toEqual([
      "venues[1].bridge_c.eid: 7 is already another chain's above",
      'venues[2].bridge_c.tokens[1].asset: OMNI is already listed above',
      'venues[2].bridge_c.tokens[2].asset: USDC is not among the tokens of this venue',
      'venues[2].bridge_c.tokens[2].oft: this contract is already listed above',
    ]);
  });

  it('is refused with every fault at once, each with its place', () => {
    const faults = faultsOf({
      venues: [
        { ...evm, chain_id: '1', rpc_url: 'ws://127.0.0.1' },
        { ...paper, account_role: 'owner' },
        { venue_key: 'x', provider: 'bank' },
        { venue_key: 'y', provider: 'ccxt', exchange: 'any' },
        { ...evm, venue_key: 'other', gas: 1 },
      ],
    });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'venues[0].chain_id',
      'venues[0].rpc_url',
      'venues[1].account_role',
      'venues[2].provider',
      'venues[3].exchange',
      'venues[3].account_role',
      'venues[3].account',
      'venues[4]',
    ]);
    expect(faults.at(-1)).toContain('gas');
  });

  test.each(['0', '-1', '1.5', '1e18', '0x10', 5, null])(
    'is refused with %j wei as the most that gas may cost',
    (max_gas_cost_wei) => {
      const [fault, ...others] = faultsOf({ venues: [{ ...evm, max_gas_cost_wei }] });
      expect(fault).toMatch(/^venues\[0\]\.max_gas_cost_wei: /);
      expect(others).toEqual([]);
    },
  );

  it('is refused when a key or a chain is bound twice', () => {
    expect(faultsOf({ venues: [evm, evm] })).toEqual([
      'venues[1].venue_key: local is already used above',
      'venues[1].chain_id: chain 31337 is already bound above',
    ]);
  });

  it('lists the tokens of a chain, each asset and each token once', () => {
    const usdc = {
      asset: 'USDC',
      address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
      decimals: 6,
    };
    const usdt = { asset: 'USDT', address: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512' };
    const bindings = parseVenueBindings({
      venues: [{ ...evm, tokens: [usdc, { ...usdt, address: usdt.address.toLowerCase() }] }, paper],
    });
    expect(chainAssets(bindings)).toEqual([
      {
        venue_key: 'local',
        chain_id: 31_337,
        caps: { max_gas_cost_wei: '50000000000000000', max_fee_per_gas_gwei: null },
        native_asset: 'ETH',
        tokens: [{ asset: 'USDC', address: usdc.address }, usdt],
        finality: {
          read: 'finalized_tag',
          confirmations: null,
          typical_age_seconds: null,
          override_reason: null,
        },
        bridges: {},
        deposit_venues: [],
      },
    ]);
    const tokens = [
      usdc,
      { ...usdt, asset: 'USDC' },
      { ...usdt, asset: 'OTHER', address: usdc.address.toLowerCase() },
      { ...usdt, asset: 'ETH' },
    ];
    expect(faultsOf({ venues: [{ ...evm, tokens }] })).toEqual([
      'venues[0].tokens[1].asset: USDC is already listed above',
      'venues[0].tokens[2].address: this token is already listed above',
      "venues[0].tokens[3].asset: ETH is the chain's own coin",
      'venues[0].tokens[3].address: this token is already listed above',
    ]);
    expect(
      faultsOf({
        venues: [
          { ...evm, native_asset: 'eth', tokens: [{ asset: 'usdc', address: '0x1', more: 1 }] },
        ],
      }),
    ).toHaveLength(4);
  });

  it('is refused when it is no object with venues', () => {
    expect(faultsOf([])).toHaveLength(1);
    expect(faultsOf({ venues: [], more: 1 })).toHaveLength(1);
  });

  it('never repeats a URL, which may hold an access key', () => {
    expect(faultsOf({ venues: [{ ...evm, rpc_url: 'ftp://host/s3cr3t' }] }).join()).not.toContain(
      's3cr3t',
    );
  });
});

describe('loading it', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'venues-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('reads a good file and says what is wrong with a bad one', async () => {
    const file = join(folder, 'venues.json');
    await writeFile(file, JSON.stringify({ venues: [evm] }));
    expect(await loadVenueBindings(file)).toHaveLength(1);
    await writeFile(file, '{');
    await expect(loadVenueBindings(file)).rejects.toThrow('is not valid JSON');
    await writeFile(file, '{"venues":[],"venues":[]}');
    await expect(loadVenueBindings(file)).rejects.toThrow('venues: appears more than once');
    await expect(loadVenueBindings(join(folder, 'none.json'))).rejects.toThrow(
      'cannot be read (ENOENT)',
    );
  });
});
