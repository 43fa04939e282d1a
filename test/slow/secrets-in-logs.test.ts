/**
 * At the level that writes most, through failures of every part, no log of the stack holds a
 * secret.
 */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signedFetch } from '../support/signed-fetch.ts';
import {
  CALLBACK_SECRET,
  startReceiver,
  type FaultyReceiver,
} from '../support/callback-receiver.ts';
import {
  startOwnStack,
  WITHDRAW_TO_TREASURY,
  type Created,
  type OwnStack,
} from '../support/own-stack.ts';
import { findSecrets, secretsOf } from '../support/secrets.ts';
import { findSignatures } from '../support/sent-signatures.ts';

const SIGNATURE = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** What a caller's own request may carry; nothing of it belongs into a log. */
const REQUEST = {
  'the signature of a request': SIGNATURE,
  'a bearer token': 'planted-bearer-token-31',
  'a word of a query': 'planted-query-word-47',
  'a word of a body': 'planted-body-word-53',
};
const PAYLOAD_KEY = Buffer.alloc(32, 0x5d).toString('base64');

let own: OwnStack;
let receiver: FaultyReceiver;
beforeAll(async () => {
  const env = {
    SVC_LOG_LEVEL: 'debug',
    SVC_SECRETS_KEY: Buffer.alloc(32, 0x6e).toString('base64'),
    SVC_PAYLOAD_KEYS: `planted-1:${PAYLOAD_KEY}`,
    SVC_CALLBACK_ALLOWED_HOSTS_CSV: '127.0.0.1',
    SVC_CALLBACK_HMAC_SECRET: CALLBACK_SECRET,
    SVC_CALLBACK_MAX_ATTEMPTS: '2',
  };
  [own, receiver] = await Promise.all([startOwnStack({ env }), startReceiver()]);
}, 180_000);
afterAll(async () => {
  receiver?.close();
  await own?.close();
});

const logs = (): string => join(own.stack.dataDir, 'logs');

async function run(template: string, amount: string): Promise<Created> {
  const movement = (await own.api.expect(201, 'POST', '/movements', {
    template_key: template,
    template_version: 1,
    intent: { asset: 'USDC', amount },
    callback_url: receiver.url,
  })) as unknown as Created;
  await own.api.approve(movement);
  return movement;
}

/**
 * Requests that are refused in every way, signed wrongly and well, each with something to be kept
 * quiet about.
 */
async function refusedRequests(): Promise<void> {
  const headers = {
    authorization: `Bearer ${REQUEST['a bearer token']}`,
    'content-type': 'application/json',
  };
  const { admin } = own.stack.keys;
  const stranger = {
    'x-svc-key-id': admin.keyId,
    'x-svc-nonce': 'n',
    'x-svc-timestamp': '1',
    'x-svc-signature': SIGNATURE,
  };
  await refusedWith((url, init) => fetch(url, { ...init, headers: { ...headers, ...stranger } }));
  await refusedWith((url, init) => signedFetch(admin, url, { ...init, headers }));
}

async function refusedWith(
  send: (url: string, init: { method?: string; body?: string }) => Promise<Response>,
): Promise<void> {
  const word = REQUEST['a word of a query'];
  for (const path of [
    `/movements?state=${word}`,
    `/movements/${word}`,
    `/nowhere/${word}`,
    `/movements?cursor=${word}`,
  ])
    await send(`${own.stack.apiUrl}/v3${path}`, {});
  const secret = REQUEST['a word of a body'];
  for (const body of [
    `{"template_key": "${secret}"}`,
    `{"${secret}": `,
    JSON.stringify({ template_key: secret, template_version: 1 }),
  ])
    await send(`${own.stack.apiUrl}/v3/movements`, { method: 'POST', body });
}

test('movements that fail in every part of the stack leave no secret in any log', async () => {
  receiver.fault = (_attempt, index) => (index % 3 === 0 ? 500 : null);
  // Funds the wallet; the gate keeps the amount there.
  const funding = await run('starter/withdraw-with-gate', '50');
  await own.api.reaches(funding.movement_id, 'WAITING_MANUAL_ACTION');
  // Signed, sent and refused; signed, sent and the answer lost; then as usual.
  await own.chainFaults({ reject_rate: 1 });
  const refused = await run('starter/treasury-transfer', '11.25');
  await own.api.nodeReaches(refused.movement_id, 'sweep', [
    'SUBMITTING',
    'SUBMITTED',
    'OBSERVING',
    'UNKNOWN',
  ]);
  await own.chainFaults({ reject_rate: 0, drop_answer_rate: 1 });
  const dropped = await run('starter/treasury-transfer', '1.5');
  await own.venueFaults({ error_rate: 0.5, lose_answer_rate: 0.3, remaining: 20 });
  const stormy = await run(WITHDRAW_TO_TREASURY, '12.75');
  const tooMuch = await run(WITHDRAW_TO_TREASURY, '200000');
  await refusedRequests();
  await own.api.reaches(tooMuch.movement_id, 'FAILED');
  await own.chainFaults(null);
  await own.venueFaults(null);
  for (const { movement_id } of [refused, dropped, stormy]) {
    await own.api
      .reaches(movement_id, ['COMPLETED', 'FAILED', 'MANUAL_INTERVENTION'], 90_000)
      .catch(() => undefined);
  }
  // The database goes away under requests and workers.
  await own.stack.kill('postgres');
  await Promise.allSettled([own.api.send('GET', '/movements'), refusedRequests()]);
  await own.stack.startChild('postgres');

  const secrets = { ...(await secretsOf(own.stack)), ...REQUEST };
  expect(Object.keys(secrets)).toEqual(
    expect.arrayContaining([
      'database password',
      'SVC_DATABASE_URL',
      'SVC_SECRETS_KEY',
      'SVC_PAYLOAD_KEYS',
      'SVC_CALLBACK_HMAC_SECRET',
      'private key of signer',
      'signed transaction 1',
      'the signature of a request',
    ]),
  );
  // The logs are there and hold what they should.
  const service = readFileSync(join(logs(), 'service.log'), 'utf8');
  const lines = [
    'a submit returned no usable answer',
    '"route":"createMovement","status":422',
    '"msg":"request failed"',
    'a background run failed and is repeated',
  ];
  expect(lines.filter((line) => !service.includes(line))).toEqual([]);
  expect(findSecrets(logs(), secrets)).toEqual([]);
}, 240_000);

test('a secret that is written is found in each of its forms', async () => {
  const secrets = await secretsOf(own.stack);
  const raw = secrets['signed transaction 1'] ?? '';
  const planted: Record<string, string> = {
    'private key of signer': `key=${secrets['private key of signer'] ?? ''}`,
    'SVC_PAYLOAD_KEYS, part 2': PAYLOAD_KEY,
    SVC_CALLBACK_HMAC_SECRET: Buffer.from(CALLBACK_SECRET).toString('base64'),
    'database password': `postgres://x:${secrets['database password'] ?? ''}@h`,
    'signed transaction 1': `…${raw.slice(-150).toUpperCase()}`,
  };
  const file = join(logs(), 'planted.log');
  for (const [secret, line] of Object.entries(planted)) {
    appendFileSync(file, `nothing\n${line}\n`);
    expect(findSecrets(logs(), secrets)).toContainEqual({ file: 'planted.log', line: 2, secret });
    rmSync(file);
  }
});

test('a signature that is written is found as hex and as base64, and no other hash is taken for one', () => {
  const planted = 'ab'.repeat(32);
  const [sent, file] = [join(own.stack.dataDir, 'sent'), join(logs(), 'planted.log')];
  writeFileSync(sent, `${planted}\n`);
  for (const line of [
    `x=0${planted.toUpperCase()}f`,
    Buffer.from(planted, 'hex').toString('base64'),
  ]) {
    writeFileSync(file, `nothing\n{"line":"${line}"}\n`);
    expect(findSignatures(logs(), sent)).toEqual({
      signatures: 1,
      leaks: [{ file: 'planted.log', line: 2 }],
    });
  }
  writeFileSync(file, `${'ac'.repeat(32)}\n`);
  expect(findSignatures(logs(), sent)).toEqual({ signatures: 1, leaks: [] });
  rmSync(file);
});
