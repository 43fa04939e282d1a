import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  loadVenueBindings,
  parseVenueBindings,
  VenueBindingsError,
} from '../../../venues/bindings.ts';
import { readCredentials } from '../../../venues/cex/credentials.ts';
import { DIALECTS } from '../../../venues/cex/dialects/index.ts';
import { createCexExecutors } from '../../../venues/cex/executors.ts';
import { accountsOf, openDesk } from './support/desk.ts';
import { started } from '../../support/started.ts';

const KEY = { api_key: 'the-api-key-itself', secret: 'the-secret-itself' };
const desk = started(() => openDesk());

const master = {
  venue_key: 'm',
  provider: 'ccxt',
  exchange: 'binance',
  account_role: 'master',
  account: 'm@x.io',
  credentials_file: 'm.json',
};
const sub = {
  venue_key: 's',
  provider: 'ccxt',
  exchange: 'binance',
  account_role: 'sub',
  account: 's@x.io',
  master: 'm',
};
const SERVED_AT = { url: 'http://127.0.0.1:9', auth_token_file: 'm.token' };

function faultsOf(...venues: object[]): readonly string[] {
  try {
    parseVenueBindings({ venues });
    return [];
  } catch (error) {
    if (error instanceof VenueBindingsError) return error.faults;
    throw error;
  }
}

describe('a binding of an exchange', () => {
  test('has its defaults', () => {
    expect(parseVenueBindings({ venues: [master, sub] })[0]).toEqual({
      ...master,
      sandbox: false,
      account_types: ['SPOT', 'USDT_FUTURE', 'FUNDING'],
      exclusive: false,
      withdrawal_whitelist: true,
      timeout_seconds: 10,
    });
  });

  test('may have a task queue of its own, whose rate and slots are bounded', () => {
    const queue = { per_second: 0.5, slots: 2 };
    expect(parseVenueBindings({ venues: [{ ...master, queue }] })[0]?.queue).toEqual(queue);
    const wrong = [{ per_second: 0 }, { slots: 0 }, { slots: 1.5 }, { slots: 1_001 }];
    for (const field of wrong)
      expect(faultsOf({ ...master, queue: { ...queue, ...field } })).toEqual([
        expect.stringMatching(/^venues\[0\]\.queue\.(per_second|slots): /),
      ]);
  });

  test.each<[string, object[]]>([
    [
      'venues[1].account_types[1]: binance does not show FUNDING with the key of this binding',
      [master, { ...sub, account_types: ['SPOT', 'FUNDING'] }],
    ],
    [
      'venues[0].account_types[0]: binance does not show FUND with the key of this binding',
      [{ ...master, account_types: ['FUND'] }],
    ],
    [
      `venues[0].exchange: must be ${[...DIALECTS.keys()].join(', ')}`,
      [{ ...master, exchange: 'mtgox' }],
    ],
    ['venues[0].credentials_file: is needed without a master', [{ ...sub, master: undefined }]],
    [
      'venues[0].credentials_file: must not be here: the process of served_at has the keys',
      [{ ...master, served_at: SERVED_AT }],
    ],
    [
      'venues[1].served_at: must not be here: a sub-account is served where its master is',
      [
        { ...master, credentials_file: undefined, served_at: SERVED_AT },
        { ...sub, served_at: SERVED_AT },
      ],
    ],
    [
      'venues[0].base_url: must not be here: it counts in the venues file of the process that has the keys',
      [
        {
          ...master,
          credentials_file: undefined,
          served_at: SERVED_AT,
          base_url: 'https://exchange.x.io',
        },
      ],
    ],
    [
      'venues[0].account_types: must not be here: it counts in the venues file of the process that has the keys',
      [
        {
          ...master,
          credentials_file: undefined,
          served_at: SERVED_AT,
          account_types: ['SPOT'],
        },
      ],
    ],
    [
      'venues[1].account_types: must not be here: it counts in the venues file of the process that has the keys',
      [
        { ...master, credentials_file: undefined, served_at: SERVED_AT },
        { ...sub, account_types: ['SPOT'] },
      ],
    ],
    [
      `venues[1].credentials_file: belongs into the venues file of the process that serves ${sub.master}`,
      [
        { ...master, credentials_file: undefined, served_at: SERVED_AT },
        { ...sub, credentials_file: 'sub.json' },
      ],
    ],
    [
      'venues[0].served_at.url: must be an https URL, or an http URL of this machine, without user, query and fragment',
      [
        {
          ...master,
          credentials_file: undefined,
          served_at: { ...SERVED_AT, url: 'http://10.0.0.5' },
        },
      ],
    ],
    ['venues[0].master: is for sub-accounts only', [{ ...master, master: 'm' }]],
    [
      "venues[1].account: must be the sub-account's e-mail address",
      [master, { ...sub, account: '12345' }],
    ],
    ['venues[0].master: m is not an exchange account of this file', [sub]],
    [
      'venues[1].master: m is not a master account',
      [
        { ...sub, venue_key: 'm', account: 'o@x.io', master: undefined, credentials_file: 'o' },
        sub,
      ],
    ],
    [
      'venues[1].master: m has another exchange, sandbox or base_url',
      [master, { ...sub, sandbox: true }],
    ],
    [
      'venues[1].account: this account of binance is already bound above',
      [master, { ...master, venue_key: 'm2', account: 'M@x.io' }],
    ],
  ])('is refused: %s', (fault, venues) => {
    expect(faultsOf(...venues)).toEqual([fault]);
  });

  const bound = (exchange: string, changes: object = {}) => ({ ...master, exchange, ...changes });

  test('of an exchange without an address book says that none is checked', () => {
    const fault =
      'venues[0].withdrawal_whitelist: must be false: the exchange shows no address book';
    expect(faultsOf(bound('coinbase'))).toEqual([fault]);
    expect(faultsOf(bound('coinbase', { withdrawal_whitelist: false }))).toEqual([]);
    // The book is read, or the exchange itself enforces it.
    for (const exchange of ['binance', 'bybit', 'kraken', 'okx'])
      expect(faultsOf(bound(exchange))).not.toContain(fault);
  });

  test.each([
    'http://exchange.example',
    'https://user:pass@exchange.example',
    'https://exchange.example/?key=1',
    'ftp://127.0.0.1',
    'x',
  ])('does not send keys to %s', (base_url) => {
    expect(faultsOf({ ...master, base_url }).map((fault) => fault.split(':')[0])).toEqual([
      'venues[0].base_url',
    ]);
  });

  test('may go through https, and through this machine', () => {
    for (const base_url of [
      'https://proxy.example/binance',
      'http://127.0.0.1:9999',
      'http://[::1]:9999',
    ]) {
      expect(faultsOf({ ...master, base_url })).toEqual([]);
    }
  });

  test('brings its executors; without one there are none', () => {
    expect(createCexExecutors(accountsOf([]))).toEqual([]);
    expect(
      createCexExecutors(desk.accounts()).map(({ descriptor }) => [
        descriptor.executor_key,
        descriptor.action_types,
      ]),
    ).toEqual([
      ['ccxt.withdrawal', ['cex_withdrawal']],
      ['ccxt.internal_transfer', ['cex_internal_transfer']],
      ['ccxt.deposit_observe', ['cex_deposit_observe']],
    ]);
  });
});

describe('a key file', () => {
  const faultOf = (path: string) =>
    readCredentials(path).then(
      () => 'none',
      (error: Error) => `${error.name}: ${error.message.replaceAll(desk.folder, '')}`,
    );

  test('is read when it is of mode 600 and ours', async () => {
    const credentials = await readCredentials(await desk.keyFile('good.json', KEY));
    expect([
      credentials.api_key.reveal(),
      credentials.secret.reveal(),
      credentials.password,
    ]).toEqual([KEY.api_key, KEY.secret, undefined]);
    expect(await faultOf(await desk.keyFile('read-only.json', KEY, 0o400))).toBe('none');
  });

  test.each([0o640, 0o604, 0o660, 0o622, 0o700])('is refused with mode %i', async (mode) => {
    const path = await desk.keyFile('open.json', KEY);
    await chmod(path, mode);
    expect(await faultOf(path)).toContain(
      `/open.json has mode ${mode.toString(8)}; only its owner may read it: chmod 600`,
    );
  });

  test('is refused when it is a folder, a link, missing or too large', async () => {
    await mkdir(join(desk.folder, 'folder'), { mode: 0o700 });
    expect(await faultOf(join(desk.folder, 'folder'))).toContain('is not a regular file');
    await symlink(await desk.keyFile('target.json', KEY), join(desk.folder, 'link.json'));
    expect(await faultOf(join(desk.folder, 'link.json'))).toContain('cannot be opened (ELOOP)');
    expect(await faultOf(join(desk.folder, 'none.json'))).toContain('cannot be opened (ENOENT)');
    expect(await faultOf(await desk.keyFile('large.json', 'x'.repeat(20_000)))).toContain(
      'is too large',
    );
  });

  test.each<[string, unknown, string]>([
    ['no JSON', '{"api_key": "the-secret-itself', 'is not valid JSON'],
    [
      'a field twice',
      '{"api_key":"one-itself","secret":"it-itself","secret":"another-itself"}',
      'has a name more than once',
    ],
    ['a field short', { api_key: 'the-api-key-itself' }, ': secret: must be a string'],
    ['an empty field', { ...KEY, secret: '' }, ': secret: must not be empty'],
    [
      'more than it should',
      { ...KEY, 'the-secret-itself': 1 },
      ': it holds more than api_key, secret and password',
    ],
    ['a number', { ...KEY, secret: 5 }, ': secret: must be a string'],
  ])('with %s is refused without its values', async (_name, content, fault) => {
    const problem = await faultOf(await desk.keyFile('bad.json', content));
    expect(problem).toContain(fault);
    expect(problem).not.toContain('itself');
  });

  test('is refused in a form that its exchange does not take', async () => {
    const path = await desk.keyFile('form.json', KEY);
    const form = { credentialsFault: () => 'secret must be a PEM' };
    await expect(readCredentials(path, form)).rejects.toMatchObject({
      name: 'CredentialsError',
      message: `${path}: secret must be a PEM`,
    });
    await expect(readCredentials(path, {})).resolves.toHaveProperty('api_key');
    await desk.keyFile('c.json', KEY);
    const file = join(desk.folder, 'coinbase.json');
    const venue = { exchange: 'coinbase', withdrawal_whitelist: false, credentials_file: 'c.json' };
    await writeFile(file, JSON.stringify({ venues: [{ ...master, ...venue }] }));
    await expect(loadVenueBindings(file)).rejects.toMatchObject({
      faults: [expect.stringMatching(/^venues\[0\]\.credentials_file: .*: api_key must be/)],
    });
  });

  test('is found beside the venues file, and every fault is placed', async () => {
    await desk.keyFile('m.json', KEY);
    const file = join(desk.folder, 'venues.json');
    await writeFile(file, JSON.stringify({ venues: [master, sub] }));
    expect(await loadVenueBindings(file)).toMatchObject([
      { credentials_file: join(desk.folder, 'm.json') },
      { venue_key: 's' },
    ]);
    await chmod(join(desk.folder, 'm.json'), 0o644);
    await writeFile(
      file,
      JSON.stringify({ venues: [master, { ...sub, credentials_file: 'none.json' }] }),
    );
    await expect(loadVenueBindings(file)).rejects.toMatchObject({
      faults: [
        expect.stringMatching(/^venues\[0\]\.credentials_file: .* has mode 644/),
        expect.stringMatching(/^venues\[1\]\.credentials_file: .*ENOENT/),
      ],
    });
  });
});
