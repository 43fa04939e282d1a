/** Requests are signed in one place: no other code but clients/http and tests computes one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';

/** Who else makes an HMAC, and over what. */
const OTHERS: Readonly<Record<string, string>> = {
  'api/auth/canonical.ts': 'what the service compares a signature with',
  'clients/command-line/node-hashing.ts': 'an HMAC for the one signer',
  'console/data/keys.ts': 'imports a key for the one signer, and makes no signature',
  'examples/dashboard-signing/signing.js': 'the same',
  'executors/result-signature.ts': "what a team's worker answers, which passes through Temporal",
  'platform/audit-chain.ts': 'seals of the audit',
  'platform/callback-signature.ts': 'callbacks',
  'platform/one-time.ts': 'the fingerprint of an enrolled key',
};
/** Who may ask canonical.ts for one: to check, as an example, and for what the service issues. */
const MAY_ASK = [
  'api/auth/verify.ts',
  'api/dashboard/nonces.ts',
  'api/dashboard/sessions.ts',
  'api/openapi/signing.ts',
];

const MAKES_AN_HMAC = /\bcreateHmac\b|\bsubtle\b[\s\S]{0,20}\.sign\(|['"]HMAC['"]/;
const ASKS_FOR_ONE =
  /import[^;]*\b(?:signatureOf|hmacOf)\b[^;]*auth\/canonical\.ts|import[^;]*\b(?:signatureOf|hmacOf)\b[^;]*'\.\/canonical\.ts/;
const NOT_OURS =
  /^(?:\.|node_modules\/|dist\/|coverage\/|prisma\/generated\/|test\/|clients\/http\/)/;

function sources(): ReadonlyMap<string, string> {
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_OURS.test(`${entry.name}/`))
    .flatMap(({ name }) =>
      readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${name}/${file}`,
      ),
    );
  const files = folders.filter((file) => /\.(?:[cm]?[jt]s)$/.test(file) && !NOT_OURS.test(file));
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

const matching = (files: ReadonlyMap<string, string>, pattern: RegExp): readonly string[] =>
  [...files].filter(([, text]) => pattern.test(text)).map(([file]) => file);

test('no other source makes an HMAC, but for what is no request of a client', () => {
  const files = sources();
  expect(files.size).toBeGreaterThan(300);
  expect(matching(files, MAKES_AN_HMAC).toSorted()).toEqual(Object.keys(OTHERS));
  expect(matching(files, ASKS_FOR_ONE).toSorted()).toEqual(MAY_ASK);
});

test('the search would find another signer', () => {
  const bad = [
    "createHmac('sha256', secret).update(text)",
    "const made = await crypto.subtle.sign('HMAC', key, bytes)",
    "subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign'])",
  ];
  for (const text of bad)
    expect(matching(new Map([['x.ts', text]]), MAKES_AN_HMAC)).toEqual(['x.ts']);
  const borrowed = "import { canonicalString, signatureOf } from '../api/auth/canonical.ts';";
  expect(matching(new Map([['x.ts', borrowed]]), ASKS_FOR_ONE)).toEqual(['x.ts']);
});
