/** Refuses plans over a bridge that is not ready; only in the free edition. */
import { LANES } from '../../domain/actions/spec.ts';
import { ServiceError } from '../../domain/errors.ts';
import { bridgeLegs } from '../../domain/fund-routes/bridge-legs.ts';
import { routeBridge } from '../../domain/fund-routes/bridges.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import { readBridgeRegistry } from '../../store/bridge-registry.ts';
import type { ApiDependencies } from '../dependencies.ts';

/**
 * Returns one refusal with every bridge path that is not ready. Only in the free edition: its
 * callers cannot read the registry to learn why a movement will not start. Both editions check
 * again before a send.
 */
export async function pathRefusals(
  { nodes, edges, intent }: CompiledPlan,
  { db, chains, settings }: ApiDependencies,
): Promise<readonly ServiceError[]> {
  const legs = bridgeLegs(nodes, edges, ({ action_type }) => ({ action_type })).filter(
    ({ lane }) => LANES[lane].paths === 'registered',
  );
  if (settings.edition !== 'free' || legs.length === 0) return [];
  const world = { chains, maxAgeSeconds: settings.bridgeSnapshotMaxAgeSeconds };
  const bridge = routeBridge(legs, intent.asset, {
    ...world,
    registry: await readBridgeRegistry(db),
  });
  const paths = (bridge?.legs ?? [])
    .filter(({ usable }) => usable !== true)
    .map(({ node_key, source_chain_id, destination_chain_id, asset, problem }) => ({
      node_key,
      source_chain_id,
      destination_chain_id,
      asset,
      reason: problem?.reason ?? 'the plan does not name both chains',
    }));
  return paths.length === 0
    ? []
    : [new ServiceError('bridge_path_not_ready', { context: { paths } })];
}
