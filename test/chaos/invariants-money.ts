/** The invariants about money: venue ledger, chain, holds, nonces. */
import { zeroAddress } from 'viem';
import { add, compare } from '../../domain/money.ts';
import { TRANSFERS, type Evidence, type NodeEvidence } from './evidence.ts';

/** Past the fence without a proven end: an effect may exist. */
const OPEN = ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'];

/** Each idempotency key was paid at most once; a completed withdrawal exactly once, under its own key. */
export function ledgerIsExact({ movements, ledger }: Evidence): readonly string[] {
  const nodes = new Map(
    movements.flatMap(({ movement_id, nodes }) => nodes.map((node) => [`${movement_id}:${node.node_key}`, node] as const)),
  );
  const wrong = ledger.flatMap(({ idempotency_key, movement_id, node_key, effects }) => {
    const node = nodes.get(`${movement_id}:${node_key}`);
    const attempt = Number(idempotency_key.slice(`${movement_id}:${node_key}:`.length));
    if (node === undefined || idempotency_key !== `${movement_id}:${node_key}:${attempt}` || attempt < 1 || attempt > node.attempt)
      return [`${idempotency_key} is the key of no attempt`];
    if (effects > 1) return [`${idempotency_key} was paid ${effects} times`];
    const may = node.attempt === attempt && (node.state === 'COMPLETED' || OPEN.includes(node.state));
    return effects === 1 && !may ? [`${idempotency_key} was paid, its node is ${node.state} in attempt ${node.attempt}`] : [];
  });
  const paid = new Set(ledger.filter(({ effects }) => effects === 1).map(({ idempotency_key }) => idempotency_key));
  const missing = movements.flatMap(({ movement_id, nodes }) =>
    nodes
      .filter((node) => node.action_type === 'cex_withdrawal' && node.state === 'COMPLETED')
      .map((node) => `${movement_id}:${node.node_key}:${node.attempt}`)
      .filter((key) => !paid.has(key))
      .map((key) => `${key} is completed, the ledger has no payment`),
  );
  return [...wrong, ...missing];
}

/** Every completed transfer is on the chain exactly once, and nothing is on the chain that no node accounts for. */
export function chainIsExact({ movements, transfers }: Evidence): readonly string[] {
  // The tokens came into being by a transfer from nowhere.
  const moved = transfers.filter(({ from }) => from !== zeroAddress);
  const amounts = new Set(movements.map(({ amount }) => amount));
  const strange = moved.filter(({ amount }) => !amounts.has(amount)).map(({ tx_hash, amount }) => `${tx_hash} moved ${amount} for nobody`);
  const wrong = movements.flatMap(({ movement_id, amount, nodes }) => {
    const hashes = moved.filter((each) => each.amount === amount).map(({ tx_hash }) => tx_hash.toLowerCase());
    const senders = nodes.filter(({ action_type }) => TRANSFERS.includes(action_type));
    const completed = senders.filter(({ state }) => state === 'COMPLETED');
    const absent = completed.filter((node) => hashes.filter((hash) => hash === hashOf(node)).length !== 1);
    const shared = completed.filter((node) => completed.some((other) => other !== node && hashOf(other) === hashOf(node)));
    const undecided = senders.filter(({ state }) => OPEN.includes(state)).length;
    const extra = hashes.length - completed.length;
    return [
      ...absent.map((node) => `${movement_id}: ${node.node_key} is completed, ${hashOf(node) || 'its transfer'} is not on the chain once`),
      ...shared.map((node) => `${movement_id}: ${node.node_key} shares its transfer with another node`),
      ...(extra > undecided ? [`${movement_id}: ${hashes.length} transfers of ${amount} for ${completed.length} completed nodes`] : []),
    ];
  });
  return [...strange, ...wrong];
}

function hashOf({ output }: NodeEvidence): string {
  const hash = output?.['tx_hash'];
  return typeof hash === 'string' ? hash.toLowerCase() : '';
}

/** What the pools hold back is the sum of the holds, and a movement holds exactly when it says so. */
export function holdsAddUp({ pools, holds, movements }: Evidence): readonly string[] {
  const sums = pools.flatMap(({ pool, held }) => {
    const sum = holds.filter((hold) => hold.pool === pool).reduce((total, { amount }) => add(total, amount), '0');
    return compare(sum, held) === 0 ? [] : [`${pool} holds ${held}, its holds are ${sum}`];
  });
  const names = new Set(pools.map(({ pool }) => pool));
  const astray = holds
    .filter(({ pool }) => !names.has(pool))
    .map(({ movement_id, pool }) => `${movement_id} holds in ${pool}, which is no pool`);
  const holders = new Set(holds.map(({ movement_id }) => movement_id));
  const untrue = movements
    .filter(({ movement_id, reservation_status, nodes }) => {
      if (holders.has(movement_id)) return reservation_status !== 'held';
      // Held again by a retry, with nothing left that a venue has yet to pay.
      const paid = nodes.every(({ action_type, state }) => action_type !== 'cex_withdrawal' || state === 'COMPLETED');
      return reservation_status === 'held' && !paid;
    })
    .map(({ movement_id, reservation_status }) => `${movement_id} says ${reservation_status}, its holds say otherwise`);
  return [...sums, ...astray, ...untrue];
}

/** A nonce is used by the transaction that claimed it, one attempt sends one transaction, and no lane has a gap. */
export function nonceLanesAreWhole({ signed, lanes, movements }: Evidence): readonly string[] {
  const settled = new Set(
    movements.flatMap(({ movement_id, nodes }) =>
      nodes.filter(({ state }) => !OPEN.includes(state)).map(({ node_key }) => `${movement_id}:${node_key}`),
    ),
  );
  return lanes.flatMap(({ address, next_nonce, mined_nonces }) => {
    const rows = signed.filter((row) => row.address === address);
    const lost = rows.filter(({ tx_hash, mined, nonce }) => tx_hash !== null && !mined && nonce < mined_nonces);
    const stuck = rows.filter(
      ({ tx_hash, mined, nonce, movement_id, node_key }) =>
        tx_hash !== null && !mined && nonce >= mined_nonces && settled.has(`${movement_id}:${node_key}`),
    );
    const twice = rows.filter((row) =>
      rows.some((other) => other.mined && row.mined && other.nonce < row.nonce && attemptOf(other) === attemptOf(row)),
    );
    const claimed = new Set(rows.map(({ nonce }) => nonce));
    const gaps = Array.from({ length: Math.max(0, next_nonce - mined_nonces) }, (_, at) => mined_nonces + at).filter(
      (nonce) => !claimed.has(nonce),
    );
    return [
      ...lost.map((row) => `nonce ${row.nonce} of ${address} was used by another transaction than ${row.tx_hash} (${attemptOf(row)})`),
      ...stuck.map((row) => `nonce ${row.nonce} of ${address} was never mined, its node ${attemptOf(row)} is settled`),
      ...twice.map((row) => `${attemptOf(row)} was mined twice`),
      ...gaps.map((nonce) => `nonce ${nonce} of ${address} was given out and belongs to nobody`),
    ];
  });
}

function attemptOf({ movement_id, node_key, attempt }: Evidence['signed'][number]): string {
  return `${movement_id}:${node_key}:${attempt}`;
}
