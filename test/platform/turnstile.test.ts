/** So many inside at once, in the order of their coming; who has to leave has not been inside. */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createTurnstile, TurnedAway, type Leave, type Leaver } from '../../platform/turnstile.ts';

const LONG = 60_000;
const reasonOf = async (entering: Promise<Leave>): Promise<string> => {
  const error: unknown = await entering.then(
    () => new Error('was let in'),
    (reason: unknown) => reason,
  );
  return error instanceof TurnedAway ? error.reason : String(error);
};

/** Disconnects as a response does: `closed` is true before `close` is emitted. */
class Caller extends EventEmitter implements Leaver {
  closed = false;
  close(): void {
    this.closed = true;
    this.emit('close');
  }
}
const listeners = (...callers: readonly Caller[]): readonly number[] =>
  callers.map((caller) => caller.listenerCount('close'));

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
  const [patient, caller] = [new Caller(), new Caller()];
  const leave = await line.enter();
  const late = line.enter(patient);
  const left = line.enter(caller);
  expect(await reasonOf(line.enter())).toBe('full');
  caller.close();
  expect(await reasonOf(left)).toBe('left');
  expect(await reasonOf(line.enter(caller))).toBe('left');
  expect(await reasonOf(late)).toBe('late');
  expect(listeners(patient, caller)).toEqual([0, 0]);
  leave();
  expect([line.inside, line.waiting]).toEqual([0, 0]);
  (await line.enter())();
});

test('listens to a caller only while it waits', async () => {
  const line = createTurnstile({ places: 1, waiting: 1, waitMs: LONG });
  const [first, second, third] = [new Caller(), new Caller(), new Caller()];
  const leave = await line.enter(first);
  const entering = line.enter(second);
  expect(await reasonOf(line.enter(third))).toBe('full');
  expect(listeners(first, second, third)).toEqual([0, 1, 0]);
  leave();
  (await entering)();
  expect(listeners(first, second, third)).toEqual([0, 0, 0]);
  expect([line.inside, line.waiting]).toEqual([0, 0]);
});

test('a response gets no place once its connection is closed, whether it waits by then or not', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const arriving = once(server, 'request');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    );
    const [, response] = (await arriving) as [IncomingMessage, ServerResponse];
    const line = createTurnstile({ places: 1, waitMs: LONG });
    const leave = await line.enter(response);
    const waits = line.enter(response);
    socket.destroy();
    expect(await reasonOf(waits)).toBe('left');
    leave();
    expect(await reasonOf(line.enter(response))).toBe('left');
    expect([line.inside, line.waiting]).toEqual([0, 0]);
  } finally {
    server.close();
  }
});
