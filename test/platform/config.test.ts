/** Settings: what is taken, what stops the start, and that no fault shows a secret. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PORT_SETTINGS, ROOT } from '../../dev/stack/ports.ts';
import { ConfigError, readConfig, type Config } from '../../platform/config.ts';
import type { ProcessRole } from '../../platform/config/role.ts';
import { fileNameOf, IGNORED_NAMES } from '../../platform/config/names.ts';
import { SETTING_LIST, SETTINGS } from '../../platform/config/settings.ts';

const BASE = { SVC_DATABASE_URL: 'postgresql://localhost/x', SVC_AUTH_ENABLED: 'false' };
const folder = mkdtempSync(join(tmpdir(), 'config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function faults(settings: NodeJS.ProcessEnv, base: NodeJS.ProcessEnv = BASE): readonly string[] {
  try {
    readConfig({ ...base, ...settings });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('settings', () => {
  it('have the documented values by default', () => {
    expect(readConfig(BASE)).toMatchObject({
      host: '127.0.0.1',
      port: 8100,
      opsPort: 9465,
      apiPrefix: '/v3',
      approvalTtlSeconds: 7_200,
      authMaxSkewSeconds: 300,
      rateLimitReadRpm: 300,
      rateLimitWriteRpm: 60,
      edition: 'commercial',
      workersEnabled: true,
      workerSlots: 200,
      signerBackend: undefined,
      localSignersForced: false,
      payloadKeys: [],
      callbackHosts: [],
      tracing: null,
    });
  });

  it('that are wrong are reported together, with rules between settings and unknown names', () => {
    const found = faults({
      SVC_PORT: 'x',
      SVC_EDITION: 'paid',
      SVC_HOST: '0.0.0.0',
      SVC_NOTHING_LIKE_IT: '1',
      SVC_DATABASE_URL: '',
    });
    expect(found.map((fault) => fault.split(':')[0])).toEqual([
      'SVC_NOTHING_LIKE_IT',
      'SVC_DATABASE_URL',
      'SVC_PORT',
      'SVC_EDITION',
      'SVC_HOST',
    ]);
  });

  it('that are empty count as unset', () => {
    expect(
      readConfig({
        ...BASE,
        SVC_PORT: '',
        SVC_SECRETS_KEY: '',
        SVC_SECRETS_KEY_FILE: '',
        SVC_UNHEARD_OF: '',
      }).port,
    ).toBe(8100);
  });

  it('limit no caller without authentication, whatever the limiter is set to', () => {
    expect(readConfig({ ...BASE, SVC_RATE_LIMIT_ENABLED: 'true' }).rateLimitEnabled).toBe(false);
  });

  it('ask for a key of the callers’ secrets where requests are signed', () => {
    const signed = { SVC_AUTH_ENABLED: 'true' };
    expect(faults(signed)).toContainEqual(expect.stringMatching(/^SVC_SECRETS_KEY: /));
    expect(
      faults({ ...signed, SVC_SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') }),
    ).not.toContainEqual(expect.stringMatching(/^SVC_SECRETS_KEY: /));
  });

  it.each(['0', '3601', '-1', '1.5', '1e2', ' 5'])('refuse a skew of "%s"', (seconds) => {
    expect(faults({ SVC_AUTH_MAX_SKEW_SECONDS: seconds })).toHaveLength(1);
  });

  it('of tracing are read together', () => {
    const tracing = {
      SVC_TRACING_OTLP_URL: 'http://collector:4318/v1/traces',
      SVC_TRACING_OTLP_HEADERS: 'api-key=a%20b,x=1',
    };
    expect(readConfig({ ...BASE, ...tracing, SVC_TRACING_SAMPLE_RATIO: '0.25' }).tracing).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: { 'api-key': 'a b', x: '1' },
      sampleRatio: 0.25,
    });
    for (const ratio of ['1.5', '-0.1', '.', '', 'all'].filter((text) => text !== ''))
      expect(faults({ ...tracing, SVC_TRACING_SAMPLE_RATIO: ratio })).toHaveLength(1);
    expect(faults({ SVC_TRACING_OTLP_HEADERS: 'a=b' })).toEqual([
      expect.stringContaining('SVC_TRACING_OTLP_URL'),
    ]);
  });
});

describe('a process of a role', () => {
  const away = join(folder, 'away');
  const key = Buffer.alloc(32, 1).toString('base64');
  const hosts = { SVC_CALLBACK_ALLOWED_HOSTS_CSV: 'hooks.test' };
  /** Files of its own are there, files of the other role are not. */
  const read = (role: ProcessRole, settings: NodeJS.ProcessEnv) =>
    readConfig({ SVC_DATABASE_URL: BASE.SVC_DATABASE_URL, ...settings }, role);

  it('opens only the secrets of its role', () => {
    const api = read('api', {
      ...hosts,
      SVC_SECRETS_KEY_FILE: file('secrets', key),
      SVC_CALLBACK_HMAC_SECRET_FILE: away,
    });
    expect([api.secretsKeys.length, api.callbackSigner]).toEqual([1, null]);
    const worker = read('worker', {
      ...hosts,
      SVC_AUDIT_KEY_FILE: file('audit', key),
      SVC_SECRETS_KEY_FILE: away,
      SVC_DASHBOARD_WRITER_KEYS_FILE: away,
      SVC_CALLBACK_HMAC_SECRET_FILE: file('callback', 'a secret of callbacks'),
    });
    expect(worker).toMatchObject({ secretsKeys: [], dashboardKeysFile: undefined });
    expect([worker.auditKeys.length, worker.callbackSigner]).toEqual([1, expect.any(Function)]);
  });

  it('that does both, or does what it does with what a setting lacks, opens the others too', () => {
    const lacks = (role: ProcessRole, settings: NodeJS.ProcessEnv): void => {
      expect(() => read(role, settings)).toThrow(/SVC_SECRETS_KEY_FILE: .*ENOENT/);
    };
    lacks('all', { SVC_AUDIT_KEY: key, SVC_SECRETS_KEY_FILE: away });
    lacks('worker', { SVC_SECRETS_KEY_FILE: away });
    expect(() => read('worker', {})).toThrow(/SVC_AUDIT_KEY: .*fundadmin keys audit-key/);
    expect(() => read('all', { ...hosts, SVC_SECRETS_KEY: key })).toThrow(
      'SVC_CALLBACK_HMAC_SECRET',
    );
    const switchedOff = { ...hosts, SVC_SECRETS_KEY: key, SVC_WORKERS_ENABLED: 'false' };
    expect(read('all', switchedOff).duties).toEqual(['api']);
  });
});

describe('an entry of the table', () => {
  /** Another text than the default, and what it means, for kinds whose reading is plain. */
  function other(type: string, otherwise: string | null): readonly [string, unknown] | null {
    const [, least] = /^whole number, (\d+) to \d+$/.exec(type) ?? [];
    if (least !== undefined) return [String(Number(least) + 1), Number(least) + 1];
    if (type === 'true or false') return otherwise === 'true' ? ['false', false] : ['true', true];
    return type === 'text' || type === 'path of a file' ? ['/elsewhere', '/elsewhere'] : null;
  }

  const plain = SETTING_LIST.flatMap(([name, { field, type, default: otherwise }]) => {
    const text = other(type, otherwise);
    return field === null || text === null ? [] : [{ name, field, text: text[0], value: text[1] }];
  });

  it('is all that makes its field of the configuration, and no two make the same', () => {
    const fields = SETTING_LIST.flatMap(([, { field }]) => field ?? []);
    const together = [
      'duties',
      'rateLimitEnabled',
      'allowlistCoolingSeconds',
      'tracing',
      'redact',
      'temporal',
      'temporalNamespace',
      'readTemporal',
      'build',
    ];
    expect(Object.keys(readConfig(BASE)).sort()).toEqual([...fields, ...together].sort());
    expect(new Set(fields).size).toBe(fields.length);
  });

  it('is read from its own variable', () => {
    expect(plain.length).toBeGreaterThan(20);
    // On, it would ask for another setting.
    for (const { name, field, text, value } of plain.filter(
      ({ field }) => field !== 'authEnabled',
    )) {
      const host =
        name === 'SVC_HOST'
          ? { ...BASE, SVC_AUTH_ENABLED: 'true', SVC_SECRETS_KEY: btoa('\0'.repeat(32)) }
          : BASE;
      expect([name, readConfig({ ...host, [name]: text })[field as keyof Config]]).toEqual([
        name,
        value,
      ]);
    }
  });

  it('gives its field a type', () => {
    const config = readConfig(BASE);
    const typed: { port: number; edition: 'commercial' | 'free'; venuesFile: string | undefined } =
      config;
    expect(typed.edition).toBe('commercial');
    // @ts-expect-error a number is no text
    const text: string = config.port;
    // @ts-expect-error no entry has this field
    const none: unknown = config.nothingLikeIt;
    // @ts-expect-error it is a part of `tracing` alone
    const part: unknown = config[SETTINGS.SVC_TRACING_OTLP_URL.field];
    expect([text, none, part]).toEqual([8100, undefined, undefined]);
  });

  it.each(SETTING_LIST.map(([name]) => name))('%s is known where its name is misspelt', (name) => {
    expect(faults({ [`${name}Q`]: '1' })).toEqual([
      expect.stringContaining(`did you mean ${name}?`),
    ]);
  });
});

describe('names', () => {
  it.each([
    ['SVC_DATABSE_URL', 'SVC_DATABASE_URL'],
    ['SVC_AUTH_ENABLE', 'SVC_AUTH_ENABLED'],
    ['SVC_CALLBACK_ALLOWED_HOSTS', 'SVC_CALLBACK_ALLOWED_HOSTS_CSV'],
    ['SVC_CALLBACK_HMAC_SECRETS', 'SVC_CALLBACK_HMAC_SECRET'],
    ['SVC_PAYLOAD_KEY_FILE', 'SVC_PAYLOAD_KEYS_FILE'],
    ['SVC_PRT', 'SVC_PORT'],
  ])('%s stops the start and is known to mean %s', (wrong, right) => {
    expect(faults({ [wrong]: 'value-of-it' })).toEqual([
      `${wrong}: there is no such setting; did you mean ${right}?`,
    ]);
  });

  it('like no other are refused without a guess', () => {
    expect(faults({ SVC_FLUX_CAPACITOR: '1' })).toEqual([
      'SVC_FLUX_CAPACITOR: there is no such setting',
    ]);
  });

  it('of a file for what is no secret are refused', () => {
    expect(faults({ SVC_PORT_FILE: '/x' })).toHaveLength(1);
  });

  it('of clients and of the embedded stack are known and ignored', () => {
    const sources = join(ROOT, 'clients');
    const clients = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => readFileSync(join(sources, path), 'utf8').match(/\bSVC_[A-Z_]+/g) ?? []);
    expect([...new Set(clients)].sort()).toEqual(
      Object.keys(IGNORED_NAMES)
        .filter((name) => IGNORED_NAMES[name] === 'client tools')
        .sort(),
    );
    const names = [...clients, ...Object.values(PORT_SETTINGS).map(({ setting }) => setting)];
    expect(faults(Object.fromEntries(names.map((name) => [name, '5001'])))).toEqual([]);
  });

  it.each(['', 'something'])(
    'SVC_DASHBOARD_WRITE_TOKEN with the value "%s" stops the start',
    (value) => {
      const found = faults({ SVC_DASHBOARD_WRITE_TOKEN: value });
      expect(found).toEqual([expect.stringContaining('SVC_DASHBOARD_WRITE_TOKEN')]);
      expect(found.join()).not.toContain('something');
    },
  );
});

describe('a secret', () => {
  const key = `a:${Buffer.alloc(32, 5).toString('base64')}`;

  it('comes from its file, of which one newline at the end is no part', () => {
    for (const end of ['', '\n', '\r\n']) {
      const read = readConfig({
        ...BASE,
        SVC_DATABASE_URL: '',
        SVC_DATABASE_URL_FILE: file('url', `postgresql://127.0.0.1/y${end}`),
      });
      expect(read.databaseUrl).toBe('postgresql://127.0.0.1/y');
    }
    expect(
      readConfig({ ...BASE, SVC_PAYLOAD_KEYS_FILE: file('keys', `${key}\n`) }).payloadKeys.map(
        ({ id }) => id,
      ),
    ).toEqual(['a']);
    // A second newline is a part of it, and this grammar refuses it.
    expect(faults({ SVC_CALLBACK_HMAC_SECRET_FILE: file('secret', 'text\n\n') })).toHaveLength(1);
  });

  it('set twice, or in a file that is missing, empty or no file, is a fault that names its variable', () => {
    const path = file('once', key);
    expect(faults({ SVC_PAYLOAD_KEYS: key, SVC_PAYLOAD_KEYS_FILE: path })).toEqual([
      'SVC_PAYLOAD_KEYS: SVC_PAYLOAD_KEYS_FILE is set too; give one of them',
    ]);
    mkdirSync(join(folder, 'directory'), { recursive: true });
    expect(faults({ SVC_SECRETS_KEY_FILE: join(folder, 'missing') })).toEqual([
      expect.stringMatching(/^SVC_SECRETS_KEY_FILE: .*ENOENT/),
    ]);
    expect(faults({ SVC_SECRETS_KEY_FILE: join(folder, 'directory') })).toEqual([
      expect.stringMatching(/^SVC_SECRETS_KEY_FILE: .*EISDIR/),
    ]);
    expect(faults({ SVC_SECRETS_KEY_FILE: file('empty', '\n') })).toEqual([
      expect.stringMatching(/^SVC_SECRETS_KEY_FILE: .*empty/),
    ]);
    const closed = file('closed', key);
    chmodSync(closed, 0o000);
    // Root reads everything; for others this is one more way of being unreadable.
    if (process.getuid?.() !== 0) expect(faults({ SVC_SECRETS_KEY_FILE: closed })).toHaveLength(1);
  });

  const planted = 'Pl4ntedS3cret';
  const shapes = [
    planted,
    `mysql://u:${planted}@h/x`,
    `${planted},${planted}:=`,
    `whsec_${planted}!`,
    `${planted}=%zz`,
    ` ${planted}`,
    `${planted}\n\n`,
  ];
  const secrets = SETTING_LIST.filter(([, { secret }]) => secret).map(([name]) => name);

  it.each(secrets)(
    '%s is in no fault, whatever is wrong with it and wherever it was put',
    (name) => {
      expect(secrets).toContain('SVC_CALLBACK_HMAC_SECRET');
      const ways: NodeJS.ProcessEnv[] = shapes.flatMap((text, index) => [
        { [name]: text },
        { [name]: '', [fileNameOf(name)]: file(`planted-${name}-${String(index)}`, text) },
        // The secret itself where its file belongs, and under a misspelt name.
        { [name]: '', [fileNameOf(name)]: text },
        { [`${name}X`]: text },
      ]);
      // Beside a fault of another setting, so that there always is one.
      for (const way of ways) {
        const found = faults({ ...way, SVC_PORT: 'x' });
        expect(found.length).toBeGreaterThan(0);
        expect(found.join('\n')).not.toContain(planted);
      }
    },
  );
});
