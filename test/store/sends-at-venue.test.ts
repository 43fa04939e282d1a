/**
 * An UNKNOWN node of which its executor last reported that the venue has the send, or has paid it,
 * or whose last look could not see it: what a person may state of it, and until when.
 */
import { pino } from 'pino';
import { observe } from '../../activities/phases/observe.ts';
import { recover } from '../../activities/phases/recover.ts';
import { phaseRow } from '../../activities/phases/row.ts';
import { record } from '../../activities/phases/team.ts';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import { openOutcomes, resolve, type Outcome } from '../../domain/commands/resolve.ts';
import { resume } from '../../domain/commands/resume.ts';
import { retry } from '../../domain/commands/retry.ts';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { RecoverArgs } from '../../domain/messages.ts';
import { VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import { readSnapshot } from '../../store/movements.ts';
import { openQuestion } from '../../store/questions.ts';
import { applyTransition } from '../../store/transition.ts';
import { dependencies, post, serve } from '../api/support.ts';
import { started } from '../support/started.ts';
import { approvalOf, storeBench } from './support.ts';

const bench = storeBench();
const api = started(() => serve(createApi({ ...dependencies(), db: bench.db }, movementRoutes)));

const PERSON = {
  caller: { client_id: null, key_id: null, role: 'operator' as const },
  request_id: 'a-request',
};
const deps = (entry?: object, more: object = {}) =>
  ({
    db: bench.db,
    log: pino({ level: 'silent' }),
    executors: { describe: () => entry },
    ...more,
  }) as never;

/** A node that its venue accepted so long ago, observed for longer than its plan says. */
async function late(ago = '1 minute'): Promise<RecoverArgs> {
  const { movement_id } = await bench.movement();
  await applyTransition(bench.db, {
    ...approvalOf(movement_id),
    set: { approval_status: 'approved' },
  });
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    `UPDATE movement_nodes SET state = 'OBSERVING', submit_epoch = 7, usual_seconds = 600,
      started_at = now() - $2::interval, submitted_at = now() - $2::interval,
      own_plan = own_plan || '{"timeout_policy": {"observe_seconds": 1},
        "retry_policy": {"max_attempts": 1}}'
     WHERE movement_id = $1::uuid`,
    movement_id,
    ago,
  );
  return { movement_id, node_key: 'pay', attempt: 1, from_observe: true };
}

type Said = { readonly answer: ExecutionResult } | { readonly fault: ExecutorFault };

const finish = async (args: RecoverArgs, said: Said, more?: object) =>
  recover.finish(deps(undefined, more), args, await phaseRow(deps(), args), said);

/** What a later look finds of the UNKNOWN node, which stays so. */
const looks = (args: RecoverArgs, said: Said) =>
  expect(finish({ ...args, from_unknown: true }, said)).rejects.toThrow('still unknown');

async function nodeOf({ movement_id }: RecoverArgs): Promise<unknown> {
  const [row] = await bench.sql(
    `SELECT state, error_code, error_message, external_ref FROM movement_nodes
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  return row;
}

async function offered({ movement_id }: RecoverArgs): Promise<readonly Outcome[]> {
  const { nodes } = await readSnapshot(bench.db, movement_id);
  return nodes.flatMap((node) => openOutcomes(node));
}

/** What comes of a person's word; null: it is not for this node now. */
async function says({ movement_id }: RecoverArgs, outcome: Outcome) {
  const word = { node_key: 'pay', outcome, reason: 'the statement', evidence: {} };
  const snapshot = await readSnapshot(bench.db, movement_id);
  const said = resolve(snapshot, { ...word, settle_seconds: 0, ahead_seconds: 0 }, PERSON);
  return said === null ? null : applyTransition(bench.db, said);
}

const OPEN = { ok: false, reason: 'send_still_open' };
const UNDER_WAY = { answer: { next_state: 'OBSERVING', external_ref: 'w-7' } } as const;
const SILENCE = { fault: new ExecutorFault('timeout', 'CEX_TIMEOUT', 'no answer') };

test('a late send that is under way is never called failed, also once its venue is silent', async () => {
  const args = await late();
  const { answer } = UNDER_WAY;
  const held = { error_code: 'HELD', error_message: 'the desk looks at it' };
  expect(await finish(args, { answer: { ...answer, ...held } })).toMatchObject({
    state: 'UNKNOWN',
    error_code: 'SEND_UNDER_WAY',
  });
  expect(await nodeOf(args)).toEqual({
    state: 'UNKNOWN',
    error_code: 'SEND_UNDER_WAY',
    error_message: expect.stringContaining('not observed in time (HELD: the desk looks at it)'),
    external_ref: 'w-7',
  });
  expect(await says(args, 'failed')).toMatchObject(OPEN);
  expect(await offered(args)).toEqual(['abandoned']);
  await looks(args, SILENCE);
  expect(await nodeOf(args)).toMatchObject({ error_code: 'SEND_UNDER_WAY' });
  expect(await says(args, 'failed')).toMatchObject(OPEN);
  expect(await says(args, 'abandoned')).toMatchObject({ ok: true });
});

const COMMANDS = { resume, retry };

/** A person requests another look at the UNKNOWN node, as it was when `snapshot` was read. */
async function lookedAgain(
  args: RecoverArgs,
  command: keyof typeof COMMANDS,
  snapshot?: MovementSnapshot,
): Promise<void> {
  const { movement_id } = args;
  await bench.sql(
    "UPDATE movements SET request_state = 'MANUAL_INTERVENTION' WHERE movement_id = $1::uuid",
    movement_id,
  );
  const read = snapshot ?? (await readSnapshot(bench.db, movement_id));
  const change = COMMANDS[command]({ ...read, state: 'MANUAL_INTERVENTION' }, PERSON);
  expect(await applyTransition(bench.db, change!)).toMatchObject({ ok: true });
}

test.each([
  ['resume', 'OBSERVING'],
  ['retry', 'READY'],
] as const)(
  'a %s takes back nothing of what the venue has, and only its answer does',
  async (command, state) => {
    const args = await late();
    await finish(args, SILENCE);
    // Read before the look that finds it.
    const before = await readSnapshot(bench.db, args.movement_id);
    await looks(args, UNDER_WAY);
    await lookedAgain(args, command, before);
    expect(await nodeOf(args)).toMatchObject({ state, error_code: 'SEND_UNDER_WAY' });
    expect(await finish(args, SILENCE)).toMatchObject({
      state: 'UNKNOWN',
      error_code: 'SEND_UNDER_WAY',
    });
    expect(await says(args, 'failed')).toMatchObject(OPEN);
    expect(await offered(args)).toEqual(['abandoned']);
    await lookedAgain(args, command);
    await finish(args, { answer: { next_state: 'UNKNOWN', error_code: 'CLOSED' } });
    expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', error_code: 'CLOSED' });
    expect(await offered(args)).toEqual(['completed', 'failed', 'abandoned']);
    await lookedAgain(args, command);
    expect(await nodeOf(args)).toMatchObject({ state, error_code: null });
  },
);

test('looks after a resume that find nothing new hide nothing of what the venue has', async () => {
  const args = await late();
  const { from_observe: _recovers, ...looked } = args;
  const observed = async (said: Said) =>
    observe.finish(deps(), looked, await phaseRow(deps(), args), said);
  await finish(args, UNDER_WAY);
  await lookedAgain(args, 'resume');
  await bench.sql(
    `UPDATE movement_nodes SET own_plan = own_plan || '{"retry_policy": {"max_attempts": 9}}'
      WHERE movement_id = $1::uuid`,
    args.movement_id,
  );
  const busy = { fault: new ExecutorFault('not_yet', 'TOO_MANY_REQUESTS', 'later') };
  for (const look of [
    () => observed(SILENCE),
    () => observed(busy),
    () => observed(UNDER_WAY),
    () => observed({ answer: { ...UNDER_WAY.answer, error_code: 'HELD', error_message: 'held' } }),
    () => finish(args, busy),
    () => finish(args, SILENCE),
  ]) {
    await expect(look()).rejects.toThrow(/no result|not there yet/);
    expect(await nodeOf(args)).toMatchObject({ state: 'OBSERVING', error_code: 'SEND_UNDER_WAY' });
  }
  // A fault that says what the venue has is no silence.
  const above = new ExecutorFault('rejected', 'WITHDRAWAL_FEE_ABOVE_LIMIT', 'a fee of 4 USDC');
  await expect(observed({ fault: above })).rejects.toThrow('no result');
  expect(await nodeOf(args)).toMatchObject({ error_code: 'WITHDRAWAL_FEE_ABOVE_LIMIT' });
});

const SHORT = {
  answer: { next_state: 'OBSERVING', error_code: 'LEDGER_ROW_MISMATCH', error_message: 'less' },
} as const;

test.each([
  ['retry', true, UNDER_WAY],
  ['retry', true, SHORT],
  ['retry', false, UNDER_WAY],
  ['retry', false, SHORT],
  ['resume', false, UNDER_WAY],
  ['resume', false, SHORT],
] as const)(
  'a %s whose look finds the same again takes nothing back (accepted: %s, %j)',
  async (command, accepted, said) => {
    const args = await late();
    const { from_observe: _observed, ...recovered } = args;
    await finish(args, said);
    if (!accepted)
      await bench.sql(
        'UPDATE movement_nodes SET submitted_at = NULL WHERE movement_id = $1::uuid',
        args.movement_id,
      );
    await lookedAgain(args, command);
    await finish(recovered, said);
    expect(await nodeOf(args)).toMatchObject({ state: 'OBSERVING' });
    // The look that found it is long ago again.
    await bench.sql(
      `UPDATE movement_nodes SET started_at = now() - interval '1 minute',
         submitted_at = now() - interval '1 minute' WHERE movement_id = $1::uuid`,
      args.movement_id,
    );
    await finish(args, SILENCE);
    const { answer } = said;
    expect(await nodeOf(args)).toMatchObject({
      state: 'UNKNOWN',
      error_code: 'error_code' in answer ? answer.error_code : 'SEND_UNDER_WAY',
    });
    expect(await says(args, 'failed')).toMatchObject(OPEN);
  },
);

test('a FAILED that is not believed takes nothing back, and is shown beside what is known', async () => {
  const args = await late();
  await finish(args, UNDER_WAY);
  const team = deps({ kind: 'task_queue' });
  for (const code of ['WITHDRAWN', 'WITHDRAWN', 'CLOSED']) {
    const row = await phaseRow(team, args);
    const question = (await openQuestion(bench.db, 'recover', row)) ?? '';
    const given = { answer: { next_state: 'FAILED', error_code: code } } as const;
    const { epoch } = row;
    await record(team, { ...args, phase: 'recover', from_unknown: true, epoch, question, given });
  }
  const said = (code: string) => `its executor says FAILED \\(${code}\\)[^;]*not believed[^;]*`;
  const whole = `^the send is under way[^;]*; ${said('WITHDRAWN')}; ${said('CLOSED')}$`;
  expect(await nodeOf(args)).toMatchObject({
    state: 'UNKNOWN',
    error_code: 'SEND_UNDER_WAY',
    error_message: expect.stringMatching(new RegExp(whole)),
  });
  expect(await says(args, 'failed')).toMatchObject(OPEN);
});

test.each(['LANE_STUCK', 'WITHDRAWAL_MISMATCH'])(
  'a fault of a team’s worker has the code of its kind, whatever arrives (%s)',
  async (code) => {
    const args = await late();
    await finish(args, SILENCE);
    const team = deps({ kind: 'task_queue' });
    const row = await phaseRow(team, args);
    const question = (await openQuestion(bench.db, 'recover', row)) ?? '';
    const given = { fault: { kind: 'server_error', code } } as const;
    const { epoch } = row;
    await record(team, { ...args, phase: 'recover', from_unknown: true, epoch, question, given });
    expect(await nodeOf(args)).toMatchObject({
      state: 'UNKNOWN',
      error_code: 'RECOVERY_INCONCLUSIVE',
      error_message: expect.stringContaining('EXECUTOR_UNAVAILABLE'),
    });
  },
);

test('a venue whose history is over by now takes nothing back of what it has shown', async () => {
  const over = {
    answer: { next_state: 'UNKNOWN', error_code: 'HISTORY_TOO_OLD', error_message: 'too old' },
  } as const;
  for (const shown of [UNDER_WAY, SHORT]) {
    const args = await late();
    await finish(args, shown);
    const before = await nodeOf(args);
    await looks(args, over);
    expect(await nodeOf(args)).toEqual(before);
    await lookedAgain(args, 'resume');
    await finish(args, over);
    expect(await nodeOf(args)).toEqual(before);
    await lookedAgain(args, 'resume');
    const { from_observe: _recovers, ...looked } = args;
    await observe.finish(deps(), looked, await phaseRow(deps(), looked), over);
    expect(await nodeOf(args)).toEqual(before);
    expect(await says(args, 'failed')).toMatchObject(OPEN);
  }
  const silent = await late();
  await finish(silent, SILENCE);
  await looks(silent, over);
  expect(await nodeOf(silent)).toMatchObject({ error_code: 'HISTORY_TOO_OLD' });
  expect(await says(silent, 'failed')).toMatchObject({ ok: true });
});

/** What an observing look finds of the node after a resume. */
async function observes(args: RecoverArgs, said: Said): Promise<void> {
  const { from_observe: _recovers, ...looked } = args;
  const look = observe.finish(deps(), looked, await phaseRow(deps(), looked), said);
  await expect(look).rejects.toThrow(/no result|not there yet/);
}

test.each(['ATTESTATION_MISMATCH', 'ALREADY_CLAIMED', 'CLAIM_MISSING'])(
  'a completion whose claim is refused (%s) is shown at once, and is never called failed',
  async (code) => {
    const refused = { fault: new ExecutorFault('protocol', code, 'of another node') };
    const [resumed, unknown, first] = [await late(), await late(), await late()];
    await finish(resumed, UNDER_WAY);
    await lookedAgain(resumed, 'resume');
    await observes(resumed, refused);
    expect(await nodeOf(resumed)).toMatchObject({ state: 'OBSERVING', error_code: code });
    await finish(resumed, SILENCE);
    await finish(unknown, UNDER_WAY);
    await looks(unknown, refused);
    await finish(first, refused);
    for (const args of [resumed, unknown, first]) {
      expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', error_code: code });
      expect(await says(args, 'failed')).toMatchObject(OPEN);
      expect(await offered(args)).toEqual(['completed', 'abandoned']);
    }
  },
);

test('a stuck nonce lane is shown at once, also of a send that is under way', async () => {
  const answer = { error_code: 'LANE_STUCK', error_message: 'insufficient funds for gas' } as const;
  const stuck = { answer: { ...UNDER_WAY.answer, ...answer } };
  const args = await late();
  await bench.sql(
    `INSERT INTO evm_transactions (transaction_id, signer_key, chain_id, address, nonce,
       movement_id, node_key, attempt, unsigned, raw_tx, tx_hash, created_at)
     VALUES (gen_random_uuid(), 'k', 4141, '0xa', 1, $1::uuid, 'pay', 1, '{}', '0x1', '0x1',
       svc_now())`,
    args.movement_id,
  );
  await finish(args, stuck);
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', ...answer });
  // Its nonce keeps it from being called failed.
  expect(await says(args, 'failed')).toMatchObject({ ok: false, reason: 'nonce_open' });
  await looks(args, UNDER_WAY);
  expect(await nodeOf(args)).toMatchObject({ error_code: 'SEND_UNDER_WAY' });
  await looks(args, stuck);
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', ...answer });
  await looks(args, ELSEWHERE);
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', ...answer });
  await looks(args, UNDER_WAY);
  await lookedAgain(args, 'resume');
  await observes(args, stuck);
  expect(await nodeOf(args)).toMatchObject({ state: 'OBSERVING', ...answer });
});

test('what an observing look reports of the venue is the code of the UNKNOWN node', async () => {
  const args = await late();
  const { from_observe: _recovers, ...looked } = args;
  const answer = {
    next_state: 'UNKNOWN',
    error_code: 'WITHDRAWAL_MISMATCH',
    error_message: 'record w-7 pays 4 USDC',
    external_ref: 'w-7',
  } as const;
  await observe.finish(deps(), looked, await phaseRow(deps(), looked), { answer });
  expect(await nodeOf(args)).toEqual({
    state: 'UNKNOWN',
    error_code: 'WITHDRAWAL_MISMATCH',
    error_message: 'record w-7 pays 4 USDC',
    external_ref: 'w-7',
  });
  expect(await says(args, 'failed')).toMatchObject(OPEN);
});

test.each([
  ['finds nothing', { next_state: 'READY' }, 'RECOVERY_INCONCLUSIVE'],
  ['cannot tell', { next_state: 'UNKNOWN', error_code: 'CLOSED' }, 'CLOSED'],
] as const)('a look that %s leaves the word to the person again', async (_what, answer, code) => {
  const args = await late();
  await finish(args, UNDER_WAY);
  await looks(args, { answer });
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', error_code: code });
  expect(await offered(args)).toEqual(['completed', 'failed', 'abandoned']);
  expect(await says(args, 'failed')).toMatchObject({ ok: true });
});

test('what became unknown by silence may be called failed until the send is reported', async () => {
  const args = await late();
  await finish(args, SILENCE);
  expect(await nodeOf(args)).toMatchObject({
    state: 'UNKNOWN',
    error_code: 'RECOVERY_INCONCLUSIVE',
  });
  expect(await offered(args)).toEqual(['completed', 'failed', 'abandoned']);
  // Read before the look that finds it.
  const snapshot = await readSnapshot(bench.db, args.movement_id);
  await looks(args, UNDER_WAY);
  const word = { node_key: 'pay', outcome: 'failed', reason: 'r', evidence: {} } as const;
  const said = resolve(snapshot, { ...word, settle_seconds: 0, ahead_seconds: 0 }, PERSON);
  expect(await applyTransition(bench.db, said!)).toMatchObject(OPEN);
  expect(await says(args, 'failed')).toMatchObject(OPEN);
});

test('one that is under way is completed by a person from an hour beyond its usual time on', async () => {
  // Its usual time is ten minutes.
  const [early, due] = [await late('69 minutes'), await late('71 minutes')];
  for (const args of [early, due]) await finish(args, UNDER_WAY);
  expect([await offered(early), await offered(due)]).toEqual([
    ['abandoned'],
    ['completed', 'abandoned'],
  ]);
  expect(await says(early, 'completed')).toBeNull();
  expect(await says(due, 'completed')).toMatchObject({ ok: true });
});

test.each([
  ['the start of its node', "started_at = now() - interval '69 minutes'", ['abandoned']],
  ['that start', "started_at = now() - interval '71 minutes'", ['completed', 'abandoned']],
  ['nothing, if nothing says when it began', 'started_at = NULL', ['completed', 'abandoned']],
])('one that was never accepted counts from %s', async (_what, since, outcomes) => {
  const args = await late();
  await finish(args, UNDER_WAY);
  await bench.sql(
    `UPDATE movement_nodes SET submitted_at = NULL, ${since} WHERE movement_id = $1::uuid`,
    args.movement_id,
  );
  expect(await offered(args)).toEqual(outcomes);
});

test.each([
  ['UNKNOWN', 'WITHDRAWAL_FEE_ABOVE_LIMIT'],
  ['UNKNOWN', 'WITHDRAWAL_MISMATCH'],
  ['UNKNOWN', 'TRANSFER_MISMATCH'],
  ['UNKNOWN', 'WITHDRAWAL_DUPLICATED'],
  ['UNKNOWN', 'TRANSFER_DUPLICATED'],
  ['OBSERVING', 'LEDGER_ROW_MISMATCH'],
  ['OBSERVING', 'DEPOSIT_AMOUNT_MISMATCH'],
] as const)(
  'what the venue paid otherwise than planned (%s %s) is never called failed, and completed at once',
  async (next_state, error_code) => {
    const args = await late();
    const answer = { next_state, error_code, error_message: 'another amount', external_ref: 'w-7' };
    await finish(args, { answer });
    const shown = { state: 'UNKNOWN', error_code, error_message: 'another amount' };
    expect(await nodeOf(args)).toEqual({ ...shown, external_ref: 'w-7' });
    // A later look shows the same.
    await looks(args, { answer });
    expect(await nodeOf(args)).toMatchObject(shown);
    expect(await says(args, 'failed')).toMatchObject(OPEN);
    expect(await offered(args)).toEqual(['completed', 'abandoned']);
    expect(await says(args, 'completed')).toMatchObject({ ok: true });
  },
);

/** The venue key of the node means another account, as its next look finds. */
const ELSEWHERE = {
  fault: new ExecutorFault('not_yet', VENUE_ENTRY_CHANGED, 'says [b] now, but was made under [a]'),
};
const UNSEEN = { ok: false, reason: 'venue_entry_changed' };
const UNBOUND = { fault: new ExecutorFault('rejected', 'VENUE_NOT_BOUND', 'no such account') };

test('what its last look could not see is never called failed, whoever read it before', async () => {
  const args = await late();
  await finish(args, SILENCE);
  const before = await readSnapshot(bench.db, args.movement_id);
  await looks(args, ELSEWHERE);
  const shown = { state: 'UNKNOWN', error_code: VENUE_ENTRY_CHANGED };
  expect(await nodeOf(args)).toMatchObject({ ...shown, error_message: ELSEWHERE.fault.message });
  const word = { node_key: 'pay', outcome: 'failed', reason: 'r', evidence: {} } as const;
  const said = resolve(before, { ...word, settle_seconds: 0, ahead_seconds: 0 }, PERSON);
  expect(await applyTransition(bench.db, said!)).toMatchObject(UNSEEN);
  expect(await says(args, 'failed')).toMatchObject(UNSEEN);
  expect(await offered(args)).toEqual(['completed', 'abandoned']);
  // Without an entry there is none to compare.
  await looks(args, UNBOUND);
  expect(await nodeOf(args)).toMatchObject(shown);
  expect(await says(args, 'failed')).toMatchObject(UNSEEN);
  expect(await says(args, 'abandoned')).toMatchObject({ ok: true });
});

test('a send that no look could see is so in UNKNOWN, too, after a look without an entry', async () => {
  const args = await late();
  await expect(finish(args, ELSEWHERE)).rejects.toThrow('no result');
  expect(await nodeOf(args)).toMatchObject({ state: 'OBSERVING', error_code: VENUE_ENTRY_CHANGED });
  await finish(args, UNBOUND);
  expect(await nodeOf(args)).toMatchObject({
    state: 'UNKNOWN',
    error_code: VENUE_ENTRY_CHANGED,
    error_message: ELSEWHERE.fault.message,
  });
  expect(await says(args, 'failed')).toMatchObject(UNSEEN);
});

test('the API says why it takes no failed of what no look can see, and what to do', async () => {
  const args = await late();
  await finish(args, SILENCE);
  await looks(args, ELSEWHERE);
  await bench.sql(
    "UPDATE movements SET request_state = 'MANUAL_INTERVENTION' WHERE movement_id = $1::uuid",
    args.movement_id,
  );
  const answer = await post(
    `${api.url}/v3/movements/${args.movement_id}/nodes/pay/actions/resolve`,
    { outcome: 'failed', reason: 'the statement', evidence: { by: 'me' } },
  );
  expect(answer).toMatchObject({
    status: 409,
    body: {
      detail: {
        error: 'venue_entry_changed',
        message: expect.stringMatching(/Point the entry back.*abandoned/),
      },
    },
  });
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN' });
});

test.each<[string, Said, string]>([
  ['silent', SILENCE, 'RECOVERY_INCONCLUSIVE'],
  ['without a record', { answer: { next_state: 'READY' } }, 'RECOVERY_INCONCLUSIVE'],
  ['in doubt', { answer: { next_state: 'UNKNOWN', error_code: 'CLOSED' } }, 'CLOSED'],
])(
  'once its entry is back, a look at a venue that is %s leaves the word to the person',
  async (_what, said, code) => {
    const args = await late();
    await finish(args, { answer: { next_state: 'UNKNOWN', error_code: 'HELD' } });
    await looks(args, ELSEWHERE);
    expect(await says(args, 'failed')).toMatchObject(UNSEEN);
    await looks(args, said);
    expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', error_code: code });
    expect(await offered(args)).toEqual(['completed', 'failed', 'abandoned']);
    expect(await says(args, 'failed')).toMatchObject({ ok: true });
  },
);

test('a look that cannot see a send takes back nothing of what its venue has', async () => {
  const args = await late();
  await finish(args, UNDER_WAY);
  await looks(args, ELSEWHERE);
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', error_code: 'SEND_UNDER_WAY' });
  await looks(args, SILENCE);
  expect(await says(args, 'failed')).toMatchObject(OPEN);
});

test.each([
  ['resume', 'OBSERVING'],
  ['retry', 'READY'],
] as const)(
  'a %s of what no look can see lets nothing be called failed',
  async (command, state) => {
    const args = await late();
    const { from_observe: _observed, ...recovered } = args;
    await finish(args, SILENCE);
    await looks(args, ELSEWHERE);
    await lookedAgain(args, command);
    expect(await nodeOf(args)).toMatchObject({ state, error_code: VENUE_ENTRY_CHANGED });
    await expect(finish(command === 'retry' ? recovered : args, ELSEWHERE)).rejects.toThrow(
      'no result',
    );
    expect(await nodeOf(args)).toMatchObject({ state, error_code: VENUE_ENTRY_CHANGED });
    expect(await says(args, 'failed')).toBeNull();
  },
);

/** The looks of the node have gone on without an answer for long enough. */
const LONG = { unansweredSeconds: 0 };

test.each(['SUBMITTING', 'READY'] as const)(
  'what no look can see for long in %s comes to a person, who may abandon it',
  async (state) => {
    const { from_observe: _observed, ...args } = await late();
    if (state === 'READY') {
      await finish({ ...args, from_observe: true }, SILENCE);
      await lookedAgain(args, 'retry');
    } else
      await bench.sql(
        `UPDATE movement_nodes SET state = 'SUBMITTING', submitted_at = NULL
          WHERE movement_id = $1::uuid`,
        args.movement_id,
      );
    await expect(finish(args, ELSEWHERE)).rejects.toThrow('no result');
    expect(await nodeOf(args)).toMatchObject({ state, error_code: VENUE_ENTRY_CHANGED });
    expect(await offered(args)).toEqual([]);
    await finish(args, ELSEWHERE, LONG);
    expect(await nodeOf(args)).toMatchObject({
      state: 'UNKNOWN',
      error_code: VENUE_ENTRY_CHANGED,
      error_message: ELSEWHERE.fault.message,
    });
    expect(await says(args, 'failed')).toMatchObject(UNSEEN);
    expect(await offered(args)).toEqual(['completed', 'abandoned']);
    expect(await says(args, 'abandoned')).toMatchObject({ ok: true });
  },
);

test('what no look can see for long still shows what its venue has', async () => {
  const args = await late();
  await finish(args, UNDER_WAY);
  await lookedAgain(args, 'retry');
  const { from_observe: _observed, ...recovered } = args;
  await finish(recovered, ELSEWHERE, LONG);
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', error_code: 'SEND_UNDER_WAY' });
});

test.each([
  'SIGNER_MISSING',
  'SIGNER_UNREACHABLE',
  'CONFIG_INVALID',
  'TOKEN_ASSET_MISMATCH',
  'DESTINATION_TOKEN_MISSING',
  'BURN_UNKNOWN',
  'VENUE_MISMATCH',
  'EXECUTOR_UNREACHABLE',
  'EXECUTOR_TIMEOUT',
  'EXECUTOR_PROTOCOL_ERROR',
  'EXECUTOR_BROKE',
  'TOKEN_UNREADABLE',
])('a look that may have ended before it compared entries (%s) is none', async (code) => {
  const args = await late();
  await finish(args, SILENCE);
  await looks(args, ELSEWHERE);
  await looks(args, { fault: new ExecutorFault('rejected', code, 'not so') });
  expect(await nodeOf(args)).toMatchObject({ state: 'UNKNOWN', error_code: VENUE_ENTRY_CHANGED });
  expect(await says(args, 'failed')).toMatchObject(UNSEEN);
});

test('an answer cannot say that no look could see its send, which only a fault does', async () => {
  const answer = { next_state: 'UNKNOWN', error_code: VENUE_ENTRY_CHANGED } as const;
  const args = await late();
  await finish(args, { answer });
  for (const look of [{ answer }, SILENCE]) {
    expect(await nodeOf(args)).toMatchObject({
      state: 'UNKNOWN',
      error_code: 'RECOVERY_INCONCLUSIVE',
    });
    await looks(args, look);
  }
  expect(await says(args, 'failed')).toMatchObject({ ok: true });
});

test('what failed before it was sent, since its entry had changed, is retried', async () => {
  const args = await late();
  await bench.sql(
    `UPDATE movement_nodes SET state = 'FAILED', error_code = $2, submitted_at = NULL,
       completed_at = now() WHERE movement_id = $1::uuid`,
    args.movement_id,
    VENUE_ENTRY_CHANGED,
  );
  await lookedAgain(args, 'retry');
  expect(await nodeOf(args)).toMatchObject({ state: 'READY', error_code: null });
});
