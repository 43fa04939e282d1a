/** `fundadmin config check`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETTING_LIST } from '../../platform/config/settings.ts';
import { fundadmin } from '../../tools/command-line.ts';

const BASE = {
  SVC_DATABASE_URL: 'postgresql://user:Pl4nted@localhost/x',
  SVC_AUTH_ENABLED: 'false',
  SVC_PORT: '8123',
};

async function run(
  env: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ status: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const status = await fundadmin(['config', 'check', '--offline', ...args], {
    env,
    out: (text) => (said.out += text),
    err: (text) => (said.err += text),
  });
  return { status, ...said };
}

test('shows every setting with its source, and no secret', async () => {
  const { status, out } = await run(BASE);
  expect(status).toBe(0);
  for (const [name] of SETTING_LIST) expect(out).toContain(name);
  expect(out).toMatch(/SVC_PORT\s*│\s*8123\s*│\s*env/);
  expect(out).toMatch(/SVC_OPS_PORT\s*│\s*9465\s*│\s*default/);
  expect(out).toMatch(/SVC_DATABASE_URL\s*│\s*set\s*│\s*env/);
  expect(out).not.toContain('Pl4nted');
});

test('answers JSON that a script can read', async () => {
  const { status, out } = await run(BASE, '--json');
  expect(status).toBe(0);
  expect(out).not.toContain('Pl4nted');
  const { ok, settings } = JSON.parse(out) as { ok: boolean; settings: readonly object[] };
  expect(ok).toBe(true);
  expect(settings).toContainEqual({
    name: 'SVC_DATABASE_URL',
    value: 'set',
    source: 'env',
    secret: true,
  });
  expect(settings).toContainEqual({
    name: 'SVC_SECRETS_KEY',
    value: 'unset',
    source: 'unset',
    secret: true,
  });
  expect(settings).toContainEqual({
    name: 'SVC_REGISTRY_FILE',
    value: null,
    source: 'unset',
    secret: false,
  });
});

test('ends with 1 and every fault where a service would not start', async () => {
  const wrong = { ...BASE, SVC_PORT: 'x', SVC_PROT: '1' };
  const people = await run(wrong);
  expect(people).toMatchObject({ status: 1, out: '' });
  expect(people.err).toMatch(/SVC_PROT: .*SVC_PORT\?[\s\S]*SVC_PORT: must be a whole number/);
  const script = await run(wrong, '--json');
  expect(script.status).toBe(1);
  expect(JSON.parse(script.out)).toEqual({
    ok: false,
    faults: [expect.stringContaining('SVC_PROT'), expect.stringContaining('SVC_PORT:')],
  });
});

test('the files that settings name are read too, and all their faults reported at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-check-'));
  const at = (name: string, content: unknown, mode = 0o600): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content), { mode });
    return path;
  };
  try {
    at('open.key', `0x${'1'.repeat(64)}`, 0o644);
    const registry = at('registry.json', {
      executors: [{ executor_key: 'a', kind: 'remote', url: 'http://far.test/', action_types: [] }],
    });
    const signers = at('signers.json', {
      signers: [
        { signer_key: 'treasury', chain_family: 'evm', private_key_file: 'open.key' },
        { signer_key: 'other', chain_family: 'evm', private_key_file: 'none.key' },
      ],
    });
    const venues = at('venues.json', { venues: [{ venue_key: 'x', provider: 'none' }] });
    const keys = at('keys.json', { 'a b': 'short', desk: 'short' });
    const env = {
      ...BASE,
      SVC_PROT: '1',
      SVC_LOCAL_SIGNER_BACKEND: 'local',
      SVC_REGISTRY_FILE: registry,
      SVC_VENUES_FILE: venues,
      SVC_DASHBOARD_WRITER_KEYS_FILE: keys,
      SVC_DASHBOARD_EXPECTED_WRITER_KEYS: '2',
    };
    const first = await run(env);
    expect(first).toMatchObject({ status: 1, out: '' });
    for (const line of [
      /SVC_PROT: /,
      /SVC_REGISTRY_FILE: executors\[0\]\.url: must be https/,
      /SVC_REGISTRY_FILE: executors\[0\]\.action_types/,
      /SVC_VENUES_FILE: venues\[0\]\.provider: must be evm, paper, perp or ccxt/,
      /SVC_DASHBOARD_WRITER_KEYS_FILE: entry 1 has no name.*; the secret of desk/,
    ])
      expect(first.err).toMatch(line);
    const second = await run({ ...env, SVC_REGISTRY_FILE: signers });
    expect(second.err).toMatch(/SVC_REGISTRY_FILE: signers\[0\]: .*open\.key/);
    expect(second.err).toMatch(/SVC_REGISTRY_FILE: signers\[1\]: .*none\.key/);
    expect(second.err).not.toContain('1'.repeat(64));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
