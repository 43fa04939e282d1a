/** What an executor reported about an UNKNOWN send stays on the node, for whoever decides. */
import { pino } from 'pino';
import { recover } from '../../activities/phases/recover.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { RecoverArgs } from '../../domain/messages.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const deps = () =>
  ({
    db: bench.db,
    log: pino({ level: 'silent' }),
    executors: { describe: () => undefined },
  }) as never;

const ABOVE: ExecutionResult = {
  next_state: 'UNKNOWN',
  error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT',
  error_message: 'the exchange charged a fee of 4 USDC (record w-7)',
  external_ref: 'w-7',
};

/** A node whose answer was lost; a person decides after the first look that proves nothing. */
async function lost(): Promise<RecoverArgs> {
  const { movement_id } = await bench.movement();
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'SUBMITTING', submit_epoch = 7,
      own_plan = own_plan || '{"retry_policy": {"max_attempts": 1}}'
     WHERE movement_id = $1::uuid`,
    movement_id,
  );
  return { movement_id, node_key: 'pay', attempt: 1 };
}

const finish = async (
  args: RecoverArgs,
  outcome: { readonly answer: ExecutionResult } | { readonly fault: ExecutorFault },
) => recover.finish(deps(), args, await phaseRow(deps(), args), outcome);

const nodeOf = async ({ movement_id }: RecoverArgs): Promise<unknown> => {
  const [row] = await bench.sql(
    `SELECT state, error_code, error_message, external_ref, unanswered FROM movement_nodes
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  return row;
};

const { error_code, error_message, external_ref } = ABOVE;
const REPORTED = { state: 'UNKNOWN', error_code, error_message, external_ref };

test('its code and its reference are those of the executor, in the timeline too', async () => {
  const args = await lost();
  expect(await finish(args, { answer: ABOVE })).toEqual({
    ...{ state: 'UNKNOWN', next: 'settled' },
    error_code,
  });
  expect(await nodeOf(args)).toEqual({ ...REPORTED, unanswered: 0 });
  expect(
    await bench.sql(
      `SELECT data ->> 'error_code' AS error_code, data ->> 'external_ref' AS external_ref
        FROM timeline_events WHERE movement_id = $1::uuid AND event_type = 'node_unknown'`,
      args.movement_id,
    ),
  ).toEqual([{ error_code, external_ref }]);
});

test('a later look finds them as well, and one without an answer takes nothing back', async () => {
  const args = await lost();
  const later = { ...args, from_unknown: true };
  const silent = new ExecutorFault('timeout', 'CEX_TIMEOUT', 'the exchange did not answer');
  await finish(args, { answer: { next_state: 'UNKNOWN', error_message: 'closed' } });
  expect(await nodeOf(args)).toMatchObject({
    error_code: 'RECOVERY_INCONCLUSIVE',
    external_ref: null,
  });
  await expect(finish(later, { answer: ABOVE })).rejects.toThrow('still unknown');
  expect(await nodeOf(args)).toEqual({ ...REPORTED, unanswered: 0 });
  await expect(finish(later, { fault: silent })).rejects.toThrow('still unknown');
  expect(await nodeOf(args)).toEqual({ ...REPORTED, unanswered: 1 });
});

test('a failure keeps what the executor reported of it beside what was known', async () => {
  const args = await lost();
  await bench.sql(
    `UPDATE movement_nodes SET output = '{"before": "1", "tx_hash": "0x0"}'
      WHERE movement_id = $1::uuid`,
    args.movement_id,
  );
  const output = { tx_hash: '0x1', fee_amount: '0.1' };
  await finish(args, {
    answer: { next_state: 'FAILED', error_code: 'REVERTED', external_ref: '0x1', output },
  });
  expect(await nodeOf(args)).toMatchObject({ state: 'FAILED', external_ref: '0x1' });
  const [row] = await bench.sql(
    'SELECT output FROM movement_nodes WHERE movement_id = $1::uuid',
    args.movement_id,
  );
  expect(row).toEqual({ output: { before: '1', ...output } });
});

test('a late send that is under way shows what the executor reported of it, too', async () => {
  const args = await lost();
  await finish(args, { answer: { next_state: 'UNKNOWN', error_message: 'closed' } });
  await bench.sql(
    `UPDATE movement_nodes SET started_at = now() - interval '1 hour',
      own_plan = own_plan || '{"timeout_policy": {"observe_seconds": 1}}'
     WHERE movement_id = $1::uuid`,
    args.movement_id,
  );
  const later = { ...args, from_unknown: true };
  const shown = async (more: Partial<ExecutionResult>): Promise<unknown> => {
    const answer: ExecutionResult = { ...more, next_state: 'OBSERVING' };
    await expect(finish(later, { answer })).rejects.toThrow('still unknown');
    return nodeOf(args);
  };
  const searching = { error_code: 'MINT_SEARCH_UNFINISHED', error_message: 'the search goes on' };
  expect(await shown(searching)).toMatchObject({
    state: 'UNKNOWN',
    error_code: 'SEND_UNDER_WAY',
    error_message: expect.stringContaining('(MINT_SEARCH_UNFINISHED: the search goes on)'),
  });
  expect(await shown({})).toMatchObject({
    error_code: 'SEND_UNDER_WAY',
    error_message: expect.stringMatching(/not observed in time$/),
  });
});

test.each([
  'LANE_BLOCKED',
  'LANE_STUCK',
  'TRANSACTION_CANCELLED',
  'NODE_TIMED_OUT',
  'ABANDONED',
  'SEND_UNDER_WAY',
  'SEND_LANE_TAKEN',
  'RESTORED_NODE_UNASKED',
  'RESOLVED_AS_FAILED',
  'CONDITION_ERROR',
  'ALREADY_CLAIMED',
  'CLAIM_MISSING',
])('a code by which the service acts is none of an executor: %s', async (reserved) => {
  const args = await lost();
  await finish(args, { answer: { ...ABOVE, error_code: reserved } });
  expect(await nodeOf(args)).toEqual({
    ...REPORTED,
    ...{ error_code: 'RECOVERY_INCONCLUSIVE', unanswered: 0 },
  });
});
