/** Looks for secrets where none may stand: in everything that a stack's processes wrote to their logs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Stack } from '../../dev/stack.ts';
import { SETTING_LIST } from '../../platform/config/settings.ts';

/** What must not be found, by a name that a message may show. */
export type Secrets = Readonly<Record<string, string>>;

export interface Leak {
  readonly file: string;
  readonly line: number;
  readonly secret: string;
}

/** Every line under `dir` that holds one of the secrets, as it is or as hex, base64 or part of a URL or of JSON. */
export function findSecrets(dir: string, secrets: Secrets): readonly Leak[] {
  const wanted = Object.entries(secrets).flatMap(([secret, text]) => formsOf(text).map((form) => ({ secret, form: form.toLowerCase() })));
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8').toLowerCase();
    const present = wanted.filter(({ form }) => text.includes(form));
    if (present.length === 0) return [];
    return text.split('\n').flatMap((line, index) => {
      const found = new Set(present.filter(({ form }) => line.includes(form)).map(({ secret }) => secret));
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
  return [bare, ...end, bytes.toString('hex'), base64, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)];
}

/** What the service of a stack was given that is secret, the keys of its wallets and all that it has signed. */
export async function secretsOf(stack: Stack): Promise<Secrets> {
  const { password } = new URL(stack.databaseUrl);
  const secrets: Record<string, string> = { 'database password': decodeURIComponent(password) };
  for (const [name, { secret }] of SETTING_LIST) {
    const text = stack.env[name] ?? '';
    if (!secret || text === '') continue;
    secrets[name] = text;
    // Lists and `<id>:<key>` give each part away too; what an address has that is secret is its password.
    if (name !== 'SVC_DATABASE_URL')
      for (const [index, part] of text.split(/[,:]/).entries()) if (part.length >= 16) secrets[`${name}, part ${String(index + 1)}`] = part;
  }
  for (const [name, account] of Object.entries(stack.chain.accounts)) {
    if ('privateKey' in account) secrets[`private key of ${name}`] = String(account.privateKey);
  }
  for (const [index, raw] of (await signedTransactions(stack.databaseUrl)).entries())
    secrets[`signed transaction ${String(index + 1)}`] = raw;
  return secrets;
}

async function signedTransactions(databaseUrl: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ raw_tx: string }>('SELECT raw_tx FROM evm_transactions WHERE raw_tx IS NOT NULL');
    return rows.map(({ raw_tx }) => raw_tx);
  } finally {
    await client.end();
  }
}
