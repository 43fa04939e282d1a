/**
 * The release before, as it was released, works on this build's schema and with its data in it, as
 * docs/upgrading.md says: old processes run on after the migrations, this build's replace them, and
 * they replace this build's, each time while a movement waits at its gate.
 */
import { join } from 'node:path';
import { built } from '../../dev/bootstrap/programs.mjs';
import { SERVICE_ROLE } from '../../dev/stack/postgres.ts';
import { readBuild } from '../../prisma/migration-state.ts';
import { releaseBefore } from '../../prisma/releases.ts';
import { assertConsistent, PAID_ONCE, timesPaid } from '../support/evidence.ts';
import {
  eventually,
  WITHDRAW_TO_TREASURY,
  type Created,
  type MovementApi,
  type OwnStack,
} from '../support/own-stack.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { startLife } from '../upgrade/life.ts';
import { run, startProgram, type Programs } from '../upgrade/programs.ts';
import { BEFORE, buildBefore, isInHistory } from '../upgrade/release-before.ts';
import { restoreState, type Restored } from '../upgrade/restore.ts';
import { readState, STATES } from '../upgrade/state.ts';

const HERE: Programs = { main: built('main'), fundadmin: built('fundadmin') };
const WITH_GATE = 'starter/withdraw-with-gate';
const LONG_MS = 120_000;

const found = isInHistory();
const here = found ? test : test.skip;
const skipped = found ? '' : ' (skipped: the git history lacks its commit)';

let own: OwnStack | null = null;
let restored: Restored | null = null;
const running: ServiceProcess[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) each.signal('SIGKILL');
  await own?.close();
  await restored?.stop();
  [own, restored] = [null, null];
});

/** Ends the processes that run, and starts the build's. */
async function replaceBy(build: Programs, stack: OwnStack): Promise<void> {
  for (const each of running.splice(0).reverse()) {
    each.signal('SIGTERM');
    await each.ended;
  }
  running.push(await startProgram(stack, build, 'worker'));
  running.push(await startProgram(stack, build, 'api'));
}

async function approved(
  api: MovementApi,
  template: string,
  amount: string,
): Promise<Created & { readonly amount: string }> {
  const created = await api.create(template, { amount });
  await api.approve(created);
  return { ...created, amount };
}

async function waitsAtGate(api: MovementApi, { movement_id }: Created): Promise<void> {
  await api.reaches(movement_id, 'WAITING_MANUAL_ACTION', LONG_MS);
}

async function resumed(api: MovementApi, { movement_id }: Created): Promise<void> {
  await api.act('resume', movement_id);
  await api.reaches(movement_id, 'COMPLETED', LONG_MS);
}

here(
  `programs of ${BEFORE.version} work on this schema${skipped}`,
  async () => {
    const { releases, migrations } = await readBuild();
    expect(releaseBefore(releases, migrations)).toBe(BEFORE.version);
    const before = await buildBefore();

    restored = await restoreState(readState(join(STATES, BEFORE.version)));
    const migrate = `database migrate --grant-to ${SERVICE_ROLE}`;
    const { url } = restored;
    expect(await run(HERE, migrate, { SVC_DATABASE_OWNER_URL: url })).toMatchObject({ status: 0 });
    // As its deployment does before its processes start, on the way back too.
    expect(await run(before, migrate, { SVC_DATABASE_OWNER_URL: url })).toMatchObject({
      status: 0,
      out: expect.stringContaining('"applied":[]'),
    });
    await restored.stop();
    const stack = await startLife(restored.dataDir);
    own = stack;
    const { api } = stack;

    await replaceBy(before, stack);
    const straight = await approved(api, WITHDRAW_TO_TREASURY, '18.11');
    const gated = await approved(api, WITH_GATE, '18.12');
    const forward = await approved(api, WITH_GATE, '18.13');
    await waitsAtGate(api, gated);
    await resumed(api, gated);
    await api.reaches(straight.movement_id, 'COMPLETED', LONG_MS);
    await waitsAtGate(api, forward);

    await replaceBy(HERE, stack);
    await resumed(api, forward);
    const back = await approved(api, WITH_GATE, '18.14');
    await waitsAtGate(api, back);

    await replaceBy(before, stack);
    await resumed(api, back);

    for (const { movement_id, amount } of [straight, gated, forward, back]) {
      assertConsistent(await api.movement(movement_id), await api.timeline(movement_id));
      expect(await timesPaid(stack.stack, movement_id, amount)).toEqual(PAID_ONCE);
    }
    const { env } = stack.stack;
    let last = '';
    await eventually(
      async () => {
        const { status, out } = await run(HERE, 'audit verify', env);
        last = out;
        return status === 0 ? true : null;
      },
      { timeoutMs: 60_000, everyMs: 2_000, what: () => `the audit trail to be whole: ${last}` },
    );
    expect(await run(HERE, 'reservations verify', env)).toMatchObject({ status: 0 });
  },
  1_200_000,
);
