// A lock file that a killed holder cannot leave behind: it names its holder's identity, and whoever
// finds that this process has gone takes the lock over.
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { identify, isAlive } from './identity.mjs';

/**
 * @typedef {import('./identity.mjs').ProcessIdentity & { token: string }} LockHolder What a lock
 *   file holds.
 */

/**
 * Takes the lock: `{ release }`, or `{ holder }` when a live process has it.
 *
 * @param {string} path
 * @returns {Promise<{ release: () => void, holder?: undefined } | { holder: LockHolder, release?:
 *   undefined }>}
 */
export async function takeLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = { ...identify(process.pid), token: randomUUID() };
  for (let round = 0; round < 50; round += 1) {
    if (createExclusively(path, mine)) {
      // Another process may have read the old lock file and now move our new file away by mistake.
      // That process puts our file back at once, so a short wait shows the real holder.
      await pause(30);
      if (readLock(path)?.token === mine.token) return { release: () => release(path, mine.token) };
      continue;
    }
    const holder = readLock(path);
    if (holder !== null && isAlive(holder)) return { holder };
    removeStale(path, holder);
    await pause(10);
  }
  throw new Error(
    `The lock file ${path} cannot be taken; remove it by hand when nothing else runs.`,
  );
}

/**
 * Takes the lock as soon as no live process has it; returns the function that releases it.
 *
 * @param {string} path
 * @param {AbortSignal} [signal] ends the waiting when it aborts
 * @returns {Promise<() => void>}
 */
export async function waitForLock(path, signal) {
  for (;;) {
    signal?.throwIfAborted();
    const lock = await takeLock(path);
    if (lock.release !== undefined) return lock.release;
    await pause(300);
  }
}

/**
 * The holder that the lock file names; that process may have ended.
 *
 * @param {string} path
 * @returns {LockHolder | null}
 */
export function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

function createExclusively(path, content) {
  const draft = `${path}.${content.token}`;
  writeFileSync(draft, JSON.stringify(content));
  try {
    // A link appears with its whole content, so no process reads half a lock.
    linkSync(draft, path);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeStale(path, judged) {
  const aside = `${path}.stale.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // another process was quicker
  }
  const taken = readLock(aside);
  if (taken !== null && taken.token !== judged?.token && isAlive(taken)) {
    try {
      linkSync(aside, path);
    } catch {
      // another process has taken the lock; the owner of the moved file sees that and tries again
    }
  }
  rmSync(aside, { force: true });
}

function release(path, token) {
  if (readLock(path)?.token === token) rmSync(path, { force: true });
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
