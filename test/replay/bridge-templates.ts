/** Templates whose movements go over the burn-and-mint bridge, for the recorded histories. */
import type { ChainInfo } from '../../dev/stack/chain.ts';
import type { StackBridges } from '../../dev/stack/bridges.ts';
import { burnAndMint } from '../support/bridge-plans.ts';
import { compensation, edge, gate, noop, type PlanEdge, type PlanNode } from '../support/plans.ts';

/** allow → burn → check → mint → after, whose check always fails and opens the gate `ask`. */
export const CHECKED_MINT = 'replay/checked-mint';
/** allow → burn → wait (a gate) → mint; a cancel after the burn leads to `notice`. */
export const GATED_MINT = 'replay/gated-mint';

interface Graph {
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly PlanEdge[];
}

/** Returns the bodies of both templates for `POST plan-templates`. */
export function bridgeTemplates(
  { near: from, far: to }: StackBridges,
  { accounts }: ChainInfo,
): readonly object[] {
  const ways = { from, to, payee: accounts.treasury.address, finality: 'fast' } as const;
  const straight = burnAndMint({ ...ways, key: CHECKED_MINT }) as Graph;
  const gated = burnAndMint({ ...ways, key: GATED_MINT, gated: true }) as Graph;
  // A limit below every amount: the check fails at its preflight.
  const check = noop('check', { risk_patch: { max_amount: '0.000001' } });
  return [
    {
      ...straight,
      nodes: [...straight.nodes, check, gate('ask'), noop('after')],
      edges: [
        ...straight.edges.filter((each) => each.to !== 'mint'),
        edge('burn', 'check'),
        edge('check', 'mint'),
        edge('check', 'ask', 'on_failure'),
        edge('mint', 'after'),
      ],
    },
    {
      ...gated,
      nodes: [...gated.nodes, compensation('notice')],
      edges: [...gated.edges, edge('burn', 'notice', 'on_cancel')],
    },
  ];
}
