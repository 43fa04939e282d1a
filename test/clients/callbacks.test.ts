/** Callbacks are believed when the service signed them just now, and never otherwise. */
import {
  CallbackError,
  ClientUsageError,
  verifyCallback,
  verifyWebhook,
} from '../../clients/http/index.ts';
import { createCallbackSigner } from '../../platform/callback-signature.ts';
import { VECTORS } from './vectors.ts';

const NOW = 1_795_222_800;
const WHSEC = `whsec_${Buffer.from('a key of the standard kind').toString('base64')}`;
const EVENT = {
  event_id: 'e1',
  event_type: 'request_completed',
  movement_id: 'm1',
  request_state: 'COMPLETED',
  sequence: 7,
};
const BODY = JSON.stringify({ ...EVENT, note: 'größer' });

const signed = (secrets: string, body = BODY, timestamp = NOW) => ({
  ...createCallbackSigner(secrets)({ event_id: 'e1', nonce: 'n-1', timestamp, body }),
});
const faultOf = async (
  headers: Parameters<typeof verifyCallback>[1],
  { body = BODY, secrets = 'secret' as string | string[], now = NOW } = {},
) =>
  verifyCallback(body, headers, secrets, { now }).then(
    () => 'believed',
    (error: unknown) => (error instanceof CallbackError ? error.fault : error),
  );

test.each(VECTORS.callbacks)('as others sign: $name', async (vector) => {
  const body = Buffer.from(vector.body_base64, 'base64');
  const check = verifyCallback(body, vector.headers, vector.secret.split(','), {
    now: Number(vector.timestamp),
  });
  const readable = await check.then(
    () => 'believed',
    (error: unknown) => (error as CallbackError).fault,
  );
  // One that has no callback for its body is refused for that alone, after its signatures.
  expect(['believed', 'body_invalid']).toContain(readable);
});

test('the event comes out, whatever holds body and headers', async () => {
  const headers = signed('secret');
  const now = { now: NOW };
  expect(await verifyCallback(BODY, headers, 'secret', now)).toMatchObject(EVENT);
  expect(
    await verifyCallback(Buffer.from(BODY), new Headers(headers), 'secret', now),
  ).toMatchObject(EVENT);
  const upper = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  expect(await faultOf(upper)).toBe('believed');
});

test('while secrets are changed, each side may have one or two of them', async () => {
  for (const [service, receiver] of [
    ['old,new', 'new'],
    ['old,new', 'old'],
    ['new', 'old,new'],
    [`${WHSEC},secret`, WHSEC],
    ['secret', ['other', WHSEC, 'secret']],
  ] as const)
    expect(await faultOf(signed(service), { secrets: receiver as string })).toBe('believed');
  expect(await faultOf(signed('old'), { secrets: 'new,newer' })).toBe('no_match');
});

test('each of the two signatures is enough alone, and none may be wrong', async () => {
  const headers = signed('secret');
  const without = (part: RegExp) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !part.test(name)));
  expect(await faultOf(without(/^webhook-/))).toBe('believed');
  expect(await faultOf(without(/^X-SVC-/))).toBe('believed');
  expect(await faultOf(without(/signature/i))).toBe('header_missing');
  expect(await faultOf(without(/^webhook-id$/))).toBe('header_missing');
  const other = signed('other');
  for (const name of ['X-SVC-Signature', 'webhook-signature'] as const)
    expect(await faultOf({ ...headers, [name]: String(other[name]) })).toBe('no_match');
  expect(await faultOf({ ...headers, 'X-SVC-Signature': 'v1=zz' })).toBe('no_match');
  expect(await faultOf({ ...headers, 'webhook-signature': 'v2,AAAA' })).toBe('no_match');
});

test('anything that was changed on the way is noticed', async () => {
  const headers = signed('secret');
  expect(await faultOf(headers, { body: BODY.replace('COMPLETED', 'CANCELLED') })).toBe('no_match');
  expect(await faultOf(headers, { body: JSON.stringify(JSON.parse(BODY), null, 1) })).toBe(
    'no_match',
  );
  for (const name of ['X-SVC-Nonce', 'webhook-id'])
    expect(await faultOf({ ...headers, [name]: 'n-2' })).toBe('no_match');
  for (const name of ['X-SVC-Timestamp', 'webhook-timestamp']) {
    expect(await faultOf({ ...headers, [name]: String(NOW + 1) })).toBe('no_match');
    expect(await faultOf({ ...headers, [name]: '1e9' })).toBe('timestamp_invalid');
  }
});

test('age is bounded on either side', async () => {
  const headers = signed('secret');
  expect(await faultOf(headers, { now: NOW + 300 })).toBe('believed');
  expect(await faultOf(headers, { now: NOW + 301 })).toBe('too_old');
  expect(await faultOf(headers, { now: NOW - 301 })).toBe('too_early');
  const just = signed('secret', BODY, Math.floor(Date.now() / 1000));
  expect(await verifyCallback(BODY, just, 'secret', { toleranceSeconds: 5 })).toMatchObject(EVENT);
});

test('an age that is compared with no number is no age', async () => {
  const headers = signed('secret');
  for (const options of [{ toleranceSeconds: NaN }, { toleranceSeconds: -1 }, { now: NaN }])
    await expect(
      verifyCallback(BODY, headers, 'secret', { now: NOW + 900, ...options }),
    ).rejects.toThrow(ClientUsageError);
});

test('a header in a list is there, and must be right', async () => {
  const listed = (headers: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  const headers = signed('secret');
  expect(await faultOf(listed(headers))).toBe('believed');
  const wrong = { 'webhook-signature': [String(signed('other')['webhook-signature'])] };
  expect(await faultOf({ ...headers, ...wrong })).toBe('no_match');
  const twice = { 'X-SVC-Timestamp': [String(NOW), String(NOW)] };
  expect(await faultOf({ ...headers, ...twice })).toBe('timestamp_invalid');
});

test('what is signed well and is no callback is said to be none', async () => {
  for (const body of ['', 'no json', '[]', '{"event_id": 1}'])
    expect(await faultOf(signed('secret', body), { body })).toBe('body_invalid');
});

test('secrets that cannot be one are the caller’s mistake, and are not quoted', async () => {
  for (const secrets of ['', 'a,,b', 'whsec_', 'whsec_not base64!', []] as const) {
    const fault = await faultOf(signed('secret'), { secrets: secrets as string });
    expect(fault).toBeInstanceOf(ClientUsageError);
    expect(String(fault)).not.toContain('base64!');
  }
});

test('a message to a webhook is checked in the same way, and is no callback', async () => {
  const message = {
    type: 'movement.attention',
    timestamp: '2026-11-29T08:00:00.000Z',
    data: { movement_id: 'm1', reason: 'failed', link: 'https://funds.example/console/' },
  };
  const body = JSON.stringify(message);
  const now = { now: NOW };
  expect(await verifyWebhook(body, signed('secret', body), 'secret', now)).toEqual(message);
  const fault = (error: unknown): unknown => (error as CallbackError).fault;
  expect(await verifyWebhook(body, signed('other', body), 'secret', now).catch(fault)).toBe(
    'no_match',
  );
  expect(await verifyWebhook(BODY, signed('secret'), 'secret', now).catch(fault)).toBe(
    'body_invalid',
  );
  expect(await faultOf(signed('secret', body), { body })).toBe('body_invalid');
});
