/** The invariants about money: venue ledger, chain, holds, nonces. */
import { zeroAddress } from 'viem';
import { add, compare, total } from '../support/amounts.ts';
import {
  excesses,
  outflowOf,
  statusOf,
  type Landed,
  type PlanModel,
} from '../support/movement-model.ts';
import { TRANSFERS, type Evidence, type MovementEvidence, type NodeEvidence } from './evidence.ts';
import { untrueHoldings } from '../support/holdings.ts';

/** Past the fence without a proven end: an effect may exist. */
const OPEN = ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'];

/**
 * Each idempotency key was paid at most once; a completed withdrawal exactly once, under its own
 * key.
 */
export function ledgerIsExact({ movements, ledger }: Evidence): readonly string[] {
  const nodes = new Map(
    movements.flatMap(({ movement_id, nodes }) =>
      nodes.map((node) => [`${movement_id}:${node.node_key}`, node] as const),
    ),
  );
  const wrong = ledger.flatMap(({ idempotency_key, movement_id, node_key, effects }) => {
    const node = nodes.get(`${movement_id}:${node_key}`);
    const attempt = Number(idempotency_key.slice(`${movement_id}:${node_key}:`.length));
    if (
      node === undefined ||
      idempotency_key !== `${movement_id}:${node_key}:${attempt}` ||
      attempt < 1 ||
      attempt > node.attempt
    )
      return [`${idempotency_key} is the key of no attempt`];
    if (effects > 1) return [`${idempotency_key} was paid ${effects} times`];
    const may =
      node.attempt === attempt && (node.state === 'COMPLETED' || OPEN.includes(node.state));
    return effects === 1 && !may
      ? [`${idempotency_key} was paid, its node is ${node.state} in attempt ${node.attempt}`]
      : [];
  });
  const paid = new Set(
    ledger.filter(({ effects }) => effects === 1).map(({ idempotency_key }) => idempotency_key),
  );
  const missing = movements.flatMap(({ movement_id, nodes }) =>
    nodes
      .filter((node) => node.action_type === 'cex_withdrawal' && node.state === 'COMPLETED')
      .map((node) => `${movement_id}:${node.node_key}:${node.attempt}`)
      .filter((key) => !paid.has(key))
      .map((key) => `${key} is completed, the ledger has no payment`),
  );
  return [...wrong, ...missing];
}

/**
 * Every completed transfer is on the chain exactly once, and nothing is on the chain that no node
 * accounts for.
 */
export function chainIsExact({ movements, transfers }: Evidence): readonly string[] {
  // The tokens came into being by a transfer from nowhere.
  const moved = transfers.filter(({ from }) => from !== zeroAddress);
  const amounts = new Set(movements.flatMap((each) => each.amounts));
  const strange = moved
    .filter(({ amount }) => !amounts.has(amount))
    .map(({ tx_hash, amount }) => `${tx_hash} moved ${amount} for no movement`);
  const wrong = movements.flatMap(({ movement_id, amounts: own, nodes }) => {
    const hashes = moved
      .filter((each) => own.includes(each.amount))
      .map(({ tx_hash }) => tx_hash.toLowerCase());
    const senders = nodes.filter(({ action_type }) => TRANSFERS.includes(action_type));
    const completed = senders.filter(({ state }) => state === 'COMPLETED');
    const absent = completed.filter(
      (node) => hashes.filter((hash) => hash === hashOf(node)).length !== 1,
    );
    const shared = completed.filter((node) =>
      completed.some((other) => other !== node && hashOf(other) === hashOf(node)),
    );
    const undecided = senders.filter(({ state }) => OPEN.includes(state)).length;
    const extra = hashes.length - completed.length;
    return [
      ...absent.map(
        (node) =>
          `${movement_id}: ${node.node_key} is completed, ${hashOf(node) || 'its transfer'} is not on the chain once`,
      ),
      ...shared.map(
        (node) => `${movement_id}: ${node.node_key} shares its transfer with another node`,
      ),
      ...(extra > undecided
        ? [
            `${movement_id}: ${hashes.length} transfers of ${own.join(' and ')} for ${completed.length} completed nodes`,
          ]
        : []),
    ];
  });
  return [...strange, ...wrong];
}

function hashOf({ output }: NodeEvidence): string {
  const hash = output?.['tx_hash'];
  return typeof hash === 'string' ? hash.toLowerCase() : '';
}

/**
 * The team's desk took each order down once; a completed node has its order, of what it says that
 * it sent, and a failed one none.
 */
export function teamPaysOnce({ movements, orders }: Evidence): readonly string[] {
  const twice = orders
    .filter(({ taken }) => taken !== 1)
    .map(({ key, taken }) => `${key} was taken down ${taken} times`);
  const nodes = movements.flatMap(({ movement_id, nodes: all }) =>
    all
      .filter(({ action_type }) => action_type === 'team_payout')
      .map((node) => ({ ...node, key: `${movement_id}:${node.node_key}` })),
  );
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const wrong = nodes.flatMap(({ key, attempt, state, amount }) => {
    const order = orders.find((each) => each.key === `${key}:${attempt}` && !each.withdrawn);
    if (state === 'COMPLETED' && order === undefined)
      return [`${key} is completed, the desk has no order of it`];
    return state === 'COMPLETED' && order?.amount !== amount
      ? [`${key} sent ${String(amount)}, the desk paid ${String(order?.amount)}`]
      : [];
  });
  const strange = orders
    .filter(({ withdrawn }) => !withdrawn)
    .filter(({ key }) => {
      const node = byKey.get(key.slice(0, key.lastIndexOf(':')));
      const same = node !== undefined && key === `${node.key}:${node.attempt}`;
      return !same || !(node.state === 'COMPLETED' || OPEN.includes(node.state));
    });
  return [
    ...twice,
    ...wrong,
    ...strange.map(({ key }) => `${key} was paid, its node says otherwise`),
  ];
}

/**
 * What the books show as landed, less what was passed on, stays within the approved outflow; and
 * that is what the plan says.
 */
export function outflowsAreKept(evidence: Evidence): readonly string[] {
  return evidence.movements.flatMap((movement) => {
    const { plan, outflow, movement_id } = movement;
    if (plan === null) return [];
    const expected = outflowOf(plan);
    const shown = new Map(outflow.map(({ asset, amount }) => [asset, amount]));
    const same =
      expected.size === shown.size &&
      [...expected].every(([asset, amount]) => shown.get(asset) === amount);
    return [
      ...(same
        ? []
        : [
            `${movement_id} has the outflow ${JSON.stringify([...shown])}, its plan ${JSON.stringify([...expected])}`,
          ]),
      ...excesses(plan, expected, landedOf(movement, plan, evidence)).map(
        (each) => `${movement_id}: ${each}`,
      ),
    ];
  });
}

/**
 * What left somebody's books for a movement: the venue's, the desk's, and the wallet's on the
 * chain.
 */
function landedOf(
  movement: MovementEvidence,
  plan: PlanModel,
  { ledger, orders, transfers, lanes }: Evidence,
): readonly Landed[] {
  const { movement_id, amounts } = movement;
  const withdrawn = ledger
    .filter((each) => each.movement_id === movement_id)
    .flatMap(({ node_key, asset, amount, effects }) =>
      Array.from({ length: effects }, (): Landed => ({
        node_key,
        asset: asset ?? '',
        amount: amount ?? '0',
      })),
    );
  const paid = orders
    .filter(({ key, withdrawn: back }) => key.startsWith(`${movement_id}:`) && !back)
    .map(({ key, asset, amount }) => ({ node_key: key.split(':')[1] ?? '', asset, amount }));
  const wallets = new Set(lanes.map(({ address }) => address.toLowerCase()));
  const senders = plan.nodes.filter(({ action_type }) => action_type === 'evm_erc20_transfer');
  const sent = transfers
    .filter(({ from, amount }) => wallets.has(from.toLowerCase()) && amounts.includes(amount))
    .map(({ to, amount }, index, all): Landed => {
      // Several nodes may pay one address; of more transfers than nodes the rest count for the
      // last.
      const toSame = senders.filter(
        ({ config }) => String(config['destination_address']).toLowerCase() === to.toLowerCase(),
      );
      const before = all.slice(0, index).filter((each) => each.to === to).length;
      const node = toSame[Math.min(before, toSame.length - 1)];
      return { node_key: node?.node_key ?? `a transfer to ${to}`, asset: 'USDC', amount };
    });
  return [...withdrawn, ...paid, ...sent];
}

/** What the pools hold back is the sum of the holds. */
export function holdsAddUp({ pools, holds }: Evidence): readonly string[] {
  const sums = pools.flatMap(({ pool, held }) => {
    const sum = holds
      .filter((hold) => hold.pool === pool)
      .reduce((all, { amount }) => add(all, amount), '0');
    return compare(sum, held) === 0 && compare(held, '0') >= 0
      ? []
      : [`${pool} holds ${held}, its holds are ${sum}`];
  });
  const names = new Set(pools.map(({ pool }) => pool));
  const astray = holds
    .filter(({ pool }) => !names.has(pool))
    .map(({ movement_id, pool }) => `${movement_id} holds in ${pool}, which is no pool`);
  return [...sums, ...astray];
}

/**
 * Each movement holds, and uses up of its budget, what the states of its nodes require, and its
 * `reservation_status` shows it.
 */
export function holdingsFollowStates({ holdings, movements }: Evidence): readonly string[] {
  const untrue = holdings.flatMap(({ plan, approved, ...holding }) => {
    const shown = movements.find(
      (each) => each.movement_id === holding.movement_id,
    )?.reservation_status;
    const due = plan === null || !approved ? shown : statusOf({ ...holding, plan });
    return shown === due
      ? []
      : [
          `${holding.movement_id} (${holding.state}) shows ${String(shown)}, it should be ${String(due)}`,
        ];
  });
  return [...untrueHoldings(holdings), ...untrue];
}

/**
 * The budget of the policy is the sum of what movements use up, and at least what the books show
 * that these have drawn.
 */
export function budgetIsExact(evidence: Evidence): readonly string[] {
  const { holdings, usage, movements } = evidence;
  const used = (status: string): string =>
    total(
      holdings.flatMap(({ budget }) =>
        budget.filter((part) => part.status === status).map(({ amount }) => amount),
      ),
    );
  const [reserved, consumed] = [used('reserved'), used('consumed')];
  const count = holdings.filter(({ budget }) => budget.length > 0).length;
  const short = holdings.flatMap(({ movement_id, plan, by_policy, budget }) => {
    const movement = movements.find((each) => each.movement_id === movement_id);
    if (plan === null || !by_policy || movement === undefined) return [];
    const landed = landedOf(movement, plan, evidence);
    const excess = excesses(
      plan,
      new Map([[plan.intent.asset, total(budget.map(({ amount }) => amount))]]),
      landed,
    );
    return excess.map((each) => `${movement_id} uses up less of its budget than it drew: ${each}`);
  });
  const same =
    compare(usage.reserved_amount, reserved) === 0 &&
    compare(usage.consumed_amount, consumed) === 0 &&
    usage.count_in_window === count;
  return [
    ...(same
      ? []
      : [
          `the budget says ${JSON.stringify(usage)}, it is ${reserved} and ${consumed} of ${count}`,
        ]),
    ...short,
  ];
}

/**
 * Once everything has ended and every pool was fetched anew, nothing is held and nothing is about
 * to leave.
 */
export function nothingIsLeft({
  over,
  movements,
  pools,
  holds,
  pending,
}: Evidence): readonly string[] {
  if (!over) return [];
  const open = movements
    .filter(({ ended }) => !ended)
    .map(({ movement_id, request_state }) => `${movement_id} is still ${request_state}`);
  const held = pools
    .filter((pool) => compare(pool.held, '0') !== 0)
    .map((pool) => `${pool.pool} still holds ${pool.held}`);
  const kept = holds.map(
    ({ pool, movement_id, amount }) => `${movement_id} still holds ${amount} of ${pool}`,
  );
  const leaving = pending
    .filter(({ amount }) => compare(amount, '0') !== 0)
    .map(({ pool, amount }) => `${amount} is still to leave ${pool}`);
  return [...open, ...held, ...kept, ...leaving];
}

/**
 * A nonce is used by the attempt that claimed it (by its transaction, or by a copy with a higher
 * fee), one attempt uses one nonce, and no lane has a gap.
 */
export function nonceLanesAreWhole({ signed, lanes, movements }: Evidence): readonly string[] {
  const settled = new Set(
    movements.flatMap(({ movement_id, nodes }) =>
      nodes
        .filter(({ state }) => !OPEN.includes(state))
        .map(({ node_key }) => `${movement_id}:${node_key}`),
    ),
  );
  return lanes.flatMap(({ address, next_nonce, mined_nonces }) => {
    const rows = signed.filter((row) => row.address === address);
    const used = new Set(rows.filter(({ mined }) => mined).map(nonceOf));
    const lost = rows.filter(
      (row) => row.tx_hash !== null && row.nonce < mined_nonces && !used.has(nonceOf(row)),
    );
    const stuck = rows.filter(
      ({ tx_hash, mined, nonce, movement_id, node_key }) =>
        tx_hash !== null &&
        !mined &&
        nonce >= mined_nonces &&
        settled.has(`${movement_id}:${node_key}`),
    );
    const twice = rows.filter((row) =>
      rows.some(
        (other) =>
          other.mined &&
          row.mined &&
          other.nonce < row.nonce &&
          attemptOf(other) === attemptOf(row),
      ),
    );
    const claimed = new Set(rows.map(({ nonce }) => nonce));
    const gaps = Array.from(
      { length: Math.max(0, next_nonce - mined_nonces) },
      (_, at) => mined_nonces + at,
    ).filter((nonce) => !claimed.has(nonce));
    return [
      ...lost.map(
        (row) =>
          `nonce ${row.nonce} of ${address} was used by another transaction than ${row.tx_hash} (${attemptOf(row)})`,
      ),
      ...stuck.map(
        (row) =>
          `nonce ${row.nonce} of ${address} was never mined, its node ${attemptOf(row)} is settled`,
      ),
      ...twice.map((row) => `${attemptOf(row)} was mined twice`),
      ...gaps.map((nonce) => `nonce ${nonce} of ${address} was taken and belongs to no node`),
    ];
  });
}

function nonceOf(row: Evidence['signed'][number]): string {
  return `${attemptOf(row)}@${row.nonce}`;
}

function attemptOf({ movement_id, node_key, attempt }: Evidence['signed'][number]): string {
  return `${movement_id}:${node_key}:${attempt}`;
}
