/** The parts of the dashboard that need a clock or a file of one's own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createOperatorAuthentication } from '../../api/dashboard/authenticate.ts';
import { createNonces } from '../../api/dashboard/nonces.ts';
import { fileKeys } from '../../api/dashboard/operators.ts';
import type { SignedRequest } from '../../api/http/signed-request.ts';
import { parseTarget } from '../../api/http/target.ts';
import { readDashboardKeys, type DashboardKeys } from '../../platform/dashboard-keys.ts';
import type { Database } from '../../prisma/client.ts';
import { createSecretKey } from 'node:crypto';
import { VECTORS, type Vector } from '../clients/vectors.ts';

/** When the nonce is taken, by the database's clock. */
const AT = '2027-01-15 08:00:00+00';
const db = (fresh: boolean, taking: () => void): Database =>
  ({
    sql: () => {
      taking();
      return Promise.resolve(fresh ? [{ at: AT }] : []);
    },
    auditMac: () => null,
  }) as unknown as Database;
const authentication = (
  of: Vector,
  more: {
    readonly at?: number;
    readonly fresh?: boolean;
    readonly keys?: DashboardKeys | null;
    /** Runs when the nonce is taken. */
    readonly taking?: () => void;
  } = {},
) => {
  const { signed } = createOperatorAuthentication({
    db: db(more.fresh ?? true, more.taking ?? (() => undefined)),
    log: pino({ level: 'silent' }),
    keys: fileKeys(
      more.keys === undefined
        ? new Map([
            [
              of.operator,
              { secret: createSecretKey(of.secret, 'utf8'), role: 'allowlist', allowlist: true },
            ],
          ])
        : more.keys,
    ),
    maxSkewSeconds: 300,
    nonces: createNonces([createSecretKey('a', 'utf8')]),
    now: () => (Number(of.timestamp) + (more.at ?? 0)) * 1000,
  });
  return (sent: SignedRequest) => signed(sent, { issued: false });
};
const request = (of: Vector, body = Buffer.from(of.body_base64, 'base64')) => ({
  method: of.method,
  target: parseTarget(of.target),
  headers: {
    'x-svc-dashboard-operator': [of.operator],
    'x-svc-dashboard-timestamp': [of.timestamp],
    'x-svc-dashboard-nonce': [of.nonce],
    'x-svc-dashboard-signature': [of.signature],
  },
  body,
  request_id: 'r',
});

describe.each(VECTORS.dashboard)('the signature of another implementation: $name', (vector) => {
  test('is taken, in time and once', async () => {
    const id = `dashboard:${vector.operator}`;
    const caller = {
      client_id: id,
      key_id: id,
      role: 'allowlist',
      dashboard: { operator: vector.operator, allowlist: true },
      checked_at: AT,
    };
    for (const at of [-300, 0, 300])
      expect(await authentication(vector, { at })(request(vector))).toEqual(caller);
    const refused = (reason: string) => ({ code: 'unauthenticated', reason });
    for (const at of [-301, 301])
      await expect(authentication(vector, { at })(request(vector))).rejects.toMatchObject(
        refused('timestamp_out_of_range'),
      );
    await expect(authentication(vector, { fresh: false })(request(vector))).rejects.toMatchObject(
      refused('nonce_replayed'),
    );
    await expect(authentication(vector)(request(vector, Buffer.from('{}')))).rejects.toMatchObject(
      refused('signature_mismatch'),
    );
    await expect(
      authentication(vector, { keys: new Map() })(request(vector)),
    ).rejects.toMatchObject(refused('key_unknown'));
    const twice = {
      ...request(vector),
      headers: {
        ...request(vector).headers,
        'x-svc-dashboard-nonce': [vector.nonce, vector.nonce],
      },
    };
    await expect(authentication(vector)(twice)).rejects.toMatchObject(refused('header_repeated'));
  });

  test('is refused once its key has ended, or is another, when its nonce is taken', async () => {
    const key = (secret: string) => ({
      secret: createSecretKey(secret, 'utf8'),
      role: 'allowlist' as const,
      allowlist: true,
    });
    for (const after of [null, key('x'.repeat(40))]) {
      const keys = new Map([[vector.operator, key(vector.secret)]]);
      const taking = (): void => {
        keys.clear();
        if (after !== null) keys.set(vector.operator, after);
      };
      await expect(authentication(vector, { keys, taking })(request(vector))).rejects.toMatchObject(
        { code: 'unauthenticated', reason: 'key_unknown' },
      );
    }
  });

  test('is refused without any key', async () => {
    await expect(authentication(vector, { keys: null })(request(vector))).rejects.toMatchObject({
      code: 'dashboard_writes_disabled',
      status: 503,
    });
  });
});

describe('the file of keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-keys-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const secret = (letter: string): string => letter.repeat(32);
  const read = (content: string, expected = 2): DashboardKeys => {
    const file = join(folder, 'keys.json');
    writeFileSync(file, content);
    return readDashboardKeys(file, expected);
  };

  test('gives a key for each operator', () => {
    expect([...read(JSON.stringify({ a: secret('a'), 'b.2': secret('b') })).keys()]).toEqual([
      'a',
      'b.2',
    ]);
  });

  test('says what each operator may do', () => {
    const keys = read(
      JSON.stringify({
        plain: secret('a'),
        same: { secret: secret('b'), role: 'allowlist' },
        reader: { secret: secret('c'), role: 'allowlist', allowlist: false },
        operator: { secret: secret('d'), role: 'operator' },
        admin: { secret: secret('e'), role: 'admin', allowlist: true },
      }),
      5,
    );
    expect([...keys].map(([name, { role, allowlist }]) => [name, role, allowlist])).toEqual([
      ['plain', 'allowlist', true],
      ['same', 'allowlist', true],
      ['reader', 'allowlist', false],
      ['operator', 'operator', false],
      ['admin', 'admin', true],
    ]);
  });

  test.each(['svc', 'agent', 'root', undefined])('takes no operator of role %s', (role) => {
    expect(() => read(JSON.stringify({ a: { secret: secret('a'), role } }), 1)).toThrow(
      /a: the role must be one of allowlist, operator, admin; programs \(svc, agent\) sign with keys of the API$/,
    );
  });

  test.each<[string, unknown]>([
    ['a right that is no flag', { a: { secret: secret('a'), role: 'admin', allowlist: 'yes' } }],
    ['a field that is none', { a: { secret: secret('a'), role: 'admin', right: true } }],
    ['no secret', { a: { role: 'admin' } }],
    ['one secret for two roles', { a: secret('a'), b: { secret: secret('a'), role: 'admin' } }],
    ['too few', { a: secret('a') }],
    ['too many', { a: secret('a'), b: secret('b'), c: secret('c') }],
    ['a short secret', { a: secret('a'), b: 'b' }],
    ['a secret that is no text', { a: secret('a'), b: 12 }],
    ['one secret for two', { a: secret('a'), b: secret('a') }],
    ['a name that is none', { a: secret('a'), 'b c': secret('b') }],
    ['a list', [secret('a'), secret('b')]],
  ])('with %s is refused, and nothing of it is shown', (_name, content) => {
    expect(() => read(JSON.stringify(content))).toThrow(
      /^SVC_DASHBOARD_WRITER_KEYS_FILE: (?!.*aaaa)/,
    );
  });
  test('that is no JSON, or not there, is refused', () => {
    expect(() => read(secret('a'))).toThrow(
      /^SVC_DASHBOARD_WRITER_KEYS_FILE: the file is no JSON$/,
    );
    expect(() => readDashboardKeys(join(folder, 'none'), 2)).toThrow(/cannot be read \(ENOENT\)/);
  });
  test('with an operator twice is refused, though it would have as many as it should', () => {
    const one = JSON.stringify({ a: secret('a'), b: secret('b') });
    expect(() => read(`{"b":${JSON.stringify(secret('c'))},${one.slice(1)}`)).toThrow(
      /^SVC_DASHBOARD_WRITER_KEYS_FILE: an operator, or a field of one, is in the file more than once$/,
    );
  });
});
