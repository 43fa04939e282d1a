/** One reader for all streams: what each receives, when the database is read, when they end. */
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { pino } from 'pino';
import { createConsoleFeed, type ReadEvents } from '../../api/dashboard/console-feed.ts';
import { createStreamDoor, streamRoute } from '../../api/dashboard/stream.ts';
import { sendStream, type EventStream } from '../../api/http/stream-reply.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import type { ConsoleEvent } from '../../store/console-events.ts';
import { eventually } from '../support/eventually.ts';

const EPOCH = 'e'.repeat(12);
const log = pino({ level: 'silent' });

/** What a test that fails would leave open, and with it its process. */
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
/** A feed that ends with its test. */
const feedOf = (read: ReadEvents) => {
  const feed = createConsoleFeed({ read, log });
  closing.push(() => feed.close());
  return feed;
};

/** A database of events, of which those before `from` are removed. */
function database() {
  const events: ConsoleEvent[] = [];
  let from = 0n;
  let readCount = 0;
  let isAway = false;
  const read: ReadEvents = (after, atMost) => {
    readCount += 1;
    if (isAway) return Promise.reject(new Error('away'));
    const now = { epoch: EPOCH, xid: BigInt(events.length) + 1n, id: 0n };
    if (after === null) return Promise.resolve({ events: [], position: now, isLost: false });
    if (after.xid < from) return Promise.resolve({ events: [], position: now, isLost: true });
    const found = events
      .filter(
        ({ position }) => position.xid > after.xid || (position.xid === after.xid && after.id < 1n),
      )
      .slice(0, atMost);
    const last = found.length === atMost ? found.at(-1)?.position : undefined;
    return Promise.resolve({ events: found, position: last ?? now, isLost: false });
  };
  return {
    read,
    readCount: () => readCount,
    add: (count = 1) => {
      for (let n = 0; n < count; n += 1) {
        const xid = BigInt(events.length) + 1n;
        events.push({
          position: { epoch: EPOCH, xid, id: 1n },
          kind: 'balance',
          subject: String(xid),
          shown: { venue_key: String(xid) },
        });
      }
    },
    forget: () => {
      from = BigInt(events.length) + 1n;
    },
    away: (how: boolean) => {
      isAway = how;
    },
  };
}

function listener() {
  const state = { text: '', ended: null as string | null };
  return {
    state,
    send: (more: string) => {
      state.text += more;
    },
    end: (last: string) => {
      state.ended = last;
    },
    seen: () =>
      [...state.text.matchAll(/data: \{"venue_key":"(\d+)"\}/g)].map(([, n]) => Number(n)),
    cursor: () => [...state.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '',
    resets: () => state.text.split('event: reset').length - 1,
  };
}
const upTo = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => n + from);
const soon = (is: () => boolean, what: string) =>
  eventually(() => Promise.resolve(is() ? true : null), { timeoutMs: 12_000, what: () => what });

test('every stream gets each later event once, and without streams nothing is read', async () => {
  const source = database();
  source.add(3);
  const feed = feedOf(source.read);
  expect(source.readCount()).toBe(0);
  const first = listener();
  const leave = await feed.join(undefined, first);
  const begin = first.cursor();
  source.add(700);
  await soon(() => first.seen().length === 700, 'two pages');
  const middle = listener();
  const leaveMiddle = await feed.join(begin, middle);
  source.add(2);
  const next = listener();
  const leaveNext = await feed.join(middle.cursor(), next);
  await soon(() => next.seen().length === 2 && middle.seen().length === 702, 'what followed');
  for (const each of [first, middle]) expect(each.seen()).toEqual(upTo(4, 705));
  expect(next.seen()).toEqual([704, 705]);

  for (const end of [leave, leaveMiddle, leaveNext, leave]) end();
  const before = source.readCount();
  source.add(5);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(source.readCount()).toBeLessThanOrEqual(before + 1);
  const late = listener();
  const leaveLate = await feed.join(next.cursor(), late);
  expect(late.seen()).toEqual(upTo(706, 710));
  // So much is not sent again: it is read.
  source.add(3_000);
  await soon(() => late.seen().length === 3_005, 'pages');
  const far = listener();
  const leaveFar = await feed.join(begin, far);
  expect([far.resets(), far.seen()]).toEqual([1, []]);
  leaveFar();
  leaveLate();
});

test('a beat is an event with a cursor', async () => {
  const feed = feedOf(database().read);
  const quiet = listener();
  const leave = await feed.join(undefined, quiet);
  // As a browser reads it: a block without data is shown to no page.
  expect(quiet.state.text).toMatch(/^:\nid: [0-9a-f]{12}\.\d+\.\d+\nevent: beat\ndata: \{\}\n\n$/);
  leave();
});

test('what was removed unseen is said to those who have not seen it, also while they read', async () => {
  const source = database();
  const feed = feedOf(source.read);
  const [one, other] = [listener(), listener()];
  const leave = await feed.join(undefined, one);
  source.add(2);
  source.forget();
  await soon(() => one.resets() === 1, 'a reset');
  const leaveOther = await feed.join(`${EPOCH}.1.0`, other);
  expect([other.resets(), other.seen()]).toEqual([1, []]);
  leave();
  leaveOther();
});

test('streams end, saying when to reconnect, if a reader fails or the process stops', async () => {
  const source = database();
  const feed = feedOf(source.read);
  const one = listener();
  await feed.join(undefined, one);
  source.away(true);
  await soon(() => one.state.ended !== null, 'an end');
  await expect(feed.join(undefined, listener())).rejects.toThrow('away');
  source.away(false);
  const two = listener();
  await feed.join(undefined, two);
  feed.close();
  for (const { state } of [one, two]) expect(state.ended).toMatch(/^retry: [123]\d{3}\n\n$/);
  await expect(feed.join(undefined, listener())).rejects.toMatchObject({ code: 'overloaded' });
}, 30_000);

test('a process has only so many streams, and one ends soon after its operator may read no more', async () => {
  const feed = feedOf(database().read);
  let stays = true;
  const route = streamRoute(() => ({ feed, mayStay: () => Promise.resolve(stays), most: 2 }));
  const input = {
    params: {},
    query: {},
    body: undefined,
    headers: {},
    dryRun: false,
    requester: {
      caller: { client_id: null, key_id: 'k', role: 'admin' as const },
      request_id: 'r',
    },
  };
  const handle = () => route.handle(input, {} as ApiDependencies);
  const ended: string[] = [];
  const begin = async (name: string): Promise<() => void> => {
    const reply = await handle();
    if (!('text' in reply) || reply.goesOn === undefined) throw new Error('no stream');
    const stream: EventStream = { write: () => undefined, end: () => ended.push(name) };
    const over = reply.goesOn(stream);
    closing.push(over);
    return over;
  };
  const [over, other] = [await begin('one'), await begin('two')];
  await expect(handle()).rejects.toMatchObject({ code: 'overloaded' });
  over();
  const third = await begin('three');
  stays = false;
  const from = performance.now();
  await soon(() => ended.length === 2, 'both ended');
  expect(performance.now() - from).toBeLessThan(5_000);
  expect(ended.sort()).toEqual(['three', 'two']);
  other();
  third();
}, 30_000);

test('of a key it counts that it is the same, of a session that it is taken', async () => {
  const { createSecretKey } = await import('node:crypto');
  const secret = (text: string) => createSecretKey(text, 'utf8');
  let key: object | null = { secret: secret('a') };
  let by: 'signature' | 'session' = 'signature';
  const dashboard = { operator: 'o', allowlist: false };
  const known = () =>
    Promise.resolve({ caller: { client_id: 'c', key_id: 'c', role: 'operator', dashboard }, by });
  const door = createStreamDoor({ known } as never, { find: () => Promise.resolve(key) } as never);
  const request = {} as never;
  const signed = await door.authenticate(request);
  expect(await door.mayStay(signed)).toBe(true);
  key = { secret: secret('b') };
  expect(await door.mayStay(signed)).toBe(false);
  key = null;
  expect(await door.mayStay(signed)).toBe(false);
  by = 'session';
  const read = await door.authenticate(request);
  expect(await door.mayStay(read)).toBe(true);
  dashboard.operator = 'p';
  expect(await door.mayStay(read)).toBe(false);
});

test('a reader who does not read is cut', async () => {
  let over = false;
  const server = createServer((_request, response) => {
    sendStream(response, {
      text: ':\n\n',
      goesOn: (stream) => {
        const timer = setInterval(() => {
          stream.write(`data: ${'x'.repeat(500_000)}\n\n`);
        }, 5);
        return () => {
          clearInterval(timer);
          over = true;
        };
      },
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.pause();
  await soon(() => over, 'the cut');
  socket.destroy();
  server.close();
});
