/** The plans of a world: what is registered, and what the judges expect of each. */
import type { JsonObject } from '../../domain/json.ts';
import type { Dice } from '../chaos/random.ts';
import { PAYEES, TRANSFERS, type TransferNode } from './payees.ts';
import { CHAIN_ID, TOKEN } from './worlds/binding.ts';
import { CHARGED } from './worlds/desk.ts';

export interface PlanEdge {
  readonly from: string;
  readonly to: string;
  readonly edge_type: 'on_success' | 'on_failure' | 'on_cancel' | 'on_manual_resume';
  readonly join_key?: string;
  readonly condition_expr?: string;
  readonly priority?: number;
}

export interface Plan {
  readonly name: string;
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly PlanEdge[];
  readonly assurance?: string;
  readonly risk_controls?: Readonly<Record<string, string>>;
  /** Lets a caller choose another asset than the chain's token. */
  readonly isOfDesks: boolean;
  /** How often it is taken, beside others. */
  readonly weight: number;
}

interface PlanNode {
  readonly node_key: string;
  readonly node_kind: string;
  readonly action_type: string;
  readonly [field: string]: unknown;
}

/** The most that a movement of the plan `limited` may pay. */
export const MOST = '30';
/** What the plan `fixed` pays, whatever its caller wants. */
export const FIXED = '0.000000000000000007';
/** Above this, the plan `chosen` takes its dear way. */
export const DEAR = '40';

/** The executor keys of the desks: those that know their callers' keys, and those that do not. */
export const DESKS = {
  knowing: ['keyed.desk', 'plain.desk'],
  forgetful: ['blind.desk', 'bare.desk'],
} as const;

/** The executor of withdrawals from exchanges. */
export const WITHDRAWAL = 'ccxt.withdrawal';

/** Plans that can be cancelled, and those in which a person decides more than once. */
const OFTEN: readonly string[] = [
  ...['undone', 'called-off', 'chain-undone', 'two-gates', 'gate-beside', 'gate-instead'],
];

/** The plans of a world, whose desks are drawn: payments in a row, side by side, behind gates. */
export function plansOf(dice: Dice): readonly Plan[] {
  const pay = (
    node_key: string,
    among: keyof typeof DESKS,
    { node_kind = 'action', config = {} }: { node_kind?: string; config?: object } = {},
  ): PlanNode => {
    const executor = dice.pick(DESKS[among]);
    const action_type = executor.replace('.', '_');
    const hasPayee = executor === 'keyed.desk' || executor === 'blind.desk';
    return {
      node_key,
      node_kind,
      action_type,
      executor_selector: { action_type },
      has_side_effect: true,
      config: { ...(hasPayee ? { payee: PAYEES['desk'] } : {}), ...config },
      retry_policy: { max_attempts: 5, initial_interval_seconds: 1 },
    };
  };
  const send = (node_key: TransferNode, profile: string): PlanNode => ({
    node_key,
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile },
    has_side_effect: true,
    config: {
      asset: 'USDC',
      chain_id: CHAIN_ID,
      token_address: TOKEN,
      destination_address: PAYEES[node_key],
    },
    retry_policy: { max_attempts: 5, initial_interval_seconds: 1 },
  });
  const gate = (node_key: string): PlanNode => ({
    node_key,
    node_kind: 'manual_gate',
    action_type: 'manual_gate',
  });
  const noop = { node_key: 'done', node_kind: 'action', action_type: 'noop' };
  const start = { ...noop, node_key: 'start' };
  const edge = (
    from: string,
    to: string,
    edge_type: PlanEdge['edge_type'] = 'on_success',
    more: Partial<PlanEdge> = {},
  ): PlanEdge => ({ from, to, edge_type, ...more });
  const all: readonly Omit<Plan, 'isOfDesks' | 'weight'>[] = [
    { name: 'one', nodes: [pay('pay', 'knowing')], edges: [] },
    { name: 'blind', nodes: [pay('pay', 'forgetful')], edges: [] },
    {
      name: 'row',
      nodes: [pay('first', 'knowing'), pay('second', 'forgetful'), noop],
      edges: [edge('first', 'second'), edge('second', 'done')],
    },
    {
      name: 'side-by-side',
      nodes: [pay('left', 'knowing'), pay('right', 'forgetful'), noop],
      edges: [
        edge('left', 'done', 'on_success', { join_key: 'both' }),
        edge('right', 'done', 'on_success', { join_key: 'both' }),
      ],
    },
    {
      name: 'joined',
      nodes: [pay('left', 'knowing'), pay('right', 'forgetful'), pay('then', 'knowing')],
      edges: [
        edge('left', 'then', 'on_success', { join_key: 'both' }),
        edge('right', 'then', 'on_success', { join_key: 'both' }),
      ],
    },
    {
      name: 'gated',
      nodes: [pay('before', 'knowing'), gate('gate'), pay('after', 'knowing')],
      edges: [edge('before', 'gate'), edge('gate', 'after')],
    },
    {
      name: 'two-gates',
      nodes: [gate('gate'), pay('between', 'knowing'), gate('last-gate'), pay('after', 'knowing')],
      edges: [edge('gate', 'between'), edge('between', 'last-gate'), edge('last-gate', 'after')],
    },
    {
      name: 'gate-beside',
      nodes: [start, gate('gate'), pay('after', 'knowing'), pay('beside', 'forgetful')],
      edges: [edge('start', 'gate'), edge('start', 'beside'), edge('gate', 'after')],
    },
    {
      name: 'instead',
      nodes: [pay('try', 'forgetful'), pay('instead', 'knowing'), noop],
      edges: [edge('try', 'done'), edge('try', 'instead', 'on_failure')],
    },
    {
      name: 'gate-instead',
      nodes: [pay('try', 'forgetful'), gate('gate'), pay('instead', 'knowing')],
      edges: [edge('try', 'gate', 'on_failure'), edge('gate', 'instead')],
    },
    {
      name: 'undone',
      nodes: [
        pay('pay', 'knowing'),
        pay('more', 'forgetful'),
        pay('undo', 'knowing', { node_kind: 'compensation' }),
      ],
      edges: [edge('pay', 'more'), edge('pay', 'undo', 'on_cancel')],
    },
    {
      name: 'called-off',
      nodes: [
        pay('try', 'forgetful'),
        pay('pay', 'knowing'),
        gate('gate'),
        pay('after', 'knowing'),
        pay('undo', 'knowing', { node_kind: 'compensation' }),
      ],
      edges: [
        edge('try', 'gate'),
        edge('try', 'pay'),
        edge('gate', 'after'),
        edge('pay', 'undo', 'on_cancel'),
      ],
    },
    {
      name: 'chosen',
      nodes: [pay('first', 'knowing'), pay('dear', 'knowing'), pay('cheap', 'knowing')],
      edges: [
        edge('first', 'dear', 'on_success', {
          condition_expr: `dec(intent.amount) > dec("${DEAR}")`,
          priority: 2,
        }),
        edge('first', 'cheap', 'on_success', { priority: 1 }),
      ],
    },
    {
      name: 'afterwards',
      nodes: [
        start,
        pay('left', 'knowing'),
        pay('right', 'forgetful'),
        { ...noop, node_key: 'note', node_kind: 'post_action' },
      ],
      edges: [edge('start', 'left'), edge('start', 'right'), edge('left', 'note')],
    },
    {
      name: 'limited',
      nodes: [pay('pay', 'knowing'), pay('more', 'forgetful')],
      edges: [edge('pay', 'more')],
      risk_controls: { max_amount: MOST },
    },
    {
      name: 'fixed',
      nodes: [pay('pay', 'knowing'), pay('little', 'forgetful', { config: { amount: FIXED } })],
      edges: [edge('pay', 'little')],
    },
    {
      name: 'passed-on',
      nodes: [
        pay(CHARGED, 'knowing'),
        pay('rest', 'knowing', {
          config: { amount_ref: `nodes.${CHARGED}.output.received_amount` },
        }),
      ],
      edges: [edge(CHARGED, 'rest')],
    },
    { name: 'chain', nodes: [send('send', 'treasury')], edges: [] },
    {
      name: 'chain-final',
      nodes: [send('final', 'treasury')],
      edges: [],
      assurance: 'destination_finalized',
    },
    {
      name: 'chain-row',
      nodes: [pay('pay', 'knowing'), send('forward', 'operations')],
      edges: [edge('pay', 'forward')],
    },
    {
      name: 'chain-pair',
      nodes: [send('one', 'treasury'), send('two', 'treasury'), noop],
      edges: [edge('one', 'done'), edge('two', 'done')],
    },
    {
      name: 'chain-instead',
      nodes: [send('attempt', 'operations'), pay('instead', 'knowing'), noop],
      edges: [edge('attempt', 'done'), edge('attempt', 'instead', 'on_failure')],
    },
    {
      name: 'chain-undone',
      nodes: [
        send('before-gate', 'operations'),
        gate('gate'),
        pay('after', 'knowing'),
        pay('undo', 'knowing', { node_kind: 'compensation' }),
      ],
      edges: [
        edge('before-gate', 'gate'),
        edge('gate', 'after'),
        edge('before-gate', 'undo', 'on_cancel'),
      ],
    },
  ];
  return all.map((each) => ({
    ...each,
    isOfDesks: !each.name.startsWith('chain'),
    weight: OFTEN.includes(each.name) ? 3 : 1,
  }));
}

/** The plans of a world at an exchange: a withdrawal to each payee, with this config. */
export function exchangePlans(config: JsonObject): readonly Plan[] {
  return TRANSFERS.map((node_key) => ({
    name: planAtExchange(node_key),
    nodes: [
      {
        node_key,
        node_kind: 'action',
        action_type: 'cex_withdrawal',
        executor_selector: { action_type: 'cex_withdrawal', provider: 'ccxt' },
        has_side_effect: true,
        config: { ...config, destination_address: PAYEES[node_key] },
        retry_policy: { max_attempts: 5, initial_interval_seconds: 1 },
      },
    ],
    edges: [],
    isOfDesks: false,
    weight: 1,
  }));
}

const planAtExchange = (node: TransferNode): string => `exchange-${node}`;

/**
 * Of each plan: of which nodes exactly one is paid at its end, and which gate stands before which
 * nodes.
 */
export const COURSES: Readonly<
  Record<
    string,
    {
      readonly needs: readonly (readonly string[])[];
      readonly behind?: Readonly<Record<string, string>>;
      /** What is ordered only after others are paid. */
      readonly after?: Readonly<Record<string, readonly string[]>>;
    }
  >
> = {
  one: { needs: [['pay']] },
  blind: { needs: [['pay']] },
  row: { needs: [['first'], ['second']], after: { second: ['first'] } },
  'side-by-side': { needs: [['left'], ['right']] },
  joined: { needs: [['left'], ['right'], ['then']], after: { then: ['left', 'right'] } },
  gated: {
    needs: [['before'], ['after']],
    behind: { after: 'gate' },
    after: { after: ['before'] },
  },
  'two-gates': {
    needs: [['between'], ['after']],
    behind: { between: 'gate', after: 'last-gate' },
    after: { after: ['between'] },
  },
  'gate-beside': { needs: [['after'], ['beside']], behind: { after: 'gate' } },
  instead: { needs: [['try', 'instead']] },
  'gate-instead': { needs: [['try', 'instead']], behind: { instead: 'gate' } },
  undone: { needs: [['pay'], ['more']], after: { more: ['pay'], undo: ['pay'] } },
  'called-off': {
    needs: [['try'], ['pay'], ['after']],
    behind: { after: 'gate' },
    after: { pay: ['try'], after: ['try'], undo: ['pay'] },
  },
  chosen: {
    needs: [['first'], ['dear', 'cheap']],
    after: { dear: ['first'], cheap: ['first'] },
  },
  afterwards: { needs: [['left'], ['right']] },
  limited: { needs: [['pay'], ['more']], after: { more: ['pay'] } },
  fixed: { needs: [['pay'], ['little']], after: { little: ['pay'] } },
  'passed-on': { needs: [[CHARGED], ['rest']], after: { rest: [CHARGED] } },
  chain: { needs: [['send']] },
  'chain-final': { needs: [['final']] },
  'chain-row': { needs: [['pay'], ['forward']] },
  'chain-pair': { needs: [['one'], ['two']] },
  'chain-instead': { needs: [['attempt', 'instead']] },
  'chain-undone': {
    needs: [['before-gate'], ['after']],
    behind: { after: 'gate' },
  },
  ...Object.fromEntries(TRANSFERS.map((node) => [planAtExchange(node), { needs: [[node]] }])),
};
