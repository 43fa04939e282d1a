import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createHandOver } from '../../platform/handover.ts';
import type { Wake } from '../../platform/temporal.ts';

const log = pino({ level: 'silent' });
const wake = (kind: Wake['kind'], movementId: string): Wake => ({
  movementId,
  kind,
  commandId: null,
});

/** A server that answers on command, and records the order and concurrency of calls. */
function slowServer() {
  const seen: string[] = [];
  let open = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  return {
    seen,
    most: () => most,
    release: () => waiting.splice(0).forEach((go) => go()),
    temporal: {
      wake: async (sent: Wake) => {
        const movementId = 'movementId' in sent ? sent.movementId : sent.transferId;
        seen.push(movementId);
        open += 1;
        most = Math.max(most, open);
        await new Promise<void>((resolve) => waiting.push(resolve));
        open -= 1;
      },
    },
  };
}

test('a burst of new movements never stands before a signal for a running one', async () => {
  const server = slowServer();
  const handOver = createHandOver({ temporal: server.temporal, log, concurrency: 1 });
  handOver.send(wake('create', 'first'));
  for (const name of ['new-1', 'new-2', 'new-3']) handOver.send(wake('create', name));
  handOver.send(wake('approve', 'running'));
  while (server.seen.length < 5) {
    server.release();
    await sleep(1);
  }
  expect(server.seen).toEqual(['first', 'running', 'new-1', 'new-2', 'new-3']);
  server.release();
  await handOver.stop();
});

test('no more are under way at once than it may have, and a failed one is forgotten', async () => {
  const server = slowServer();
  const handOver = createHandOver({ temporal: server.temporal, log, concurrency: 3 });
  for (let count = 0; count < 9; count += 1) handOver.send(wake('resume', `m${count}`));
  while (server.seen.length < 9) {
    server.release();
    await sleep(1);
  }
  server.release();
  await handOver.stop();
  expect(server.most()).toBe(3);
  const failing = createHandOver({
    temporal: { wake: () => Promise.reject(new Error('away')) },
    log,
  });
  failing.send(wake('resume', 'lost'));
  await expect(failing.stop()).resolves.toBeUndefined();
});

test('a stop sends what is queued first, and leaves the rest to a relay once one fails', async () => {
  const sent: string[] = [];
  const taking = (fails: string) => ({
    wake: async (each: Wake) => {
      const id = 'movementId' in each ? each.movementId : each.transferId;
      await sleep(5);
      if (id === fails) throw new Error('away');
      sent.push(id);
    },
  });
  const names = Array.from({ length: 20 }, (_, index) => `m${index}`);
  const handOver = createHandOver({ temporal: taking('none'), log, concurrency: 2 });
  for (const name of names) handOver.send(wake('create', name));
  const stopping = handOver.stop();
  handOver.send(wake('create', 'too late'));
  await stopping;
  expect(sent).toEqual(names);
  sent.length = 0;
  const failing = createHandOver({ temporal: taking('m3'), log, concurrency: 2 });
  for (const name of names) failing.send(wake('create', name));
  await failing.stop();
  expect(sent.length).toBeLessThan(7);
});

describe('leases of what is queued', () => {
  const command = (commandId: string): Wake => ({
    movementId: commandId,
    kind: 'create',
    commandId,
  });

  /** Leases as the database has them, for as long as this process renews them. */
  function bookOfLeases(lost: readonly string[] = []) {
    const kept = new Map<string, number>();
    const taken: string[] = [];
    return {
      kept,
      taken,
      leases: {
        keep: (ids: readonly string[], seconds: number) => {
          const still = ids.filter((id) => !lost.includes(id));
          for (const id of still) kept.set(id, Math.max(kept.get(id) ?? 0, seconds));
          return Promise.resolve(still);
        },
        taken: (ids: readonly string[]) => {
          taken.push(...ids);
          return Promise.resolve();
        },
      },
    };
  }

  test('a command that waits for its turn is kept from the relay, and one that is sent is noted', async () => {
    const server = slowServer();
    const book = bookOfLeases();
    const handOver = createHandOver({
      temporal: server.temporal,
      log,
      concurrency: 1,
      leases: book.leases,
    });
    for (const id of ['a', 'b', 'c']) handOver.send(command(id));
    await sleep(1_300);
    // The first is under way: its call has a limit of its own.
    expect([...book.kept.keys()]).toEqual(['b', 'c']);
    expect(book.taken).toEqual([]);
    while (server.seen.length < 3) {
      server.release();
      await sleep(1);
    }
    server.release();
    await handOver.stop();
    expect(book.taken).toEqual(['a', 'b', 'c']);
  });

  test('a command that a relay has taken, or that is applied, is no longer sent', async () => {
    const server = slowServer();
    const book = bookOfLeases(['b']);
    const handOver = createHandOver({
      temporal: server.temporal,
      log,
      concurrency: 1,
      leases: book.leases,
    });
    for (const id of ['a', 'b', 'c']) handOver.send(command(id));
    await sleep(1_300);
    while (server.seen.length < 2) {
      server.release();
      await sleep(1);
    }
    server.release();
    await sleep(10);
    server.release();
    await handOver.stop();
    expect(server.seen).toEqual(['a', 'c']);
  });

  test('a process whose calls all fail keeps nothing for itself', async () => {
    const book = bookOfLeases();
    let clock = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => clock);
    try {
      const handOver = createHandOver({
        temporal: { wake: () => new Promise((_, fail) => setTimeout(fail, 400)) },
        log,
        concurrency: 1,
        leases: book.leases,
      });
      for (let count = 0; count < 9; count += 1) handOver.send(command(`c${count}`));
      clock += 11_000;
      await sleep(1_200);
      expect(book.kept.size).toBe(0);
      await handOver.stop();
    } finally {
      jest.restoreAllMocks();
    }
  });
});
