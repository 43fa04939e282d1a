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
      // Another starter may have judged the file that we replaced and move ours away by mistake;
      // it puts it back at once, so after a short wait the file names the real holder.
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
 * @param {AbortSignal} [signal] whose end ends the waiting
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
 * Who the lock file names, alive or not.
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
      // its owner sees that the lock is no longer its own and tries again
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
