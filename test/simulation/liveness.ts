/** How long movements stood still that nothing held up: no stop, no person, no other movement. */
import { switchesOff, type Act } from './acts.ts';
import { WITHDRAWAL } from './plans.ts';

export interface Stillness {
  readonly movement_id: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly ms: number;
  readonly state: string;
  /** After the storm. */
  readonly isCalm: boolean;
}

/**
 * The longest that a movement may stand still while faults strike, and after that, in milliseconds.
 * A Temporal that forgot all, a frozen worker and three lost answers make minutes.
 */
const LONGEST_MS = 300_000;
const LONGEST_CALM_MS = 150_000;

/** With a known outcome of every node, and no open gate where a gate is waited for. */
const MOVES_BY_ITSELF = [
  ...['APPROVED', 'EXECUTING', 'CANCELLED'],
  ...['WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'],
];
const SETTLED = ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'];

interface Seen {
  readonly acts: readonly Act[];
  readonly nodes: readonly {
    readonly movement_id: string;
    readonly node_key: string;
    readonly executor_key: string | null;
  }[];
  /** Every row of every timeline. */
  readonly events: readonly { readonly movement_id: string; readonly at: number }[];
  readonly calmSince: number;
}

/** Every time that a movement stood still for longer than it may. */
export function stillnessOf(seen: Seen): readonly Stillness[] {
  return allStillness(seen).filter(
    ({ ms, isCalm }) => ms > (isCalm ? LONGEST_CALM_MS : LONGEST_MS),
  );
}

/** The times between any two changes of a movement that could have gone on. */
export function allStillness({ acts, nodes, events, calmSince }: Seen): readonly Stillness[] {
  const stops = stopsOf(acts);
  const found: Stillness[] = [];
  for (const movement_id of new Set(nodes.map((node) => node.movement_id))) {
    const own = nodes.filter((node) => node.movement_id === movement_id);
    // What waits for the nonce of another movement, or for its withdrawal, is that one's to move.
    if (own.some(({ executor_key }) => isInLane(executor_key))) continue;
    const gates = own.filter(({ executor_key }) => executor_key === null);
    const states = new Map(own.map(({ node_key }) => [node_key, 'BLOCKED']));
    let state = 'PENDING_APPROVAL';
    const moments = [
      ...acts.filter(({ subject }) => subject === movement_id),
      ...events
        .filter((event) => event.movement_id === movement_id)
        .map(({ at }) => ({ at, kind: 'event', node_key: null, value: '' }) as const),
    ].sort((a, b) => a.at - b.at);
    for (const [index, { at, kind, node_key, value }] of moments.entries()) {
      if (kind === 'movements') state = value;
      if (kind === 'movement_nodes' && node_key !== null) states.set(node_key, value);
      const next = moments[index + 1]?.at;
      const open = [...states.values()].filter((each) => !SETTLED.includes(each));
      if (next === undefined || open.includes('UNKNOWN')) continue;
      const isGateOpen = gates.some((gate) => states.get(gate.node_key) === 'READY');
      if (!MOVES_BY_ITSELF.includes(state)) continue;
      if (state === 'WAITING_MANUAL_ACTION' && isGateOpen) continue;
      const isCalm = at >= calmSince;
      found.push({
        movement_id,
        from: at,
        ms: next - at - stopped(stops, at, next),
        state,
        isCalm,
      });
    }
  }
  return found;
}

const isInLane = (executor: string | null): boolean =>
  executor?.startsWith('evm.') === true || executor === WITHDRAWAL;

/** When anything at all was switched off. */
function stopsOf(acts: readonly Act[]): readonly { readonly from: number; readonly to: number }[] {
  const off = new Set<string>();
  const stops: { from: number; to: number }[] = [];
  for (const { kind, subject, value, at } of acts) {
    if (kind === 'movements' || kind === 'movement_nodes') continue;
    const before = off.size;
    if (switchesOff({ kind, value })) off.add(`${kind} ${subject}`);
    else off.delete(`${kind} ${subject}`);
    const last = stops.at(-1);
    if (before === 0 && off.size > 0) stops.push({ from: at, to: Infinity });
    else if (before > 0 && off.size === 0 && last !== undefined) last.to = at;
  }
  return stops;
}

function stopped(
  stops: readonly { readonly from: number; readonly to: number }[],
  from: number,
  to: number,
): number {
  return stops
    .map((stop) => Math.min(to, stop.to) - Math.max(from, stop.from))
    .reduce((sum, ms) => sum + Math.max(0, ms), 0);
}
