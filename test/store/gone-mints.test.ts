/**
 * A mint that was left to another account, and whose block the chain has taken back: the node is
 * prepared again, so that it mints itself.
 */
import { pino } from 'pino';
import { preflight } from '../../activities/phases/preflight.ts';
import { prepare } from '../../activities/phases/prepare.ts';
import { recover } from '../../activities/phases/recover.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import type { RecoverArgs } from '../../domain/messages.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

type Kind = 'local' | 'task_queue';

const deps = (kind: Kind = 'local') =>
  ({
    db: bench.db,
    log: pino({ level: 'silent' }),
    executors: { describe: () => ({ kind, same_key_safe: true, settle_seconds: 0 }) },
  }) as never;
const READY = { answer: { next_state: 'READY' } } as const;
const MINTED = { minted_by: '0x1' };
const SIGN = { kind: 'evm_transaction', payload: {} } as const;

/** A mint in this state, prepared as one that another account has made. */
async function minting(state: string, more = ''): Promise<RecoverArgs> {
  const { movement_id } = await bench.movement();
  await bench.approve(movement_id);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = $2, submit_epoch = 7, action_type = 'cctp_mint',
      preflight_passed = true, prepared_action = $3::jsonb, external_ref = '0x1', amount = 1,
      output = '{"searched": {"from": "0", "to": "9"}}', started_at = now() - interval '1 day',
      submitted_at = CASE WHEN $2 <> 'SUBMITTING' THEN now() - interval '1 day' END,
      own_plan = own_plan
        || '{"action_type": "cctp_mint", "retry_policy": {"max_attempts": 9}}' ${more}
     WHERE movement_id = $1::uuid`,
    movement_id,
    state,
    JSON.stringify(MINTED),
  );
  return { movement_id, node_key: 'pay', attempt: 1 };
}

const finish = async (args: RecoverArgs, kind?: Kind) =>
  recover.finish(deps(kind), args, await phaseRow(deps(), args), READY);

test.each([
  ['whose worker died at its fence', 'SUBMITTING', ''],
  ['that a person retries', 'READY', ', recover_first = true'],
])('one %s is prepared again, and drops what it had of the other', async (_what, state, more) => {
  const args = await minting(state, more);
  expect(await finish(args)).toMatchObject({ state: 'READY', next: 'again', phase: 'preflight' });
  const row = await phaseRow(deps(), args);
  expect(row).toMatchObject({
    ...{ state: 'READY', recover_first: false, preflight_passed: false, prepared_action: null },
    ...{ external_ref: null, output: null, started_ms: null, submitted_ms: null, epoch: 8 },
  });
  expect([preflight.recorded(row, args), prepare.recorded(row, args)]).toEqual([null, null]);
  const prepared_action = { amount: '1' };
  const answer = { next_state: 'SUBMITTING', prepared_action, sign_request: SIGN } as const;
  await prepare.finish(deps(), args, row, { answer });
  expect(await phaseRow(deps(), args)).toMatchObject({ prepared_action, sign_request: SIGN });
});

test('one that counts as accepted waits for a person, and says why', async () => {
  const args = await minting('OBSERVING');
  const shown = {
    error_message: expect.stringMatching(/no longer shows that mint; a retry mints/),
  };
  expect(await finish({ ...args, from_observe: true })).toMatchObject({ state: 'UNKNOWN' });
  expect(await phaseRow(deps(), args)).toMatchObject({ state: 'UNKNOWN', ...shown });
  await expect(finish({ ...args, from_unknown: true })).rejects.toThrow('still unknown');
  expect(await phaseRow(deps(), args)).toMatchObject({ ...shown, prepared_action: MINTED });
});

test.each<[string, Kind, string]>([
  ['a team prepared', 'task_queue', ''],
  ['has something to sign', 'local', `, sign_request = '${JSON.stringify(SIGN)}'`],
])('what %s is sent as it was prepared', async (_what, kind, more) => {
  const args = await minting('SUBMITTING', more);
  expect(await finish(args, kind)).toMatchObject({ state: 'READY', next: 'submit' });
  expect(await phaseRow(deps(), args)).toMatchObject({ prepared_action: MINTED, epoch: 7 });
});
