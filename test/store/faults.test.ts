/**
 * Which errors of the database mean that it is out of reach, so that callers are told to repeat.
 */
import { ServiceError } from '../../domain/errors.ts';
import { PoolBusyError } from '../../prisma/pool.ts';
import { databaseFault, run, writeOrFind } from '../../store/faults.ts';

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
  await expect(writeOrFind(() => Promise.reject(full), find)).rejects.toMatchObject({
    code: 'overloaded',
  });
});

test('a look-up that finds no connection leaves the outcome open', async () => {
  const broken = Object.assign(new Error('Connection terminated unexpectedly'), {
    code: 'ECONNRESET',
  });
  const find = (): Promise<null> => Promise.reject(new PoolBusyError());
  await expect(writeOrFind(() => Promise.reject(broken), find)).rejects.toMatchObject({
    code: 'outcome_unknown',
  });
});

test('a violated constraint is neither a conflict nor an unreachable database', () => {
  expect(databaseFault(prisma('P2002'))).toBe('other');
  expect(databaseFault(prisma('P2034'))).toBe('conflict');
});
