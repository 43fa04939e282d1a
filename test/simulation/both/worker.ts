/**
 * A worker process of the scenarios: the service's activities on a real Temporal server and a real
 * Postgres. Its parent is the desk, and holds it where a scenario says so.
 */
import { pino } from 'pino';
import { workflowBundle } from '../../../activities/bundle.ts';
import { Leaving } from '../../../activities/leaving.ts';
import { startWorker } from '../../../activities/worker.ts';
import { connectDatabase } from '../../../prisma/client.ts';
import { activitiesOf, partsOf } from '../service.ts';
import { desks, withPoints, type DeskReply, type Reach } from './play.ts';
import { SOON_MS, UNHURRIED_SECONDS } from './times.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as {
  readonly databaseUrl: string;
  readonly address: string;
  readonly namespace: string;
};
let last = 0;
const open = new Map<number, (answer: unknown) => void>();
const ask = (question: object): Promise<unknown> =>
  new Promise((resolve) => {
    last += 1;
    open.set(last, resolve);
    process.send?.({ id: last, ...question });
  });
process.on('message', ({ id, answer }: { readonly id: number; readonly answer?: unknown }) => {
  open.get(id)?.(answer);
  open.delete(id);
});
process.on('disconnect', () => process.exit(0));

const reach: Reach = {
  call: async (call) => (await ask({ call })) as DeskReply,
  at: async (movement_id, point) => void (await ask({ at: { movement_id, point } })),
};
const { databaseUrl, address, namespace } = settings;
const parts = partsOf(connectDatabase({ url: databaseUrl, poolSize: 8 }), {
  executors: desks(reach),
});
const leaving = new Leaving();
const limits = { soonMs: SOON_MS, unhurriedSeconds: UNHURRIED_SECONDS };
const worker = startWorker({
  access: () => ({ address, namespace }),
  activities: withPoints(activitiesOf(parts, { leaving, ...limits }), reach),
  workflowBundle: workflowBundle(),
  log: pino({ level: 'warn' }),
  leaving,
  stopSeconds: 1,
  beforeWork: () => Promise.resolve(),
});
const looks = setInterval(() => {
  if (!worker.isRunning()) return;
  clearInterval(looks);
  process.send?.({ ready: true });
}, 50);
