/**
 * A worker that is paused in the middle of its sends, for longer than a heartbeat may take, while
 * another takes over, and that is let go on while its sends are still under way. Every way to be
 * caught is played at once, by one pause of one process: each case is its own movement, known by
 * its amount.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAddressEqual, type Address } from 'viem';
import { freePort } from '../../dev/stack/ports.ts';
import { MOVEMENT_WORKFLOW, movementWorkflowId, TASK_QUEUE } from '../../domain/messages.ts';
import {
  assertConsistent,
  ledgerOf,
  transfersOnChain,
  type MovementView,
  type TimelineView,
} from '../support/evidence.ts';
import { holdWrites, type HeldWrites } from '../support/held-writes.ts';
import { moreParts, SECOND_HOT_WALLET, type MoreParts } from '../support/more-parts.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';
import { storeTemplate, transfer, withdrawal } from '../support/plans.ts';

/**
 * How long the venues sit on a request before they look at it, whether or not somebody still waits
 * for the answer.
 */
const HOLD_MS = 45_000;
/** Time-outs of the executors: over before the pause ends, and still running when it does. */
const SHORT_SECONDS = 5;
const LONG_SECONDS = 52;

/**
 * Where the worker is caught. `sending`: the request is at the other side and unanswered. `fenced`:
 * the fence is committed and nothing has left. `signed`: bytes are stored and nothing has left.
 */
type Caught = 'sending' | 'fenced' | 'signed';

interface Case {
  readonly name: string;
  /** The provider of the executor; `evm` is the chain itself. */
  readonly at: 'paper' | 'paper-patient' | 'forgetful' | 'forgetful-patient' | 'evm';
  readonly caught: Caught;
  readonly amount: string;
  readonly ends: 'COMPLETED' | 'MANUAL_INTERVENTION';
  /** How often it may have been paid, and how many submits the venue may have seen. */
  readonly paid: readonly number[];
  readonly submit_calls: readonly number[];
}

const CASES: readonly Case[] = [
  // The venue knows keys: what was sent is found, or sent again under the same key.
  {
    name: 'mid-send, its own time over',
    at: 'paper',
    caught: 'sending',
    amount: '11.01',
    ends: 'COMPLETED',
    paid: [1],
    submit_calls: [1, 2],
  },
  {
    name: 'mid-send, the answer still to come',
    at: 'paper-patient',
    caught: 'sending',
    amount: '11.02',
    ends: 'COMPLETED',
    paid: [1],
    submit_calls: [1],
  },
  {
    name: 'before the send, its time over',
    at: 'paper',
    caught: 'fenced',
    amount: '11.03',
    ends: 'COMPLETED',
    paid: [1],
    submit_calls: [1],
  },
  {
    name: 'before the send, still in time',
    at: 'paper-patient',
    caught: 'fenced',
    amount: '11.04',
    ends: 'COMPLETED',
    paid: [1],
    submit_calls: [1],
  },
  // The venue forgets keys: the outcome of the send stays unknown, so a person decides and nothing
  // is sent again.
  {
    name: 'mid-send, its own time over',
    at: 'forgetful',
    caught: 'sending',
    amount: '11.05',
    ends: 'MANUAL_INTERVENTION',
    paid: [1],
    submit_calls: [1],
  },
  {
    name: 'mid-send, the answer still to come',
    at: 'forgetful-patient',
    caught: 'sending',
    amount: '11.06',
    ends: 'MANUAL_INTERVENTION',
    paid: [1],
    submit_calls: [1],
  },
  {
    name: 'before the send, its time over',
    at: 'forgetful',
    caught: 'fenced',
    amount: '11.07',
    ends: 'MANUAL_INTERVENTION',
    paid: [0],
    submit_calls: [0],
  },
  {
    // It still may send, and does unless the SDK tells it first that its heartbeat is overdue.
    name: 'before the send, still in time',
    at: 'forgetful-patient',
    caught: 'fenced',
    amount: '11.08',
    ends: 'MANUAL_INTERVENTION',
    paid: [0, 1],
    submit_calls: [0, 1],
  },
  // The chain: a nonce lands once, and only stored bytes are ever sent.
  {
    name: 'mid-send',
    at: 'evm',
    caught: 'sending',
    amount: '11.09',
    ends: 'COMPLETED',
    paid: [1],
    submit_calls: [0],
  },
  {
    name: 'before it signs',
    at: 'evm',
    caught: 'fenced',
    amount: '11.11',
    ends: 'COMPLETED',
    paid: [1],
    submit_calls: [0],
  },
  {
    name: 'signed and before the send',
    at: 'evm',
    caught: 'signed',
    amount: '11.12',
    ends: 'COMPLETED',
    paid: [1],
    submit_calls: [0],
  },
];

interface Played extends Created {
  readonly end: MovementView;
  readonly timeline: readonly TimelineView[];
  readonly epoch: number;
  readonly transactions: readonly { readonly nonce: string; readonly tx_hash: string | null }[];
}

let own: OwnStack;
let more: MoreParts;
let held: HeldWrites;
let forgetfulUrl: string;
const played = new Map<string, Played>();
/**
 * Whether the worker came back while its sends were under way, without which none of this has been
 * tried.
 */
let inTime = false;

beforeAll(async () => {
  const port = await freePort();
  forgetfulUrl = `http://127.0.0.1:${port}`;
  own = await startOwnStack({
    split: true,
    allow: [SECOND_HOT_WALLET.address],
    executors: (paperUrl) => executors(paperUrl, forgetfulUrl),
  });
  more = moreParts(own.stack);
  held = await holdWrites(own.stack.databaseUrl);
  await more.venue('forgetful-venue', port);
  await fund();
  await play();
}, 300_000);
afterAll(async () => {
  // A paused process takes no polite signal.
  if (own?.stack.children['worker']?.pid != null) await own.stack.kill('worker', 'SIGCONT');
  await held?.close();
  await more?.stop();
  await own?.close();
});

function executors(paperUrl: string, otherUrl: string): readonly object[] {
  const remote = (
    provider: string,
    url: string,
    timeout_seconds: number,
    same_key_safe: boolean,
  ) => ({
    executor_key: `${provider}.withdrawal`,
    kind: 'remote',
    url,
    timeout_seconds,
    same_key_safe,
    settle_seconds: 1,
    action_types: ['cex_withdrawal'],
    completion_assurances: ['destination_credited'],
    provider,
  });
  return [
    remote('paper-patient', paperUrl, LONG_SECONDS, true),
    remote('forgetful', otherUrl, SHORT_SECONDS, false),
    remote('forgetful-patient', otherUrl, LONG_SECONDS, false),
  ];
}

/** Gives the second venue's hot wallet and the signer's wallet something to pay from. */
async function fund(): Promise<void> {
  const { api, stack } = own;
  for (const destination_address of [
    SECOND_HOT_WALLET.address,
    stack.chain.accounts.signer.address,
  ]) {
    const template = await storeTemplate(api, [
      withdrawal(stack.chain, 'fund', { config: { destination_address } }),
    ]);
    const movement = await api.create(template, { amount: '1000' });
    await api.approve(movement);
    await api.reaches(movement.movement_id, 'COMPLETED');
  }
}

async function setForgetful(faults: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${forgetfulUrl}/faults`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ deduplicate: false, ...faults }),
  });
  expect(answer.status).toBe(200);
}

async function play(): Promise<void> {
  const { api, stack } = own;
  const movements = new Map<Case, Created>();
  for (const each of CASES) {
    const node =
      each.at === 'evm'
        ? transfer(stack.chain, 'pay')
        : withdrawal(stack.chain, 'pay', {
            provider: each.at,
            config: { destination_address: stack.chain.accounts.treasury.address },
          });
    const movement = await api.create(await storeTemplate(api, [node]), { amount: each.amount });
    movements.set(each, movement);
    if (each.caught !== 'sending')
      await held.hold(each.caught === 'fenced' ? 'fence' : 'signature', movement.movement_id);
  }
  const ids = [...movements.values()].map(({ movement_id }) => movement_id);

  const calledBefore = new Map<string, number>();
  for (const url of [stack.paperVenueUrl, forgetfulUrl]) calledBefore.set(url, await callsAt(url));
  await own.venueFaults({ hold_ms: HOLD_MS, phases: ['submit'] });
  await setForgetful({ hold_ms: HOLD_MS });
  await own.chainFaults({ latency_ms: HOLD_MS });
  for (const movement of movements.values()) await api.approve(movement);
  await held.waiting(CASES.filter(({ caught }) => caught !== 'sending').length);
  for (const [{ caught }, { movement_id }] of movements)
    if (caught === 'sending') await api.nodeReaches(movement_id, 'pay', ['SUBMITTING']);
  // From its fence to the other side's socket. (Where a broadcast is does not matter: only its
  // bytes do.)
  for (const [url, before] of calledBefore)
    await eventually(async () => ((await callsAt(url)) >= before + expectedAt(url) ? true : null));

  await own.stack.kill('worker', 'SIGSTOP');
  const pid = own.stack.children['worker']?.pid ?? 0;
  await eventually(async () =>
    /^\d+ \(.*\) T/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) ? true : null,
  );
  const heldSince = Date.now();
  // What waits here is committed without its worker, and whoever sends from now on is not held up.
  await held.release();
  await own.venueFaults(null);
  await setForgetful({});
  await own.chainFaults({ latency_ms: 0 });
  await takeFrom(ids);
  await more.worker('worker-b');

  await eventually(
    async () =>
      (await nodesOf(ids)).every(({ state, epoch }) => epoch > 1 || state !== 'SUBMITTING')
        ? true
        : null,
    {
      timeoutMs: 90_000,
      what: () => 'the other worker to take over every node',
    },
  );
  await own.stack.kill('worker', 'SIGCONT');
  inTime = Date.now() - heldSince < HOLD_MS - 3_000;

  for (const [each, movement] of movements) {
    const end = await api.reaches(
      movement.movement_id,
      ['COMPLETED', 'FAILED', 'MANUAL_INTERVENTION'],
      90_000,
    );
    const [node] = await nodesOf([movement.movement_id]);
    played.set(each.amount, {
      ...movement,
      end,
      timeline: await api.timeline(movement.movement_id),
      epoch: node?.epoch ?? 0,
      transactions: await own.query(
        'SELECT nonce::text, tx_hash FROM evm_transactions WHERE movement_id = $1',
        [movement.movement_id],
      ),
    });
  }
  // What the venues held back has been looked at by now, and paid.
  await sleep(Math.max(0, heldSince + HOLD_MS + 3_000 - Date.now()));
}

async function callsAt(url: string): Promise<number> {
  const answer = await fetch(`${url}/faults/counts`);
  return ((await answer.json()) as { calls: number }).calls;
}

/**
 * How often a venue is called before the pause: to check and to prepare, and once more where the
 * send itself is caught.
 */
function expectedAt(url: string): number {
  const there = CASES.filter((each) => each.at !== 'evm' && venueOf(each).url === url);
  return there.reduce((sum, { caught }) => sum + (caught === 'sending' ? 3 : 2), 0);
}

/**
 * Tasks that the paused worker polls for would go to it and be lost until a time-out, as would
 * those of the runs in its memory. Neither matters to the test, so both are taken from it.
 */
async function takeFrom(movementIds: readonly string[]): Promise<void> {
  const { workflow, workflowService } = own.temporal;
  for (const id of movementIds)
    await workflowService.resetStickyTaskQueue({
      namespace: 'default',
      execution: { workflowId: movementWorkflowId(id) },
    });
  for (let count = 0; count < 12; count += 1) {
    const workflowId = `test/takes-a-poll-${count}`;
    await workflow.start(MOVEMENT_WORKFLOW, {
      workflowId,
      taskQueue: TASK_QUEUE,
      args: ['00000000-0000-7000-8000-000000000000'],
    });
  }
}

function nodesOf(
  movementIds: readonly string[],
): Promise<{ readonly state: string; readonly epoch: number }[]> {
  return own.query(
    'SELECT state, submit_epoch AS epoch FROM movement_nodes WHERE movement_id = ANY($1::uuid[])',
    [movementIds],
  );
}

function venueOf({ at }: Case): { readonly url: string; readonly wallet: Address } {
  const { accounts } = own.stack.chain;
  if (at === 'evm') return { url: own.stack.paperVenueUrl, wallet: accounts.signer.address };
  return at.startsWith('forgetful')
    ? { url: forgetfulUrl, wallet: SECOND_HOT_WALLET.address }
    : { url: own.stack.paperVenueUrl, wallet: accounts.venueHotWallet.address };
}

/** Transfers of the case's amount out of the wallet that pays it, into the treasury. */
async function timesPaid(of: Case): Promise<number> {
  const { wallet } = venueOf(of);
  const { treasury } = own.stack.chain.accounts;
  const transfers = await transfersOnChain(own.stack.chain);
  return transfers.filter(
    ({ from, to, amount }) =>
      amount === of.amount && isAddressEqual(from, wallet) && isAddressEqual(to, treasury.address),
  ).length;
}

async function expectPaid(of: Case): Promise<void> {
  const { movement_id } = played.get(of.amount)!;
  const entries = await ledgerOf(venueOf(of).url, movement_id);
  const calls = entries.reduce((sum, entry) => sum + entry.submit_calls, 0);
  const paid = await timesPaid(of);
  expect(of.paid).toContain(paid);
  expect(entries.reduce((sum, entry) => sum + entry.effects, 0)).toBe(of.at === 'evm' ? 0 : paid);
  expect(of.submit_calls).toContain(calls);
}

test('the other worker had taken over everything when the first came back, and its sends were still under way', () => {
  expect(inTime).toBe(true);
  expect([...played.values()].filter(({ epoch }) => epoch > 1)).toHaveLength(CASES.length);
});

describe.each(['paper', 'paper-patient', 'forgetful', 'forgetful-patient', 'evm'] as const)(
  'a zombie worker at %s',
  (at) => {
    const cases = CASES.filter((each) => each.at === at);

    test.each(cases)('caught $name, pays nothing twice', async (each) => {
      const { end, timeline } = played.get(each.amount)!;
      await expectPaid(each);
      assertConsistent(end, timeline);
      expect(end.request_state).toBe(each.ends);
      expect(end.nodes[0]).toMatchObject({
        state: each.ends === 'COMPLETED' ? 'COMPLETED' : 'UNKNOWN',
        attempt: 1,
      });
      expect(end.reservation_status).toBe(each.ends === 'COMPLETED' ? 'consumed' : 'held');
    });

    test.each(cases)('caught $name, writes nothing once it was taken over', async (each) => {
      const { timeline } = played.get(each.amount)!;
      const kinds = timeline.map(({ event_type }) => event_type);
      // What it started before the pause is recorded once; all later work is the other worker's.
      expect(kinds).toContain(each.ends === 'COMPLETED' ? 'node_recovered' : 'node_unknown');
      const sends = kinds.filter((kind) => kind === 'node_submitting').length;
      // `node_submitted` is written by whoever sent: never by the zombie, once by a worker that had
      // to send again.
      expect(kinds.filter((kind) => kind === 'node_submitted')).toHaveLength(sends - 1);
    });
  },
);

test.each(CASES.filter(({ at }) => at === 'evm'))(
  'on the chain, caught $name, one nonce and one hash are all there ever was',
  async (each) => {
    const { transactions, end } = played.get(each.amount)!;
    expect(transactions).toHaveLength(1);
    expect(transactions[0]?.tx_hash).toBe(end.nodes[0]?.output?.['tx_hash']);
  },
);

test.each(CASES.filter(({ ends }) => ends === 'MANUAL_INTERVENTION'))(
  "an operator's retry at a venue that cannot tell ($at, $name) asks again and sends nothing",
  async (each) => {
    const { movement_id, timeline } = played.get(each.amount)!;
    await own.api.act('retry', movement_id);
    const again = await eventually(async () => {
      const movement = await own.api.movement(movement_id);
      return movement.request_state === 'MANUAL_INTERVENTION' &&
        movement.nodes[0]?.state === 'UNKNOWN'
        ? movement
        : null;
    });
    const now = await own.api.timeline(movement_id);
    assertConsistent(again, now);
    expect(now.slice(timeline.length).map(({ event_type }) => event_type)).not.toContain(
      'node_submitting',
    );
    await expectPaid(each);
  },
);
