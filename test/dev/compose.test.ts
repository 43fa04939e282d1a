/** Who prefers containers gets the servers that everything here is tested with. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../dev/stack/ports.ts';
import { DYNAMIC_CONFIG_FILE, dynamicConfig } from '../../dev/stack/temporal.ts';
import { auditKeys } from '../../platform/audit-chain.ts';
import { parseSecretsKey } from '../../platform/secrets.ts';

const lines = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  .split('\n')
  .map((line) => line.trim());

test('each setting has a reason, and says whether a shared cluster may have it', () => {
  expect(dynamicConfig()).toContain('history.workflowTaskRetryMaxInterval="30s"');
  const text = readFileSync(join(ROOT, DYNAMIC_CONFIG_FILE), 'utf8');
  const [, ...settings] = text.split('\n\n');
  expect(settings).toHaveLength(5);
  for (const setting of settings) expect(setting).toMatch(/^# .*\n(# .*\n)*# Shared: (yes|no|it)/);
});

test("the containers' Temporal has every setting of the embedded one, and no other", () => {
  const passed = lines.filter((line) => line.startsWith('- --dynamic-config-value='));
  expect(passed.map((line) => line.replace('- --dynamic-config-value=', '')).sort()).toEqual(
    [...dynamicConfig()].sort(),
  );
});

test('each role has its own secrets: a worker vouches for audit rows and reads no keys of callers', () => {
  const secretsOf = (role: string): string | undefined => {
    const from = lines.indexOf(`command: ['node', 'dist/main.js', '${role}']`);
    return lines.slice(0, from).findLast((line) => line.startsWith('secrets: '));
  };
  expect(secretsOf('api')).toBe('secrets: [database_url, secrets_key]');
  expect(secretsOf('worker')).toBe('secrets: [database_url, audit_key]');
});

test('the script makes the audit key that fundadmin derives, and makes nothing twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'compose-secrets-'));
  try {
    const script = join(folder, 'make-secrets.sh');
    copyFileSync(join(ROOT, 'deploy/compose/make-secrets.sh'), script);
    const made = (name: string): string =>
      readFileSync(join(folder, 'secrets', name), 'utf8').trim();
    await promisify(execFile)('sh', [script]);
    const parsed = parseSecretsKey(made('secrets_key'));
    if (!parsed.ok) throw new Error('the key cannot be read');
    const [key] = auditKeys(parsed.keys);
    expect(made('audit_key')).toBe(key?.export().toString('base64'));
    const before = made('secrets_key');
    await promisify(execFile)('sh', [script]);
    expect(made('secrets_key')).toBe(before);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
