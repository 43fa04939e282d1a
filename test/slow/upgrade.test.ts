/**
 * An upgrade from each release with data in it, by the new build's own programs: nothing that was
 * there says something else, what was open goes on to its end, and nothing is sent twice. Then the
 * processes go back to the release before. A made-up next release shows it before there is one,
 * and that a migration which loses something is seen.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from '../../dev/bootstrap/programs.mjs';
import { SERVICE_ROLE } from '../../dev/stack/postgres.ts';
import { readBuild } from '../../prisma/migration-state.ts';
import { startReceiver, type FaultyReceiver } from '../support/callback-receiver.ts';
import { assertConsistent } from '../support/evidence.ts';
import { eventually, WITHDRAW_TO_TREASURY, type OwnStack } from '../support/own-stack.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { lost, readAll } from '../upgrade/answers.ts';
import { layOut, layOutNext, releasesUntilNow } from '../upgrade/builds.ts';
import { paid, startLife, type LeftMovement } from '../upgrade/life.ts';
import { run, startProgram, type Programs } from '../upgrade/programs.ts';
import { recordState, startApi } from '../upgrade/record.ts';
import { restoreState, type Restored } from '../upgrade/restore.ts';
import { readAnswers, readState, readStates, type RecordedState } from '../upgrade/state.ts';

const HERE = { main: built('main'), fundadmin: built('fundadmin') };

let folder: string;
let receiver: FaultyReceiver | null = null;
let own: OwnStack | null = null;
let restored: Restored | null = null;
const running: ServiceProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'upgrade-builds-'));
});
afterEach(async () => {
  for (const each of running.splice(0)) each.signal('SIGKILL');
  await own?.close();
  await restored?.stop();
  receiver?.close();
  [own, restored, receiver] = [null, null, null];
});
afterAll(() => rmSync(folder, { recursive: true }));

async function migrated(build: Programs, url: string): Promise<readonly string[]> {
  const env = { SVC_DATABASE_OWNER_URL: url };
  const { status, out, err } = await run(build, `database migrate --grant-to ${SERVICE_ROLE}`, env);
  expect({ status, err: status === 0 ? '' : err }).toEqual({ status: 0, err: '' });
  expect(await run(build, 'database status', env)).toMatchObject({ status: 0 });
  return (JSON.parse(out) as { readonly applied: readonly string[] }).applied;
}

/** Everything by which the upgraded database differs from what was recorded. */
async function lostBy(
  stack: Pick<OwnStack, 'stack'>,
  state: RecordedState,
  { build, shiftMs }: { readonly build: Programs; readonly shiftMs: number },
): Promise<readonly string[]> {
  const api = await startApi(stack, build.main);
  try {
    const now = await readAll(api.apiUrl, `http://127.0.0.1:${String(api.opsPort)}`);
    const faults = [...lost(readAnswers(state), now, shiftMs)];
    const { env } = stack.stack;
    for (const words of [
      'reservations verify',
      'counts verify',
      `audit verify --expect-head ${state.audit_head}`,
    ]) {
      const { status, out } = await run(build, words, env);
      if (status !== 0 && !(words.startsWith('audit') && onlyWaits(out)))
        faults.push(`${words}: ${out}`);
    }
    return faults;
  } finally {
    api.signal('SIGKILL');
    await api.ended;
  }
}

/** What was written after the worker died waits for the next one to seal it. */
function onlyWaits(out: string): boolean {
  const { faults } = JSON.parse(out) as { readonly faults: readonly { readonly fault: string }[] };
  return faults.every(({ fault }) => fault === 'not_sealed');
}

/** Restores, migrates by the build's programs, and compares; the stack's processes are down. */
async function upgrade(
  state: RecordedState,
  build: Programs,
  options: { readonly pending: readonly string[]; readonly copies?: readonly string[] },
): Promise<OwnStack> {
  restored = await restoreState(state);
  const { dataDir, url, shiftMs, copy } = restored;
  await copy(...(options.copies ?? []));
  const env = { SVC_DATABASE_OWNER_URL: url };
  const before = await run(build, 'database status', env);
  expect(before.status).toBe(options.pending.length === 0 ? 0 : 1);
  expect(JSON.parse(before.out)).toMatchObject({
    pending: options.pending,
    unknown: [],
    changed: [],
  });
  expect(await migrated(build, url)).toEqual(options.pending);
  await restored.stop();
  own = await startLife(dataDir);
  expect(await lostBy(own, state, { build, shiftMs })).toEqual([]);
  return own;
}

async function start(
  stack: OwnStack,
  build: Programs,
  role: 'api' | 'worker',
): Promise<ServiceProcess> {
  const started = await startProgram(stack, build, role);
  running.push(started);
  return started;
}

/** What was open goes on to its end, and the books show each send once. */
async function goOn(stack: OwnStack, { left }: RecordedState): Promise<void> {
  receiver = await startReceiver(left.receiver_port);
  const all: readonly (readonly [string, LeftMovement])[] = Object.entries(left.movements);
  for (const [, movement] of all) {
    if (movement.then === 'approve')
      await stack.api.approve({ ...movement, request_state: movement.state });
    if (movement.then === 'resume') await stack.api.act('resume', movement.movement_id);
  }
  for (const [name, movement] of all) {
    const ended = await eventually(
      async () => {
        const now = await stack.api.movement(movement.movement_id);
        return now.request_state === movement.ends ? now : null;
      },
      { timeoutMs: 120_000, what: () => `${name} to become ${movement.ends}` },
    );
    assertConsistent(ended, await stack.api.timeline(movement.movement_id));
    expect({ name, paid: await paid(stack, movement) }).toEqual({ name, paid: movement.paid });
    expect(ended.reservation_status).not.toBe('held');
  }
  await transferSettles(stack, left.pending_transfer);
  await callbacksArrive(stack, left.dead_letter);
  const { env } = stack.stack;
  await eventually(
    async () => ((await run(HERE, 'audit verify', env)).status === 0 ? true : null),
    { timeoutMs: 60_000, everyMs: 2_000, what: () => 'the audit trail to be whole' },
  );
  expect(await run(HERE, 'reservations verify', env)).toMatchObject({ status: 0 });
}

async function transferSettles(stack: OwnStack, id: string): Promise<void> {
  const settled = await fetch(`${stack.stack.paperVenueUrl}/transfers/${id}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ outcome: 'completed' }),
  });
  expect(settled.status).toBe(200);
  await eventually(
    async () => {
      const now = await stack.api.expect(200, 'GET', `/capital-transfers/${id}`);
      return now['request_state'] === 'COMPLETED' ? true : null;
    },
    { timeoutMs: 60_000, what: () => 'the capital transfer to be completed' },
  );
}

/** What waited is delivered, and a dead letter is one until a person says otherwise. */
async function callbacksArrive(stack: OwnStack, deadLetter: string): Promise<void> {
  const [letter] = await stack.query<{ status: string }>(
    'SELECT status FROM callbacks WHERE event_id = $1',
    [deadLetter],
  );
  expect(letter).toEqual({ status: 'dead_letter' });
  await stack.query("UPDATE callbacks SET next_attempt_at = svc_now() WHERE status = 'pending'");
  await eventually(
    async () => {
      const rows = await stack.query("SELECT FROM callbacks WHERE status = 'pending'");
      return rows.length === 0 ? true : null;
    },
    { timeoutMs: 60_000, what: () => 'all callbacks to be delivered' },
  );
  await stack.api.expect(200, 'POST', `/callbacks/${deadLetter}/redeliver`);
}

const states = readStates();

for (const state of states)
  test(`a database of ${state.version} is upgraded to this build, and what was open goes on`, async () => {
    const pending = (await namesOfNow()).filter((name) => !Object.hasOwn(state.migrations, name));
    const stack = await upgrade(state, HERE, { pending });
    await start(stack, HERE, 'worker');
    await start(stack, HERE, 'api');
    await goOn(stack, state);
  }, 600_000);

async function namesOfNow(): Promise<readonly string[]> {
  return (await readBuild()).migrations.map(({ name }) => name);
}

/** Of this build: as it was recorded with its release, else as it is now. */
async function stateOfNow(): Promise<RecordedState> {
  const names = await namesOfNow();
  const newest = states.find((state) =>
    names.every((name) => Object.hasOwn(state.migrations, name)),
  );
  if (newest !== undefined) return newest;
  await recordState(join(folder, 'state'), 'now');
  return readState(join(folder, 'state'));
}

const LOSING = {
  holds: /reservations verify.*hold_missing/s,
  sends: /state: "READY" instead of "OBSERVING"/,
  outflow: /outflow.*: 0 entries instead of 1/s,
  audit: /audit verify.*row_changed/s,
  callbacks: /callbacks.*entries instead of/s,
} as const;

test('a made-up next release takes over, loses nothing, is seen to lose what one does, and its processes go back', async () => {
  const state = await stateOfNow();
  const next = await layOutNext(join(folder, 'next'), 'next');
  const losing = Object.keys(LOSING) as (keyof typeof LOSING)[];
  const names = ['notes', 'notes_index', 'attempts_checked', 'functions'];
  const pending = names.map((name, index) => `9999010100000${String(index)}_${name}`);
  const stack = await upgrade(state, next, {
    pending,
    copies: losing.map((name) => `losing_${name}`),
  });
  const shiftMs = restored?.shiftMs ?? 0;

  for (const name of losing) {
    const build = await layOutNext(join(folder, name), 'next', `losing/${name}`);
    const over = (url: string): string => url.replace(/\/[^/]+$/, `/losing_${name}`);
    await migrated(build, over(stack.stack.databaseUrl));
    const env = {
      ...stack.stack.env,
      SVC_DATABASE_URL: over(stack.stack.env['SVC_DATABASE_URL'] ?? ''),
    };
    const faults = await lostBy({ stack: { ...stack.stack, env } }, state, { build, shiftMs });
    expect(faults.join('\n')).toMatch(LOSING[name]);
  }

  const newer = [await start(stack, next, 'worker'), await start(stack, next, 'api')];
  await goOn(stack, state);

  // Back to the release before on the same database, while a movement is under way.
  const release = layOut(join(folder, 'before'), await releasesUntilNow());
  const env = { SVC_DATABASE_OWNER_URL: stack.stack.databaseUrl };
  const known = await run(release, 'database status', env);
  expect([known.status, JSON.parse(known.out)]).toMatchObject([
    0,
    { unknown: pending, served: true },
  ]);
  expect(await run(release, 'database migrate', env)).toMatchObject({
    status: 0,
    out: expect.stringContaining('"applied":[]'),
  });
  await stack.chainFaults({ mining: 'paused' });
  const flying = await stack.api.create(WITHDRAW_TO_TREASURY, { amount: '18.01' });
  await stack.api.approve(flying);
  await stack.api.nodeReaches(flying.movement_id, 'withdraw', ['OBSERVING']);
  for (const each of newer.reverse()) {
    each.signal('SIGTERM');
    expect(await each.ended).toBe(0);
  }
  await start(stack, release, 'worker');
  await start(stack, release, 'api');
  await stack.chainFaults({ mining: 'automatic' });
  await stack.api.reaches(flying.movement_id, 'COMPLETED', 120_000);
  expect(await paid(stack, { ...flying, amount: '18.01' } as never)).toEqual({
    venue: 1,
    chain: 2,
  });
  // An earlier one is refused: the database no longer has what it uses.
  const older = layOut(join(folder, 'older'), []);
  await expect(start(stack, older, 'api')).rejects.toThrow(/does not know: 99990101000000_notes/);
}, 900_000);
