/**
 * Unauthenticated requests leave a log line and a count each, and an audit row for each reason,
 * known key and minute: written in the background and once over all processes, so that a flood
 * costs no write each.
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
  /** Writes one audit row under an id; a row that is there already is no fault. */
  readonly write: (eventId: string, entry: AuditEntry) => Promise<void>;
  readonly now?: () => number;
}

/** Records one refused request; never waits and never throws. */
export function createRefusalRecorder(
  options: RefusalRecorderOptions,
): (error: AuthenticationError, requestId: string) => void {
  const { log } = options;
  const audit = createMinutelyAudit(options);
  return ({ reason, keyId }, requestId) => {
    refusals.inc({ reason });
    // An unknown key id may be a secret in the wrong header, so it is not logged.
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
 * Writes an audit row in the background, one for each `what` and minute over all processes; never
 * waits and never throws.
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
 * A UUIDv7 whose random part follows from what it stands for: every process that sees the same
 * thing gives the same id.
 */
function eventIdOf(ms: number, what: string): string {
  const time = ms.toString(16).padStart(12, '0');
  const hash = createHash('sha256')
    .update(`${String(ms)} ${what}`)
    .digest('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}
