/** What a movement left behind, and whether it fits together: timeline, venue ledger, chain. */
import {
  createPublicClient,
  erc20Abi,
  formatUnits,
  getAbiItem,
  http,
  isAddressEqual,
  type Address,
} from 'viem';
import type { ChainInfo } from '../../dev/stack/chain.ts';
import type { LedgerEntry } from '../../dev/simulators/paper-venue/views.ts';
import { ENDED_STATES, MOVEMENT_STATES, MOVEMENT_TABLE } from '../../domain/states/movement.ts';
import { isSettled, NODE_STATES, NODE_TABLE } from '../../domain/states/node.ts';
import { allows, type TransitionTable } from '../../domain/states/table.ts';

export interface NodeView {
  readonly node_key: string;
  readonly state: string;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly error_message?: string | null;
  readonly completed_at: string | null;
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly external_ref?: string | null;
}

export interface MovementView {
  readonly movement_id: string;
  readonly request_state: string;
  readonly error_code: string | null;
  readonly current_frontier: readonly string[];
  readonly reservation_status: string;
  readonly nodes: readonly NodeView[];
}

export interface TimelineView {
  readonly sequence: number;
  readonly event_type: string;
  readonly node_key: string | null;
  readonly attempt: number | null;
  readonly from_state: string | null;
  readonly to_state: string | null;
  readonly message?: string;
  readonly occurred_at: string;
}

/** Every fault of a movement's story, together; throws when there is one. */
export function assertConsistent(movement: MovementView, timeline: readonly TimelineView[]): void {
  const faults = [
    ...inOrder(timeline),
    ...movementStory(movement, timeline),
    ...nodeStories(movement, timeline),
    ...atTheEnd(movement),
  ];
  if (faults.length === 0) return;
  const story = timeline.map(
    (event) =>
      `  ${event.sequence} ${event.event_type} ${event.node_key ?? ''} ${event.from_state ?? ''}>${event.to_state ?? ''}`,
  );
  throw new Error(
    [
      `movement ${movement.movement_id} is not consistent:`,
      ...faults.map((fault) => `- ${fault}`),
      ...story,
    ].join('\n'),
  );
}

function inOrder(timeline: readonly TimelineView[]): string[] {
  const faults: string[] = [];
  let before = '';
  for (const [index, event] of timeline.entries()) {
    if (event.sequence !== index + 1)
      faults.push(`event ${index + 1} has sequence ${event.sequence}`);
    if (event.occurred_at < before)
      faults.push(`event ${event.sequence} is older than the one before it`);
    before = event.occurred_at;
  }
  if (timeline[0]?.event_type !== 'movement_created')
    faults.push('it does not begin with movement_created');
  return faults;
}

/** The movement's own moves follow each other and end where it stands. */
function movementStory(movement: MovementView, timeline: readonly TimelineView[]): string[] {
  const faults: string[] = [];
  let state = 'PENDING_APPROVAL';
  for (const event of timeline) {
    if (
      event.event_type.startsWith('node_') ||
      event.from_state === null ||
      event.to_state === null
    )
      continue;
    if (event.from_state !== state)
      faults.push(`event ${event.sequence} moves from ${event.from_state}, but it was ${state}`);
    if (
      event.to_state !== event.from_state &&
      !reaches(MOVEMENT_TABLE, MOVEMENT_STATES, event.from_state, event.to_state, 1)
    )
      faults.push(
        `event ${event.sequence} makes an illegal move ${event.from_state} > ${event.to_state}`,
      );
    state = event.to_state;
  }
  if (state !== movement.request_state)
    faults.push(`the timeline ends in ${state}, the movement is ${movement.request_state}`);
  return faults;
}

function nodeStories(movement: MovementView, timeline: readonly TimelineView[]): string[] {
  const faults: string[] = [];
  const states = new Map(movement.nodes.map((node) => [node.node_key, 'BLOCKED']));
  const attempts = new Map(movement.nodes.map((node) => [node.node_key, 1]));
  for (const event of timeline) {
    if (!event.event_type.startsWith('node_') || event.node_key === null) continue;
    const key = event.node_key;
    if (event.attempt !== null && event.attempt < (attempts.get(key) ?? 1))
      faults.push(`event ${event.sequence} is of an attempt that was over`);
    if (event.attempt !== null) attempts.set(key, event.attempt);
    if (event.from_state === null || event.to_state === null) continue;
    if (event.from_state !== states.get(key))
      faults.push(
        `event ${event.sequence} moves ${key} from ${event.from_state}, but it was ${states.get(key) ?? '?'}`,
      );
    // One write may pass through a state in between, as from SUBMITTED through OBSERVING to its
    // end.
    if (!reaches(NODE_TABLE, NODE_STATES, event.from_state, event.to_state, 2))
      faults.push(
        `event ${event.sequence} makes an illegal move of ${key}: ${event.from_state} > ${event.to_state}`,
      );
    states.set(key, event.to_state);
  }
  for (const node of movement.nodes) {
    const last = states.get(node.node_key);
    if (last !== node.state)
      faults.push(`the timeline leaves ${node.node_key} ${last ?? '?'}, it is ${node.state}`);
    if (attempts.get(node.node_key) !== node.attempt)
      faults.push(`the timeline ends ${node.node_key} in another attempt than ${node.attempt}`);
  }
  return faults;
}

function atTheEnd(movement: MovementView): string[] {
  const faults: string[] = [];
  if (
    !ENDED_STATES.some((state) => state === movement.request_state) ||
    movement.request_state === 'CANCELLED'
  )
    return faults;
  if (movement.current_frontier.length > 0)
    faults.push(`it is over, but its frontier is ${movement.current_frontier.join(', ')}`);
  if (movement.reservation_status === 'held')
    faults.push('it is over, but still holds a reservation');
  if (movement.request_state !== 'COMPLETED') return faults;
  for (const node of movement.nodes) {
    const state = NODE_STATES.find((each) => each === node.state);
    if (state === undefined || !isSettled(state))
      faults.push(`it is COMPLETED, but ${node.node_key} is ${node.state}`);
    if (node.state === 'COMPLETED' && node.completed_at === null)
      faults.push(`${node.node_key} has no time of completion`);
  }
  return faults;
}

function reaches<S extends string>(
  table: TransitionTable<S>,
  states: readonly S[],
  from: string,
  to: string,
  moves: number,
): boolean {
  const start = states.find((state) => state === from);
  const end = states.find((state) => state === to);
  if (start === undefined || end === undefined) return false;
  if (allows(table, start, end)) return true;
  return (
    moves > 1 &&
    table.moves[start].some((between) => reaches(table, states, between, end, moves - 1))
  );
}

/** The paper venue's entries of one movement. */
export async function ledgerOf(
  paperVenueUrl: string,
  movementId: string,
): Promise<readonly LedgerEntry[]> {
  const { entries } = (await (await fetch(`${paperVenueUrl}/ledger`)).json()) as {
    entries: readonly LedgerEntry[];
  };
  return entries.filter((entry) => entry.movement_id === movementId);
}

export interface TokenTransfer {
  readonly from: Address;
  readonly to: Address;
  readonly amount: string;
  readonly tx_hash: string;
}

/** Every Transfer of USDC on the chain so far. */
export async function transfersOnChain(chain: ChainInfo): Promise<readonly TokenTransfer[]> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const { address, decimals } = chain.tokens.USDC;
  const logs = await client.getLogs({
    address,
    event: getAbiItem({ abi: erc20Abi, name: 'Transfer' }),
    fromBlock: 0n,
    strict: true,
  });
  return logs.map(({ args, transactionHash }) => ({
    from: args.from,
    to: args.to,
    amount: formatUnits(args.value, decimals),
    tx_hash: transactionHash,
  }));
}

/**
 * What a withdrawal to the wallet and its move to the treasury left: how often each was paid. Tests
 * give every movement an amount of its own, so that its transfers can be identified on the chain.
 */
export async function timesPaid(
  stack: { readonly chain: ChainInfo; readonly paperVenueUrl: string },
  movementId: string,
  amount: string,
): Promise<{
  readonly ledger_effects: number;
  readonly withdrawals: number;
  readonly sweeps: number;
}> {
  const { venueHotWallet, signer, treasury } = stack.chain.accounts;
  const [entries, transfers] = await Promise.all([
    ledgerOf(stack.paperVenueUrl, movementId),
    transfersOnChain(stack.chain),
  ]);
  const count = (from: Address, to: Address): number =>
    transfers.filter(
      (each) =>
        each.amount === amount && isAddressEqual(each.from, from) && isAddressEqual(each.to, to),
    ).length;
  return {
    ledger_effects: entries.reduce((sum, entry) => sum + entry.effects, 0),
    withdrawals: count(venueHotWallet.address, signer.address),
    sweeps: count(signer.address, treasury.address),
  };
}

/** What {@link timesPaid} says of a movement that paid everything once. */
export const PAID_ONCE = { ledger_effects: 1, withdrawals: 1, sweeps: 1 } as const;
