/** Faults of both chains of the bridges and of a stack's parts, which tests of both lanes play. */
import type { Hex } from 'viem';
import type { BridgeSide } from '../../dev/stack/bridges.ts';
import type { NodeView } from '../support/evidence.ts';
import { eventually, type Created, type MovementApi, type OwnStack } from '../support/own-stack.ts';

/** The block of a transaction and two more: then it cannot be taken back. */
export const UNTIL_FINAL = 3;
export const PATIENCE_MS = 180_000;

export interface JournalEntry {
  readonly hash: Hex;
  readonly raw: Hex;
}

/** Changes the faults of a chain or of who serves a bridge; null removes them. */
export async function setFaults(url: string, faults: object | null): Promise<void> {
  const answer = await fetch(`${url}/faults`, {
    method: faults === null ? 'DELETE' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(faults === null ? {} : { body: JSON.stringify(faults) }),
  });
  if (!answer.ok) throw new Error(`${url} refused the faults: ${await answer.text()}`);
}

export async function nodeOf(
  api: MovementApi,
  { movement_id }: Created,
  key: string,
): Promise<NodeView> {
  const { nodes } = await api.movement(movement_id);
  return nodes.find(({ node_key }) => node_key === key)!;
}

/** Kills a part of the stack and starts it again; `meanwhile` happens while it is dead. */
export async function killed(
  { stack }: OwnStack,
  name: string,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  await stack.kill(name);
  await meanwhile();
  await stack.startChild(name);
}

/** Starts those of these parts that are dead. */
export async function revive({ stack }: OwnStack, names: readonly string[]): Promise<void> {
  for (const name of names) if (stack.children[name]?.pid === null) await stack.startChild(name);
}

/** What a chain has ever taken, in order, whether it is in a block or not. */
export async function journalOf({ rpcUrl }: BridgeSide): Promise<readonly JournalEntry[]> {
  const answer = await fetch(`${rpcUrl}/journal`);
  const { transactions } = (await answer.json()) as {
    transactions: (JournalEntry & { status: string })[];
  };
  return transactions.filter(({ status }) => status !== 'rejected');
}

/** Waits for a chain to have taken one transaction more than `count`. */
export const taken = (side: BridgeSide, count: number, what: string): Promise<JournalEntry> =>
  eventually(async () => (await journalOf(side))[count] ?? null, {
    timeoutMs: PATIENCE_MS,
    everyMs: 10,
    what: () => `the chain to take the ${what}`,
  });

export const mine = (side: BridgeSide, blocks = 1): Promise<unknown> =>
  rpc(side, 'anvil_mine', [blocks]);

export async function isMined(side: BridgeSide, hash: Hex): Promise<boolean> {
  return (await rpc(side, 'eth_getTransactionReceipt', [hash])) !== null;
}

/** Drops the newest block with this transaction, which then exists nowhere. */
export async function takeBack(side: BridgeSide, hash: Hex): Promise<void> {
  expect(await isMined(side, hash)).toBe(true);
  await rpc(side, 'anvil_rollback', [1]);
  expect(await isMined(side, hash)).toBe(false);
}

/** Waits until a chain has a transaction again, in a block or not. */
export const comesBack = (side: BridgeSide, hash: Hex, what: string): Promise<unknown> =>
  eventually(() => rpc(side, 'eth_getTransactionByHash', [hash]), {
    timeoutMs: 60_000,
    what: () => `the ${what} to be sent again`,
  });

/** The bytes of a transaction, sent by somebody else than who signed it. */
export async function comesAgain(side: BridgeSide, hash: Hex): Promise<void> {
  const entry = (await journalOf(side)).find((each) => each.hash === hash)!;
  await rpc(side, 'eth_sendRawTransaction', [entry.raw]);
}

async function rpc<T>({ rpcUrl }: BridgeSide, method: string, params: unknown[]): Promise<T> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
