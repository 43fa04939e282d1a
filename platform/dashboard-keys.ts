/**
 * The keys of the dashboard's operators: a JSON object from operator to secret, or to `{secret,
 * role, allowlist?}`. An operator with only a secret may read, and may write the allowlist.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lossesIn } from '../domain/json-text.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../domain/roles.ts';

/** An operator's key and rights. A KeyObject prints and serialises without its bytes. */
export interface DashboardKey {
  readonly secret: KeyObject;
  readonly role: OperatorRole;
  /** Whether the operator may write the allowlist. */
  readonly allowlist: boolean;
}
/** Keys by operator name. */
export type DashboardKeys = ReadonlyMap<string, DashboardKey>;

/** A key file that cannot be used; the message names the setting and never quotes the file. */
export class DashboardKeysError extends Error {
  override readonly name = 'DashboardKeysError';
  constructor(why: string, cause?: unknown) {
    super(`SVC_DASHBOARD_WRITER_KEYS_FILE: ${why}`, cause === undefined ? undefined : { cause });
  }
}

export const OPERATOR_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Minimum length of a secret in characters, as for other callers' secrets. */
const SHORTEST = 32;

/** Reads the file with exactly `expected` keys, each with a different operator and secret. */
export function readDashboardKeys(file: string, expected: number): DashboardKeys {
  const entries = Object.entries(contentOf(file));
  if (entries.length !== expected) {
    throw new DashboardKeysError(
      `the file holds ${String(entries.length)} keys, and SVC_DASHBOARD_EXPECTED_WRITER_KEYS says ${String(expected)}`,
    );
  }
  const keys = new Map<string, DashboardKey>();
  const secrets = new Set<string>();
  const faults: string[] = [];
  for (const [index, [operator, entry]] of entries.entries()) {
    if (!OPERATOR_NAME.test(operator)) {
      faults.push(`entry ${String(index + 1)} has no name of 1 to 64 of A-Z a-z 0-9 . _ -`);
      continue;
    }
    const { secret, rights } = partsOf(entry);
    if (typeof rights === 'string') faults.push(`${operator}: ${rights}`);
    else if (typeof secret !== 'string' || secret.length < SHORTEST)
      faults.push(
        `the secret of ${operator} must be a text of at least ${String(SHORTEST)} characters`,
      );
    else if (secrets.has(secret)) faults.push(`${operator} has the secret of another operator`);
    else {
      secrets.add(secret);
      keys.set(operator, { secret: createSecretKey(secret, 'utf8'), ...rights });
    }
  }
  if (faults.length > 0) throw new DashboardKeysError(faults.join('; '));
  return keys;
}

const FIELDS = ['secret', 'role', 'allowlist'];

/** Returns the secret and the rights of an entry; `rights` is a text when they are invalid. */
function partsOf(entry: unknown): {
  readonly secret: unknown;
  readonly rights: Omit<DashboardKey, 'secret'> | string;
} {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return { secret: entry, rights: { role: 'allowlist', allowlist: true } };
  const { secret, role, allowlist } = entry as Readonly<Record<string, unknown>>;
  const known = OPERATOR_ROLES.find((each) => each === role);
  if (known === undefined)
    return {
      secret,
      rights: `the role must be one of ${OPERATOR_ROLES.join(', ')}; programs (svc, agent) sign with keys of the API`,
    };
  if (Object.keys(entry).some((name) => !FIELDS.includes(name)))
    return { secret, rights: `an entry has ${FIELDS.join(', ')} and nothing else` };
  if (allowlist !== undefined && typeof allowlist !== 'boolean')
    return { secret, rights: 'allowlist must be true or false' };
  return { secret, rights: { role: known, allowlist: allowlist ?? known === 'allowlist' } };
}

function contentOf(file: string): object {
  let content: unknown;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
    content = JSON.parse(text);
  } catch (error) {
    const unreadable = typeof error === 'object' && error !== null && 'code' in error;
    // The parser's own message would quote the file.
    throw new DashboardKeysError(
      unreadable ? `the file cannot be read (${String(error.code)})` : 'the file is no JSON',
    );
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new DashboardKeysError('the file must hold one JSON object of operators and secrets');
  }
  // Of two keys of one operator the first would be left out. The name may be a misplaced secret.
  if (lossesIn(text).some(({ kind }) => kind === 'repeated'))
    throw new DashboardKeysError('an operator, or a field of one, is in the file more than once');
  return content;
}
