/**
 * Texts sealed under SVC_SECRETS_KEY: what opens them, what does not, and what a setting may say.
 */
import { inspect } from 'node:util';
import { ConfigError, readConfig } from '../../platform/config.ts';
import {
  deriveKeys,
  openSecret,
  parseSecretsKey,
  sealSecret,
  SecretsError,
  type SecretsKeys,
} from '../../platform/secrets.ts';

const bytes = (fill: number): string => Buffer.alloc(32, fill).toString('base64');

function keys(text: string): SecretsKeys {
  const parsed = parseSecretsKey(text);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.keys;
}

function faultsOf(text: string): readonly string[] {
  const parsed = parseSecretsKey(text);
  return parsed.ok ? [] : parsed.faults;
}

const old = keys(bytes(1));
const rotated = keys(`${bytes(2)}, ${bytes(1)}`);

describe('a sealed text', () => {
  it('opens with the key and the context it was sealed with, shows nothing and is never the same twice', () => {
    const sealed = sealSecret(old, 'sk_lïve', 'key-1');
    expect(openSecret(old, sealed, 'key-1')).toBe('sk_lïve');
    expect(sealed.toString('latin1')).not.toContain('live');
    expect(sealed.equals(sealSecret(old, 'sk_lïve', 'key-1'))).toBe(false);
    expect(openSecret(old, sealSecret(old, '', ''), '')).toBe('');
  });

  it('has the layout version, key id, IV, ciphertext, tag', () => {
    const sealed = sealSecret(old, 'four', 'key-1');
    expect(sealed[0]).toBe(1);
    expect(sealed.toString('hex', 1, 5)).toBe(old[0]?.id);
    expect(sealed).toHaveLength(1 + 4 + 12 + 4 + 16);
  });

  it('opens after a rotation, is sealed with the first key, and is named by key once its key is gone', () => {
    expect(openSecret(rotated, sealSecret(old, 'text', 'a'), 'a')).toBe('text');
    const anew = sealSecret(rotated, 'text', 'a');
    expect(openSecret(keys(bytes(2)), anew, 'a')).toBe('text');
    expect(() => openSecret(old, anew, 'a')).toThrow(
      new SecretsError(
        `the text is sealed with key ${rotated[0]?.id ?? ''}, which SVC_SECRETS_KEY does not hold`,
      ),
    );
  });

  it('does not open in another context, cut short, or with any byte changed', () => {
    const sealed = sealSecret(old, 'text', 'key-1');
    expect(() => openSecret(old, sealed, 'key-2')).toThrow(SecretsError);
    expect(() => openSecret(old, sealed.subarray(0, 32), 'key-1')).toThrow(SecretsError);
    for (const index of sealed.keys()) {
      const altered = Buffer.from(sealed);
      altered[index] = (altered[index] ?? 0) ^ 1;
      expect(() => openSecret(rotated, altered, 'key-1')).toThrow(SecretsError);
    }
  });

  it('needs a key', () => {
    expect(() => sealSecret([], 'text', 'a')).toThrow('set SVC_SECRETS_KEY');
  });
});

describe('derived keys', () => {
  it('differ by purpose and by key, and are the same every time', () => {
    const hex = (each: SecretsKeys, info: string): readonly string[] =>
      deriveKeys(each, info).map((key) => key.export().toString('hex'));
    expect(hex(rotated, 'audit')).toEqual([...hex(keys(bytes(2)), 'audit'), ...hex(old, 'audit')]);
    expect(new Set([...hex(rotated, 'audit'), ...hex(rotated, 'other')]).size).toBe(4);
    expect(deriveKeys([], 'audit')).toEqual([]);
  });
});

describe('SVC_SECRETS_KEY', () => {
  const base = { SVC_DATABASE_URL: 'postgresql://u:p@127.0.0.1:5433/x', SVC_AUTH_ENABLED: 'false' };

  it('is optional, and its keys do not print', () => {
    expect(readConfig(base).secretsKeys).toEqual([]);
    const { secretsKeys } = readConfig({ ...base, SVC_SECRETS_KEY: `${bytes(2)},${bytes(1)}` });
    expect(secretsKeys.map(({ id }) => id)).toEqual(rotated.map(({ id }) => id));
    expect(inspect(secretsKeys, { depth: 5 }) + JSON.stringify(secretsKeys)).not.toContain(
      bytes(1).slice(0, 8),
    );
  });

  it('names each unusable entry by its place and repeats nothing of it', () => {
    const short = Buffer.alloc(31, 7).toString('base64');
    expect(faultsOf(`${bytes(1)},${short},,${bytes(1)}`)).toEqual([
      'entry 2 must be the base64 of exactly 32 bytes (openssl rand -base64 32)',
      'entry 3 must be the base64 of exactly 32 bytes (openssl rand -base64 32)',
      'entry 4 is the key of an earlier one',
    ]);
    const secretText = 'not-a-key-but-secret';
    expect(() => readConfig({ ...base, SVC_SECRETS_KEY: secretText })).toThrow(ConfigError);
    expect(() => readConfig({ ...base, SVC_SECRETS_KEY: secretText })).toThrow(
      /SVC_SECRETS_KEY: entry 1/,
    );
    expect(() => readConfig({ ...base, SVC_SECRETS_KEY: secretText })).not.toThrow(/secret/);
  });
});
