/**
 * Each unauthenticated request leaves a log line and a count. Each combination of reason, known key
 * and minute leaves one audit row over all processes, written in the background, so that a flood
 * does not cost a write for each request.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import type { AuditEntry } from '../../domain/transition.ts';
import type { AuthenticationError } from './refusal.ts';

const refusals = new Counter({
  name: 'svc_http_unauthenticated_total',
  help: 'Requests that were not authenticated, by reason.',
  labelNames: ['reason'],
});

const MINUTE_MS = 60_000;

export interface RefusalRecorderOptions {
  readonly log: Logger;
  /** Writes one audit row under an id; an existing row with the id is no fault. */
  readonly write: (eventId: string, entry: AuditEntry) => Promise<void>;
  readonly now?: () => number;
}

/** Returns a function that records one refused request; it never waits and never throws. */
export function createRefusalRecorder(
  options: RefusalRecorderOptions,
): (error: AuthenticationError, requestId: string) => void {
  const { log } = options;
  const audit = createMinutelyAudit(options);
  return ({ reason, keyId }, requestId) => {
    refusals.inc({ reason });
    // An unknown key id may be a secret in the wrong header, so the log leaves the id out.
    log.info(
      { request_id: requestId, reason, ...(keyId === null ? {} : { key_id: keyId }) },
      'unauthenticated',
    );
    if (keyId === null) return;
    audit(`${reason} ${keyId}`, {
      action: 'api_key.authenticate',
      entity_type: 'api_key',
      entity_key: keyId,
      outcome: 'denied',
      request_id: requestId,
      reason,
    });
  };
}

/**
 * Returns a function that writes an audit row in the background, one for each `what` and minute
 * over all processes; the function never waits and never throws.
 */
export function createMinutelyAudit({
  log,
  write,
  now = Date.now,
}: RefusalRecorderOptions): (what: string, entry: AuditEntry) => void {
  let minute = -1;
  const written = new Set<string>();
  return (what, entry) => {
    const at = Math.floor(now() / MINUTE_MS);
    if (at !== minute) {
      minute = at;
      written.clear();
    }
    if (written.has(what)) return;
    written.add(what);
    write(eventIdOf(at * MINUTE_MS, what), entry).catch((error: unknown) => {
      written.delete(what);
      log.warn({ err: error }, 'the audit row of a refused request was not written');
    });
  };
}

/**
 * Returns a UUIDv7 whose random part is derived from `what`: every process returns the same id for
 * the same `what` and time.
 */
function eventIdOf(ms: number, what: string): string {
  const time = ms.toString(16).padStart(12, '0');
  const hash = createHash('sha256')
    .update(`${String(ms)} ${what}`)
    .digest('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}
