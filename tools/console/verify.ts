/** Compares the operators' page, as a server delivers it, with the files of this release. */
import { createHash } from 'node:crypto';
import {
  CONSOLE_INDEX,
  CONSOLE_PATH,
  consolePolicy,
  readConsole,
  type ConsoleFiles,
} from '../../platform/console-files.ts';
import { ToolError } from '../io.ts';

const WITHIN_MS = 30_000;

export interface Verified {
  /** Number of files that were compared. */
  readonly files: number;
  /** One sentence per difference; empty when every file is as it was built. */
  readonly faults: readonly string[];
}

/**
 * Fetches every file of the page from `url` and returns the differences. Throws a {@link ToolError}
 * when `url` is no address or does not answer.
 */
export async function verifyConsole(
  url: string,
  { manifest }: ConsoleFiles = readConsole(),
): Promise<Verified> {
  if (!URL.canParse(url)) throw new ToolError('--url must be an address.', { exitCode: 2 });
  const { origin } = new URL(url);
  const faults: string[] = [];
  const policy = consolePolicy(manifest);
  for (const [name, { sha256, bytes }] of Object.entries(manifest.files)) {
    const path = CONSOLE_PATH + (name === CONSOLE_INDEX ? '' : name);
    const answer = await fetched(origin + path);
    if (answer.status !== 200) faults.push(`${path} is answered with ${String(answer.status)}.`);
    else if (createHash('sha256').update(answer.body).digest('hex') !== sha256)
      faults.push(
        `${path} has other bytes: ${String(answer.body.byteLength)} of them, but the build has ${String(bytes)}.`,
      );
    if (answer.policy !== policy) faults.push(`${path} has another content policy.`);
  }
  return { files: Object.keys(manifest.files).length, faults };
}

async function fetched(address: string) {
  try {
    const answer = await fetch(address, {
      redirect: 'manual',
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    return {
      status: answer.status,
      policy: answer.headers.get('content-security-policy'),
      body: new Uint8Array(await answer.arrayBuffer()),
    };
  } catch (cause) {
    throw new ToolError(`${address} does not answer.`, { cause });
  }
}
