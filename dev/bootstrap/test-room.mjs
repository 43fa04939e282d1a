// The temporary folder of one run of the tests, removed with all its content, also when the run is
// interrupted. The next run removes the folder of a killed one.
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify } from './identity.mjs';

const NAME = /^fund-movement-tests-(\d+)-/;
const rooms = new Set();

/**
 * Whether a folder of this name is the temporary folder of a run.
 *
 * @param {string} name
 * @returns {boolean}
 */
export function isTestRoom(name) {
  return NAME.test(name);
}

/**
 * Makes the folder, named after this process.
 *
 * @returns {string}
 */
export function openTestRoom() {
  sweepTestRooms();
  const room = mkdtempSync(join(tmpdir(), `fund-movement-tests-${process.pid}-`));
  rooms.add(room);
  // Temporal's SDK looks for its downloads in the temporary folder, so link them here.
  for (const name of readdirSync(tmpdir()))
    if (name.startsWith('temporal-sdk-typescript-'))
      symlinkSync(join(tmpdir(), name), join(room, name));
  return room;
}

/**
 * Removes the folders of this process. Parts of a stack that are still ending may write to a
 * folder, so its removal is tried for some seconds.
 *
 * @returns {Promise<void>}
 */
export async function closeTestRooms() {
  for (const room of rooms) {
    for (const deadline = Date.now() + 10_000; !removed(room) && Date.now() < deadline;)
      await new Promise((resolve) => setTimeout(resolve, 100));
    rooms.delete(room);
  }
}

/** Removes the folders of processes that are gone. */
function sweepTestRooms() {
  for (const name of readdirSync(tmpdir())) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && identify(Number(pid)) === null) removed(join(tmpdir(), name));
  }
}

function removed(folder) {
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
