/**
 * When a payment may be signed again with the same nonce: the stops are asked before it is signed,
 * and what they rest on once more in the write that stores it.
 */
import { ExecutorFault } from '../../domain/executor.ts';
import type { SeenPath, Transition } from '../../domain/transition.ts';
import { readPhase, type PhaseRow } from '../../store/phases.ts';
import { askedBy } from './allowlist.ts';
import { mustBeWithinBudget, usablePath } from './bridge-path.ts';
import { perpSignerOf, perpStill } from './perp-terms.ts';
import { heldNow, type StopSources } from './stops.ts';

/** What the write of the new version requires, or why there is to be none. */
export type MayReplace = Required<Pick<Transition, 'require'>> | { readonly why: string };

export interface Replaced {
  readonly accepted: boolean;
  /** Who signed. */
  readonly address: string;
  /** In the chain's own coin. */
  readonly value: string;
}

export async function mayReplace(
  deps: StopSources,
  row: PhaseRow,
  { accepted, address, value }: Replaced,
): Promise<MayReplace> {
  const way = accepted ? 'replace_accepted' : 'replace_unaccepted';
  const held = await heldNow(deps, row, way, address);
  if (held !== null) return { why: held.why };
  const by = await askedBy(deps, row);
  if (!by.ok) return { why: by.message };
  const path = await pathOf(deps, row, value);
  if ('why' in path) return path;
  const signer_key = row.node.signer_binding?.signer_key ?? '';
  const perp = perpStill(row, (await perpSignerOf(deps, row)) ?? address);
  return {
    require: {
      ...path,
      executors: [row.node.executor_binding.executor_key],
      signers: [{ signer_key, address }],
      addresses: by.asked,
      ...(perp === undefined ? {} : { perp }),
    },
  };
}

/** The same of what a node has paid, and what the chain has lost again. */
export async function mayReplaceLost(
  deps: StopSources,
  claim: { readonly movement_id: string | null; readonly node_key: string | null },
  lost: Omit<Replaced, 'accepted'>,
): Promise<MayReplace> {
  const { movement_id, node_key } = claim;
  const row =
    movement_id === null || node_key === null
      ? null
      : await readPhase(deps.db, movement_id, node_key);
  if (row === null) return { why: 'its node is not there' };
  return mayReplace(deps, row, { ...lost, accepted: true });
}

/** The path of a send over the bridge, which has to be open, and no dearer than it may be now. */
async function pathOf(
  deps: StopSources,
  row: PhaseRow,
  value: string,
): Promise<{ readonly bridge_path?: SeenPath } | { readonly why: string }> {
  if (row.node.action_type !== 'bridge_c_send') return {};
  try {
    const { terms, seen } = await usablePath(deps, row, { sent: true });
    mustBeWithinBudget(value, terms);
    return { bridge_path: seen };
  } catch (error) {
    if (error instanceof ExecutorFault) return { why: error.message };
    throw error;
  }
}
