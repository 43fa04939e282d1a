/** The recorded histories, and their replay against any workflow code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultsOf, replayAll } from '../support/replays.ts';
import { fromPlain, HISTORIES, type Recording } from './scenarios.ts';

/** Names of the files of the corpus, in order. */
export const corpusFiles = (): readonly string[] => readdirSync(HISTORIES).sort();

/** Returns the recording in a file of the corpus. */
export function recordingIn(file: string): Recording {
  return JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as Recording;
}

/** Returns the whole corpus, by file. */
export function readCorpus(): ReadonlyMap<string, Recording> {
  return new Map(corpusFiles().map((file) => [file, recordingIn(file)]));
}

/**
 * Replays recordings against the workflow code; returns what went wrong in each replay that failed,
 * by `<file>#<run>`. Rejects when a replay has no result.
 */
export async function replayRecordings(
  recordings: ReadonlyMap<string, Recording>,
  code: string,
): Promise<Record<string, string>> {
  const names: string[] = [];
  const histories = [...recordings].flatMap(([file, { runs }]) =>
    runs.map(({ workflow_id, history }, index) => {
      names.push(`${file}#${String(index + 1)}`);
      return { workflowId: workflow_id, history: fromPlain(history) };
    }),
  );
  const found = await replayAll(code, histories);
  if (found.length !== names.length)
    throw new Error(`${String(found.length)} of ${String(names.length)} replays have a result`);
  return faultsOf(names, found);
}
