/**
 * Which errors of the database mean that it is out of reach, so that callers repeat.
 */
import { ServiceError } from '../../domain/errors.ts';
import { PoolBusyError } from '../../prisma/pool.ts';
import type { Database } from '../../prisma/client.ts';
import { databaseFault, mayBeWritten, run, writeOrFind } from '../../store/faults.ts';

const prisma = (code: string): Error =>
  Object.assign(new Error('Transaction API error'), {
    name: 'PrismaClientKnownRequestError',
    code,
  });

test('a transaction that cannot be started in time is an unreachable database', async () => {
  expect(databaseFault(prisma('P2028'))).toBe('unreachable');
  await expect(run(() => Promise.reject(prisma('P2028')))).rejects.toMatchObject({
    code: 'dependency_unavailable',
  });
  await expect(run(() => Promise.reject(prisma('P2028')))).rejects.toBeInstanceOf(ServiceError);
});

test.each([
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
])('a connection that died before its statement is an unreachable database: %s', (message) => {
  expect(databaseFault(new Error(message))).toBe('unreachable');
});

test('a full pool is no unreachable database: the statement was not sent, and nothing needs to be looked up', async () => {
  const full = new PoolBusyError();
  expect(databaseFault(new Error('wrapped', { cause: full }))).toBe('busy');
  await expect(run(() => Promise.reject(full))).rejects.toMatchObject({ code: 'overloaded' });
  const find = (): Promise<null> => Promise.reject(new Error('was looked up'));
  await expect(writeOrFind(db, () => Promise.reject(full), find)).rejects.toMatchObject({
    code: 'overloaded',
  });
});

test('a look-up that finds no connection leaves the outcome open', async () => {
  const broken = Object.assign(new Error('Connection terminated unexpectedly'), {
    code: 'ECONNRESET',
  });
  const find = (): Promise<null> => Promise.reject(new PoolBusyError());
  await expect(writeOrFind(db, () => Promise.reject(broken), find)).rejects.toMatchObject({
    code: 'outcome_unknown',
  });
});

test('what was found on a server that was lost, and is not on the one after it, is not found', async () => {
  const broken = Object.assign(new Error('Connection terminated unexpectedly'), { code: '57P01' });
  const looks = ['found', null];
  const find = (): Promise<string | null> => Promise.resolve(looks.shift() ?? null);
  await expect(writeOrFind(db, () => Promise.reject(broken), find)).rejects.toMatchObject({
    code: 'outcome_unknown',
  });
});

test('a violated constraint is neither a conflict nor an unreachable database', () => {
  expect(databaseFault(prisma('P2002'))).toBe('other');
  expect(databaseFault(prisma('P2034'))).toBe('conflict');
});

/** It commits. */
const db = { sql: () => Promise.resolve([]) } as unknown as Database;
const coded = (code: string, message = 'a fault'): Error =>
  Object.assign(new Error(message), { code });

test.each([
  ['08006', coded('08006'), true],
  ['a pooler that lost its server', coded('08P01', 'server conn crashed?'), true],
  ['57P01', coded('57P01'), true],
  ['57P02', coded('57P02'), true],
  ['ECONNRESET', coded('ECONNRESET'), true],
  ['EPIPE', coded('EPIPE'), true],
  ['ETIMEDOUT', coded('ETIMEDOUT'), true],
  ['an abandoned wait', new Error('Query read timeout'), true],
  ['a lost connection', new Error('Connection terminated unexpectedly'), true],
  ['no connection', coded('ECONNREFUSED'), false],
  ['no such host', coded('ENOTFOUND'), false],
  ['a refused login', coded('28P01'), false],
  ['too many connections', coded('53300'), false],
  ['a server that starts', coded('57P03'), false],
  ['a server that takes no writes', coded('25006'), false],
  ['a statement that took too long', coded('57014'), false],
  ['a broken connection, known before', new Error('Client was closed and is not queryable'), false],
  ['no trusted certificate', coded('SELF_SIGNED_CERT_IN_CHAIN'), false],
  ['a full pool', new PoolBusyError(), false],
  ['a violated constraint', coded('23505'), false],
])('whether a write may be there after %s', async (_name, error, may) => {
  expect(mayBeWritten(new Error('wrapped', { cause: error }))).toBe(may);
  const written = writeOrFind(
    db,
    () => Promise.reject(error),
    () => Promise.resolve(may ? 'found' : Promise.reject(new Error('was looked up'))),
  );
  if (may) expect(await written).toBe('found');
  else await expect(written).rejects.not.toThrow('was looked up');
});
