/** The settings of callbacks: what is taken, and what stops the start. */
import { ConfigError, readConfig } from '../../platform/config.ts';

const BASE = { SVC_DATABASE_URL: 'postgresql://localhost/x', SVC_AUTH_ENABLED: 'false' };

function faults(settings: Record<string, string>): readonly string[] {
  try {
    readConfig({ ...BASE, ...settings });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test('without them no host is listed and nothing is wrong', () => {
  const config = readConfig(BASE);
  expect([config.callbackHosts, config.callbackSigner, config.callbackMaxAttempts]).toEqual([
    [],
    null,
    20,
  ]);
});

test('hosts come out in their normal form', () => {
  const hosts = {
    SVC_CALLBACK_ALLOWED_HOSTS_CSV: ' Hooks.Example, 127.0.0.1,,::1,',
    SVC_CALLBACK_HMAC_SECRET: 's',
  };
  expect(readConfig({ ...BASE, ...hosts }).callbackHosts).toEqual([
    'hooks.example',
    '127.0.0.1',
    '[::1]',
  ]);
});

test('every entry that is no host is named', () => {
  const settings = {
    SVC_CALLBACK_ALLOWED_HOSTS_CSV: 'a.example:443,https://b.example,*.c.example,d.example',
    SVC_CALLBACK_HMAC_SECRET: 's',
  };
  const found = faults(settings);
  expect(found).toHaveLength(3);
  for (const [index, entry] of ['a.example:443', 'https://b.example', '*.c.example'].entries())
    expect(found[index]).toContain(`"${entry}"`);
});

test('a list that is too long for the database connection stops the start', () => {
  const list = Array.from({ length: 800 }, (_, index) => `host-${index}.example`).join(',');
  expect(faults({ SVC_CALLBACK_ALLOWED_HOSTS_CSV: list, SVC_CALLBACK_HMAC_SECRET: 's' })).toEqual([
    expect.stringContaining('8000'),
  ]);
});

test('hosts without a secret stop the start of a process with workers, and of no other', () => {
  const hosts = { SVC_CALLBACK_ALLOWED_HOSTS_CSV: 'hooks.example' };
  expect(faults(hosts)).toEqual([expect.stringMatching(/^SVC_CALLBACK_HMAC_SECRET: .*unsigned/)]);
  expect(faults({ ...hosts, SVC_WORKERS_ENABLED: 'false' })).toEqual([]);
});

test('an unusable secret stops the start and is not shown', () => {
  const found = faults({ SVC_CALLBACK_HMAC_SECRET: 'whsec_my-secret' });
  expect(found).toEqual([
    expect.stringMatching(/^SVC_CALLBACK_HMAC_SECRET: secret 1 is not base64/),
  ]);
  expect(found.join()).not.toContain('my-secret');
});

test.each(['0', '-1', '1.5', 'many', '1001'])('%s attempts stop the start', (attempts) => {
  expect(faults({ SVC_CALLBACK_MAX_ATTEMPTS: attempts })).toHaveLength(1);
});
