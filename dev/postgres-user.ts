import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { findOnPath } from './bootstrap/temporal-build.mjs';

/** How a program is started as somebody other than root. */
export interface RunAs {
  uid?: number;
  gid?: number;
  /** Put before the command; the process keeps its id, since this only changes rights and executes. */
  prefix: string[];
}

/** Postgres cannot run as the user that we are. */
export class PostgresUserError extends Error {
  override name = 'PostgresUserError';
}

/**
 * Postgres refuses to run as root. As root we therefore run it as the user `postgres`, or `nobody`
 * where there is none; as anybody else it runs as ourselves.
 */
export function postgresUser(paths: readonly string[]): RunAs {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const user = lookUp('postgres') ?? lookUp('nobody');
  if (user === null) {
    throw new PostgresUserError(
      'Postgres does not run as root, and this system has neither a user `postgres` nor `nobody`. ' +
        'Create one (`useradd --system postgres`) or run this as a normal user.',
    );
  }
  const closed = paths.map((path) => closedFolder(path)).find((folder) => folder !== null);
  if (closed === undefined) return { ...user, prefix: [] };
  return { prefix: withReadRight(user, closed ?? '') };
}

/** The first folder on the way to a path that others may not pass, or null. */
function closedFolder(path: string): string | null {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat !== undefined && (stat.mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/**
 * A clone below root's home cannot be reached by another user. Linux can give that one process the
 * right to pass closed folders, without changing the folder for everybody.
 */
function withReadRight(user: { uid: number; gid: number }, closed: string): string[] {
  const command = findOnPath('setpriv');
  const rights = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override'];
  const prefix = [
    ...(command === null ? [] : [command]),
    ...['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups', ...rights, '--'],
  ];
  try {
    if (command !== null) {
      execFileSync(command, [...prefix.slice(1), 'ls', closed], { stdio: 'ignore' });
      return prefix;
    }
  } catch {
    // falls through to the explanation
  }
  throw new PostgresUserError(
    `Postgres does not run as root, and no other user may enter ${closed}. Run this as a normal user, ` +
      `put the clone and SVC_DATA_DIR somewhere else, or open the folder with \`chmod o+x ${closed}\`.`,
  );
}

function lookUp(name: string): { uid: number; gid: number } | null {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
  } catch {
    return null;
  }
}
