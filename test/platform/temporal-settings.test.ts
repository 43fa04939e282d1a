/** How Temporal is reached: whose word holds, what stops the start, and that faults show no key. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, readConfig } from '../../platform/config.ts';
import { CERTIFICATE, KEY } from './localhost-certificate.ts';

const BASE = { SVC_DATABASE_URL: 'postgresql://localhost/x', SVC_AUTH_ENABLED: 'false' };
const folder = mkdtempSync(join(tmpdir(), 'temporal-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const access = (settings: NodeJS.ProcessEnv) => readConfig({ ...BASE, ...settings }).temporal;
function faults(settings: NodeJS.ProcessEnv): readonly string[] {
  try {
    access(settings);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const toml = file(
  'temporal.toml',
  [
    '[profile.default]',
    'address = "default.example:7233"',
    '[profile.prod]',
    'address = "file.example:7233"',
    'namespace = "of-file"',
    'api_key = "key-of-file"',
    '[profile.prod.grpc_meta]',
    'x-team = "of-file"',
    'x-file = "1"',
  ].join('\n'),
);
const cert = file('cert.pem', CERTIFICATE);
const key = file('key.pem', KEY);

test('nothing is a server of this machine, without TLS; no file of a home directory is read', () => {
  file('temporalio.toml', '');
  const home = mkdtempSync(join(folder, 'home-'));
  const at = { HOME: home, XDG_CONFIG_HOME: folder };
  expect(access(at)).toMatchObject({ address: '127.0.0.1:7233', namespace: 'default' });
  expect(access(at).tls).toBeUndefined();
  expect(faults({ ...at, TEMPORAL_PROFILE: 'prod' })).toEqual([
    expect.stringMatching(
      /^TEMPORAL_PROFILE: names a profile and no file; set SVC_TEMPORAL_CONFIG_FILE/,
    ),
  ]);
});

test("ours wins over Temporal's variables, and these over the profile", () => {
  const profile = { TEMPORAL_CONFIG_FILE: toml, TEMPORAL_PROFILE: 'prod' };
  expect(access(profile)).toMatchObject({
    address: 'file.example:7233',
    namespace: 'of-file',
    apiKey: 'key-of-file',
    tls: {},
    headers: { 'x-team': 'of-file', 'x-file': '1' },
  });
  const variables = {
    ...profile,
    TEMPORAL_ADDRESS: 'env.example:1',
    TEMPORAL_GRPC_META_X_TEAM: 'e',
  };
  expect(access(variables)).toMatchObject({
    address: 'env.example:1',
    namespace: 'of-file',
    headers: { 'x-team': 'e', 'x-file': '1' },
  });
  const ours = {
    ...variables,
    SVC_TEMPORAL_ADDRESS: 'svc.example:2',
    SVC_TEMPORAL_PROFILE: 'default',
  };
  expect(access(ours)).toMatchObject({ address: 'svc.example:2', namespace: 'default' });
  expect(access({ ...variables, SVC_TEMPORAL_HEADERS: 'x-team=s' }).headers).toMatchObject({
    'x-team': 's',
  });
});

test('a certificate is taken with its key, and TLS with it', () => {
  const found = access({
    SVC_TEMPORAL_TLS_CERT_FILE: cert,
    SVC_TEMPORAL_TLS_KEY_FILE: key,
    TEMPORAL_TLS_SERVER_CA_CERT_DATA: CERTIFICATE,
  });
  expect(found.tls?.client?.cert.toString()).toBe(CERTIFICATE);
  expect(found.tls?.ca?.toString()).toBe(CERTIFICATE);
});

test.each([
  [{ TEMPORAL_TLS: 'yes' }, /^TEMPORAL_TLS: must be true or false/],
  [{ TEMPORAL_ADDRESS: 'nowhere' }, /^TEMPORAL_ADDRESS: must be host:port/],
  [{ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' }, /is always verified/],
  [{ SVC_TEMPORAL_TLS_CERT_FILE: cert }, /^SVC_TEMPORAL_TLS_CERT_FILE: has no use without its/],
  [{ TEMPORAL_TLS_CLIENT_KEY_PATH: key }, /^TEMPORAL_TLS_CLIENT_KEY_PATH: has no use without its/],
  [
    { SVC_TEMPORAL_TLS_CA_FILE: '/nowhere/ca' },
    /^SVC_TEMPORAL_TLS_CA_FILE: .*cannot be read \(ENOENT\)$/,
  ],
  [{ SVC_TEMPORAL_TLS_CA_FILE: key }, /^SVC_TEMPORAL_TLS_CA_FILE: must be a certificate in PEM$/],
  [{ TEMPORAL_API_KEY: 'key-1', TEMPORAL_TLS: 'false' }, /^TEMPORAL_TLS: an API key is sent over/],
  [
    { SVC_TEMPORAL_API_KEY: 'key-1', SVC_TEMPORAL_HEADERS: 'authorization=key-2' },
    /^SVC_TEMPORAL_HEADERS: the API key is sent as authorization/,
  ],
  [
    { SVC_TEMPORAL_CONFIG_FILE: file('bad.toml', '[profile.default]\napi_key = key-1') },
    /^SVC_TEMPORAL_CONFIG_FILE: line 2 is not TOML$/,
  ],
  [
    { SVC_TEMPORAL_CONFIG_FILE: file('typo.toml', '[profile.default]\nadress = "x"') },
    /^SVC_TEMPORAL_CONFIG_FILE: key\(s\) unrecognized in profile.default: adress/,
  ],
  [
    { SVC_TEMPORAL_CONFIG_FILE: toml, TEMPORAL_PROFILE: 'none' },
    /^SVC_TEMPORAL_CONFIG_FILE: Profile 'none' not found/,
  ],
  [
    { SVC_TEMPORAL_CONFIG_FILE: '/nowhere/t.toml' },
    /^SVC_TEMPORAL_CONFIG_FILE: the file that it names cannot be read/,
  ],
])('%j stops the start', (settings, words) => {
  const found = faults(settings as NodeJS.ProcessEnv);
  expect(found).toEqual([expect.stringMatching(words)]);
  expect(found.join()).not.toMatch(/key-\d/);
});

test('all faults are reported together with the others', () => {
  expect(faults({ SVC_PORT: 'x', TEMPORAL_TLS: 'yes', TEMPORAL_ADDRESS: 'x' })).toHaveLength(3);
});

test('keys and header values are taken out of logs', () => {
  const { redact } = readConfig({
    ...BASE,
    TEMPORAL_API_KEY: 'secret-of-theirs',
    TEMPORAL_GRPC_META_X_TOKEN: 'token-of-theirs',
  });
  expect(redact('a secret-of-theirs b token-of-theirs')).toBe('a [redacted] b [redacted]');
});
