/** Views of registry entries: stored rows and entries in this process's memory, merged by key. */
import type { ExecutorDescriptor } from '../../domain/executor.ts';
import { capsInForce } from '../../domain/lanes/caps.ts';
import type { BoundChain } from '../../domain/plan/tokens.ts';
import type { SignerDescriptor } from '../../domain/signer.ts';
import { identityState } from '../../signers/identity.ts';
import type { LaneView } from '../../store/lanes.ts';
import type { ExecutorRow, SignerRow } from '../../store/registry.ts';
import type { ExecutorView, SignerView } from './schema.ts';

/** Returns every key of both sides once, sorted, with its entry on each side. */
export function mergeByKey<R, D>(
  rows: ReadonlyMap<string, R>,
  declared: ReadonlyMap<string, D>,
): readonly {
  readonly key: string;
  readonly row: R | undefined;
  readonly declared: D | undefined;
}[] {
  const keys = [...new Set([...rows.keys(), ...declared.keys()])].sort();
  return keys.map((key) => ({ key, row: rows.get(key), declared: declared.get(key) }));
}

function sourceOf(
  row: object | undefined,
  declared: object | undefined,
): 'persisted' | 'memory' | 'both' {
  if (row === undefined) return 'memory';
  return declared === undefined ? 'persisted' : 'both';
}

/** Returns an executor's view: the entry in memory describes it, the row holds its status. */
export function executorViewOf(
  key: string,
  row: ExecutorRow | undefined,
  declared: ExecutorDescriptor | undefined,
): ExecutorView {
  const what = declared ?? row;
  return {
    executor_key: key,
    kind: what?.kind ?? 'local',
    status: row?.status ?? 'active',
    health_state: row?.health_state ?? 'unknown',
    health_checked_at: row?.health_checked_at ?? null,
    action_types: what?.action_types ?? [],
    provider: what?.provider ?? null,
    chain_family: what?.chain_family ?? null,
    endpoint: what?.endpoint ?? null,
    source: sourceOf(row, declared),
    updated_at: row?.updated_at ?? null,
  };
}

/** Returns a signer's view, with the finality of its nonce lanes' chains. */
export function signerViewOf(
  key: string,
  row: SignerRow | undefined,
  declared: SignerDescriptor | undefined,
  {
    lanes,
    chains,
  }: { readonly lanes: readonly LaneView[]; readonly chains: readonly BoundChain[] },
): SignerView {
  const what = declared ?? row;
  const chain_family = what?.chain_family ?? '';
  const expected = row?.expected_signer_address ?? null;
  const observed = row?.observed_signer_address ?? null;
  return {
    signer_key: key,
    status: row?.status ?? 'active',
    backend: what?.backend ?? '',
    chain_family,
    profile: what?.profile ?? null,
    expected_signer_address: expected,
    observed_signer_address: observed,
    observed_at: row?.observed_at ?? null,
    identity_state: identityState({ chain_family, expected, observed }),
    lanes: lanes
      .filter(({ signer_key }) => signer_key === key)
      .map((lane) => laneViewOf(lane, chains)),
    source: sourceOf(row, declared),
    updated_at: row?.updated_at ?? null,
  };
}

/** Returns a nonce lane with facts of its chain: the finality rule, and the fee caps in force. */
export function laneViewOf(
  { signer_key: _of, ...lane }: LaneView,
  chains: readonly BoundChain[],
): SignerView['lanes'][number] {
  const bound = chains.find(({ chain_id }) => chain_id === lane.chain_id);
  return {
    ...lane,
    caps: bound === undefined ? null : capsInForce(bound.caps, lane.raise),
    finality: bound === undefined ? null : { ...bound.finality },
  };
}
