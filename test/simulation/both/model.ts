/** Plays scenarios on the model of the Temporal server, each in a world of its own. */
import pg from 'pg';
import type { Executor } from '../../../domain/executor.ts';
import { movementWorkflowId } from '../../../domain/messages.ts';
import { Statements } from '../machine/database.ts';
import { inProcess, Machine, type Process } from '../machine/machine.ts';
import { use } from '../machine/seams.ts';
import { createClient } from '../runtime/client.ts';
import type { Sandbox } from '../runtime/sandbox.ts';
import { Server } from '../runtime/server.ts';
import { createApi, openDatabase, partsOf, startBareWorker, type BareWorld } from '../service.ts';
import { desks, wakes, withPoints, type Play, type Reach } from './play.ts';
import { playOn, type Host, type Outcome, type Scenario } from './script.ts';
import { SECONDS, SOON_MS, SUGGESTED_AT, UNHURRIED_SECONDS } from './times.ts';

/** Milliseconds of its own time that a scenario may take. */
const LONGEST_MS = 20 * 60_000;

export async function playOnModel(
  scenario: Scenario,
  { sandbox, databaseUrl }: { readonly sandbox: Sandbox; readonly databaseUrl: string },
  tell?: (line: string) => void,
): Promise<Outcome> {
  const machine = new Machine(1, tell, { isInOrder: true });
  use(machine, 1);
  const statements = new Statements({
    machine,
    url: databaseUrl,
    fault: () => null,
    died: () => undefined,
    froze: () => undefined,
  });
  const server = new Server({ machine, sandbox, suggestsNewRunAfter: SUGGESTED_AT });
  const plays = new Map<string, Play>();
  const reach: Reach = {
    // The call is a step; what the desk does with it may last longer.
    call: async (call) => {
      const { reply } = await machine.step(`desk ${call.phase}`, async () => ({
        reply: playOf(plays, call.movement_id).call(call),
      }));
      return reply;
    },
    at: (movementId, point) => plays.get(movementId)?.at(point) ?? Promise.resolve(),
  };
  const executors: readonly Executor[] = desks(reach);
  const temporal = createClient({ machine, server, fault: () => null });
  const world: BareWorld = { machine, statements, server, temporal, executors };
  const db = await openDatabase(world);
  const apiProcess: Process = { name: 'api', state: 'up', skewMs: 0 };
  const api = createApi(partsOf(db, world), wakes(temporal, plays), 'api', (work) =>
    inProcess.run(apiProcess, work),
  );
  let count = 0;
  let worker: Process;
  let starting = Promise.resolve();
  const start = (): void => {
    count += 1;
    worker = { name: `worker-${String(count)}`, state: 'up', skewMs: 0 };
    startBareWorker(world, db, worker, (activities) => withPoints(activities, reach), {
      soonMs: SOON_MS,
      unhurriedSeconds: UNHURRIED_SECONDS,
    });
  };
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const host: Host = {
    temporal,
    api,
    sleep,
    query: (text, values) => machine.step('look', () => statements.ask(text, [...values])),
    begin: (movementId, play) => void plays.set(movementId, play),
    isQuiet: async (movementId) => server.isQuiet(movementWorkflowId(movementId)),
    runs: async (movementId) => server.runs(movementWorkflowId(movementId)),
    together: () => Promise.resolve(),
    death: async () => {
      await sleep(SECONDS.beforeDeath(scenario.group) * 1_000);
      machine.kill(worker);
      starting = sleep(SECONDS.afterDeath(scenario.group) * 1_000).then(start);
      await sleep(SECONDS.noticed * 1_000);
    },
    freeze: async () => {
      await sleep(SECONDS.beforeDeath(scenario.group) * 1_000);
      const frozen = worker;
      machine.freeze(frozen);
      starting = sleep(SECONDS.frozen(scenario.group) * 1_000).then(() => machine.thaw(frozen));
    },
    another: () => starting,
  };
  start();
  let outcome: Outcome | null = null;
  let failure: unknown = null;
  const callers: Process = { name: 'callers', state: 'up', skewMs: 0 };
  try {
    inProcess.run(callers, () => {
      playOn(host, scenario).then(
        (found) => (outcome = found),
        (error: unknown) => (failure = error ?? new Error('unknown')),
      );
    });
    const until = machine.now + LONGEST_MS;
    await machine.run(() => outcome !== null || failure !== null || machine.now > until);
  } catch (error) {
    failure ??= error;
  } finally {
    await server.close();
    await statements.close();
  }
  if (outcome !== null) return outcome;
  throw new Error(`the model: ${String(failure)}\n${machine.lines.slice(-30).join('\n')}`, {
    cause: failure,
  });
}

function playOf(plays: ReadonlyMap<string, Play>, movementId: string): Play {
  const play = plays.get(movementId);
  if (play === undefined) throw new Error(`no scenario has the movement ${movementId}`);
  return play;
}

/** Runs a statement at a database, in a connection of its own. */
export async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}
