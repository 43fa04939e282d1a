/**
 * Looks for secrets where none may stand: in everything that a stack's processes wrote to their
 * logs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { secretsKeyFile } from '../../dev/stack/keys.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import { SETTING_LIST } from '../../platform/config/settings.ts';
import { openSecret, parseSecretsKey } from '../../platform/secrets.ts';

/** What must not be found, by a name that a message may show. */
export type Secrets = Readonly<Record<string, string>>;

export interface Leak {
  readonly file: string;
  readonly line: number;
  readonly secret: string;
}

/**
 * Every line under `dir` that holds one of the secrets, as it is or as hex, base64 or part of a URL
 * or of JSON.
 */
export function findSecrets(dir: string, secrets: Secrets): readonly Leak[] {
  const wanted = Object.entries(secrets).flatMap(([secret, text]) =>
    formsOf(text).map((form) => ({ secret, form: form.toLowerCase() })),
  );
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8').toLowerCase();
    const present = wanted.filter(({ form }) => text.includes(form));
    if (present.length === 0) return [];
    return text.split('\n').flatMap((line, index) => {
      const found = new Set(
        present.filter(({ form }) => line.includes(form)).map(({ secret }) => secret),
      );
      return [...found].map((secret) => ({ file: entry.name, line: index + 1, secret }));
    });
  });
}

function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text, 'utf8');
  const bare = text.replace(/^0x/, '');
  // Of long signed bytes the end is the signature; whoever has that has them all.
  const end = /^[0-9a-f]{200,}$/i.test(bare) ? [bare.slice(-100)] : [];
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [
    bare,
    ...end,
    bytes.toString('hex'),
    base64,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ];
}

/**
 * Secrets of a stack: those in the configuration of its service, the keys of its wallets and all
 * that it has signed.
 */
export async function secretsOf(stack: Stack): Promise<Secrets> {
  const { password } = new URL(stack.databaseUrl);
  const secrets: Record<string, string> = { 'database password': decodeURIComponent(password) };
  for (const [name, { secret }] of SETTING_LIST) {
    const file = stack.env[`${name}_FILE`] ?? '';
    const text = file === '' ? (stack.env[name] ?? '') : readFileSync(file, 'utf8').trim();
    if (!secret || text === '') continue;
    secrets[name] = text;
    // Lists and `<id>:<key>` give each part away too; what an address has that is secret is its
    // password.
    if (name !== 'SVC_DATABASE_URL')
      for (const [index, part] of text.split(/[,:]/).entries())
        if (part.length >= 16) secrets[`${name}, part ${String(index + 1)}`] = part;
  }
  for (const [name, account] of Object.entries(stack.chain.accounts)) {
    if ('privateKey' in account) secrets[`private key of ${name}`] = String(account.privateKey);
  }
  for (const [keyId, secret] of await callerSecrets(stack)) secrets[`secret of ${keyId}`] = secret;
  for (const [index, raw] of (await signedTransactions(stack.databaseUrl)).entries())
    secrets[`signed transaction ${String(index + 1)}`] = raw;
  return secrets;
}

/** Every HMAC secret that was ever issued on the stack, opened with its own key. */
async function callerSecrets(stack: Stack): Promise<readonly (readonly [string, string])[]> {
  const parsed = parseSecretsKey(readFileSync(secretsKeyFile(stack.dataDir), 'utf8').trim());
  if (!parsed.ok) throw new Error('the key of the stack cannot be read');
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ key_id: string; secret: Buffer }>(
      'SELECT key_id, secret FROM api_client_keys',
    );
    return rows.map(({ key_id, secret }) => [key_id, openSecret(parsed.keys, secret, key_id)]);
  } finally {
    await client.end();
  }
}

async function signedTransactions(databaseUrl: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ raw_tx: string }>(
      'SELECT raw_tx FROM evm_transactions WHERE raw_tx IS NOT NULL',
    );
    return rows.map(({ raw_tx }) => raw_tx);
  } finally {
    await client.end();
  }
}
