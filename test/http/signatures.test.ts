/** The door: what a signature covers, and that nothing passes without one that fits. */
import { randomBytes, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { pino } from 'pino';
import { startNonceCleaner } from '../../activities/relays/request-nonces.ts';
import { signatureHeaders } from '../../clients/http/index.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { canonicalString, signatureOf, type SignedParts } from '../../api/auth/canonical.ts';
import {
  expectRefusal,
  gated,
  must,
  post,
  shared,
  sql,
  waitFor,
  type Answer,
} from '../support/http.ts';

type Headers = Record<string, string | string[]>;
const KEY = shared.keys.admin;
const nowSeconds = (): number => Math.floor(Date.now() / 1000);
const newNonce = (): string => randomBytes(16).toString('hex');

/** Sends exactly these headers and this target. */
function exchange(
  method: string,
  target: string,
  headers: Headers,
  body?: string | Uint8Array,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(shared.apiUrl);
    const sent = httpRequest({ hostname, port, method, path: target, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(),
          body: JSON.parse(text) as unknown,
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

interface Signed {
  readonly method?: string;
  readonly target?: string;
  readonly body?: string | Uint8Array;
  /** What is signed instead of what is sent. */
  readonly signed?: Partial<SignedParts>;
  readonly headers?: Headers;
  readonly key?: { readonly keyId: string; readonly secret: string };
}

/** Signs one thing and sends another, where the two are to differ. */
function attempt({
  method = 'GET',
  target = '/v3/whoami',
  body = '',
  signed = {},
  headers = {},
  key = KEY,
}: Signed): Promise<Answer> {
  const [path = '', ...rest] = target.split('?');
  const parts: SignedParts = {
    method,
    path: decodeURIComponent(path),
    query: rest.join('?'),
    body: Buffer.from(body),
    timestamp: String(nowSeconds()),
    nonce: newNonce(),
    ...signed,
  };
  const own = {
    'X-SVC-Key-Id': key.keyId,
    'X-SVC-Timestamp': parts.timestamp,
    'X-SVC-Nonce': parts.nonce,
    'X-SVC-Signature': signatureOf(key.secret, parts).toString('hex'),
    ...(body.length === 0 ? {} : { 'Content-Type': 'application/json' }),
  };
  return exchange(method, target, { ...own, ...headers }, body);
}

const statusOf = async (sent: Signed): Promise<number> => (await attempt(sent)).status;

describe('a signature', () => {
  test('opens the door when all six lines fit', async () => {
    const answer = await attempt({});
    expect(answer.body).toMatchObject({ key_id: KEY.keyId, role: 'admin' });
    expect(answer.status).toBe(200);
  });

  test.each<[string, Signed]>([
    ['method', { signed: { method: 'POST' } }],
    ['path', { signed: { path: '/v3/whoami2' } }],
    ['query', { signed: { query: 'limit=1' } }],
    ['body', { signed: { body: Buffer.from('{}') } }],
    ['timestamp', { headers: { 'X-SVC-Timestamp': String(nowSeconds() - 1) } }],
    ['nonce', { headers: { 'X-SVC-Nonce': 'another' } }],
    [
      'order of the query',
      { target: '/v3/movements?state=FAILED&limit=5', signed: { query: 'limit=5&state=FAILED' } },
    ],
    ['question mark', { target: '/v3/movements?limit=5', signed: { query: '?limit=5' } }],
    [
      'escapes of the query',
      { target: '/v3/movements?strategy_id=a%2Fb', signed: { query: 'strategy_id=a/b' } },
    ],
    [
      'escapes of the path',
      {
        target: '/v3/executors/a%20b',
        method: 'PATCH',
        body: '{}',
        signed: { path: '/v3/executors/a%20b' },
      },
    ],
    [
      'body as parsed',
      {
        method: 'POST',
        target: '/v3/plan-templates',
        body: '{ "a": 1 }',
        signed: { body: Buffer.from('{"a":1}') },
      },
    ],
    ['secret', { key: { ...KEY, secret: `${KEY.secret}0` } }],
    ['key id', { key: { ...KEY, keyId: 'dev-operator' } }],
  ])('is refused when it is over another %s', async (_what, sent) => {
    expectRefusal(await attempt(sent), 401, 'unauthenticated');
  });

  test('is lowercase hex, whole', async () => {
    const { 'X-SVC-Signature': signature = '', ...headers } = await signatureHeaders(KEY, {
      method: 'GET',
      url: `${shared.apiUrl}/v3/whoami`,
    });
    for (const wrong of [
      signature.toUpperCase(),
      signature.slice(1),
      `${signature}0`,
      Buffer.from(signature, 'hex').toString('base64'),
      '',
    ])
      expect(
        (await exchange('GET', '/v3/whoami', { ...headers, 'X-SVC-Signature': wrong })).status,
      ).toBe(401);
    // None of these used the nonce up.
    expect(
      (await exchange('GET', '/v3/whoami', { ...headers, 'X-SVC-Signature': signature })).status,
    ).toBe(200);
  });

  test('covers what cannot be seen: binary, empty and large bodies', async () => {
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    for (const body of [everyByte, Buffer.alloc(0), Buffer.alloc(900_000, 'x')]) {
      const sent = { method: 'POST', target: '/v3/plan-templates', body };
      // Past the signature: what is refused then is the body.
      expect(await statusOf(sent)).toBe(422);
      expect(
        await statusOf({ ...sent, signed: { body: Buffer.concat([body, Buffer.from([0])]) } }),
      ).toBe(401);
    }
  });

  test.each([
    ['an escaped letter', '/v3/%77hoami', 200],
    ['a space', '/v3/executors/my%20executor', 405],
    ['non-ASCII', '/v3/executors/%C3%A9x%C3%A9cuteur', 405],
    ['lower-case escapes', '/v3/executors/%c3%a9', 405],
  ])('is over the decoded path: %s', async (_what, target, status) => {
    expect(await statusOf({ target })).toBe(status);
    expect(await statusOf({ target, signed: { path: target } })).toBe(401);
  });

  test.each([
    ['encoded twice', '/v3/%2577hoami'],
    ['an escaped slash', '/v3%2Fwhoami'],
    ['a dot segment', '/v3/x/../whoami'],
    ['an escaped dot segment', '/v3/x/%2e%2e/whoami'],
    ['an empty segment', '/v3//whoami'],
    ['broken UTF-8', '/v3/%C3%28'],
    ['a backslash', '/v3/%5Cwhoami'],
    ['a control character', '/v3/%00whoami'],
    ['a fragment', '/v3/whoami#x'],
  ])('cannot stand for two paths: %s', async (_what, target) => {
    const headers = await signatureHeaders(KEY, {
      method: 'GET',
      url: `${shared.apiUrl}/v3/whoami`,
    });
    expectRefusal(
      await exchange('GET', target, { ...headers }).then((answer) => ({
        ...answer,
        body: {
          detail: { ...(answer.body as { detail: object }).detail, message: 'of no matter' },
        },
      })),
      400,
      'invalid_path',
    );
  });

  test('is not required for a path in another letter case or with a slash at its end', async () => {
    for (const target of ['/v3/Whoami', '/v3/whoami/', '/v3/whoami%20'])
      expect(await statusOf({ target })).toBe(404);
  });
});

describe('the four headers', () => {
  const NAMES = ['X-SVC-Key-Id', 'X-SVC-Timestamp', 'X-SVC-Nonce', 'X-SVC-Signature'];
  const signed = () => signatureHeaders(KEY, { method: 'GET', url: `${shared.apiUrl}/v3/whoami` });

  test.each(NAMES)('%s is needed, once, and not empty', async (name) => {
    const { [name]: value = '', ...others } = await signed();
    for (const sent of [undefined, '', [value, value], [value, 'x']]) {
      const headers: Headers = { ...others, ...(sent === undefined ? {} : { [name]: sent }) };
      expectRefusal(await exchange('GET', '/v3/whoami', headers), 401, 'unauthenticated');
    }
    expect(
      (await exchange('GET', '/v3/whoami', { ...others, [name.toLowerCase()]: value })).status,
    ).toBe(200);
  });

  test.each(['', 'x'.repeat(129), 'a b', 'a/b', 'a,b', 'ä'])(
    'a nonce of another form is refused: %j',
    async (nonce) => {
      expect(
        await statusOf({
          signed: { nonce },
          headers: { 'X-SVC-Nonce': Buffer.from(nonce).toString('latin1') },
        }),
      ).toBe(401);
    },
  );

  test.each(['x', 'x'.repeat(128), 'Az09._~-'])(
    'a nonce of the form is taken: %j',
    async (form) => {
      const nonce = form.length === 1 ? form : `${randomUUID().slice(0, 8)}${form}`.slice(0, 128);
      await sql('DELETE FROM nonce_registry WHERE key_id = $1 AND nonce = $2', [KEY.keyId, nonce]);
      expect(await statusOf({ signed: { nonce } })).toBe(200);
    },
  );

  test.each([
    '',
    '-1',
    '1e9',
    '0x10',
    ' 5',
    `0${String(nowSeconds())}`,
    `${String(nowSeconds())}.0`,
    String(Date.now()),
    '9'.repeat(40),
  ])('a timestamp of another form is refused: %j', async (timestamp) => {
    expect(await statusOf({ signed: { timestamp } })).toBe(401);
  });

  test('a timestamp may be five minutes off, and no more', async () => {
    // The edge itself is tested with a clock that stands still; here a few seconds may pass.
    for (const offset of [-290, 290])
      expect(await statusOf({ signed: { timestamp: String(nowSeconds() + offset) } })).toBe(200);
    for (const offset of [-310, 310])
      expect(await statusOf({ signed: { timestamp: String(nowSeconds() + offset) } })).toBe(401);
  });
});

describe('a nonce', () => {
  test('is taken once by each key', async () => {
    const nonce = newNonce();
    expect(await statusOf({ signed: { nonce } })).toBe(200);
    expect(await statusOf({ signed: { nonce } })).toBe(401);
    expect(await statusOf({ signed: { nonce }, target: '/v3/movements' })).toBe(401);
    expect(await statusOf({ signed: { nonce }, key: shared.keys.operator })).toBe(200);
  });

  test('is not used up by a request that is not signed well', async () => {
    const nonce = newNonce();
    expect(await statusOf({ signed: { nonce, path: '/v3/other' } })).toBe(401);
    expect(await statusOf({ signed: { nonce, timestamp: String(nowSeconds() - 1_000) } })).toBe(
      401,
    );
    expect(await statusOf({ signed: { nonce } })).toBe(200);
  });

  test('is remembered for as long as a request with it may be in time, whatever is cleaned up meanwhile', async () => {
    const sent = { signed: { nonce: newNonce(), timestamp: String(nowSeconds() - 100) } };
    expect(await statusOf(sent)).toBe(200);
    // As if it had been sent 380 s ago, when its time was as far ahead as a request's may be.
    const seconds = {
      [sent.signed.nonce]: 380,
      [newNonce()]: 61,
      [newNonce()]: 659,
      [newNonce()]: 3 * 3_600,
    };
    for (const [nonce, ago] of Object.entries(seconds))
      await sql(
        `INSERT INTO nonce_registry (key_id, nonce, used_at)
          VALUES ($1, $2, svc_now() - make_interval(secs => $3))
         ON CONFLICT (key_id, nonce) DO UPDATE SET used_at = excluded.used_at`,
        [KEY.keyId, nonce, ago],
      );
    const kept = async (): Promise<readonly number[]> =>
      (
        await sql<{ nonce: string }>(
          'SELECT nonce FROM nonce_registry WHERE key_id = $1 AND nonce = ANY($2)',
          [KEY.keyId, Object.keys(seconds)],
        )
      )
        .map(({ nonce }) => seconds[nonce] ?? 0)
        .sort((a, b) => a - b);
    // The service's own, which looks at once when it starts.
    const db = connectDatabase({ url: shared.databaseUrl });
    const cleaner = startNonceCleaner({
      db,
      log: pino({ level: 'silent' }),
      leases: { under: (_lease, work) => work },
    });
    try {
      await waitFor(async () => (await kept()).length < 4);
    } finally {
      await cleaner.stop();
      await db.$disconnect();
    }
    expect(await kept()).toEqual([61, 380, 659]);
    expect(await statusOf(sent)).toBe(401);
  });

  test('is used up by a request that is refused for another reason', async () => {
    const nonce = newNonce();
    expect(await statusOf({ signed: { nonce }, target: '/v3/nowhere' })).toBe(404);
    expect(await statusOf({ signed: { nonce }, target: '/v3/nowhere' })).toBe(401);
  });
});

describe('an unsigned flood', () => {
  test('answers only that it is unauthenticated, and writes nothing', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        if (index % 3 === 0) return exchange('GET', '/v3/whoami', {});
        return attempt({ key: { keyId: `made-up-${String(index)}`, secret: 'x' } });
      }),
    );
    for (const answer of answers) expectRefusal(answer, 401, 'unauthenticated');
    expect(await sql("SELECT 1 FROM nonce_registry WHERE key_id LIKE 'made-up-%'")).toEqual([]);
    expect(await sql("SELECT 1 FROM audit_events WHERE entity_key LIKE 'made-up-%'")).toEqual([]);
  });

  test('leaves one audit row for a known key, reason and minute', async () => {
    const rows = () =>
      sql<{ reason: string; minute: Date; times: string }>(
        `SELECT reason, date_trunc('minute', occurred_at) AS minute, count(*) AS times
          FROM audit_events
         WHERE action = 'api_key.authenticate' AND entity_key = $1 GROUP BY 1, 2`,
        [shared.keys.agent.keyId],
      );
    await Promise.all(
      Array.from({ length: 50 }, () => attempt({ key: { ...shared.keys.agent, secret: 'wrong' } })),
    );
    const seen = await waitFor(async () => {
      const found = (await rows()).filter(({ reason }) => reason === 'signature_mismatch');
      return found.length > 0 && found;
    });
    // The fifty may have met a change of the minute.
    expect(seen.length).toBeLessThanOrEqual(2);
    expect(seen.map(({ times }) => Number(times)).every((times) => times <= 1)).toBe(true);
  });
});

test('paths outside the prefix need no signature, and tell nothing', async () => {
  expect((await exchange('GET', '/healthz', {})).status).toBe(200);
  expect((await exchange('GET', '/other', {})).status).toBe(404);
  expect((await exchange('GET', '/v3/nowhere', {})).status).toBe(401);
  expect((await exchange('GET', '/v3', {})).status).toBe(401);
});

test('the repeat of a create under a new signature is still one movement', async () => {
  const of = await gated();
  const body = {
    template_key: of.template_key,
    template_version: 1,
    intent: { asset: 'USDC', amount: '1' },
    idempotency_key: randomUUID(),
  };
  const first = await must<{ movement_id: string }>(201, post('/movements', body));
  expect((await must<{ movement_id: string }>(200, post('/movements', body))).movement_id).toBe(
    first.movement_id,
  );
});

test('six lines, one newline between each', () => {
  const parts = {
    method: 'GET',
    path: '/p',
    query: '',
    body: new Uint8Array(),
    timestamp: '1',
    nonce: 'n',
  };
  expect(canonicalString(parts).split('\n')).toHaveLength(6);
});
