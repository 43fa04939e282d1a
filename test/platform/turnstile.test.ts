/** So many inside at once, in the order of their coming; who has to leave has not been inside. */
import { createTurnstile, TurnedAway, type Leave } from '../../platform/turnstile.ts';

const LONG = 60_000;
const reasonOf = async (entering: Promise<Leave>): Promise<string> => {
  const error: unknown = await entering.then(
    () => new Error('was let in'),
    (reason: unknown) => reason,
  );
  return error instanceof TurnedAway ? error.reason : String(error);
};

test('lets in as many as there are places, and the others in their order', async () => {
  const line = createTurnstile({ places: 2, waitMs: LONG });
  const order: number[] = [];
  const leaves: Leave[] = [];
  const entering = [0, 1, 2, 3, 4].map((who) =>
    line.enter().then((leave) => {
      order.push(who);
      leaves.push(leave);
    }),
  );
  await entering[1];
  expect([order, line.inside, line.waiting]).toEqual([[0, 1], 2, 3]);
  leaves[1]?.();
  await entering[2];
  leaves[0]?.();
  leaves[0]?.();
  await entering[3];
  expect([order, line.inside, line.waiting]).toEqual([[0, 1, 2, 3], 2, 1]);
  leaves[2]?.();
  await entering[4];
  for (const leave of leaves) leave();
  expect([order.length, line.inside, line.waiting]).toEqual([5, 0, 0]);
});

test('turns away whom it has no room for, who waits too long and who has left, and their places stay free', async () => {
  const line = createTurnstile({ places: 1, waiting: 2, waitMs: 20 });
  const leave = await line.enter();
  const gone = new AbortController();
  const late = line.enter();
  const left = line.enter(gone.signal);
  expect(await reasonOf(line.enter())).toBe('full');
  gone.abort();
  expect(await reasonOf(left)).toBe('left');
  expect(await reasonOf(line.enter(gone.signal))).toBe('left');
  expect(await reasonOf(late)).toBe('late');
  leave();
  expect([line.inside, line.waiting]).toEqual([0, 0]);
  (await line.enter())();
});
