/**
 * 500 approvals at once over two API processes, against a venue that has not enough for all of
 * them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fundadmin } from '../../tools/command-line.ts';
import { moreParts, type MoreParts } from '../support/more-parts.ts';
import {
  MovementApi,
  startOwnStack,
  type JsonAnswer,
  type OwnStack,
} from '../support/own-stack.ts';
import { compensation, edge, gate, storeTemplate, withdrawal } from '../support/plans.ts';

const VENUE = 'paper-sub-a';
const MOVEMENTS = 500;
/** The account has 1,000,000 of each asset: this often the amount below, and not once more. */
const COVERED = 249;
const AMOUNT = '4000.000000000000000001';

let own: OwnStack;
let parts: MoreParts;
let apis: readonly [MovementApi, MovementApi];
beforeAll(async () => {
  own = await startOwnStack({ split: true });
  parts = moreParts(own.stack);
  apis = [own.api, new MovementApi(await parts.api('second-api', {}), own.stack.keys.admin)];
}, 180_000);
afterAll(async () => {
  await parts?.stop();
  await own?.close();
});

interface Waiting {
  readonly movement_id: string;
  readonly compiled_plan_hash: string;
}

/** What waits behind a gate holds and never sends, so the balance stays what it is. */
async function template(): Promise<string> {
  const out = withdrawal(own.stack.chain, 'out', { config: { venue: VENUE } });
  const edges = [edge('check', 'out'), edge('check', 'undone', 'on_cancel')];
  return storeTemplate(own.api, [gate('check'), out, compensation('undone')], { edges });
}

const at = (index: number): MovementApi => apis[index % 2 === 0 ? 0 : 1];
/**
 * Answers by which nothing was accepted: a process that has too much to do, or a request that this
 * test was too slow to send.
 */
const AGAIN = ['overloaded', 'request_timeout'];

/** Repeats a request only when the answer says that nothing was accepted. */
async function ask(index: number, path: string, body: object): Promise<JsonAnswer> {
  for (; ; await sleep(1_000)) {
    const answer = await at(index).send('POST', path, body);
    if (!AGAIN.includes((answer.body['detail'] as { error?: string } | undefined)?.error ?? ''))
      return answer;
  }
}
const approve = (
  { movement_id, compiled_plan_hash }: Waiting,
  index: number,
): Promise<JsonAnswer> =>
  ask(index, `/movements/${movement_id}/approve`, { compiled_plan_hash, approver_id: 'tester' });

const pool = async (): Promise<{ held: string; open: string; holds: number } | undefined> =>
  (
    await own.query<{ held: string; open: string; holds: number }>(
      `SELECT trim_scale(p.held)::text AS held,
        trim_scale(coalesce(sum(r.amount), 0))::text AS open, count(r.*)::int AS holds
       FROM reservation_pools p LEFT JOIN reservations r USING (venue_key, account_type, asset)
       WHERE venue_key = $1 AND asset = 'USDC' AND (r.status = 'held' OR r.status IS NULL)
         GROUP BY p.held`,
      [VENUE],
    )
  )[0];

async function verified(): Promise<unknown> {
  let out = '';
  const env = { SVC_DATABASE_URL: own.stack.databaseUrl };
  const status = await fundadmin(['reservations', 'verify'], {
    env,
    out: (text) => (out += text),
    err: () => undefined,
  });
  return { status, ...(JSON.parse(out) as object) };
}

test('of 500 approvals at once as many pass as the balance covers, to the last digit, and the others are refused with the reason', async () => {
  const template_key = await template();
  const body = { template_key, template_version: 1, intent: { asset: 'USDC', amount: AMOUNT } };
  const creating = await Promise.all(
    Array.from({ length: MOVEMENTS }, (_, index) => ask(index, '/movements', body)),
  );
  expect(new Set(creating.map(({ status }) => status))).toEqual(new Set([201]));
  const made = creating.map((answer) => answer.body) as unknown as readonly Waiting[];
  const [balance] = await own.query<{ withdrawable: string }>(
    "SELECT trim_scale(withdrawable)::text AS withdrawable FROM balance_snapshots WHERE venue_key = $1 AND asset = 'USDC'",
    [VENUE],
  );
  expect(balance).toEqual({ withdrawable: '1000000' });

  let over = false;
  const most: number[] = [];
  const watch = (async () => {
    for (; !over; await sleep(20)) most.push((await pool())?.holds ?? 0);
  })();
  const approving = await Promise.allSettled(made.map(approve));
  over = true;
  await watch;
  const answers = approving.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });

  const refused = answers.filter(({ status }) => status === 409);
  expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([
    COVERED,
    MOVEMENTS - COVERED,
  ]);
  const detail = {
    error: 'insufficient_effective_withdrawable',
    reason: 'insufficient',
    venue_key: VENUE,
    account_type: 'SPOT',
    asset: 'USDC',
  };
  for (const { body } of refused) {
    expect(body).toMatchObject({
      detail: { ...detail, amount: AMOUNT, effective_withdrawable: '3999.999999999999999751' },
    });
  }
  const held = '996000.000000000000000249';
  expect(await pool()).toEqual({ held, open: held, holds: COVERED });
  // Holds came one after the other while this looked, as often as a busy machine lets it, and never
  // too many.
  expect(most.length).toBeGreaterThan(0);
  expect(Math.max(...most)).toBeLessThanOrEqual(COVERED);
  expect(await verified()).toMatchObject({ status: 0, ok: true, movements: MOVEMENTS });

  // A refused movement waits as before, and what another gives back is there for it.
  const states =
    'SELECT request_state, reservation_status, count(*)::int AS n FROM movements WHERE movement_id = ANY($1::uuid[]) GROUP BY 1, 2';
  const waiting = made.filter((_, index) => answers[index]?.status === 409);
  expect(await own.query(states, [waiting.map(({ movement_id }) => movement_id)])).toEqual([
    { request_state: 'PENDING_APPROVAL', reservation_status: 'none', n: waiting.length },
  ]);
  const [first, ...others] = made.filter((_, index) => answers[index]?.status === 200);
  await own.api.act('cancel', first?.movement_id ?? '');
  const again = await Promise.all(waiting.slice(0, 20).map(approve));
  expect(again.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(others).toHaveLength(COVERED - 1);
  expect(await pool()).toEqual({ held, open: held, holds: COVERED });
  expect(await verified()).toMatchObject({ status: 0, ok: true });
}, 120_000);
