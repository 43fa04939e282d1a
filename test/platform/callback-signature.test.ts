/** Callback signatures against fixed vectors and against a verifier that is not ours. */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import {
  callbackKeys,
  createCallbackSigner,
  SecretError,
} from '../../platform/callback-signature.ts';

const PLAIN = 'a shared secret of some length';
const ENCODED = 'whsec_LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=';
const TIMESTAMP = 1_795_222_800;

/** Made by another implementation. */
const VECTORS = [
  {
    name: 'a plain secret',
    secret: PLAIN,
    body: '{"event_type":"request_approved"}',
    nonce: 'msg_de4d9cac4c50fa76fc185927',
    own: 'v1=0ea74aa6e4021ce1fe37ece98d459f6ed117b01aea799ffebbb9d1768f1c7c1b',
    standard: 'v1,QzA2F/46/I8icG4Ayz4t0DlmPma98omq/MBgUjoakPU=',
  },
  {
    name: 'an encoded secret',
    secret: ENCODED,
    body: '{"event_type":"request_completed"}',
    nonce: 'msg_aca98ee973225a5b8c8eaeb3',
    own: 'v1=cf0c20f82857040917ae44925e8bb6d2111a535938988d5ec5504307164c40c2',
    standard: 'v1,qIUu7oPI9trOtk4hkXAfRHdGeaBkq4c1q+MzbWnntJ4=',
  },
  {
    name: 'a body with white space',
    secret: PLAIN,
    body: '{ "event_type" : "frontier_advanced" }\n',
    nonce: 'msg_01e607ffb733bb61162e0675',
    own: 'v1=10b8f783531b6478a39d25b0cc8377e60eb9de3b412899924cfe366a5e7a7f27',
    standard: 'v1,P/OcUnHFcFyifOOhbesYITuhVhQNQlWXEDpUw0an5RU=',
  },
];

test.each(VECTORS)('signs $name as others do', ({ secret, body, nonce, own, standard }) => {
  const headers = createCallbackSigner(secret)({
    event_id: 'the-event',
    nonce,
    timestamp: TIMESTAMP,
    body,
  });
  expect(headers).toEqual({
    'content-type': 'application/json',
    'X-SVC-Event-Id': 'the-event',
    'X-SVC-Timestamp': String(TIMESTAMP),
    'X-SVC-Nonce': nonce,
    'X-SVC-Signature': own,
    'webhook-id': nonce,
    'webhook-timestamp': String(TIMESTAMP),
    'webhook-signature': standard,
  });
});

const verifier = (secret: string): Webhook =>
  secret.startsWith('whsec_')
    ? new Webhook(secret)
    : new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
const now = (): number => Math.floor(Date.now() / 1_000);

describe('with several secrets', () => {
  const secrets = [PLAIN, ENCODED, 'schlüssel 鍵'];
  const body = '{"text":"größe"}';

  test('a receiver that knows any one of them verifies', () => {
    const headers = createCallbackSigner(secrets.join(','))({
      event_id: 'e',
      nonce: 'n-1',
      timestamp: now(),
      body,
    });
    for (const secret of secrets)
      expect(verifier(secret).verify(Buffer.from(body), { ...headers })).toEqual({ text: 'größe' });
    expect(() => verifier('another').verify(body, { ...headers })).toThrow('No matching signature');
    expect(() => verifier(PLAIN).verify(`${body} `, { ...headers })).toThrow(
      'No matching signature',
    );
  });

  test('both headers carry one signature for each, in the order of the setting', () => {
    const headers = createCallbackSigner(secrets.join(','))({
      event_id: 'e',
      nonce: 'n',
      timestamp: 5,
      body,
    });
    const own = callbackKeys(secrets.join(',')).map(
      (key) => `v1=${createHmac('sha256', key).update(`5.n.${body}`).digest('hex')}`,
    );
    expect(headers['X-SVC-Signature']).toBe(own.join(','));
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(3);
  });
});

describe('a list of secrets', () => {
  test.each([
    ['', 'secret 1 is empty'],
    ['a,,b', 'secret 2 is empty'],
    ['a, b', 'secret 2 begins or ends with white space'],
    ['whsec_', 'secret 1 is not base64'],
    ['a,whsec_not base64!', 'secret 2 is not base64'],
    ['whsec_YQ', 'secret 1 is not base64'],
  ])('%j is refused, and the message does not tell it', (list, message) => {
    expect(() => createCallbackSigner(list)).toThrow(SecretError);
    expect(() => createCallbackSigner(list)).toThrow(message);
    expect(() => createCallbackSigner(list)).not.toThrow('not base64!');
  });

  test('is not in anything that can be printed of the signer', () => {
    const signer = createCallbackSigner(PLAIN);
    expect(
      JSON.stringify({ signer }) + String(signer) + Object.getOwnPropertyNames(signer).join(),
    ).not.toContain(PLAIN);
  });
});
