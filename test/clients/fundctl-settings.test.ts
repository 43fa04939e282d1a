/** Where `fundctl` reads who one is, and what people's names of addresses are worth. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { profilesFile } from '../../clients/command-line/profiles.ts';
import { exposedAddress, readSettings } from '../../clients/command-line/settings.ts';
import type { AllowedAddress } from '../../api/dashboard/schema.ts';
import { labelOf } from '../../clients/fundctl/labels.ts';
import { runFundctl } from '../support/fundctl.ts';

const folder = mkdtempSync(join(tmpdir(), 'fundctl-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('of a file with a secret one line end is taken away, and nothing else', () => {
  const file = join(folder, 'secret');
  const read = (text: string) => {
    writeFileSync(file, text);
    const env = {
      SVC_KEY_ID: 'k',
      SVC_HMAC_SECRET_FILE: file,
      SVC_CLIENT_CONFIG: '/nonexistent/x',
    };
    return readSettings(env, { program: 'fundctl' }).secret?.read();
  };
  expect(read('word\r\n')).toBe('word');
  expect(read(' a word \t\n')).toBe(' a word \t');
  expect(read('word\n\n')).toBe('word\n');
  expect(() => read('\n')).toThrow('is empty');
});

test('profiles with a secret are read by their owner alone, through whatever name', () => {
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ profiles: { a: { key_id: 'k', secret: 's' } } }));
  const read = () =>
    readSettings({ SVC_CLIENT_CONFIG: config }, { program: 'fundctl', profile: 'a' }).keyId?.value;
  for (const mode of [0o640, 0o604, 0o660, 0o610]) {
    chmodSync(config, mode);
    expect(read).toThrow(`mode ${mode.toString(8)}`);
  }
  // Root alone can make files of others.
  if (process.getuid?.() === 0) {
    chmodSync(config, 0o600);
    chownSync(config, 1_234, 1_234);
    expect(read).toThrow('belongs to another user (uid 1234)');
    chownSync(config, 0, 0);
  }
  chmodSync(config, 0o400);
  expect(read()).toBe('k');
});

test('without a home nothing is read from the folder that one happens to stand in', () => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    mkdirSync('.config/fundctl', { recursive: true });
    writeFileSync('.config/fundctl/config.json', '{}');
    for (const env of [{ HOME: '' }, {}, { HOME: '', XDG_CONFIG_HOME: '.config' }])
      expect(profilesFile(env, 'fundctl')).toMatch(/^\/(?!.*fundctl-settings)/);
  } finally {
    process.chdir(before);
  }
});

describe('the label of an address', () => {
  const NOW = Date.parse('2026-11-24T12:00:00.000Z');
  const row = (more: Partial<AllowedAddress>): AllowedAddress => ({
    ...{ id: 'r', chain_family: 'cex', address: 'TAbc', chain_id: null, label: 'desk', reason: '' },
    ...{ active: true, usable_after: null, created_by: 'o', created_at: '', updated_at: '' },
    ...{ revoked_at: null, revoked_by: null, ...more },
  });
  const EVM = `0x${'aB'.repeat(20)}`;
  const label = (rows: readonly AllowedAddress[], address: string, family = 'cex') =>
    labelOf({ rows }, { chain_family: family, address, chain_id: 1 }, NOW).text;

  test('is that of the very address: case counts but in hex', () => {
    expect(label([row({})], 'TAbc')).toBe('desk');
    expect(label([row({})], 'TABC')).toMatch(/^NOT ON/);
    const evm = row({ chain_family: 'evm', address: EVM.toLowerCase() });
    expect(label([evm], EVM, 'evm')).toBe('desk');
    expect(label([evm], EVM, 'cex')).toMatch(/^NOT ON/);
  });

  test('is of a row that is in force, on this chain', () => {
    const cooling = row({ label: 'later', usable_after: '2026-11-25T00:00:00.000Z' });
    expect(label([cooling, row({})], 'TAbc')).toBe('desk');
    expect(label([cooling], 'TAbc')).toContain('later (cooling until');
    for (const none of [row({ active: false }), row({ chain_id: 2 })])
      expect(label([none], 'TAbc')).toMatch(/^NOT ON/);
  });
});

test('plain http to another machine is what one is warned of', () => {
  const seen = (SVC_API_URL: string) =>
    exposedAddress(
      readSettings({ SVC_API_URL, SVC_CLIENT_CONFIG: '/nonexistent/x' }, { program: 'fundctl' }),
    );
  for (const url of ['https://fund.example', 'http://localhost:8100', 'http://127.0.0.1:1'])
    expect(seen(url)).toBeNull();
  for (const url of ['http://fund.example', 'http://10.0.0.7:8100', 'http://localhost.example'])
    expect(seen(url)).toBe(url);
});

test('the warning stands on standard error, also when one wants to hear nothing else', async () => {
  const env = { SVC_API_URL: 'http://fund.invalid:8100', SVC_CLIENT_CONFIG: '/nonexistent/x' };
  const ran = await runFundctl(env, ['movements', 'list', '--quiet', '--output', 'json']);
  expect(ran.err).toContain('http://fund.invalid:8100 is plain http to another machine');
  expect(ran.out).toBe('');
});
