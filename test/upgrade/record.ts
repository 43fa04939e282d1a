/** Makes the recorded state of a release: what this build leaves behind when it is cut off. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { built } from '../../dev/bootstrap/programs.mjs';
import { startReceiver } from '../support/callback-receiver.ts';
import type { OwnStack } from '../support/own-stack.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { readAll, steady, type Answers } from './answers.ts';
import { live, RECEIVER_PORT, startLife } from './life.ts';
import { writeState } from './state.ts';

/** Long enough for whatever tells ages to tell another one. */
const A_MOMENT_MS = 2_500;

export async function recordState(folder: string, version: string): Promise<void> {
  const receiver = await startReceiver(RECEIVER_PORT);
  const own = await startLife();
  try {
    const left = await live(own, receiver);
    await own.stack.kill('api');
    const answers = await steadyAnswers(own);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [built('fundadmin'), 'audit', 'verify'],
      { env: { ...process.env, ...own.stack.env } },
    );
    const { head } = JSON.parse(stdout) as {
      readonly head: { readonly position: string; readonly chain_hash: string };
    };
    const facts = { version, left, audit_head: `${head.position}:${head.chain_hash}` };
    const { databaseUrl, dataDir } = own.stack;
    // Whoever keeps books has written what it does; Postgres goes last.
    await own.stack.kill('paper-venue');
    await own.stack.kill('chain');
    await writeState(folder, { databaseUrl, dataDir }, facts, answers);
  } finally {
    receiver.close();
    await own.close();
  }
}

/** What an API answers while nothing else runs, without what is of the moment. */
async function steadyAnswers(own: OwnStack): Promise<Answers> {
  const api = await startApi(own);
  try {
    const url = `http://127.0.0.1:${String(api.opsPort)}`;
    const once = await readAll(api.apiUrl, url);
    await sleep(A_MOMENT_MS);
    return steady(once, await readAll(api.apiUrl, url)) as Answers;
  } finally {
    api.signal('SIGKILL');
    await api.ended;
  }
}

/** An API that asks for no signature, beside a stack whose own processes are down. */
export function startApi(
  own: Pick<OwnStack, 'stack'>,
  program?: string,
): ReturnType<typeof startServiceProcess> {
  return startServiceProcess(own.stack, 'api', {
    settings: { SVC_AUTH_ENABLED: 'false' },
    ...(program === undefined ? {} : { program }),
  });
}
