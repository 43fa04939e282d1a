import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadVenueBindings, parseVenueBindings, VenueBindingsError } from '../../venues/bindings.ts';

const evm = { venue_key: 'local', provider: 'evm', chain_id: 31_337, rpc_url: 'http://127.0.0.1:8545' };
const paper = { venue_key: 'paper-main', provider: 'paper', account_role: 'master', account: 'main', url: 'http://127.0.0.1:9000' };

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
    expect(first).toMatchObject({ ...evm, confirmations: 1, native_asset: 'ETH' });
    expect(second).toEqual(paper);
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

  it('is refused when a key or a chain is bound twice', () => {
    expect(faultsOf({ venues: [evm, evm] })).toEqual([
      'venues[1].venue_key: local is already used above',
      'venues[1].chain_id: chain 31337 is already bound above',
    ]);
  });

  it('is refused when it is no object with venues', () => {
    expect(faultsOf([])).toHaveLength(1);
    expect(faultsOf({ venues: [], more: 1 })).toHaveLength(1);
  });

  it('never repeats a URL, which may hold an access key', () => {
    expect(faultsOf({ venues: [{ ...evm, rpc_url: 'ftp://host/s3cr3t' }] }).join()).not.toContain('s3cr3t');
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
    await expect(loadVenueBindings(join(folder, 'none.json'))).rejects.toThrow('cannot be read (ENOENT)');
  });
});
