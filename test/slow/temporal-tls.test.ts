/**
 * Temporal as people run it: behind TLS with a CA of one's own, a client certificate and an API
 * key. The service is a process that is started against it.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from '../../dev/bootstrap/programs.mjs';
import { ROOT } from '../../dev/stack/ports.ts';
import { servicePart } from '../../dev/stack/service.ts';
import { starterTemplates } from '../../dev/stack/starter-templates.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { PAID_ONCE, timesPaid } from '../support/evidence.ts';
import {
  eventually,
  startOwnStack,
  WITHDRAW_TO_TREASURY,
  type OwnStack,
} from '../support/own-stack.ts';
import { createAuthority, startTlsProxy, type Pair, type TlsProxy } from '../support/tls-proxy.ts';

const NAME = 'temporal.internal';
const FIRST_KEY = 'first-api-key-0001';
const NEXT_KEY = 'next-api-key-0002';

const folder = mkdtempSync(join(tmpdir(), 'temporal-tls-'));
const file = (name: string): string => join(folder, name);
const supervisor = new Supervisor({
  dataDir: folder,
  restart: false,
  log: () => undefined,
});
let own: OwnStack;
let proxy: TlsProxy;
let env: Record<string, string>;
let next: Pair;

beforeAll(async () => {
  const authority = createAuthority(folder, 'ca');
  createAuthority(folder, 'other-ca');
  const client = authority.issue('client-1');
  next = authority.issue('client-2', { days: 25 });
  copyFileSync(client.cert, file('client.pem'));
  copyFileSync(client.key, file('client.key'));
  writeFileSync(file('api-key'), `${FIRST_KEY}\n`);
  own = await startOwnStack({ service: false });
  proxy = await startTlsProxy({
    ca: authority.cert,
    server: authority.issue('server', { dns: NAME }),
    upstreamPort: own.stack.ports.temporal,
    apiKeys: [FIRST_KEY],
  });
  // What a deployment has: a profile for the place, files for what is renewed.
  writeFileSync(
    file('temporal.toml'),
    `[profile.prod]\naddress = "127.0.0.1:${String(proxy.port)}"\n[profile.prod.tls]\nserver_name = "${NAME}"\n`,
  );
  env = {
    ...own.stack.env,
    SVC_TEMPORAL_ADDRESS: '',
    SVC_TEMPORAL_CONFIG_FILE: file('temporal.toml'),
    TEMPORAL_PROFILE: 'prod',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.cert,
    SVC_TEMPORAL_TLS_CERT_FILE: file('client.pem'),
    SVC_TEMPORAL_TLS_KEY_FILE: file('client.key'),
    SVC_TEMPORAL_API_KEY_FILE: file('api-key'),
  };
}, 240_000);
afterAll(async () => {
  await supervisor.stopAll();
  await proxy?.close();
  await own?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function moves(amount: string): Promise<void> {
  const movement = await own.api.create(WITHDRAW_TO_TREASURY, { amount });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(await timesPaid(own.stack, movement.movement_id, amount)).toEqual(PAID_ONCE);
}

async function temporalPart(): Promise<{ ok: boolean; detail?: string }> {
  const answer = await fetch(`${own.stack.opsUrl}/readyz`);
  const { checks } = (await answer.json()) as {
    checks: Record<string, { ok: boolean; detail?: string }>;
  };
  return checks['temporal'] ?? { ok: false };
}

/** `fundadmin config check` as a process, with other settings. */
function check(other: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...process.env, ...env, ...other, NODE_OPTIONS: '' } };
    execFile(process.execPath, [built('fundadmin'), 'config', 'check'], options, (_, out, err) =>
      resolve(`${out}${err}`),
    );
  });
}

test('a movement completes, and goes on to do so after key and certificate were renewed', async () => {
  mkdirSync(file('logs'));
  await supervisor.add(
    servicePart({ role: 'all', env, opsPort: own.stack.ports.ops, logDir: file('logs') }),
  );
  for (const template of starterTemplates(own.stack.chain, null, null))
    await own.api.expect(201, 'POST', '/plan-templates', template);
  await moves('11.01');
  expect(await temporalPart()).toMatchObject({ detail: 'its certificates hold for 9 days' });

  proxy.apiKeys.add(NEXT_KEY);
  writeFileSync(file('api-key'), NEXT_KEY);
  copyFileSync(next.cert, file('client.pem'));
  copyFileSync(next.key, file('client.key'));
  await eventually(
    async () =>
      (await temporalPart()).detail === 'its certificates hold for 24 days' ? true : null,
    { timeoutMs: 60_000, what: () => 'the renewed certificate to be taken' },
  );
  proxy.apiKeys.delete(FIRST_KEY);
  proxy.hangUp();
  const connected = proxy.clients.length;
  await moves('11.02');
  expect(new Set(proxy.clients.slice(connected))).toEqual(new Set(['client-2']));
}, 240_000);

test.each([
  [
    'another CA',
    () => ({ SVC_TEMPORAL_TLS_CA_FILE: file('other-ca.pem') }),
    /SVC_TEMPORAL_TLS_CA_FILE: the certificate of 127\.0\.0\.1:\d+ is not of the CA in this file/,
  ],
  [
    'no client certificate',
    () => ({ SVC_TEMPORAL_TLS_CERT_FILE: '', SVC_TEMPORAL_TLS_KEY_FILE: '' }),
    /SVC_TEMPORAL_TLS_CERT_FILE: the server at .* asks for a client certificate\. Set SVC_/,
  ],
  [
    'a client certificate of another CA',
    () => {
      const { cert, key } = createAuthority(folder, 'stranger');
      return { SVC_TEMPORAL_TLS_CERT_FILE: cert, SVC_TEMPORAL_TLS_KEY_FILE: key };
    },
    /SVC_TEMPORAL_TLS_CERT_FILE: the server at .* refuses the client certificate \(/,
  ],
  [
    'a wrong API key',
    () => ({ SVC_TEMPORAL_API_KEY_FILE: '', SVC_TEMPORAL_API_KEY: 'wrong-api-key-9' }),
    /SVC_TEMPORAL_API_KEY: Temporal refuses the API key for namespace default\. Put/,
  ],
  [
    'no API key',
    () => ({ SVC_TEMPORAL_API_KEY_FILE: '' }),
    /SVC_TEMPORAL_API_KEY: Temporal requires authentication for namespace default/,
  ],
  [
    'another name',
    () => ({ SVC_TEMPORAL_TLS_SERVER_NAME: 'elsewhere.internal' }),
    /SVC_TEMPORAL_TLS_SERVER_NAME: the certificate of .* is for another name/,
  ],
  [
    'no TLS',
    () => ({
      SVC_TEMPORAL_TLS: 'false',
      SVC_TEMPORAL_API_KEY_FILE: '',
    }),
    /SVC_TEMPORAL_TLS: the server at .* speaks TLS alone\. Set SVC_TEMPORAL_TLS=true/,
  ],
  [
    'TLS to a server without',
    () => ({ SVC_TEMPORAL_ADDRESS: own.stack.temporalAddress }),
    /the server at .* does not speak TLS\. Mend the address/,
  ],
])(
  'with %s the start is refused in words that help',
  async (_, other, words) => {
    const said = await check(other());
    expect(said).toMatch(words);
    expect(said).not.toMatch(/api-key-\d/);
  },
  60_000,
);
