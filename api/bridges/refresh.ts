/**
 * POST /executors/bridge-c/refresh-registry: reads the identity and facts of every chain of the
 * bridge.
 */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { NO_BRIDGE_CHAINS, type BridgeChain } from '../../domain/bridges/registry.ts';
import { settleEach } from '../../platform/at-once.ts';
import {
  listBridgeChains,
  refreshBridgeChains,
  type ReportedChain,
} from '../../store/bridge-registry.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { chainView } from './chains.ts';
import type { refreshResponse } from './schema.ts';

const AT_ONCE = 8;
/** Time limit of the slowest chain, since the caller waits for all of them. */
const ANSWER_WITHIN_MS = 10_000;

export async function refresh(
  { requester }: { readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof refreshResponse>>> {
  const { now: startedAt, row: chains } = await listBridgeChains(deps.db);
  const audit = auditOf(requester, {
    action: 'bridge_registry.refresh',
    entity_type: 'bridge_registry',
    entity_key: 'bridge-c',
  });
  const readings = await readEach(chains, deps);
  const { now, row, changed } = await refreshBridgeChains(deps.db, readings, { startedAt, audit });
  const views = row.map((each) => chainView({ row: each, now }, deps.settings));
  return {
    status: 200,
    body: {
      refreshed_at: now,
      changed,
      stale: views.flatMap(({ chain, snapshot_stale }) => (snapshot_stale ? [chain] : [])),
      chains: views,
    },
  };
}

/** Reads every chain; a reader that fails counts as a chain that did not answer. */
async function readEach(
  chains: readonly BridgeChain[],
  { bridge = NO_BRIDGE_CHAINS, log }: ApiDependencies,
): Promise<readonly ReportedChain[]> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const answers = await settleEach(chains, AT_ONCE, (chain) => bridge.read(chain, { signal }));
  return chains.map(({ chain, endpoint_identity }, index) => {
    const answer = answers[index];
    if (answer?.status === 'rejected')
      log.warn({ chain, err: answer.reason as unknown }, 'a bridge endpoint was not read');
    const reading = answer?.status === 'fulfilled' ? answer.value : { ok: false as const };
    return { chain, endpoint_identity, facts: reading.ok ? reading.facts : null };
  });
}
