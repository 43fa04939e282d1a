/** A review is the same whether its plan was reviewed before, and is never that of another plan. */
import fc from 'fast-check';
import { checkAddresses } from '../../api/movements/addresses.ts';
import { readDraws, reviewOf } from '../../api/movements/review.ts';
import { LEAST_ASSURANCES, type ExecutorDescriptor } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { BoundChain } from '../../domain/plan/tokens.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';
import { createPlanParser } from '../../store/parsed-plans.ts';
import { planOfNodes, plans } from '../domain/plan/flow-arbitrary.ts';
import { BURNING } from '../store/support.ts';
import { dependencies } from './support.ts';

const CHAINS: readonly BoundChain[] = [
  { ...BURNING, caps: { max_gas_cost_wei: '1', max_fee_per_gas_gwei: null } },
];
const ON_CHAIN: JsonObject = { chain_id: BURNING.chain_id };
const AT_VENUE: JsonObject = { venue: 'v' };

function executor(payees: ExecutorDescriptor['payees']): ExecutorDescriptor {
  return {
    executor_key: 'acme.payouts',
    kind: 'remote',
    action_types: ['acme_payout'],
    same_key_safe: true,
    settle_seconds: 0,
    timeout_seconds: 30,
    in_process: false,
    sends: true,
    ...(payees === undefined ? {} : { payees }),
    not_payees: [],
    completion_assurances: LEAST_ASSURANCES,
  };
}

const PAYS_FIELD = executor([{ field: 'payee', family: 'cex' }]);
const DECLARES_NOTHING = executor(undefined);

/** No rows: nothing is on the allowlist, and no balance is known. */
const db = { sql: () => Promise.resolve([]) } as never;

async function review(
  plan: CompiledPlan,
  of: ExecutorDescriptor = PAYS_FIELD,
  chains = CHAINS,
): Promise<unknown> {
  const deps = { ...dependencies(), db, chains, executors: { list: () => [of] } };
  const statuses = { executors: new Map([['acme.payouts', 'disabled']]), signers: new Map() };
  const addresses = (await checkAddresses(plan, deps)) ?? [];
  return reviewOf(plan, { addresses, statuses, draws: await readDraws(plan, deps) }, deps);
}

/** The plan with payees, in accounts of a venue or on a chain, signed for by this signer. */
function paying(plan: CompiledPlan, signer_key: string): CompiledPlan {
  return {
    ...plan,
    nodes: plan.nodes.map((node, at) => ({
      ...node,
      config: { ...node.config, payee: `to-${at}`, ...(at % 2 === 0 ? AT_VENUE : ON_CHAIN) },
      signer_binding: { signer_key },
    })),
  };
}

test('whichever field of a plan changes, each plan has its own review', async () => {
  const parse = createPlanParser();
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(plans(5), plans(5), async (one, other) => {
      const plan = paying(one, 'first');
      const variants: readonly CompiledPlan[] = [
        plan,
        { ...plan, nodes: paying(other, 'first').nodes },
        { ...plan, edges: other.edges },
        { ...plan, intent: { ...plan.intent, amount: '7' } },
        { ...plan, risk_controls: { max_amount: '0.5' } },
        { ...plan, input_params: { payee: 'elsewhere' } },
        paying(one, 'second'),
        plan,
      ];
      for (const each of variants) {
        const kept = parse(JSON.stringify(each));
        for (const read of [await review(kept), await review(kept)]) {
          expect(read).toEqual(await review(structuredClone(each)));
          seen.add(JSON.stringify(read));
        }
      }
    }),
    { numRuns: 60 },
  );
  expect(seen.size).toBeGreaterThan(60);
});

test('what the executor declares and which chains are bound count at each read', async () => {
  const node: CompiledNode = {
    node_key: 'pay',
    node_kind: 'action',
    action_type: 'acme_payout',
    has_side_effect: true,
    sends: true,
    asset: 'USDC',
    config: { payee: 'to-0', ...ON_CHAIN },
    executor_binding: { executor_key: 'acme.payouts' },
    signer_binding: { signer_key: 'first' },
  };
  const one = planOfNodes([node], []);
  const payeesOf = async (of: ExecutorDescriptor): Promise<unknown> =>
    (await checkAddresses(one, { ...dependencies(), db, executors: { list: () => [of] } }))?.map(
      ({ address, problem }) => [address, problem],
    );
  const undeclared = [['', 'its executor does not declare whom acme_payout pays']];
  expect(await payeesOf(PAYS_FIELD)).toEqual([['to-0', null]]);
  expect(await payeesOf(DECLARES_NOTHING)).toEqual(undeclared);
  expect(await payeesOf(PAYS_FIELD)).toEqual([['to-0', null]]);
  const drawn = { balances: [{ venue_key: 'burning:first' }] };
  expect(await review(one)).toMatchObject(drawn);
  expect(await review(one, PAYS_FIELD, [])).toMatchObject({ balances: [] });
  expect(await review(one)).toMatchObject(drawn);
});
