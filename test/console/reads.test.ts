/** What is read again by itself, and whose rows a browser keeps. */
import { ApiError, ClientUsageError, UnreachableError } from '../../clients/http/errors.ts';

// Its modules look where they run when they are loaded.
Object.assign(globalThis, { location: { origin: 'http://localhost', hash: '' } });
const { queryClient } = await import('../../console/data/query-client.ts');
const { sessionStore } = await import('../../console/data/session.ts');
afterAll(() => queryClient.clear());

const answered = (status: number, rawCode: string | null = null) =>
  new ApiError({
    status,
    rawCode,
    message: 'No.',
    context: {},
    issues: [],
    requestId: null,
    retryAfterSeconds: null,
  });
const lost = new UnreachableError({
  address: 'localhost',
  why: 'refused',
  causeCode: null,
  maybeTaken: false,
});

test.each([
  ['a refusal', answered(403, 'role_not_allowed'), 1],
  ['what is not there', answered(404, 'movement_not_found'), 1],
  ['an invalid request', answered(422, 'invalid_request'), 1],
  ['an ended session', answered(401, 'session_ended'), 1],
  ['what was never sent', new ClientUsageError('The clock is wrong.'), 1],
  ['too many requests', answered(429, 'rate_limited'), 3],
  ['a fault', answered(500, 'internal_error'), 3],
  ['a proxy without the service', answered(502), 3],
  ['no answer', lost, 3],
])('a read is repeated only where another answer may come: %s', async (name, error, times) => {
  let reads = 0;
  const queryFn = (): never => {
    reads += 1;
    throw error;
  };
  const reading = queryClient.fetchQuery({ queryKey: [name], queryFn, retryDelay: 0 });
  await expect(reading).rejects.toBe(error);
  expect(reads).toBe(times);
});

test('what one operator has read is gone before another sees a page', () => {
  const isOpenFor = (operator: string) =>
    sessionStore.set({
      kind: 'open',
      ended: false,
      key: { operator },
      whoami: { role: 'operator' },
    } as unknown as Parameters<typeof sessionStore.set>[0]);
  const seen: unknown[] = [];
  isOpenFor('ada');
  queryClient.setQueryData(['listMovements'], 'rows of ada');
  isOpenFor('ada');
  expect(queryClient.getQueryData(['listMovements'])).toBe('rows of ada');
  // Whoever draws a page hears of the new session after the rows are gone.
  const stop = sessionStore.subscribe(() => seen.push(queryClient.getQueryData(['listMovements'])));
  isOpenFor('bob');
  stop();
  expect(seen).toEqual([undefined]);
});
