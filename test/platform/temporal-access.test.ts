/** Renewed keys and certificates for Temporal that cannot be used. */
import { pino } from 'pino';
import { watchAccess } from '../../platform/temporal-access.ts';
import { eventually } from '../support/eventually.ts';
import { failuresOf } from '../support/loop-figures.ts';

const ACCESS = { address: 'localhost:7233', namespace: 'default', apiKey: 'old' };
const LOOP = 'watch of the access to Temporal';

test.each([
  ['cannot be read', false],
  ['the server does not take', true],
])('a renewed access that %s is a failed turn, and the one of before stays', async (_, isRead) => {
  const lines: string[] = [];
  let looks = 0;
  const before = (await failuresOf(LOOP)) ?? 0;
  const watch = watchAccess({
    access: ACCESS,
    // Renewed once its users follow: at the second look.
    read: () => {
      if ((looks += 1) === 1) return ACCESS;
      if (isRead) return { ...ACCESS, apiKey: 'new' };
      throw new Error('no such file');
    },
    log: pino({}, { write: (line: string) => void lines.push(line) }),
  });
  watch.follow(() => Promise.reject(new Error('unauthenticated')));
  try {
    await eventually(async () => (((await failuresOf(LOOP)) ?? 0) > before ? true : null));
    expect(watch.current()).toEqual(ACCESS);
    // The loop logs nothing beside it, as it would every five seconds.
    expect(lines).toEqual([expect.stringContaining('the one of before stays')]);
  } finally {
    await watch.stop();
  }
});
