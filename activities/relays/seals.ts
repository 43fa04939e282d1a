/** Seals the audit trail: a chain over every committed row, without delaying requests. */
import type { Logger } from 'pino';
import { Counter, Gauge } from 'prom-client';
import { sealRecords, type AuditMacs } from '../../platform/audit-chain.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import {
  addSeals,
  BEGINNING,
  readHead,
  readUnsealed,
  type AuditPlace,
  type AuditRowRead,
} from '../../store/audit-seals.ts';

const BATCH = 500;
/** Rows that one statement reads, sealed or not. */
const SCAN = 1_000;
/** The whole trail is read this often, since rows may commit late, for at most 1 % of the time. */
const FULL_EVERY_MS = 300_000;
const FULL_SHARE = 100;
/** Event ids that one line of the log names. */
const NAMED = 5;

const sealed = new Counter({
  name: 'svc_audit_sealed_total',
  help: 'Audit rows that this process sealed.',
});
const foreign = new Counter({
  name: 'svc_audit_foreign_rows_total',
  help: 'Audit rows that were sealed although no process with the key wrote them.',
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

/** Any number of processes may run this: the database lets one at a time add to the chain. */
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
      const seals = sealRecords(
        head,
        rows.map(({ record }) => record),
        macs,
      );
      // A faster process sealed these rows, or leaves them to the next pass.
      if (seals.length > 0 && !(await addSeals(db, head, seals))) return false;
      sealed.inc(seals.length);
      report(rows, macs, log);
      return passes.advance(next);
    },
  });
}

/** The chain includes a row that the service did not write: leaving it out would hide it. */
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

/** Where to look next: from the beginning now and then, else among the newest rows (null). */
function createPasses() {
  let place: AuditPlace | null = BEGINNING;
  let full = true;
  let began = Date.now();
  let nextFull = 0;
  return {
    place: () => place,
    /** True when more rows follow. */
    advance(next: AuditPlace | null): boolean {
      if (next !== null) {
        place = next;
        return true;
      }
      const now = Date.now();
      if (full) nextFull = now + Math.max(FULL_EVERY_MS, (now - began) * FULL_SHARE);
      began = now;
      full = now >= nextFull;
      place = full ? BEGINNING : null;
      return false;
    },
  };
}
