/** Builds of the workers, and the signal with which a run leaves one. */
import { isObject } from './json.ts';

/** A build of the workers, as Temporal knows it: a version of a worker deployment. */
export interface Build {
  readonly deployment: string;
  readonly build: string;
}

/**
 * How a run leaves its build.
 * - `continue`: it continues as new on the current build. The server must be able to do that.
 * - `restart`: it closes, and a stored wake starts the next run. Every server can do that.
 */
export const WAYS_TO_LEAVE = ['continue', 'restart'] as const;
export type WayToLeave = (typeof WAYS_TO_LEAVE)[number];

/** Payload of the signal: only a run on this build leaves it. */
export interface LeaveBuild extends Build {
  readonly by: WayToLeave;
}

/** Returns the payload of a signal; null when it is malformed, since anyone may send signals. */
export function readLeaveBuild(value: unknown): LeaveBuild | null {
  if (!isObject(value)) return null;
  const { deployment, build } = value;
  const by = WAYS_TO_LEAVE.find((way) => way === value['by']);
  if (typeof deployment !== 'string' || typeof build !== 'string' || by === undefined) return null;
  return deployment === '' || build === '' ? null : { deployment, build, by };
}

/** Returns the text `<deployment>:<build>`, which is how Temporal's search attribute names it. */
export function nameOfBuild({ deployment, build }: Build): string {
  return `${deployment}:${build}`;
}

/** The first minor release of Temporal's server 1.x whose pinned runs can change their build. */
const CONTINUES_SINCE = 30;

/**
 * Returns how runs leave a build on a server of this version. An unreadable version returns
 * `restart`, which every server can do.
 */
export function wayOn(serverVersion: string): WayToLeave {
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(serverVersion) ?? [];
  if (major === undefined || minor === undefined) return 'restart';
  const isNewer = Number(major) > 1 || (major === '1' && Number(minor) >= CONTINUES_SINCE);
  return isNewer ? 'continue' : 'restart';
}
