/**
 * The stops that are on for a node whose send was declared before. The fence asks for the first
 * send; everything that is sent after it asks here, each time.
 */
import type { PathTerms } from '../../domain/bridges/path-ready.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { heldBy, type Held, type Stopped, type Way } from '../../domain/send/stops.ts';
import type { Transition } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { readStops } from '../../store/stops.ts';
import { askedBy } from './allowlist.ts';
import { usablePath, type LookedAt } from './bridge-path.ts';
import type { PhaseDependencies } from './context.ts';
import { perpSignerOf, perpStill } from './perp-terms.ts';

/** What the rule reads of a node, with the registered executors and signers. */
export type StopSources = Pick<PhaseDependencies, 'db' | 'executors' | 'signers' | 'chains'> &
  Pick<PhaseDependencies, 'bridgeSnapshotMaxAgeSeconds'>;

/** What a send rests on now: as a write requires it once more, and what keeps it from leaving. */
export interface Standing {
  readonly held: Held | null;
  readonly required: NonNullable<Transition['require']>;
  /** Of the bridge path that it takes; null where it takes none. */
  readonly terms: PathTerms | null;
}

/** What holds back this way of sending what `address` signed; null where it may go now. */
export async function heldNow(
  deps: StopSources,
  row: PhaseRow,
  way: Way,
  address: string,
): Promise<Held | null> {
  return (await standingOf(deps, row, way, address)).held;
}

/** The same with what it rests on; `said` is who signed, as the caller knows it. */
export async function standingOf(
  deps: StopSources,
  row: PhaseRow,
  way: Way,
  said: string,
): Promise<Standing> {
  const signer = row.node.signer_binding;
  const by = await askedBy(deps, row);
  const path = await pathOf(deps, row, way);
  // Who signed for the perps venue is on record; what an executor is told of is the account of now.
  const address = (await perpSignerOf(deps, row)) ?? said;
  const perp = perpStill(row, address);
  const required = {
    executors: [row.node.executor_binding.executor_key],
    signers: signer === null ? [] : [{ signer_key: signer.signer_key, address }],
    addresses: by.ok ? by.asked : [],
    ...('seen' in path ? { bridge_path: path.seen } : {}),
    ...(perp === undefined ? {} : { perp }),
  };
  const stops: readonly Stopped[] = [
    ...(await readStops(deps.db, row, required)),
    ...(by.ok ? [] : [{ stop: 'payee_unusable' as const, why: by.message }]),
    ...('why' in path ? [{ stop: 'bridge_path' as const, why: path.why }] : []),
  ];
  return { held: heldBy(way, stops), required, terms: 'terms' in path ? path.terms : null };
}

/** Of a send over the bridge: its path as it is looked at, or why it is closed. */
async function pathOf(
  deps: StopSources,
  row: PhaseRow,
  way: Way,
): Promise<LookedAt | { readonly why: string } | Record<never, never>> {
  if (row.node.action_type !== 'bridge_c_send') return {};
  try {
    return await usablePath(deps, row, { sent: way === 'replace_accepted' });
  } catch (error) {
    if (error instanceof ExecutorFault) return { why: error.message };
    throw error;
  }
}
