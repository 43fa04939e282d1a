/** The bridge registry of the two local chains, made ready through the API as an operator does. */
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';

/** Names of the sides in the registry. */
export type SideName = 'near' | 'far';

/** Sends a request and fails unless it is answered with this status. */
export type Expect = (
  status: number,
  method: string,
  path: string,
  body?: unknown,
) => Promise<unknown>;

/** Budgets that no send of the local lane exceeds. */
export const PATH_BUDGETS = {
  expected_latency_seconds: 5,
  detection_latency_budget_seconds: 900,
  fee_native_budget: '0.002',
};

/** Where the path of OMNI from one side to the other is. */
export const pathOf = (from: SideName, to: SideName): string =>
  `/bridge-c/path-baselines/${from}/${to}/OMNI`;

/** Registers both chains, before their first check. */
export async function registerChains(expect: Expect, { near, far }: StackBridges): Promise<void> {
  const sides: readonly (readonly [SideName, BridgeSide])[] = [
    ['near', near],
    ['far', far],
  ];
  for (const [chain, { eid, contracts }] of sides)
    await expect(200, 'POST', '/bridge-c/chain-registry', {
      chain,
      endpoint_identity: `${String(eid)}:${contracts.endpoint}`,
      finality_age_seconds: 5,
    });
}

/** Writes down the path from one side to the other; no drill has passed on it yet. */
export const registerPath = (expect: Expect, from: SideName, to: SideName): Promise<unknown> =>
  expect(200, 'POST', '/bridge-c/path-baselines', {
    src_chain: from,
    dst_chain: to,
    asset: 'OMNI',
    enabled: true,
    ...PATH_BUDGETS,
  });

/** Has the service look at both chains. */
export const refreshRegistry = (expect: Expect): Promise<unknown> =>
  expect(200, 'POST', '/executors/bridge-c/refresh-registry');

/** Both ways may be taken from here on. */
export async function openPaths(expect: Expect, bridges: StackBridges): Promise<void> {
  await registerChains(expect, bridges);
  await refreshRegistry(expect);
  for (const [from, to] of [['near', 'far'] as const, ['far', 'near'] as const]) {
    await registerPath(expect, from, to);
    await expect(200, 'POST', `${pathOf(from, to)}/drill-pass`, { evidence_path: 'drills/1' });
  }
}
