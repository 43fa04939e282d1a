/**
 * The end of a run: every part is up, no fault is played, and movements under way come to rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Evidence } from './evidence.ts';
import { contradictions } from './invariants.ts';
import { act, type Life } from './life.ts';
import type { Caller } from './caller.ts';
import type { Run } from './run-stack.ts';

const POLL_MS = 500;
/** What follows the last write of a movement, as the close of its run, takes a moment more. */
const AFTERMATH_MS = 20_000;

/** What still moves, in words; a movement whose node is UNKNOWN rests, whatever its state. */
async function restless({ query }: Run, delivers: boolean): Promise<string> {
  const [row] = await query<{
    moving: number;
    transfers: number;
    commands: number;
    callbacks: number;
  }>(
    `SELECT (SELECT count(*)::int FROM movements m
      WHERE request_state IN ('PENDING_APPROVAL', 'APPROVED', 'EXECUTING')
        OR (ended_at IS NULL
          AND request_state NOT IN ('WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION') AND NOT EXISTS
          (SELECT 1 FROM movement_nodes n WHERE n.movement_id = m.movement_id
            AND n.state = 'UNKNOWN'))) AS moving,
      (SELECT count(*)::int FROM capital_transfers
        WHERE (ended_at IS NULL AND request_state <> 'MANUAL_INTERVENTION')
        OR seen_version < version) AS transfers,
      (SELECT count(*)::int FROM commands WHERE applied_at IS NULL) AS commands,
      (SELECT count(*)::int FROM callbacks WHERE status = 'pending') AS callbacks`,
  );
  if (row === undefined) return 'no answer';
  const counts = { ...row, callbacks: delivers ? row.callbacks : 0 };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
}

/** Waits until nothing moves; answers what still did when the time was over, or an empty text. */
export async function comesToRest(
  run: Run,
  limits: { readonly delivers: boolean; readonly limitMs: number; readonly signal: AbortSignal },
): Promise<string> {
  let last = '';
  for (
    const end = Date.now() + limits.limitMs;
    Date.now() < end;
    await sleep(POLL_MS, undefined, { signal: limits.signal })
  ) {
    last = await restless(run, limits.delivers).catch((error: unknown) => String(error));
    if (last === '') return '';
  }
  return last;
}

/** Retries once whatever failed or waits for somebody's judgement; answers how many were. */
export async function retryFailed(
  lives: readonly Life[],
  run: Run,
  caller: Caller,
): Promise<number> {
  const rows = await run.query<{ movement_id: string }>(
    `SELECT movement_id::text FROM movements m
      WHERE request_state IN ('FAILED', 'MANUAL_INTERVENTION') OR (request_state = 'CANCELLED' AND
       EXISTS (SELECT 1 FROM movement_nodes n WHERE n.movement_id = m.movement_id
         AND n.state IN ('FAILED', 'UNKNOWN')))`,
  );
  const wanted = new Set(rows.map(({ movement_id }) => movement_id));
  let retried = 0;
  for (const life of lives.filter(({ movement_id }) => wanted.has(movement_id ?? ''))) {
    if (await act(life, { caller }, 'retry')) retried += 1;
  }
  return retried;
}

/**
 * Rounds in which whatever waits is led on: a gate leads to the next, and an unknown send to its
 * proof.
 */
const ROUNDS = 6;

/**
 * Brings every movement to its end: gates are resumed, and what needs a judgement is retried.
 * Answers what still moved.
 */
export async function endAll(
  lives: readonly Life[],
  run: Run,
  caller: Caller,
  rest: Parameters<typeof comesToRest>[1],
): Promise<string> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const open = await run.query<{ movement_id: string; gate: boolean }>(
      `SELECT movement_id::text, request_state = 'WAITING_MANUAL_ACTION' AS gate FROM movements
        WHERE ended_at IS NULL`,
    );
    if (open.length === 0) return '';
    const gates = new Map(open.map(({ movement_id, gate }) => [movement_id, gate]));
    for (const life of lives) {
      const gate = gates.get(life.movement_id ?? '');
      if (gate !== undefined) await act(life, { caller }, gate ? 'resume' : 'retry');
    }
    const restless = await comesToRest(run, rest);
    if (restless !== '') return restless;
  }
  return '';
}

/** The evidence once nothing contradicts it, or as it is when the aftermath is over. */
export async function lastEvidence(look: () => Promise<Evidence>): Promise<Evidence> {
  for (const end = Date.now() + AFTERMATH_MS; ; await sleep(2_000)) {
    const evidence = await look();
    if (contradictions(evidence).length === 0 || Date.now() > end) return evidence;
  }
}
