/**
 * The keys of those who may change the allowlist on the dashboard: a JSON object of operators and
 * their secrets.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A KeyObject prints and serialises without its bytes. */
export type DashboardKeys = ReadonlyMap<string, KeyObject>;

/** A file that cannot be used; the message names the setting and never what stands in the file. */
export class DashboardKeysError extends Error {
  override readonly name = 'DashboardKeysError';
  constructor(why: string, cause?: unknown) {
    super(`SVC_DASHBOARD_WRITER_KEYS_FILE: ${why}`, cause === undefined ? undefined : { cause });
  }
}

export const OPERATOR_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** As long as other callers' secrets have to be. */
const SHORTEST = 32;

/**
 * Reads the file, which must hold exactly so many keys, each of another operator and with another
 * secret.
 */
export function readDashboardKeys(file: string, expected: number): DashboardKeys {
  const entries = Object.entries(contentOf(file));
  if (entries.length !== expected) {
    throw new DashboardKeysError(
      `the file holds ${String(entries.length)} keys, and SVC_DASHBOARD_EXPECTED_WRITER_KEYS says ${String(expected)}`,
    );
  }
  const keys = new Map<string, KeyObject>();
  const secrets = new Set<string>();
  const faults: string[] = [];
  for (const [index, [operator, secret]] of entries.entries()) {
    if (!OPERATOR_NAME.test(operator))
      faults.push(`entry ${String(index + 1)} has no name of 1 to 64 of A-Z a-z 0-9 . _ -`);
    else if (typeof secret !== 'string' || secret.length < SHORTEST)
      faults.push(
        `the secret of ${operator} must be a text of at least ${String(SHORTEST)} characters`,
      );
    else if (secrets.has(secret)) faults.push(`${operator} has the secret of another operator`);
    else {
      secrets.add(secret);
      keys.set(operator, createSecretKey(secret, 'utf8'));
    }
  }
  if (faults.length > 0) throw new DashboardKeysError(faults.join('; '));
  return keys;
}

function contentOf(file: string): object {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const unreadable = typeof error === 'object' && error !== null && 'code' in error;
    // The parser's own words would quote the file.
    throw new DashboardKeysError(
      unreadable ? `the file cannot be read (${String(error.code)})` : 'the file is no JSON',
    );
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new DashboardKeysError('the file must hold one JSON object of operators and secrets');
  }
  return content;
}
