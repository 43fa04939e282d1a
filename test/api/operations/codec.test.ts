/** The payload codec on the operators' listener, as Temporal's UI and CLI use it. */
import { createSecretKey } from 'node:crypto';
import { createOps } from '../../../api/operations/listener.ts';
import { createPayloadCodec } from '../../../platform/payload-codec.ts';
import { post, send, serve, type Served } from '../support.ts';

const UI = 'https://temporal.example:8233';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const PLAIN = { metadata: { encoding: base64('json/plain') }, data: base64('"movement 0190"') };

interface Payloads {
  readonly payloads: readonly {
    readonly metadata: Record<string, string>;
    readonly data: string;
  }[];
}

let served: Served;
let without: Served;
beforeAll(async () => {
  const codec = createPayloadCodec([{ id: 'k1', key: createSecretKey(Buffer.alloc(32, 1)) }]);
  served = await serve(
    createOps({ openapi: {}, signing: '', checks: {}, codec: { codec, uiOrigin: UI } }),
  );
  without = await serve(createOps({ openapi: {}, signing: '', checks: {} }));
});
afterAll(() => Promise.all([served.close(), without.close()]));

const call = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  post(`${served.url}/codec${path}`, body, headers);
const sealed = async (): Promise<Payloads> =>
  (await call('/encode', { payloads: [PLAIN] })).body as unknown as Payloads;

describe('the codec endpoint', () => {
  it('encrypts and makes readable again', async () => {
    const { payloads } = await sealed();
    expect(payloads).toEqual([
      {
        metadata: { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('k1') },
        data: expect.any(String),
      },
    ]);
    expect(Buffer.from(payloads[0]?.data ?? '', 'base64').toString('latin1')).not.toContain('0190');
    const { status, body } = await call(
      '/decode',
      { payloads: [...payloads, PLAIN] },
      { 'X-Namespace': 'default' },
    );
    expect([status, body]).toEqual([200, { payloads: [PLAIN, PLAIN] }]);
  });

  it('takes the namespace in the path, other base64 and absent parts', async () => {
    const [payload] = (await sealed()).payloads;
    const url = (payload?.data ?? '').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    expect(
      (await call('/team%2Fa/decode', { payloads: [{ ...payload, data: url }] })).body,
    ).toEqual({ payloads: [PLAIN] });
    const none = { metadata: { encoding: base64('binary/null') } };
    expect((await call('/decode', { payloads: [none] })).body).toEqual({
      payloads: [{ ...none, data: '' }],
    });
    expect((await call('/encode', {})).body).toEqual({ payloads: [] });
  });

  it('says why a payload cannot be read', async () => {
    const [payload] = (await sealed()).payloads;
    const other = {
      ...payload,
      metadata: { ...payload?.metadata, 'encryption-key-id': base64('k9') },
    };
    const { status, body } = await call('/decode', { payloads: [other] });
    expect([status, body.detail.error, body.detail.issues]).toEqual([
      422,
      'invalid_request',
      [
        {
          path: 'payloads',
          code: 'undecodable',
          message: 'the payload is encrypted with key "k9", which SVC_PAYLOAD_KEYS does not hold',
        },
      ],
    ]);
  });

  it('refuses what is no request of its kind', async () => {
    for (const body of [
      { payloads: 1 },
      { payloads: [{ data: 'a b' }] },
      { payloads: [{ metadata: { encoding: 1 } }] },
      '{',
      [],
      '',
    ])
      expect((await call('/decode', body)).status).toBe(422);
    expect(
      (await call('/decode', '{"payloads":[]}', { 'content-type': 'text/plain' })).status,
    ).toBe(415);
    const large = await call(
      '/encode',
      JSON.stringify({ payloads: [{ data: 'A'.repeat(8 * 1_048_576) }] }),
    );
    expect([large.status, large.body.detail.message]).toEqual([
      413,
      'The request body is larger than 8 MiB.',
    ]);
    const get = await send(`${served.url}/codec/decode`);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    for (const path of ['', '/', '/decode/', '/Decode', '/a/b/decode', '/other'])
      expect((await call(path, {})).status).toBe(404);
    expect(
      (await call('/encode', JSON.stringify({ payloads: [{ data: 'A'.repeat(4 * 1_048_576) }] })))
        .status,
    ).toBe(200);
  });

  it('is there only where payloads are encrypted', async () => {
    for (const path of ['encode', 'decode']) {
      const { status, body } = await post(`${without.url}/codec/${path}`, { payloads: [PLAIN] });
      expect([status, body.detail.error]).toEqual([404, 'route_not_found']);
    }
  });
});

describe('pages in a browser', () => {
  const preflight = (origin: string) =>
    fetch(`${served.url}/codec/decode`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
      },
    });

  it('may ask when they are the UI', async () => {
    const answer = await preflight(UI);
    expect([
      answer.status,
      answer.headers.get('access-control-allow-origin'),
      answer.headers.get('vary'),
    ]).toEqual([204, UI, 'Origin']);
    expect(answer.headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(
      /content-type.*x-namespace/,
    );
    const { status, headers } = await call('/decode', { payloads: [] }, { origin: UI });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, UI]);
    // The page must be able to read the reason, too.
    expect(
      (await call('/decode', { payloads: 1 }, { origin: UI })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe(UI);
  });

  it.each(['https://evil.example', 'http://temporal.example:8233', `${UI}.evil.example`, 'null'])(
    'may not when they are %s',
    async (origin) => {
      const preflighted = await preflight(origin);
      expect([preflighted.status, preflighted.headers.get('access-control-allow-origin')]).toEqual([
        403,
        null,
      ]);
      const { status, headers, body } = await call('/decode', await sealed(), { origin });
      expect([status, headers.get('access-control-allow-origin'), body['payloads']]).toEqual([
        403,
        null,
        undefined,
      ]);
    },
  );
});
