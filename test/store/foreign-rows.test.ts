/** Audit rows that the service did not write are reported, whatever becomes of their seals. */
import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { register } from 'prom-client';
import { startSealer } from '../../activities/relays/seals.ts';
import { createAuditMacs } from '../../platform/audit-chain.ts';
import { parseSecretsKey } from '../../platform/secrets.ts';
import type { Database, Sql } from '../../prisma/client.ts';
import { readHead } from '../../store/audit-seals.ts';
import { eventually } from '../support/eventually.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

function keyed(): ReturnType<typeof createAuditMacs> {
  const parsed = parseSecretsKey(randomBytes(32).toString('base64'));
  if (!parsed.ok) throw new Error(parsed.faults.join());
  return createAuditMacs(parsed.keys);
}

/** The database, which stores the first seals while the answer to that write is lost. */
function losingFirstAnswer(): { readonly db: Database; readonly lost: () => boolean } {
  let lost = false;
  const sql: Sql = async (text, ...values) => {
    const rows = await bench.db.sql<never>(text, ...values);
    if (lost || !text.join('').includes('seal_audit')) return rows;
    lost = true;
    throw new Error('the answer is lost');
  };
  const db = new Proxy(bench.db, {
    get: (target, name): unknown => (name === 'sql' ? sql : Reflect.get(target, name)),
  });
  return { db, lost: () => lost };
}

async function counted(): Promise<number> {
  const metric = await register.getSingleMetric('svc_audit_foreign_rows_total')?.get();
  return metric?.values[0]?.value ?? 0;
}

test('a foreign row is counted although the answer to its seal is lost', async () => {
  const { db, lost } = losingFirstAnswer();
  await bench.sql(
    `INSERT INTO audit_events (event_id, occurred_at, action, entity_type, entity_key, outcome,
       details) VALUES ($1::uuid, now(), 'movement.approve', 'movement', 'm', 'success', '{}')`,
    randomUUID(),
  );
  const loop = startSealer({ db, log: pino({ level: 'silent' }), macs: keyed(), pauseMs: 20 });
  try {
    await eventually(async () => ((await readHead(bench.db)).position === 1n ? true : null));
    await eventually(async () => ((await counted()) > 0 ? true : null));
  } finally {
    await loop.stop();
  }
  expect([lost(), await counted()]).toEqual([true, 1]);
});

test('a foreign row that no seal can cover hides no other one', async () => {
  const before = await readHead(bench.db);
  const ids = [randomUUID(), randomUUID()];
  // A number that JavaScript cannot hold has no canonical text.
  for (const [index, details] of ['{"n": 1e400}', '{}'].entries())
    await bench.sql(
      `INSERT INTO audit_events (event_id, occurred_at, action, entity_type, entity_key, outcome,
         details)
       VALUES ($1::uuid, now(), 'movement.approve', 'movement', 'm', 'success', $2::jsonb)`,
      ids[index],
      details,
    );
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const loop = startSealer({ db: bench.db, log, macs: keyed(), pauseMs: 20 });
  try {
    await eventually(async () =>
      ids.every((id) => lines.some((line) => line.includes(id))) ? true : null,
    );
  } finally {
    await loop.stop();
  }
  expect(await readHead(bench.db)).toEqual(before);
});
