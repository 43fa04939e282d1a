/**
 * The console of an embedded stack: its URL, and a link with which the first operator enrols. The
 * stack confirms that operator automatically: only the person who started the stack sees the link,
 * and its money is not real.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEntry } from '../../domain/transition.ts';
import { confirmKey, readCurrentKey } from '../../store/dashboard-keys.ts';
import { enrol } from '../../tools/dashboard/keys.ts';
import { withDatabase } from '../../tools/database.ts';
import { secretsKeyPath } from './keys.ts';

export interface OfferedConsole {
  readonly url: string;
  /** Enrolment link; null when the operator has enrolled before. */
  readonly link: string | null;
  /** Stops waiting for an enrolment to confirm. */
  stop(): Promise<void>;
}

export const STARTER_OPERATOR = 'starter';
const LOOK_MS = 500;
const LINK_MS = 15 * 60_000;

/**
 * Returns the URL of a stack's console. Browsers store keys and cookies for exactly this host name.
 */
export function consoleUrl(apiUrl: string): string {
  return `http://localhost:${new URL(apiUrl).port}/console/`;
}

/**
 * Returns the lines that show the console's URL and its link. The link works once, within 15
 * minutes, and in one browser.
 */
export function consoleLines({ url, link }: OfferedConsole): readonly string[] {
  return link === null
    ? [`Console:           ${url}`, '']
    : [
        `Console:           ${link}`,
        '                   (works once, within 15 minutes; then it is',
        `                   ${url})`,
        '',
      ];
}

/**
 * Makes the enrolment link of a stack's console, and confirms the operator in the background. Makes
 * no link when the operator has enrolled before.
 */
export async function offerConsole({
  databaseUrl,
  dataDir,
  apiUrl,
}: {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly apiUrl: string;
}): Promise<OfferedConsole> {
  const url = consoleUrl(apiUrl);
  const env = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_SECRETS_KEY_FILE: secretsKeyPath(dataDir),
    SVC_CONSOLE_ORIGIN: new URL(url).origin,
  };
  const io = { env, out: () => undefined, err: () => undefined };
  const current = await withDatabase({}, io, (db) => readCurrentKey(db, STARTER_OPERATOR));
  if (current?.state === 'confirmed') return { url, link: null, stop: () => Promise.resolve() };
  const { key_id, link } = await enrol(
    {
      operator: STARTER_OPERATOR,
      role: 'admin',
      allowlist: true,
      // Replaces the link of an earlier start, which can no longer be opened.
      replace: current !== null,
    },
    io,
  );
  const stopped = new AbortController();
  const until = Date.now() + LINK_MS;
  const confirming = withDatabase({}, io, async (db) => {
    while (!stopped.signal.aborted && Date.now() < until) {
      const key = await readCurrentKey(db, STARTER_OPERATOR);
      if (key?.key_id !== key_id || key.state !== 'pending') return;
      if (key.secret !== null) {
        const audit: AuditEntry = {
          action: 'dashboard_key.confirm',
          entity_type: 'dashboard_key',
          entity_key: key_id,
          outcome: 'success',
          reason: null,
          details: { tool: 'embedded stack' },
        };
        await confirmKey(db, key_id, key.secret, [audit]);
        return;
      }
      await sleep(LOOK_MS, undefined, { signal: stopped.signal, ref: false });
    }
    // The stack may stop while the loop runs.
  }).catch(() => undefined);
  return {
    url,
    link,
    stop: async () => {
      stopped.abort();
      await confirming;
    },
  };
}
