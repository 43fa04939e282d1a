/** `fundadmin config check`. */
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
  const status = await fundadmin(['config', 'check', ...args], {
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
