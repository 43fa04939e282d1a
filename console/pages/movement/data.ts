/** Reads and writes of the movement page. Reads are repeated when the stream reports a change. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useWrongClock } from '../../data/clock.ts';
import { paced } from '../../data/pace.ts';
import { assertionOf, type Approved } from '../../data/passkeys.ts';
import { useRead } from '../../data/reads.ts';
import { theClient, useSession } from '../../data/session.ts';
import { useStore } from '../../data/store.ts';
import { liveness } from '../../data/stream.ts';
import type { Graph, ListedRow, Movement, Timeline } from './model/answers.ts';
import type { Statement } from './model/decision.ts';
import { readPlan, type PlanReading } from './model/plan.ts';

const ROWS = '/dashboard/allowed-addresses';
const API = '/dashboard/api';

export interface MovementData {
  readonly movement: Movement | null;
  readonly graph: Graph | null;
  readonly timeline: Timeline | null;
  /**
   * The plan and its check against the hash; null while it is not read. `errors.plan` holds why it
   * could not be read.
   */
  readonly plan: PlanReading | null;
  readonly rows: readonly ListedRow[] | null;
  readonly errors: {
    readonly movement: Error | null;
    readonly graph: Error | null;
    readonly timeline: Error | null;
    readonly plan: Error | null;
    readonly rows: Error | null;
  };
  /**
   * Reads everything again except the plan; rejects when the movement or the timeline cannot be
   * read.
   */
  readonly look: () => Promise<Look>;
}

export interface Look {
  readonly movement: Movement;
  readonly timeline: Timeline;
  /** Whether the allowlist could be read too. */
  readonly isListed: boolean;
}

export function useMovement(movement_id: string): MovementData {
  const input = { params: { movement_id } };
  const movement = useRead('getMovement', input);
  const graph = useRead('getMovementGraph', input);
  const timeline = useRead('getMovementTimeline', input);
  const text = useQuery({
    queryKey: ['getMovementPlan', input],
    // A plan's text never changes; the hash that it is compared with may.
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      (await theClient().request('getMovementPlan', { ...input, signal })).text,
  });
  const hash = movement.data?.compiled_plan_hash;
  const plan = useQuery({
    queryKey: ['plan-reading', movement_id, text.data, hash],
    enabled: text.data !== undefined && hash !== undefined,
    staleTime: Infinity,
    queryFn: () => readPlan(text.data ?? '', hash ?? ''),
  });
  const rows = useQuery({ queryKey: ['allowlist'], queryFn: ({ signal }) => readRows(signal) });
  const client = useQueryClient();
  return {
    movement: movement.data ?? null,
    graph: graph.data ?? null,
    timeline: timeline.data ?? null,
    plan: plan.data ?? null,
    rows: rows.data ?? null,
    errors: {
      movement: movement.error,
      graph: graph.error,
      timeline: timeline.error,
      plan: text.error ?? plan.error,
      rows: rows.error,
    },
    look: async () => {
      await client.cancelQueries({ queryKey: ['getMovement', input] });
      const [seen, events, , listed] = await Promise.all([
        movement.refetch({ throwOnError: true }),
        timeline.refetch({ throwOnError: true }),
        graph.refetch(),
        rows.refetch(),
      ]);
      if (seen.data === undefined || events.data === undefined)
        throw new Error('The service answered nothing.');
      return { movement: seen.data, timeline: events.data, isListed: listed.isSuccess };
    },
  };
}

/** Sends, once, the request that the sheet showed, signed by this browser's key. */
export async function send({ method, path, body }: Statement): Promise<void> {
  await theClient().send({ method, target: API + path, body });
}

/**
 * Sends, once, the approval that the sheet showed, together with what the person's passkey signs
 * about it. Nothing is sent without a touch.
 */
export async function sendWithPasskey(statement: Statement, approved: Approved): Promise<void> {
  const assertion = await assertionOf(approved);
  await send({ ...statement, body: { ...statement.body, assertion } });
}

/** Returns the operator and the role that the service reports; null while no session is open. */
export function useOperator(): { readonly operator: string; readonly role: string } | null {
  const session = useSession();
  if (session.kind !== 'open') return null;
  return { operator: session.key.operator, role: session.whoami.role };
}

/**
 * Returns why no decision is possible now: the data may be old, or the service would refuse the
 * signature. Null when a decision is possible.
 */
export function useBehind(data: MovementData): string | null {
  const session = useSession();
  const live = useStore(liveness);
  const clock = useWrongClock();
  if (session.kind === 'open' && session.ended)
    return 'The session has ended: Continue opens another.';
  if (clock !== null) return clock;
  if (live === 'offline') return 'This browser is offline: what is shown may be old.';
  return data.errors.movement === null
    ? null
    : 'The movement could not be read again: what is shown may be old.';
}

/** Reads every row of the allowlist. */
export async function readRows(signal?: AbortSignal): Promise<readonly ListedRow[]> {
  const rows: ListedRow[] = [];
  let cursor = '';
  do {
    if (cursor !== '') await paced(signal);
    const next = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await theClient().send({
      method: 'GET',
      target: `${ROWS}?limit=200${next}`,
      signal,
    });
    const page = body as {
      readonly allowed_addresses: readonly ListedRow[];
      readonly next_cursor: string | null;
    };
    rows.push(...page.allowed_addresses);
    // Ends the loop when a page names itself as the next one.
    cursor = page.next_cursor === cursor ? '' : (page.next_cursor ?? '');
  } while (cursor !== '');
  return rows;
}
