/** `fundadmin dashboard end`: ends an operator's key, and says whether it is in the wrong hands. */
import type { Database } from '../../prisma/client.ts';
import {
  endKey,
  listDashboardKeys,
  readCurrentKey,
  type EndedKey,
  type EnrolledKey,
} from '../../store/dashboard-keys.ts';
import { warnUnvouched, withDatabase } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import {
  checkCompromised,
  compromise,
  type Compromise,
  type CompromisedOptions,
} from '../keys/compromised.ts';
import { auditOf, fileOperators, named, type OperatorOptions } from './keys.ts';

export interface EndOptions extends OperatorOptions, CompromisedOptions {
  readonly keyId?: string;
  readonly reason?: string;
}

/** The printed result with `--compromised`. */
export interface CompromisedOperator {
  readonly operator: string;
  readonly key_id: string;
  /** When the key ended; null for a key of the keys file, which the database does not know. */
  readonly ended_at: string | null;
  readonly compromised: Compromise | null;
}

/** How `--key-id` names the key of the keys file. */
const OF_FILE = 'file';

/**
 * Ends the operator's key, or the open link for a key, and all sessions of the operator. With
 * `--compromised` ends the key that a browser made, if it has not ended, and marks it.
 */
export async function end(
  options: EndOptions,
  io: ToolIo,
): Promise<EndedKey | CompromisedOperator> {
  const { operator, compromised = false, keyId } = options;
  named(operator);
  checkCompromised(options);
  if (keyId !== undefined && !compromised)
    throw new ToolError('--key-id says which key is compromised: it needs --compromised.', {
      exitCode: 2,
    });
  warnUnvouched(io, 'change');
  return withDatabase(options, io, async (db) => {
    if (compromised) return endCompromised(db, options, io);
    const key = await readCurrentKey(db, operator);
    const ended = key === null ? null : await endOne(db, key, options);
    if (ended === null)
      throw new ToolError(
        `${operator} has no enrolled key. Remove a key of SVC_DASHBOARD_WRITER_KEYS_FILE from that file, or end it with dashboard enrol --replace.`,
      );
    return ended;
  });
}

function endOne(
  db: Database,
  { key_id }: EnrolledKey,
  { reason = null }: { readonly reason?: string | null },
): Promise<EndedKey | null> {
  return endKey(db, key_id, [auditOf('dashboard_key.end', 'dashboard_key', key_id, reason)]);
}

async function endCompromised(
  db: Database,
  options: EndOptions,
  io: ToolIo,
): Promise<CompromisedOperator> {
  const { operator, reason = null } = options;
  const rows = (await listDashboardKeys(db)).filter((each) => each.operator === operator);
  const made = rows.filter(({ filled_at }) => filled_at !== null);
  const isInFile = fileOperators(io).has(operator);
  const key_id = chosen(options, [
    ...made.map((each) => each.key_id),
    ...(isInFile ? [OF_FILE] : []),
  ]);
  const kind = 'dashboard_key';
  if (key_id === OF_FILE) {
    if (isInFile && made.length === 0 && !rows.some(({ replaces }) => replaces))
      io.err(
        `The key of ${operator} in SVC_DASHBOARD_WRITER_KEYS_FILE still signs: take it out of the file and restart, or end it with dashboard enrol --replace. Then run this command again.\n`,
      );
    const marked = await compromise(
      db,
      { kind, key_id: `file:${operator}` },
      { ...options, reason },
    );
    return { operator, key_id, ended_at: null, compromised: marked };
  }
  const key = made.find((each) => each.key_id === key_id);
  if (key === undefined)
    throw new ToolError(
      `${operator} has no key ${key_id} that a browser made; see dashboard list.`,
    );
  const ended = key.state === 'ended' ? null : await endOne(db, key, { reason });
  const marked = await compromise(db, { kind, key_id }, { ...options, reason });
  return {
    operator,
    key_id,
    ended_at: (ended ?? key).ended_at,
    compromised:
      marked === null
        ? null
        : { ...marked, ended_sessions: marked.ended_sessions + (ended?.ended_sessions ?? 0) },
  };
}

/** Returns the key that is meant: the named one, or the only one that there is. */
function chosen({ operator, keyId }: EndOptions, known: readonly string[]): string {
  if (keyId !== undefined) return keyId;
  const [only, ...others] = known;
  if (only === undefined)
    throw new ToolError(
      `${operator} has no key that a browser made; see dashboard list. A key that was in SVC_DASHBOARD_WRITER_KEYS_FILE is named with --key-id ${OF_FILE}.`,
    );
  if (others.length > 0)
    throw new ToolError(
      `${operator} has had several keys: name the compromised one with --key-id (${known.join(', ')}).`,
    );
  return only;
}
