import { ServiceError } from '../../domain/errors.ts';
import { toAnswer } from '../../api/http/errors.ts';
import { decodeCursor, encodeCursor, fetchPage } from '../../api/http/paging.ts';
import { workflowOf } from '../../api/movements/detail.ts';
import { withoutSecrets } from '../../api/redact.ts';
import { createLogger } from '../../platform/log.ts';
import { differingFields } from '../../api/http/differences.ts';
import { normalForm } from '../../api/movements/request.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import { createBody, isCallbackUrl } from '../../api/movements/schema.ts';
import { dependencies, post, send, serveApi } from './support.ts';
import { started } from '../support/started.ts';

let api: string;
const served = started(() => serveApi(movementRoutes));
beforeAll(() => {
  api = `${served.url}/v3/movements`;
});

const valid = {
  template_key: 't',
  template_version: 1,
  intent: { asset: 'usdc', amount: '10.50' },
};

describe('creating', () => {
  it.each([
    ['template_key', { ...valid, template_key: '' }],
    ['template_version', { ...valid, template_version: 0 }],
    ['intent.amount', { ...valid, intent: { asset: 'USDC', amount: '0' } }],
    ['intent.amount', { ...valid, intent: { asset: 'USDC', amount: 10 } }],
    ['intent.asset', { ...valid, intent: { asset: 'x'.repeat(33), amount: '1' } }],
    ['intent.foo', { ...valid, intent: { ...valid.intent, foo: 1 } }],
    ['input_params', { ...valid, input_params: [] }],
    ['approval_ttl_seconds', { ...valid, approval_ttl_seconds: 0 }],
    ['approval_ttl_seconds', { ...valid, approval_ttl_seconds: 604_801 }],
    ['callback_url', { ...valid, callback_url: 'http://example.com/x' }],
    ['callback_url', { ...valid, callback_url: 'ftp://127.0.0.1/x' }],
    ['idempotency_key', { ...valid, idempotency_key: 'x'.repeat(129) }],
    ['labels.a', { ...valid, labels: { a: 1 } }],
    [
      'input_params.node_config.amount',
      { ...valid, input_params: { node_config: { amount: '1,000' } } },
    ],
    ['strategy_id', { ...valid, strategy_id: '' }],
  ])('refuses %s before anything is read', async (path, body) => {
    const answer = await post(api, body);
    expect([answer.status, answer.body.detail.issues?.map((issue) => issue.path)]).toEqual([
      422,
      [path],
    ]);
  });

  it('refuses keys that differ, a key that is too long, and a Dry-Run that is neither true nor false', async () => {
    const differ = await post(api, { ...valid, idempotency_key: 'a' }, { 'idempotency-key': 'b' });
    expect([differ.status, differ.body.detail.issues?.[0]?.path]).toEqual([422, 'idempotency_key']);
    expect((await post(api, valid, { 'idempotency-key': 'x'.repeat(129) })).status).toBe(422);
    for (const value of ['yes', 'TRUE', '1', '?1', '', 'true, true']) {
      const { status, body } = await post(
        api,
        { ...valid, template_version: 0 },
        { 'dry-run': value },
      );
      expect([value, status, body.detail.issues?.map((issue) => issue.path)]).toEqual([
        value,
        422,
        ['template_version', 'dry-run'],
      ]);
    }
  });

  it('takes https, and http to this machine alone', () => {
    for (const url of [
      'https://a.example/x',
      'http://localhost:1/',
      'http://127.0.0.1/',
      'http://[::1]:9/',
    ])
      expect(isCallbackUrl(url)).toBe(true);
    for (const url of [
      'http://a.example/',
      'http://127.0.0.1.a.example/',
      'https://u:p@a.example/',
      'x',
      'javascript:1',
    ])
      expect(isCallbackUrl(url)).toBe(false);
  });

  it('compares requests in their normal form', () => {
    const first = normalForm(createBody.parse(valid));
    const same = normalForm(
      createBody.parse({
        ...valid,
        intent: { amount: '10.5', asset: 'USDC' },
        labels: {},
        input_params: {},
      }),
    );
    expect(differingFields(first, same)).toEqual([]);
    const other = normalForm(
      createBody.parse({
        ...valid,
        intent: { asset: 'USDC', amount: '11', chain_id: 1 },
        strategy_id: 's',
      }),
    );
    expect(differingFields(first, other)).toEqual([
      'intent.amount',
      'intent.chain_id',
      'strategy_id',
    ]);
  });
});

describe('reading and acting', () => {
  it.each([
    '?state=DONE',
    '?limit=0',
    '?limit=201',
    '?limit=1.5',
    '?limit=',
    '?cursor=zzz',
    '?cursor=',
    '?created_from=2026-02-31T00:00:00Z',
    '?created_from=0000-01-01T00:00:00Z',
    '?created_from=0001-01-01T00:00:00%2B10:00',
    '?created_to=9999-12-31T23:59:59-10:00',
    '?created_to=9999-12-31T23:59:59.9999Z',
    '?unknown=1',
  ])('refuses the list query %s', async (query) => {
    expect((await send(api + query)).status).toBe(422);
  });

  it.each(['/x', '/x/timeline'])('refuses the id of GET %s', async (path) => {
    expect((await send(api + path)).body.detail.issues).toEqual([
      expect.objectContaining({ path: 'movement_id' }),
    ]);
  });

  it.each(['approve', 'reject', 'actions/resume', 'actions/retry', 'actions/cancel'])(
    'refuses an unknown field and id of %s',
    async (verb) => {
      const { status, body } = await post(`${api}/x/${verb}`, { foo: 1 });
      expect(status).toBe(422);
      expect(body.detail.issues?.map((issue) => issue.path)).toEqual(
        expect.arrayContaining(['movement_id', 'foo']),
      );
    },
  );

  it('answers an unexpected fault of the database without a word of it', async () => {
    const { status, body } = await send(`${api}/01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10`);
    expect([status, body.detail.error]).toEqual([500, 'internal_error']);
    expect(JSON.stringify(body)).not.toContain('database was used');
  });
});

describe('pages', () => {
  const at = (n: number): { created_at: string; id: string } => ({
    created_at: `2026-01-01T00:00:00.00${String(n)}Z`,
    id: `01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f1${String(n)}`,
  });

  it('goes on after the last item and ends with null', async () => {
    const rows = [at(3), at(2), at(1)];
    const fetch = ({ limit, after }: { limit: number; after: { id: string } | null }) => {
      const from = after === null ? 0 : rows.findIndex((row) => row.id === after.id) + 1;
      return Promise.resolve(rows.slice(from, from + limit));
    };
    const first = await fetchPage({ limit: 2 }, fetch, (row) => row);
    expect(first.items).toEqual(rows.slice(0, 2));
    const cursor = decodeCursor(first.next_cursor ?? '');
    expect(cursor).toEqual(at(2));
    const second = await fetchPage({ limit: 2, cursor: cursor ?? undefined }, fetch, (row) => row);
    expect(second).toEqual({ items: [at(1)], next_cursor: null });
  });

  it('takes no cursor that it did not give', () => {
    const text = (value: unknown): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const bad of [
      '',
      '!',
      text({}),
      text({ created_at: 'x', id: 'y' }),
      text({ ...at(1), more: 1 }),
      text(null),
      ...['2026-13-01', '2026-02-31', '0000-01-01'].map((day) =>
        encodeCursor({ created_at: `${day}T00:00:00.000Z`, id: at(1).id }),
      ),
    ]) {
      expect(decodeCursor(bad)).toBeNull();
    }
  });
});

describe('views', () => {
  it('hides secrets and raw signed payloads at any depth', () => {
    expect(
      withoutSecrets({
        tx_hash: '0x1',
        raw_tx: '0xff',
        list: [{ signature: '0x2', ok: 1 }],
        sign_result: { a: 1 },
        none: null,
      }),
    ).toEqual({
      tx_hash: '0x1',
      raw_tx: '[redacted]',
      list: [{ signature: '[redacted]', ok: 1 }],
      sign_result: '[redacted]',
      none: null,
    });
  });

  it.each([
    'hmac_secret',
    'password',
    'auth_token',
    'X-SVC-Signature',
    'privateKey',
    'Authorization',
    'Set-Cookie',
    'credentials',
    'rawTransaction',
    'signed-tx',
    'sign_result',
    'apiKey',
    'mnemonic',
    'seed',
    'seed_phrase',
    'passphrase',
  ])('hides %s as a log does', (name) => {
    const lines: string[] = [];
    createLogger({ logLevel: 'info' }, 'test', { write: (line) => void lines.push(line) }).info({
      [name]: 'abc',
    });
    expect([withoutSecrets({ [name]: 'abc' })[name], lines.join('')]).toEqual([
      '[redacted]',
      expect.not.stringContaining('abc'),
    ]);
  });

  it('shows names that only begin like those', () => {
    const plain = {
      token_address: '0x1',
      nonce: 4,
      key_id: 'k',
      seeds: 2,
      signer_key: 's',
      tx_hash: `0x${'ab'.repeat(32)}`,
    };
    expect(withoutSecrets(plain)).toEqual(plain);
  });

  it('links the workflow', () => {
    const { settings } = dependencies({ temporalUiUrl: 'http://ui/' });
    expect(workflowOf('m', null, settings).ui_url).toBe(
      'http://ui/namespaces/default/workflows/movement%2Fm',
    );
    expect(workflowOf('m', 'r', settings)).toEqual({
      namespace: 'default',
      workflow_id: 'movement/m',
      run_id: 'r',
      ui_url: 'http://ui/namespaces/default/workflows/movement%2Fm/r/history',
    });
  });

  it('never lets a context replace the code of an error', () => {
    expect(toAnswer('a string that was thrown', 'r').body.detail).toMatchObject({
      error: 'internal_error',
    });
    const error = new ServiceError('binding_unavailable', {
      context: { error: 'other', bindings: [] },
    });
    expect(toAnswer(error, 'r').body.detail).toEqual({
      error: 'binding_unavailable',
      message: error.message,
      bindings: [],
    });
  });
});
