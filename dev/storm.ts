/**
 * `npm run demo -- --storm`: the demo's movement while its worker is killed during both sends, the
 * venue loses its response and Temporal stops. The payments are then counted in the venue's books,
 * on the chain and in the timeline.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, erc20Abi, formatUnits, getAbiItem, http, isAddressEqual } from 'viem';
import type { Address } from 'viem';
import type { Movement } from '../clients/http/index.ts';
import { loadStarterTemplates, operatorOf } from './demo-api.ts';
import { AMOUNT, demoMovement, say, Story } from './demo-story.ts';
import type { LedgerEntry } from './simulators/paper-venue/views.ts';
import type { ChainInfo } from './stack/chain.ts';
import { ANY_FREE_PORTS } from './stack/ports.ts';
import { startStack, type Stack } from './stack/stack.ts';

/**
 * Maximum time of the movement. Long, because Temporal notices each killed worker only by a
 * time-out.
 */
const PATIENCE_MS = 240_000;
const POLL_MS = 100;
/** Milliseconds that the venue delays the order, so that the worker can be killed meanwhile. */
const HOLD_MS = 1_500;

/** How often each of the two transfers was paid, by source of the count. */
interface Evidence {
  readonly venue: number;
  readonly withdrawals_on_chain: number;
  readonly sweeps_on_chain: number;
  readonly nodes_completed: number;
}
const ONCE: Evidence = {
  venue: 1,
  withdrawals_on_chain: 1,
  sweeps_on_chain: 1,
  nodes_completed: 2,
};

/**
 * Runs the storm on a temporary stack and removes it. `keep` receives the running stack, so that
 * the caller can end it. The exit status is 0 only when each transfer was paid exactly once.
 */
export async function storm(signal: AbortSignal, keep: (stack: Stack) => void): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'storm-'));
  try {
    say('Starting a stack of its own, in which processes may die.');
    const stack = await startStack({
      settings: { dataDir, ports: ANY_FREE_PORTS },
      restart: false,
      split: true,
      signal,
      // Printing each new event needs more requests than the rate limit allows.
      env: { SVC_RATE_LIMIT_ENABLED: 'false', SVC_SWEEP_IDLE_SECONDS: '1' },
    });
    keep(stack);
    try {
      return await tell(stack);
    } finally {
      say('Stopping the stack …');
      await stack.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function tell(stack: Stack): Promise<number> {
  const api = operatorOf(stack.apiUrl, stack.keys);
  const [template] = await loadStarterTemplates(stack);
  if (template === undefined) throw new Error('there is no starter template');
  const movement = await api.movements.create(demoMovement(template, stack.chain));
  const { movement_id } = movement;
  say(
    `\nMovement   ${movement_id}: ${AMOUNT} USDC, from the venue to the wallet to the treasury\n`,
  );
  const story = new Story(api, movement, { patienceMs: PATIENCE_MS, everyMs: POLL_MS });

  await setFaults(stack.paperVenueUrl, {
    hold_ms: HOLD_MS,
    lose_answer_rate: 1,
    remaining: 1,
    phases: ['submit'],
  });
  say('storm      the venue will accept the next order, pay it, and lose its answer');
  await api.movements.approve(movement_id, {
    compiled_plan_hash: movement.compiled_plan_hash,
    approver_id: 'demo-operator',
  });

  await story.until(({ event_type, node_key }) => is(event_type, node_key, 'withdraw'));
  await killWorker(stack, 'while the venue has the order');
  await paid(stack, movement_id);
  say('venue      has paid, and its answer is lost');
  await stack.kill('temporal');
  say('storm      kill -9 of Temporal');
  const { request_state } = await api.movements.get(movement_id);
  say(`API        still answers: the movement is ${request_state}`);
  await stack.startChild('temporal');
  await stack.startChild('worker');
  say('calm       Temporal and a worker are back\n');

  await story.until(({ event_type, node_key }) => is(event_type, node_key, 'sweep'));
  await killWorker(stack, 'while it sends on the chain');
  await stack.startChild('worker');
  say('calm       a worker is back\n');

  const ended = await story.end();
  const evidence = await gather(stack, ended);
  say(
    [
      '',
      `${ended.request_state}. The records:`,
      `  the venue's books     ${times(evidence.venue)} paid under the movement's key`,
      `  the chain             ${times(evidence.withdrawals_on_chain)} ${AMOUNT} USDC from the venue to the wallet`,
      `                        ${times(evidence.sweeps_on_chain)} ${AMOUNT} USDC from the wallet to the treasury`,
      `  the timeline          ${String(evidence.nodes_completed)} nodes completed, in ${String(story.submits)} submits`,
      '',
    ].join('\n'),
  );
  const once = JSON.stringify(evidence) === JSON.stringify(ONCE);
  process.stdout.write(
    `${JSON.stringify({ movement_id, request_state: ended.request_state, paid_once: once, evidence })}\n`,
  );
  return once && ended.request_state === 'COMPLETED' ? 0 : 1;
}

function is(event_type: string, node_key: string | null, node: string): boolean {
  return event_type === 'node_submitting' && node_key === node;
}

async function killWorker(stack: Stack, when: string): Promise<void> {
  const pid = stack.children['worker']?.pid;
  await stack.kill('worker');
  say(`storm      kill -9 of the worker (process ${String(pid)}), ${when}`);
}

/** Waits until the venue has made the payment. */
async function paid(stack: Stack, movementId: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(POLL_MS))
    if ((await effects(stack, movementId)) > 0) return;
  throw new Error('The venue has not paid within half a minute.');
}

async function effects(stack: Stack, movementId: string): Promise<number> {
  const answer = await fetch(`${stack.paperVenueUrl}/ledger`);
  const { entries } = (await answer.json()) as { entries: readonly LedgerEntry[] };
  return entries
    .filter(({ movement_id }) => movement_id === movementId)
    .reduce((sum, entry) => sum + entry.effects, 0);
}

async function gather(stack: Stack, { movement_id, nodes }: Movement): Promise<Evidence> {
  const { venueHotWallet, signer, treasury } = stack.chain.accounts;
  return {
    venue: await effects(stack, movement_id),
    withdrawals_on_chain: await transfers(stack.chain, venueHotWallet.address, signer.address),
    sweeps_on_chain: await transfers(stack.chain, signer.address, treasury.address),
    nodes_completed: nodes.filter(({ state }) => state === 'COMPLETED').length,
  };
}

/**
 * Returns how often the demo's amount went from one account to the other; the chain has no other
 * movement.
 */
async function transfers(chain: ChainInfo, from: Address, to: Address): Promise<number> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const { address, decimals } = chain.tokens.USDC;
  const logs = await client.getLogs({
    address,
    event: getAbiItem({ abi: erc20Abi, name: 'Transfer' }),
    fromBlock: 0n,
    strict: true,
  });
  return logs.filter(
    ({ args }) =>
      isAddressEqual(args.from, from) &&
      isAddressEqual(args.to, to) &&
      formatUnits(args.value, decimals) === AMOUNT,
  ).length;
}

async function setFaults(url: string, faults: object): Promise<void> {
  const answer = await fetch(`${url}/faults`, {
    method: 'POST',
    body: JSON.stringify(faults),
    headers: { 'content-type': 'application/json' },
  });
  if (answer.status !== 200) throw new Error(`The faults were refused: ${await answer.text()}`);
}

function times(count: number): string {
  return count === 1 ? 'once' : `${String(count)} times`;
}
