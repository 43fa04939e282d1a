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

/** A server that answers when told, and remembers the order and the crowd. */
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
