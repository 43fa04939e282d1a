/** The parts of authentication that need a clock, a faulty database or a flood of one's own. */
import { createAuthenticator } from '../../api/auth/authenticate.ts';
import { createKeyRing } from '../../api/auth/key-ring.ts';
import { createNonceDesk } from '../../api/auth/nonce-desk.ts';
import { createRateLimit } from '../../api/auth/rate-limit.ts';
import { createRefusalRecorder } from '../../api/auth/record-refusal.ts';
import { AuthenticationError } from '../../api/auth/refusal.ts';
import { withExtensions } from '../../api/extension.ts';
import { routes } from '../../venues/routes.ts';
import { signatureHeaders } from '../../clients/http/index.ts';
import type { Caller } from '../../domain/roles.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import type { KeyNonce } from '../../store/request-nonces.ts';
import { pino } from 'pino';

const KEY = { keyId: 'k', secret: 's'.repeat(40) };
const NOW = 1_800_000_000_000;
const taken = {
  client_id: 'c',
  role: 'operator',
  authority_key: null,
  fresh: true,
  checked_at: '2027-01-15 08:00:00+00',
} as const;

describe('the clock', () => {
  const authenticate = createAuthenticator({
    keys: createKeyRing({ read: () => Promise.resolve(KEY.secret) }),
    nonces: { take: () => Promise.resolve(taken) },
    maxSkewSeconds: 300,
    now: () => NOW + 999,
  });
  const at = async (offset: number) => {
    const request = { method: 'GET', url: 'http://h/v3/whoami' };
    const headers = await signatureHeaders(KEY, request, {
      timestamp: String(NOW / 1000 + offset),
    });
    return authenticate({
      method: 'GET',
      target: { path: '/v3/whoami', query: '' },
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
      ),
      body: new Uint8Array(),
      request_id: 'r',
    });
  };

  test.each([-300, -299, 0, 300])('%d s off is in time', async (offset) => {
    const { client_id, role, checked_at } = taken;
    expect(await at(offset)).toEqual({ client_id, key_id: 'k', role, checked_at });
  });

  test.each([-301, 301, -100_000, 100_000])('%d s off is not', async (offset) => {
    await expect(at(offset)).rejects.toMatchObject({
      code: 'unauthenticated',
      reason: 'timestamp_out_of_range',
      keyId: 'k',
    });
  });
});

describe('the key ring', () => {
  test('opens a key once, however many ask at the same time', async () => {
    let reads = 0;
    const ring = createKeyRing({ read: () => ((reads += 1), Promise.resolve(KEY.secret)) });
    await Promise.all(Array.from({ length: 50 }, () => ring.secretOf('k')));
    await ring.secretOf('k');
    expect(reads).toBe(1);
  });

  test('asks again for an unknown key a second later, so that a new key soon works', async () => {
    let now = 0;
    let text: string | null = null;
    const ring = createKeyRing({ read: () => Promise.resolve(text), now: () => now });
    expect(await ring.secretOf('k')).toBeNull();
    text = KEY.secret;
    expect(await ring.secretOf('k')).toBeNull();
    now = 1_001;
    expect(await ring.secretOf('k')).not.toBeNull();
  });

  test('a flood of made-up ids reads a few at a time', async () => {
    let active = 0;
    let most = 0;
    const ring = createKeyRing({
      read: async () => {
        most = Math.max(most, (active += 1));
        await new Promise((resolve) => setTimeout(resolve, 1));
        active -= 1;
        return null;
      },
    });
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => ring.secretOf(`made-up-${String(index)}`)),
    );
    expect(most).toBeLessThanOrEqual(4);
  });

  test('a read that failed is tried again', async () => {
    let fails = true;
    const ring = createKeyRing({
      read: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(KEY.secret)),
    });
    await expect(ring.secretOf('k')).rejects.toThrow('away');
    fails = false;
    expect(await ring.secretOf('k')).not.toBeNull();
  });
});

describe('the nonce desk', () => {
  test('gathers requests into few statements, and gives the same pair to one of them', async () => {
    const statements: (readonly KeyNonce[])[] = [];
    const desk = createNonceDesk(async (batch) => {
      statements.push(batch);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return batch.map(() => taken);
    });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        desk.take({ key_id: 'k', nonce: `n${String(Math.floor(index / 2))}` }),
      ),
    );
    expect(statements.map((batch) => batch.length)).toEqual([100]);
    expect(new Set(statements[0]!.map(({ nonce }) => nonce)).size).toBe(100);
    expect(answers.filter((answer) => answer?.fresh === false).length).toBe(100);
  });

  test('a failed statement fails the requests in it, and no others', async () => {
    let fails = true;
    const desk = createNonceDesk((batch) =>
      fails ? Promise.reject(new Error('away')) : Promise.resolve(batch.map(() => taken)),
    );
    await expect(desk.take({ key_id: 'k', nonce: 'a' })).rejects.toThrow('away');
    fails = false;
    expect(await desk.take({ key_id: 'k', nonce: 'a' })).toEqual(taken);
  });
});

describe('the rate limit', () => {
  const caller = (key_id: string, role: Caller['role']): Caller => ({
    client_id: 'c',
    key_id,
    role,
  });

  test('counts each key for itself, by the tier of its role', async () => {
    const limit = createRateLimit({ readRpm: 3, writeRpm: 1 });
    const times = async (who: Caller) => {
      for (let passed = 0; ; passed += 1) if ((await limit(who)) !== null) return passed;
    };
    expect(await Promise.all([times(caller('a', 'agent')), times(caller('b', 'agent'))])).toEqual([
      3, 3,
    ]);
    expect([await times(caller('c', 'operator')), await times(caller('d', 'admin'))]).toEqual([
      1, 1,
    ]);
  });

  test('tells the whole seconds to the end of the window', async () => {
    const limit = createRateLimit({ readRpm: 1, writeRpm: 1 });
    await limit(caller('a', 'admin'));
    expect(await limit(caller('a', 'admin'))).toBe(60);
  });
});

describe('the record of refusals', () => {
  const recorder = () => {
    let now = NOW;
    const rows: { readonly id: string; readonly entry: AuditEntry }[] = [];
    const record = createRefusalRecorder({
      log: pino({ level: 'silent' }),
      write: (id, entry) => (rows.push({ id, entry }), Promise.resolve()),
      now: () => now,
    });
    return { record, rows, wait: (ms: number) => (now += ms) };
  };

  test('has one row for each reason, known key and minute, under an id that every process gives it', () => {
    const [one, other] = [recorder(), recorder()];
    for (const each of [one, other]) {
      for (let times = 0; times < 20; times += 1)
        each.record(new AuthenticationError('nonce_replayed', 'k'), 'r');
      each.record(new AuthenticationError('nonce_replayed', 'l'), 'r');
      each.record(new AuthenticationError('key_revoked', 'k'), 'r');
      each.record(new AuthenticationError('key_unknown'), 'r');
      each.wait(60_000);
      each.record(new AuthenticationError('nonce_replayed', 'k'), 'r');
    }
    expect(one.rows.map(({ entry }) => `${entry.entity_key} ${entry.reason ?? ''}`)).toEqual([
      'k nonce_replayed',
      'l nonce_replayed',
      'k key_revoked',
      'k nonce_replayed',
    ]);
    expect(new Set(one.rows.map(({ id }) => id)).size).toBe(4);
    expect(other.rows.map(({ id }) => id)).toEqual(one.rows.map(({ id }) => id));
  });
});

describe('an extension', () => {
  const [first] = routes;
  const bare = { ...first!, id: 'extra', path: '/extra', roles: [] };

  test('adds routes and the roles of routes that have none', () => {
    const table = withExtensions(routes, [
      { name: 'x', routes: [bare], roles: { extra: ['admin'] } },
    ]);
    expect(table.find((route) => route.id === 'extra')?.roles).toEqual(['admin']);
    expect(
      withExtensions(routes, [{ name: 'x', routes: [bare] }]).find((route) => route.id === 'extra')
        ?.roles,
    ).toEqual([]);
  });

  test('does not open what is mapped, or what there is not', () => {
    expect(() => withExtensions(routes, [{ name: 'x', roles: { whoami: ['agent'] } }])).toThrow(
      'has its own',
    );
    expect(() => withExtensions(routes, [{ name: 'x', roles: { nothing: ['agent'] } }])).toThrow(
      'no route',
    );
    expect(() =>
      withExtensions(
        [bare],
        [
          { name: 'x', roles: { extra: ['admin'] } },
          { name: 'y', roles: { extra: ['agent'] } },
        ],
      ),
    ).toThrow();
  });
});
