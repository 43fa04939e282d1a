/**
 * Random movements as their callers make them: a template, a create, what becomes of its orders,
 * and what people do meanwhile.
 */
import fc from 'fast-check';
import { least } from './amounts.ts';
import { OUTCOMES, type Outcome } from './books-desk.ts';

const AMOUNTS = ['1', '2.5', '4.000001', '10', '0.000002', '7.25'] as const;
const ASSETS = ['USDC', 'USDC', 'USDC', 'USDT'] as const;
const KINDS = [
  'withdraw',
  'withdraw',
  'order',
  'order',
  'order',
  'venue order',
  'send',
  'look',
  'gate',
  'noop',
] as const;
const EDGES = [
  'on_success',
  'on_success',
  'on_success',
  'on_success',
  'on_failure',
  'on_timeout',
  'on_manual_resume',
  'on_cancel',
] as const;
export const PEOPLE = ['cancel', 'cancel', 'retry', 'resume', 'resolve', 'fetch'] as const;
export type Deed = (typeof PEOPLE)[number];

const node = fc.record({
  kind: fc.constantFrom(...KINDS),
  asset: fc.option(fc.constantFrom(...ASSETS), { freq: 3 }),
  amount: fc.constantFrom(...AMOUNTS),
  /** How the template says what is sent. */
  says: fc.constantFrom(
    'nothing' as const,
    'amount' as const,
    'intent' as const,
    'ref' as const,
    'ref' as const,
    'both' as const,
  ),
  of: fc.nat(20),
  most: fc.option(fc.constantFrom(...AMOUNTS), { freq: 3 }),
  edge: fc.constantFrom(...EDGES),
  priority: fc.constantFrom(0, 0, 1),
  after: fc.nat(20),
});
const edge = fc.record({
  from: fc.nat(20),
  step: fc.nat(20),
  edge_type: fc.constantFrom(...EDGES),
  priority: fc.constantFrom(0, 0, 1),
});
const nodeConfig = fc.record(
  {
    amount: fc.constantFrom(...AMOUNTS, '90', '90000'),
    asset: fc.constantFrom('USDC', 'USDT'),
    account_type: fc.constantFrom('FUNDING', 'USDT_FUTURE'),
    venue: fc.constant('paper-sub-b'),
  },
  { requiredKeys: [] },
);

/** One movement as it is drawn. */
export const drawnMovement = fc.record({
  nodes: fc.array(node, { minLength: 1, maxLength: 6 }),
  more: fc.array(edge, { maxLength: 3 }),
  intent: fc.record({ asset: fc.constantFrom(...ASSETS), amount: fc.constantFrom(...AMOUNTS) }),
  node_config: fc.option(nodeConfig, { freq: 2 }),
  most: fc.option(fc.constantFrom('3', '50'), { freq: 4 }),
  by_policy: fc.boolean(),
  outcomes: fc.array(fc.constantFrom<Outcome>('pays', 'pays', ...OUTCOMES), {
    minLength: 1,
    maxLength: 6,
  }),
  /** What people do, so long after what came before, or (null) once nothing goes on by itself. */
  deeds: fc.array(
    fc.record({
      after_ms: fc.option(fc.nat(1_500), { freq: 3 }),
      deed: fc.constantFrom<Deed>(...PEOPLE),
    }),
    { maxLength: 4 },
  ),
});
export type Drawn = typeof drawnMovement extends fc.Arbitrary<infer T> ? T : never;

/** Where the funds of a stack lie and go. */
export interface Places {
  readonly chainId: number;
  readonly token: string;
  readonly wallet: string;
  /** One payee address for each node, used by no other node. */
  readonly payee: (index: number) => string;
}

/** The template as its author posts it. */
export function templateOf(
  { nodes, more, most }: Drawn,
  label: string,
  { chainId, token, wallet, payee }: Places,
) {
  const keyOf = (index: number): string => `n${index}`;
  const edges = nodes.slice(1).map(({ after, edge: edge_type, priority }, index) => ({
    from: after % (index + 1),
    to: index + 1,
    edge_type,
    priority,
  }));
  for (const { from, step, edge_type, priority } of more) {
    if (nodes.length < 2) break;
    const first = from % (nodes.length - 1);
    const to = first + 1 + (step % (nodes.length - 1 - first));
    if (
      !edges.some((each) => each.from === first && each.to === to && each.edge_type === edge_type)
    ) {
      edges.push({ from: first, to, edge_type, priority });
    }
  }
  const before = (index: number): readonly number[] => [
    ...new Set(
      edges.filter(({ to }) => to === index).flatMap(({ from }) => [from, ...before(from)]),
    ),
  ];
  const amountOf = ({ says, amount, of }: Drawn['nodes'][number], index: number): object => {
    const ancestors = before(index);
    const source = ancestors[of % Math.max(1, ancestors.length)];
    const ref =
      source === undefined ? {} : { amount_ref: `nodes.${keyOf(source)}.output.received_amount` };
    const ways = {
      nothing: {},
      amount: { amount },
      intent: { amount_ref: 'intent' },
      ref,
      both: { ...ref, amount },
    };
    return ways[says];
  };
  const bodyOf = (drawn: Drawn['nodes'][number], index: number) => {
    const asset = drawn.asset === null ? {} : { asset: drawn.asset };
    const config = { label, ...amountOf(drawn, index) };
    const action = { node_kind: 'action', has_side_effect: true };
    switch (drawn.kind) {
      case 'withdraw':
        return {
          ...action,
          action_type: 'cex_withdrawal',
          executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
          config: {
            ...config,
            ...asset,
            venue: drawn.priority === 0 ? 'paper-main' : 'paper-sub-a',
            network: 'local',
            destination_address: wallet,
          },
        };
      case 'send':
        return {
          ...action,
          action_type: 'evm_erc20_transfer',
          signer_selector: { chain_family: 'evm', profile: 'treasury' },
          executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
          config: {
            ...config,
            asset: 'USDC',
            chain_id: chainId,
            token_address: token,
            destination_address: payee(index),
          },
        };
      case 'order':
        return {
          ...action,
          action_type: 'books_pay',
          has_side_effect: drawn.priority === 0,
          config: { ...config, ...asset },
        };
      case 'venue order':
        return {
          ...action,
          action_type: 'books_pay',
          config: { ...config, ...asset, venue: 'paper-sub-a' },
        };
      case 'look': {
        const ancestors = before(index);
        const match = ancestors[drawn.of % Math.max(1, ancestors.length)];
        const match_from = match === undefined ? {} : { match_from: keyOf(match) };
        return {
          node_kind: 'observe',
          action_type: 'books_look',
          config: { label, ...asset, ...match_from },
        };
      }
      case 'gate':
        return { node_kind: 'manual_gate', action_type: 'manual_gate' };
      case 'noop':
        return { node_kind: 'action', action_type: 'noop' };
    }
  };
  return {
    template_key: `test/${label}`,
    version: 1,
    name: 'A random plan',
    risk_controls: most === null ? {} : { max_amount: most },
    nodes: nodes.map((drawn, index) => ({
      node_key: keyOf(index),
      config: {},
      retry_policy: { max_attempts: 3, initial_interval_seconds: 0.1, max_interval_seconds: 0.2 },
      ...(edges.some(({ from, edge_type }) => from === index && edge_type === 'on_timeout')
        ? { timeout_policy: { execution_seconds: 2 } }
        : {}),
      // A node's own limit may only be tighter.
      ...(drawn.most === null
        ? {}
        : { risk_patch: { max_amount: most === null ? drawn.most : least(drawn.most, most) } }),
      ...bodyOf(drawn, index),
    })),
    edges: edges.map(({ from, to, ...rest }) => ({ from: keyOf(from), to: keyOf(to), ...rest })),
    completion_policy: { completion_assurance: 'provider_completed' },
  };
}
