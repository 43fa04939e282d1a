/**
 * A nonce is taken once over all processes, a revoke holds on all of them at once, and a lost
 * database is no open door.
 */
import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';
import { signatureHeaders } from '../../clients/http/index.ts';
import { issue } from '../../tools/keys/issue.ts';
import { revoke } from '../../tools/keys/revoke.ts';
import { moreParts, type MoreParts } from '../support/more-parts.ts';
import { startOwnStack, type OwnStack } from '../support/own-stack.ts';

let own: OwnStack;
let parts: MoreParts;
let pools: readonly Pool[];
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  own = await startOwnStack({ split: true });
  parts = moreParts(own.stack);
  const second = await parts.api('second-api');
  pools = [own.stack.apiUrl, second].map((url) => new Pool(url, { connections: 16 }));
  env = {
    SVC_DATABASE_URL: own.stack.databaseUrl,
    SVC_SECRETS_KEY_FILE: own.stack.env['SVC_SECRETS_KEY_FILE'],
  };
}, 180_000);
afterAll(async () => {
  await Promise.all((pools ?? []).map((pool) => pool.destroy()));
  await parts?.stop();
  await own?.close();
});

type Headers = Readonly<Record<string, string>>;
const io = () => ({ env, out: () => undefined, err: () => undefined });
const signed = (
  key = own.stack.keys.admin,
  nonce = randomBytes(16).toString('hex'),
): Promise<Headers> =>
  signatureHeaders(key, { method: 'GET', url: `${own.stack.apiUrl}/v3/whoami` }, { nonce });

/** Sends to one of the processes and answers the status. */
async function ask(headers: Headers, at: number): Promise<number> {
  const { statusCode, body } = await pools[at % 2]!.request({
    method: 'GET',
    path: '/v3/whoami',
    headers,
  });
  await body.dump();
  return statusCode;
}

test('of 10,000 sends of 100 signed requests, over two processes at once, each is accepted exactly once', async () => {
  const requests = await Promise.all(Array.from({ length: 100 }, () => signed()));
  const sends = Array.from({ length: 10_000 }, (_, index) => index);
  const accepted = new Array<number>(requests.length).fill(0);
  const others = new Set<number>();
  await Promise.all(
    sends.map(async (index) => {
      // Neighbours are the same request, so that both processes have it in hand at the same time.
      const which = Math.floor(index / 100);
      const status = await ask(requests[which]!, index);
      if (status === 200) accepted[which] = (accepted[which] ?? 0) + 1;
      else others.add(status);
    }),
  );
  expect([...new Set(accepted)]).toEqual([1]);
  expect([...others]).toEqual([401]);
}, 120_000);

test('one after the other they are refused as well, by either process', async () => {
  const headers = await signed();
  const statuses: number[] = [];
  for (let index = 0; index < 2_000; index += 1) statuses.push(await ask(headers, index));
  expect(statuses[0]).toBe(200);
  expect([...new Set(statuses.slice(1))]).toEqual([401]);
});

test('a key that is revoked is refused by every process from that moment on', async () => {
  const { key_id: keyId, hmac_secret: secret } = await issue(
    { clientName: 'gone', keyId: 'gone-1', role: 'operator' },
    io(),
  );
  const kept = await issue({ clientName: 'gone', keyId: 'gone-2', role: 'operator' }, io());
  for (const at of [0, 1]) expect(await ask(await signed({ keyId, secret }), at)).toBe(200);
  let revoked = false;
  const seen: { readonly status: number; readonly sentAfter: boolean }[] = [];
  const flood = Array.from({ length: 16 }, async (_, lane) => {
    while (!revoked || seen.filter(({ sentAfter }) => sentAfter).length < 100) {
      const sentAfter = revoked;
      seen.push({ status: await ask(await signed({ keyId, secret }), lane), sentAfter });
    }
  });
  await revoke({ keyId, reason: 'a test' }, io());
  revoked = true;
  await Promise.all(flood);
  expect([
    ...new Set(seen.filter(({ sentAfter }) => sentAfter).map(({ status }) => status)),
  ]).toEqual([401]);
  // Several keys of a client live side by side.
  expect(await ask(await signed({ keyId: kept.key_id, secret: kept.hmac_secret }), 1)).toBe(200);
  expect(
    await own.query(
      'SELECT status, revoked_at IS NOT NULL AS stamped FROM api_client_keys WHERE key_id = $1',
      [keyId],
    ),
  ).toEqual([{ status: 'revoked', stamped: true }]);
});

test('two processes that share a limit let through exactly as many requests of a key at once', async () => {
  const counted = { SVC_RATE_LIMIT_ENABLED: 'true', SVC_RATE_LIMIT_SHARED: 'true' };
  const settings = { ...counted, SVC_RATE_LIMIT_WRITE_RPM: '70' };
  const urls = [await parts.api('counted-1', settings), await parts.api('counted-2', settings)];
  const { key_id: keyId, hmac_secret: secret } = await issue(
    { clientName: 'counted', keyId: 'counted', role: 'operator' },
    io(),
  );
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const headers = await signed({ keyId, secret });
      return fetch(`${urls[index % 2] ?? ''}/v3/whoami`, { headers });
    }),
  );
  const took = (performance.now() - began) / 1_000;
  const of = (status: number) => answers.filter((answer) => answer.status === status);
  expect([of(200).length, of(429).length]).toEqual([70, 230]);
  for (const { headers } of of(429)) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(Math.floor(60 - took));
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
  }
}, 180_000);

test('while the database is away every request is refused, and a used nonce stays used', async () => {
  const [used, fresh] = [await signed(), await signed()];
  expect(await ask(used, 0)).toBe(200);
  await own.stack.kill('postgres');
  expect(await ask(fresh, 0)).toBe(503);
  expect(await ask(await signed({ keyId: 'never-seen', secret: 'x' }), 1)).toBe(503);
  await own.stack.startChild('postgres');
  expect(await ask(used, 1)).toBe(401);
  expect(await ask(fresh, 1)).toBe(200);
});
