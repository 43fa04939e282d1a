/**
 * A run that cannot go on is shown with its cause, gets no signal about that, and goes on once a
 * worker can take it: its movement ends with one send.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ATTENTION_SIGNAL, MOVEMENT_WORKFLOW, movementWorkflowId } from '../../domain/messages.ts';
import { incompatibleBundle } from '../support/changed-bundle.ts';
import { assertConsistent, ledgerOf } from '../support/evidence.ts';
import { driftOnceKnown, eventually, MovementApi, ownStack } from '../support/own-stack.ts';
import { gate, storeTemplate, withdrawal } from '../support/plans.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { layOutChanged } from '../upgrade/builds.ts';

/** Temporal repeats a failed task with growing pauses, each after a time-out of ten seconds. */
const PATIENCE_MS = 420_000;
const own = ownStack({ service: false });
const folder = mkdtempSync(join(tmpdir(), 'stuck-run-'));
const processes: ServiceProcess[] = [];

afterEach(async () => {
  for (const each of processes.splice(0)) await kill(each);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function start(program?: string): Promise<ServiceProcess> {
  const options = program === undefined ? {} : { program };
  const running = await startServiceProcess(own.stack, 'all', options);
  processes.push(running);
  return running;
}

async function kill(running: ServiceProcess): Promise<void> {
  running.signal('SIGKILL');
  await running.ended;
}

const apiOf = (running: ServiceProcess) => new MovementApi(running.apiUrl, own.stack.keys.admin);

/**
 * Lays out a build whose movement workflow begins with a timer that no history has; returns its
 * program.
 */
const brokenBuild = (): Promise<string> =>
  layOutChanged(join(folder, 'broken'), incompatibleBundle);

/** A movement at a gate, behind which it pays once. */
async function atGate(api: MovementApi, amount: string): Promise<string> {
  await driftOnceKnown(api);
  const nodes = [gate('check'), withdrawal(own.stack.chain, 'pay')];
  const movement = await api.create(await storeTemplate(api, nodes), { amount });
  await api.approve(movement);
  await api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  return movement.movement_id;
}

interface Attention {
  readonly reason: string;
  readonly message: string;
  readonly last_answer: string | null;
}
async function attentionOf(api: MovementApi, id: string): Promise<Attention | null> {
  const { attention } = (await api.expect(200, 'GET', `/movements/${id}`)) as {
    readonly attention?: Attention | null;
  };
  return attention ?? null;
}

const becomesStuck = (api: MovementApi, id: string): Promise<Attention> =>
  eventually(
    async () => {
      const attention = await attentionOf(api, id);
      return attention?.reason === 'run_stuck' ? attention : null;
    },
    { timeoutMs: PATIENCE_MS, everyMs: 500, what: () => `${id} to be shown as stuck` },
  );

async function signalsOf(id: string): Promise<readonly string[]> {
  const { events = [] } = await own.temporal.workflow
    .getHandle(movementWorkflowId(id))
    .fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    signal?.signalName == null ? [] : [signal.signalName],
  );
}

async function endsWithOneSend(api: MovementApi, id: string): Promise<void> {
  const ended = await api.reaches(id, 'COMPLETED', PATIENCE_MS);
  assertConsistent(ended, await api.timeline(id));
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toHaveLength(1);
  await eventually(async () => ((await attentionOf(api, id)) === null ? true : null));
  await eventually(
    async () => {
      const rows = await own.query('SELECT 1 FROM stuck_runs WHERE entity_id = $1', [id]);
      return rows.length === 0 ? true : null;
    },
    { what: () => 'the row of the run to be removed' },
  );
}

test('code that does not fit the history of a run is shown, and a mended worker ends it', async () => {
  const mended = await start();
  const id = await atGate(apiOf(mended), '21.5');
  await kill(mended);

  const broken = await start(await brokenBuild());
  await apiOf(broken).act('resume', id);
  const attention = await becomesStuck(apiOf(broken), id);
  expect(attention.message).toContain('does not fit its history');
  expect(attention.last_answer).toMatch(/nondeterminism|TMPRL1100/i);
  const { movements } = (await apiOf(broken).expect(
    200,
    'GET',
    '/movements?needs_attention=true',
  )) as { readonly movements: readonly { movement_id: string; attention_reason: string }[] };
  expect(movements).toContainEqual(
    expect.objectContaining({ movement_id: id, attention_reason: 'run_stuck' }),
  );
  // The callback is written by the same loop that would signal the run.
  await eventually(async () => {
    const timeline = await apiOf(broken).timeline(id);
    return timeline.some(({ message = '' }) => message.includes('run_stuck')) ? true : null;
  });
  expect(await signalsOf(id)).not.toContain(ATTENTION_SIGNAL);
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toEqual([]);
  await kill(broken);

  await endsWithOneSend(apiOf(await start()), id);
}, 900_000);

test('a run whose task queue no worker polls is shown, and another run ends its movement', async () => {
  const running = await start();
  const api = apiOf(running);
  const id = await atGate(api, '22.5');
  // As of a build whose last worker has gone: the run is open, and its tasks wait.
  const alone = await own.temporal.workflow.start(MOVEMENT_WORKFLOW, {
    workflowId: movementWorkflowId(id),
    taskQueue: 'polled-by-no-worker',
    args: [id],
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
  await api.act('resume', id);
  const attention = await becomesStuck(api, id);
  expect(attention.message).toContain('no worker polls');
  expect(await signalsOf(id)).not.toContain(ATTENTION_SIGNAL);
  expect(await ledgerOf(own.stack.paperVenueUrl, id)).toEqual([]);
  await alone.terminate('the build has gone');
  await endsWithOneSend(api, id);
}, 600_000);

/** The database refuses such a write, as where its role lacks a right; returns how to end that. */
async function refused(write: string): Promise<() => Promise<void>> {
  await own.query(`CREATE FUNCTION test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'a missing right'; END $$`);
  await own.query(`CREATE TRIGGER test_refuse BEFORE ${write} EXECUTE FUNCTION test_refuse()`);
  return async () => void (await own.query('DROP FUNCTION test_refuse CASCADE'));
}

const PREFLIGHT = `UPDATE ON movement_nodes FOR EACH ROW
  WHEN (NEW.preflight_passed AND NOT OLD.preflight_passed)`;
const FENCE = `UPDATE ON movement_nodes FOR EACH ROW
  WHEN (NEW.state = 'SUBMITTING' AND OLD.state <> 'SUBMITTING')`;
/** Each load marks the movement's commands as read. */
const LOAD = 'UPDATE OF applied_at ON commands FOR EACH ROW';

test.each([
  ['an activity', PREFLIGHT, '23.5', 'the activity preflight'],
  ['a load', LOAD, '24.5', 'a local activity'],
  ['a send', FENCE, '25.5', 'the activity submit'],
])(
  'a run of which %s always fails is shown until that is mended',
  async (...each) => {
    const [, write, amount, answer] = each;
    const api = apiOf(await start());
    const id = await atGate(api, amount);
    const mend = await refused(write);
    try {
      await api.act('resume', id);
      const attention = await becomesStuck(api, id);
      expect(attention.message).toContain('fail again and again');
      expect(attention.last_answer).toContain(answer);
      expect(await ledgerOf(own.stack.paperVenueUrl, id)).toEqual([]);
    } finally {
      await mend();
    }
    await endsWithOneSend(api, id);
  },
  900_000,
);
