/**
 * `--compromised` of the commands that end keys and passkeys: whoever has such a key may have
 * decided with it, so what it decided counts for nothing while it waits, and needs a person while
 * it runs.
 */
import type { Database } from '../../prisma/client.ts';
import { CHANGE_ACTION, endChange } from '../../store/change-requests.ts';
import { markCompromised, type FirstHundred, type NamedKey } from '../../store/compromised-keys.ts';
import { time } from '../command.ts';
import { ToolError } from '../io.ts';
import { toolAudit } from './audit.ts';

export const COMPROMISED_OPTION = [
  '--compromised',
  'it is in the wrong hands: what it approved counts no longer while it waits, and needs a person while it runs; also for a key that has ended',
] as const;
export const SINCE_OPTION = [
  '--since <time>',
  'with --compromised: since when, ISO 8601; since the key was made when left out',
  time,
] as const;

export interface CompromisedOptions {
  readonly compromised?: boolean;
  readonly since?: Date;
}

/** What the command did, as it is printed. */
export interface Compromise {
  readonly since: string;
  /** Approvals of movements and change requests that wait, which count no longer. */
  readonly approvals_that_count_no_longer: number;
  /** Movements that run on its approval: they need a person now. */
  readonly movements_in_attention: FirstHundred;
  /** Change requests that were applied with its approval: look at what they changed. */
  readonly applied_change_requests: FirstHundred;
  /** Open change requests of whoever had the key, which are withdrawn. */
  readonly withdrawn_change_requests: readonly string[];
  readonly ended_sessions: number;
  /** How often it did what since then, by action of the audit: look also at what is no decision. */
  readonly actions: Readonly<Record<string, number>>;
}

/** Throws a {@link ToolError} for wrong usage. */
export function checkCompromised({ compromised = false, since }: CompromisedOptions): void {
  if (since === undefined) return;
  if (!compromised)
    throw new ToolError('--since says since when a key is compromised: it needs --compromised.', {
      exitCode: 2,
    });
  if (since.getTime() > Date.now())
    throw new ToolError('--since is a time that has not come yet.', { exitCode: 2 });
}

/**
 * Marks a key that has ended as compromised, and withdraws the open change requests that were made
 * with it. Null for an unknown key.
 */
export async function compromise(
  db: Database,
  key: NamedKey,
  { since, reason = null }: CompromisedOptions & { readonly reason?: string | null },
): Promise<Compromise | null> {
  const { kind, key_id } = key;
  const audit = { ...toolAudit(`${kind}.compromise` as const, key_id, reason), entity_type: kind };
  const about = { kind, key_id, since: since?.toISOString() ?? null, reason };
  const marked = await markCompromised(db, about, [audit]);
  if (marked === null) return null;
  const withdrawn: string[] = [];
  for (const request_id of marked.requests) {
    const ending = toolAudit(CHANGE_ACTION.withdrawn, request_id, reason);
    const ended = await endChange(db, {
      ...{ request_id, state: 'withdrawn', by: db.auditActor ?? 'fundadmin' },
      audit: { ...ending, entity_type: 'change_request' },
    });
    if (ended?.ok === true) withdrawn.push(request_id);
  }
  return {
    since: marked.since,
    approvals_that_count_no_longer: marked.waiting,
    movements_in_attention: marked.movements,
    applied_change_requests: marked.changes,
    withdrawn_change_requests: withdrawn,
    ended_sessions: marked.sessions,
    actions: marked.actions,
  };
}
