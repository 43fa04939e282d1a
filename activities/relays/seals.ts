/** Seals the audit trail: a hash chain over every committed row, which does not delay requests. */
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';
import { sealRecords, type AuditMacs } from '../../platform/audit-chain.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { addSeals, readHead, readUnsealed, type AuditRowRead } from '../../store/audit-seals.ts';
import { createPasses } from './seal-passes.ts';

const BATCH = 500;
/** Rows that one statement reads, whether sealed or not. */
const SCAN = 1_000;
/** Most event ids that one log line names. */
const NAMED = 5;

const sealed = new Counter({
  name: 'svc_audit_sealed_total',
  help: 'Audit rows that this process sealed.',
});
const foreign = new Counter({
  name: 'svc_audit_foreign_rows_total',
  help: 'Audit rows that no process with the key wrote; several processes may count the same row.',
});
const position = new Gauge({
  name: 'svc_audit_chain_position',
  help: 'The last position of the chain of seals that this process saw.',
});

export interface SealerOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly macs: AuditMacs;
  readonly pauseMs?: number;
}

/** Starts the loop. Many processes may run it: the database lets one at a time add seals. */
export function startSealer({ db, log, macs, pauseMs = 1_000 }: SealerOptions): Loop {
  const passes = createPasses();
  return startLoop({
    name: 'audit sealer',
    pauseMs,
    log,
    work: async () => {
      const head = await readHead(db);
      position.set(Number(head.position));
      const { rows, next } = await readUnsealed(db, passes.place(), { limit: BATCH, scan: SCAN });
      // Before the seals are stored: when the answer to that write is lost, the rows are sealed and
      // no later pass reads them.
      report(rows, macs, log);
      const seals = sealRecords(
        head,
        rows.map(({ record }) => record),
        macs,
      );
      // Another process was faster: it sealed these rows, or a later pass seals them.
      if (seals.length > 0 && !(await addSeals(db, head, seals))) return false;
      sealed.inc(seals.length);
      return passes.advance(next);
    },
  });
}

/**
 * Logs rows that the service did not write. They are sealed too: a gap would hide them. Until then
 * every process that reads a row reports it, and so does each further pass.
 */
function report(rows: readonly AuditRowRead[], macs: AuditMacs, log: Logger): void {
  if (!macs.keyed) return;
  const strange = rows.filter(({ record, mac }) => !macs.isOfRow(record, mac));
  if (strange.length === 0) return;
  foreign.inc(strange.length);
  const event_ids = strange.slice(0, NAMED).map(({ record }) => record.event_id);
  log.error(
    { rows: strange.length, event_ids },
    'audit rows were not written by a process with this key; run fundadmin audit verify',
  );
}
