/** What the page reads and sends. Reads are repeated when the stream says that they changed. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useWrongClock } from '../../data/clock.ts';
import { paced } from '../../data/pace.ts';
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
  /** Null while it is read; of a plan that cannot be read `planError` says why. */
  readonly plan: PlanReading | null;
  readonly rows: readonly ListedRow[] | null;
  readonly errors: {
    readonly movement: Error | null;
    readonly graph: Error | null;
    readonly timeline: Error | null;
    readonly plan: Error | null;
    readonly rows: Error | null;
  };
  /** Reads all of it again; rejects where movement or timeline fail. */
  readonly look: () => Promise<Look>;
}

export interface Look {
  readonly movement: Movement;
  readonly timeline: Timeline;
  /** Whether the allowlist was read too. */
  readonly isListed: boolean;
}

export function useMovement(movement_id: string): MovementData {
  const input = { params: { movement_id } };
  const movement = useRead('getMovement', input);
  const graph = useRead('getMovementGraph', input);
  const timeline = useRead('getMovementTimeline', input);
  const text = useQuery({
    queryKey: ['getMovementPlan', input],
    // A plan never changes: what it is held to may.
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

/** Sends what the sheet showed, signed by this browser's key; once. */
export async function send({ method, path, body }: Statement): Promise<void> {
  await theClient().send({ method, target: API + path, body });
}

/** The operator and role, as the service knows them; null while no session is open. */
export function useOperator(): { readonly operator: string; readonly role: string } | null {
  const session = useSession();
  if (session.kind !== 'open') return null;
  return { operator: session.key.operator, role: session.whoami.role };
}

/** Why nothing can be decided by what is shown: it may be old, or no signature would be taken. */
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

/** Every row of the allowlist. */
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
    // A page that leads to itself would be read for ever.
    cursor = page.next_cursor === cursor ? '' : (page.next_cursor ?? '');
  } while (cursor !== '');
  return rows;
}
