import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { findOnPath } from '../bootstrap/temporal-build.mjs';

/** A user and a group of the operating system. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** How to start Postgres as the right user. */
export interface RunAs {
  /** Options of `spawn`; empty when the prefix changes the user. */
  readonly spawn: Owner | Record<string, never>;
  /**
   * Arguments before the command. The process keeps its id, since the prefix only changes rights
   * and then executes the command.
   */
  readonly prefix: readonly string[];
  /** Required owner of the program's files; null for the user of this process. */
  readonly owner: Owner | null;
}

/** Postgres cannot run: this process is root, and no other user is usable. */
export class PostgresUserError extends Error {
  override name = 'PostgresUserError';
}

/**
 * Returns how to run Postgres, which refuses to run as root. Root therefore runs Postgres as the
 * user `postgres`, or as the system user called nobody; any other user runs it as that same user.
 * `programs` must exist, `folder` need not.
 */
export function postgresUser(paths: {
  readonly programs: readonly string[];
  readonly folder: string;
}): RunAs {
  if (process.getuid?.() !== 0) return { spawn: {}, prefix: [], owner: null };
  const user = lookUp('postgres') ?? lookUp('nobody');
  if (user === null) {
    throw new PostgresUserError(
      'Postgres does not run as root, and this system has neither a user `postgres` nor `nobody`. ' +
        'Create one (`useradd --system postgres`) or run this as a normal user.',
    );
  }
  const closed = closedFolders([...paths.programs, paths.folder]);
  const [first] = closed;
  if (first === undefined) return { spawn: user, prefix: [], owner: user };
  const faults: string[] = [];
  for (const way of [lentRight, ownNamespace]) {
    const found = way(user);
    const fault =
      typeof found === 'string'
        ? found
        : refusal(found.prefix, { programs: paths.programs, closed });
    if (typeof found !== 'string' && fault === null) return found;
    faults.push(String(fault));
  }
  throw new PostgresUserError(
    `Postgres does not run as root, and no other user may enter ${first}. Neither workaround works here ` +
      `(${faults.join('; ')}). Run this as a normal user, or put the clone and SVC_DATA_DIR below folders that others may enter.`,
  );
}

/** Returns the parent folders of the paths that other users may not enter. */
function closedFolders(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const stat = statSync(folder, { throwIfNoEntry: false });
      if (stat !== undefined && (stat.mode & 0o001) === 0) found.add(folder);
      if (folder === dirname(folder)) break;
    }
  }
  return [...found];
}

/**
 * Returns a way to let only this process enter closed folders, by Linux capabilities, or why that
 * is not possible. initdb and the server find their own programs with the system call `access`,
 * which ignores capabilities of any user but root unless the secure bit is set.
 */
function lentRight(user: Owner): RunAs | string {
  const command = findOnPath('setpriv');
  if (command === null) return 'setpriv is not installed';
  const rights = [
    '--securebits',
    '+no_setuid_fixup',
    '--inh-caps',
    '+dac_override',
    '--ambient-caps',
    '+dac_override',
  ];
  const who = ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'];
  return { spawn: {}, prefix: [command, ...who, ...rights, '--'], owner: user };
}

/**
 * Returns a way to run in a separate user name space, or why that is not possible. There the
 * process has another user's id, and the rights of our user on our files.
 */
function ownNamespace(user: Owner): RunAs | string {
  const command = findOnPath('unshare');
  if (command === null) return 'unshare is not installed';
  const prefix = [command, '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--'];
  return { spawn: {}, prefix, owner: { uid: 0, gid: 0 } };
}

/**
 * Starts a test process with `prefix` that opens the programs as Postgres does; returns its first
 * error, or null.
 */
function refusal(
  prefix: readonly string[],
  paths: { programs: readonly string[]; closed: readonly string[] },
): string | null {
  const [command = '', ...args] = prefix;
  const ask = `const { accessSync, constants: { R_OK, X_OK } } = require('node:fs');
    const { programs, closed } = JSON.parse(process.argv[1]);
    for (const path of programs) accessSync(path, R_OK | X_OK);
    for (const path of closed) accessSync(path, X_OK);`;
  const env = { ...process.env, NODE_OPTIONS: '' };
  const probe = spawnSync(command, [...args, process.execPath, '-e', ask, JSON.stringify(paths)], {
    cwd: '/',
    env,
    encoding: 'utf8',
  });
  if (probe.status === 0) return null;
  const lines = (probe.error?.message ?? probe.stderr).split('\n').map((line) => line.trim());
  const reason =
    lines.find((line) => /^(Error|unshare|setpriv)\b/.test(line)) ??
    lines.find((line) => line !== '') ??
    'it was ended';
  return reason.startsWith(basename(command)) ? reason : `${basename(command)}: ${reason}`;
}

function lookUp(name: string): Owner | null {
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
