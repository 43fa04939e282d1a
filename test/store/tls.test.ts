/** TLS to Postgres: who answers is checked, and nothing goes around. */
import {
  chownSync,
  copyFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDatabase } from '../../prisma/client.ts';
import { grantService } from '../../prisma/grant.ts';
import { codeOf, connectionFault, databaseCertificateDays } from '../../service/database.ts';
import { databaseFault } from '../../store/faults.ts';
import { CERTIFICATE } from '../platform/localhost-certificate.ts';
import { certificateAuthority, type Authority } from '../support/certificates.ts';
import { startOwnDatabase } from '../support/own-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'tls-'));
let own: Awaited<ReturnType<typeof startOwnDatabase>>;
let ours: Authority;
let strangers: Authority;
let client: { readonly cert: string; readonly key: string };
beforeAll(async () => {
  ours = certificateAuthority(folder, 'ours');
  strangers = certificateAuthority(folder, 'strangers');
  client = ours.issue('service');
  own = await startOwnDatabase();
  await takeTlsOnly();
});
afterAll(async () => {
  await own?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** From here on the server asks for TLS, and for a client certificate of the authority. */
async function takeTlsOnly(): Promise<void> {
  const db = connectDatabase({ url: own.url, poolSize: 1 });
  const [place] = await db.sql<{ data: string; hba: string }>`
    SELECT current_setting('data_directory') AS data, current_setting('hba_file') AS hba`;
  const { data = '', hba = '' } = place ?? {};
  const { uid, gid } = statSync(data);
  const server = ours.issue('server', 'DNS:localhost');
  for (const [from, to] of [
    [server.cert, 'server.crt'],
    [server.key, 'server.key'],
    [ours.file, 'root.crt'],
  ] as const) {
    copyFileSync(from, join(data, to));
    chmodSync(join(data, to), 0o600);
    chownSync(join(data, to), uid, gid);
  }
  writeFileSync(hba, 'hostssl all all all scram-sha-256 clientcert=verify-ca\n');
  for (const setting of [
    "ssl_cert_file = 'server.crt'",
    "ssl_key_file = 'server.key'",
    "ssl_ca_file = 'root.crt'",
    'ssl = on',
  ])
    await db.$executeRawUnsafe(`ALTER SYSTEM SET ${setting}`);
  await db.sql`SELECT pg_reload_conf()`;
  await db.$disconnect();
}

const address = (query: string, host = 'localhost'): string =>
  `${own.url.replace('127.0.0.1', host)}?${query}`;
const ownClient = (): string => `sslcert=${client.cert}&sslkey=${client.key}`;

/** The first answer over such an address, or the text of its error. */
async function answer(url: string): Promise<string> {
  const db = connectDatabase({ url, poolSize: 1 });
  try {
    const [row] = await db.sql<{ tls: boolean }>`
      SELECT ssl AS tls FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
    return row?.tls === true ? 'encrypted' : 'plain';
  } catch (error) {
    expect(databaseFault(error)).toBe('unreachable');
    return connectionFault(codeOf(error));
  } finally {
    await db.$disconnect();
  }
}

test('a server with a certificate of the named authority, for its name, is taken', async () => {
  // Turned on a moment ago: the server reads its files when it gets to it.
  const url = address(`sslmode=verify-full&sslrootcert=${ours.file}&${ownClient()}`);
  for (let tries = 0; tries < 50 && (await answer(url)) !== 'encrypted'; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await answer(url)).toBe('encrypted');
  // What is done as the owner goes the same way.
  await expect(grantService(url, 'no_such_role')).rejects.toThrow('does not exist');
  // Encrypted, to whoever answers.
  expect(await answer(address(`sslmode=no-verify&${ownClient()}`, '127.0.0.1'))).toBe('encrypted');
});

test('no other authority, no other name and nothing unencrypted is taken; each says what to do', async () => {
  const verified = (more: string, host?: string): Promise<string> =>
    answer(address(`sslmode=verify-full&${ownClient()}${more}`, host));
  expect(await verified(`&sslrootcert=${strangers.file}`)).toMatch(/sslrootcert=<file>/);
  expect(await verified('')).toMatch(/sslrootcert=<file>/);
  expect(await verified(`&sslrootcert=${ours.file}`, '127.0.0.1')).toMatch(/not for this name/);
  // Refused by the server.
  expect(await answer(own.url)).toMatch(/asks for TLS/);
  const alone = address(`sslmode=verify-full&sslrootcert=${ours.file}`);
  expect(await answer(alone)).toMatch(/client certificate|does not answer/);
  // Not read as another mode, and not tried without one.
  for (const mode of ['prefer', 'require', 'verify-ca'])
    expect(() => connectDatabase({ url: address(`sslmode=${mode}`) })).toThrow(
      /say sslmode=verify-full/,
    );
});

test('a server without TLS is not talked to in the clear', async () => {
  const plain = await startOwnDatabase();
  const url = `${plain.url.replace('127.0.0.1', 'localhost')}?sslmode=verify-full`;
  expect(await answer(url)).toMatch(/the server has no TLS/);
  await plain.close();
});

test('the days are shown until the first certificate of the address ends, as the files are now', () => {
  const at = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const days = (query: string): number | null => databaseCertificateDays(address(query))();
  const century = at('century.pem', CERTIFICATE);
  // What an authority issues here holds for two days, less the moment since.
  const both = at('both.pem', readFileSync(ours.file, 'utf8') + CERTIFICATE);
  expect(days('sslmode=disable')).toBeNull();
  expect(days('sslmode=verify-full')).toBeNull();
  expect(days(`sslmode=verify-full&sslrootcert=${ours.file}`)).toBe(1);
  expect(days(`sslmode=verify-full&sslrootcert=${century}&${ownClient()}`)).toBe(1);
  expect(days(`sslmode=no-verify&${ownClient()}`)).toBe(1);
  // One authority of several that is valid will do; without a check of the server none counts.
  expect(days(`sslmode=verify-full&sslrootcert=${both}`)).toBeGreaterThan(30_000);
  expect(days(`sslmode=no-verify&sslrootcert=${ours.file}`)).toBeNull();

  const renewed = at('renewed.pem', readFileSync(ours.file, 'utf8'));
  const left = databaseCertificateDays(address(`sslmode=verify-full&sslrootcert=${renewed}`));
  expect(left()).toBe(1);
  rmSync(renewed);
  expect(left()).toBe(1);
  writeFileSync(renewed, CERTIFICATE);
  expect(left()).toBeGreaterThan(30_000);
});
