/** What the runs over one lane read and report in the same words. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MovementView, TimelineView } from '../support/evidence.ts';
import type { FinalViews, FinalView } from './bridge-story.ts';
import type { Caller } from './caller.ts';
import type { Run } from './run-stack.ts';
import type { Storm } from './storm.ts';

/** After the storm, how long movements may take to come to their end. */
const REST_MS = 300_000;

export async function register(caller: Caller, template: object): Promise<void> {
  const { status, body } = await caller.call('POST', '/plan-templates', { body: template });
  if (status !== 201 && status !== 409)
    throw new Error(`a template was refused: ${JSON.stringify(body)}`);
}

/** Waits until every movement has ended and every nonce is final; returns what has not. */
export async function comesToItsEnd(
  { query }: Run,
  signal: AbortSignal,
): Promise<readonly string[]> {
  let last = '';
  for (const end = Date.now() + REST_MS; Date.now() < end;) {
    const [row] = await query<{ movements: number; nonces: number }>(
      `SELECT (SELECT count(*)::int FROM movements WHERE ended_at IS NULL) AS movements,
         (SELECT count(*)::int FROM evm_transactions
          WHERE replaces IS NULL AND released_at IS NULL AND final_at IS NULL) AS nonces`,
    );
    if (row?.movements === 0 && row.nonces === 0) return [];
    last = `${row?.movements ?? '?'} movements under way and ${row?.nonces ?? '?'} nonces not final`;
    await sleep(500, undefined, { signal });
  }
  return [`after ${REST_MS / 1_000} s there were still ${last}`];
}

export async function ask(
  run: Run,
  lives: readonly { readonly movement_id: string | null }[],
): Promise<FinalViews> {
  const views = new Map<string, FinalView>();
  for (const { movement_id: id } of lives)
    if (id !== null)
      views.set(id, {
        movement: await run.read<MovementView>(`/movements/${id}`),
        timeline: await run.read<readonly TimelineView[]>(`/movements/${id}/timeline`),
      });
  return views;
}

export function stormLines(
  storm: Storm,
  stormSeconds: number,
): readonly (readonly [string, string])[] {
  const down = [...storm.downMs].map(([name, ms]) => `${name} ${Math.round(ms / 1_000)} s`);
  return [
    ['kills', `${storm.total} (${shown(storm.kills)})`],
    ['down', `of ${stormSeconds} s: ${down.join(', ')}`],
    ...(storm.failedStarts.length === 0
      ? []
      : [['failed starts', storm.failedStarts.join(' | ')] as const]),
  ];
}

/** Counts of the events that show faults. */
export function events(views: FinalViews): string {
  const met = ['node_recovered', 'node_unknown', 'node_failed', 'transaction_dropped'];
  const all = [...views.values()].flatMap(({ timeline }) =>
    timeline.map((each) => each.event_type),
  );
  return met.map((type) => `${all.filter((each) => each === type).length} ${type}`).join(', ');
}

export function tally(items: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return shown(counts);
}

export function shown(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}

export function seconds(since: number): number {
  return Math.round((Date.now() - since) / 1_000);
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Lists the first 50 contradictions; returns their number, which is the last line of a run. */
export function conclude(found: readonly string[]): number {
  for (const each of found.slice(0, 50)) say(`- ${each}`);
  process.stdout.write(`${found.length} contradictions\n`);
  return found.length;
}

export const stateOf = ({ movement }: FinalView): string => movement.request_state;
