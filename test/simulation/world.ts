/** One world: a database, a Temporal server, processes that die, callers, and what is outside. */
import { allowAddress } from '../../store/allowlist.ts';
import { Statements, type StatementFault } from './machine/database.ts';
import { inProcess, Machine, type Process } from './machine/machine.ts';
import { serve, use } from './machine/seams.ts';
import { Faults } from './faults.ts';
import { judge } from './judges.ts';
import { live, type Lives } from './lives.ts';
import { PAYEES } from './payees.ts';
import type { WorldReport } from './report.ts';
import { createClient, type CallFault } from './runtime/client.ts';
import { Server } from './runtime/server.ts';
import type { Sandbox } from './runtime/sandbox.ts';
import { openDatabase, startApi, startWorker, type Api, type ServiceWorld } from './service.ts';
import { bindChain, CHAIN_ID, HOSTS, readyLibrary, signersOf, TOKEN } from './worlds/binding.ts';
import { Chain, type ChainFault } from './worlds/chain.ts';
import { Desk, type NetworkFault } from './worlds/desk.ts';
import { Receiver, type CallbackFault } from './worlds/receiver.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly movements: number;
  /** A migrated database of this world's own, with the simulation's seams. */
  readonly databaseUrl: string;
  readonly sandbox: Sandbox;
  readonly tell?: (line: string) => void;
  /** False: no fault strikes. */
  readonly isStormy?: boolean;
  /** The numbers of the faults that may strike, where a run is shrunk. */
  readonly onlyFaults?: ReadonlySet<number>;
}

/** Probabilities of each fault, at each of its chances. */
const STATEMENT: Readonly<Record<StatementFault, number>> = {
  'lost before': 0.002,
  'lost after': 0.003,
  conflict: 0.002,
  'dies before': 0.0007,
  'dies after': 0.001,
  held: 0.01,
  'held, then lost': 0.001,
  'held, then dies': 0.0005,
};
/** While a stop is requested: what it must wait for is held open then. */
const BESIDE_A_STOP: Readonly<Record<StatementFault, number>> = { ...STATEMENT, held: 0.5 };
const CALL: Readonly<Record<CallFault, number>> = {
  'lost before': 0.03,
  'lost after': 0.03,
  twice: 0.03,
};
const NETWORK: Readonly<Record<NetworkFault, number>> = {
  'lost request': 0.03,
  'lost answer': 0.04,
  late: 0.03,
  broken: 0.03,
};
/** One look at a chain is many requests. */
const CHAIN_NETWORK: Readonly<Record<NetworkFault, number>> = {
  'lost request': 0.004,
  'lost answer': 0.006,
  late: 0.006,
  broken: 0.008,
};
/** At each block; a dropped transaction for each that waits, an older version for each pick. */
const CHAIN: Readonly<Record<ChainFault, number>> = {
  reorganised: 0.12,
  'transaction dropped': 0.1,
  'older version mined': 0.4,
  'fees rise': 0.05,
  'endpoint lags': 0.05,
  'endpoint silent': 0.02,
};
const CALLBACK: Readonly<Record<CallbackFault, number>> = {
  'lost request': 0.02,
  'lost answer': 0.03,
  refused: 0.02,
};
/** How often a desk refuses an order for good. */
const REFUSES = 0.08;
/** How often the clock of a process is wrong, and by how many milliseconds at most. */
const SKEWED = 0.2;
const SKEW_MS = 2 * 3_600_000;
/** How often each disaster strikes a world, when, and how far a clock jumps, in milliseconds. */
const DISASTER = 0.3;
const ONCE_MS = [30_000, 200_000] as const;
const JUMP_MS = [60_000, 3_600_000] as const;
/** After how many events Temporal suggests a new run. */
const NEW_RUN_AFTER = [30, 60, 120, 10_000] as const;
/** Milliseconds between the start of a worker and its freeze, and how long that lasts. */
const FREEZE_MS = [20_000, 120_000] as const;
const FROZEN_MS = [5_000, 40_000] as const;
const RESTART_MS = [500, 8_000] as const;
/** The longest that a nonce lane may wait after that, in milliseconds: fees rise step by step. */
const LANES_REST_MS = 600_000;
/** The longest that a world may take until it has come to rest, in milliseconds of its own time. */
const LONGEST_MS = 40 * 60_000;

export async function runWorld(options: WorldOptions): Promise<WorldReport> {
  await readyLibrary();
  const machine = new Machine(options.seed, options.tell);
  use(machine, options.seed ^ 0x5bd1e995);
  const faults = new Faults(machine, options.onlyFaults ?? null);
  const isStormy = options.isStormy !== false;
  let lives: Lives | null = null;
  const statements = new Statements({
    machine,
    url: options.databaseUrl,
    fault: () => faults.strike('statement', (lives?.deciding ?? 0) > 0 ? BESIDE_A_STOP : STATEMENT),
    died: (process) => died(process),
  });
  const server = new Server({
    machine,
    sandbox: options.sandbox,
    suggestsNewRunAfter: machine.dice.pick(NEW_RUN_AFTER),
  });
  const temporal = createClient({ machine, server, fault: () => faults.strike('temporal', CALL) });
  const desks = [
    { executor_key: 'keyed.desk', knowsKeys: true, hasPayees: true },
    { executor_key: 'blind.desk', knowsKeys: false, hasPayees: true },
    { executor_key: 'plain.desk', knowsKeys: true, hasPayees: false },
    { executor_key: 'bare.desk', knowsKeys: false, hasPayees: false },
  ].map(
    (each) =>
      new Desk({
        ...each,
        machine,
        refuses: REFUSES,
        fault: () => faults.strike('network', NETWORK),
      }),
  );
  const signers = signersOf();
  const chain = new Chain({
    machine,
    chain_id: CHAIN_ID,
    hosts: HOSTS,
    token: TOKEN,
    decimals: 6,
    accounts: await Promise.all(signers.map(async (signer) => String(await signer.identity()))),
    network: () => faults.strike('chain network', CHAIN_NETWORK),
    strikes: (fault) => faults.strike('chain', { [fault]: CHAIN[fault] }) !== null,
  });
  for (const host of HOSTS) serve(host, (request) => chain.answer(request));
  const receiver = new Receiver({ machine, fault: () => faults.strike('callback', CALLBACK) });
  const world: ServiceWorld = {
    venues: [bindChain()],
    signers,
    machine,
    statements,
    server,
    temporal,
    executors: desks.map((desk) => desk.executor()),
    receiver,
  };
  const apis: Api[] = [];
  let started = 0;
  const start = async (kind: 'api' | 'worker'): Promise<void> => {
    started += 1;
    const isOff = faults.strike('clock', { 'of a process': SKEWED }) !== null;
    const skewMs = isOff ? machine.dice.between(-SKEW_MS, SKEW_MS) : 0;
    const process: Process = { name: `${kind}-${String(started)}`, state: 'up', skewMs };
    machine.log(`${process.name} starts`);
    const db = await openDatabase(world);
    if (kind === 'api') apis.push(startApi(world, db, process));
    else {
      startWorker(world, db, process);
      freezeLater(process);
    }
  };
  const later = (range: readonly [number, number], go: () => void | Promise<void>): void =>
    void machine.timer({
      process: null,
      at: machine.now + machine.dice.between(...range),
      label: 'weather',
      go,
    });
  const freezeLater = (process: Process): void =>
    later(FREEZE_MS, () => {
      if (process.state !== 'up' || faults.strike('process', { frozen: 1 }) === null) return;
      machine.freeze(process);
      machine.log(`${process.name} is frozen`);
      later(FROZEN_MS, () => {
        if (process.state !== 'frozen') return;
        machine.thaw(process);
        machine.log(`${process.name} goes on`);
        freezeLater(process);
      });
    });
  const died = (process: Process): void => {
    if (process.state === 'dead') return;
    machine.kill(process);
    machine.log(`${process.name} has died`);
    later(RESTART_MS, () => start(process.name.startsWith('api') ? 'api' : 'worker'));
  };
  const setup: Process = { name: 'setup', state: 'up', skewMs: 0 };
  try {
    faults.isCalm = !isStormy;
    await start('api');
    await start('worker');
    await start('worker');
    faults.isCalm = true;
    await allow(world, setup);
    faults.isCalm = !isStormy;
    const jump = { at: Infinity, ms: 0 };
    for (const [kind, go] of Object.entries({
      'Temporal forgets all': () => server.forgetAll(),
      'the database jumps ahead': () => {
        Object.assign(jump, { at: machine.now, ms: machine.dice.between(...JUMP_MS) });
        statements.skewMs += jump.ms;
      },
    }))
      later(ONCE_MS, () => {
        if (faults.strike('disaster', { [kind]: DISASTER }) !== null) go();
      });
    const callers: Process = { name: 'callers', state: 'up', skewMs: 0 };
    const all = inProcess.run(callers, () =>
      live({
        machine,
        movements: options.movements,
        desks,
        chain,
        api: () => {
          const up = apis.filter(({ process }) => process.state === 'up');
          return up.length === 0 ? null : machine.dice.pick(up);
        },
        isCalm: () => faults.isCalm,
      }),
    );
    lives = all;
    const { list } = all;
    const until = machine.now + LONGEST_MS;
    // Faults stop when most movements have come to an end, so that none outlasts its world.
    const isMostlyOver = (): boolean =>
      list.filter(({ isOver }) => isOver).length >= 0.9 * options.movements;
    await machine.run(() => isMostlyOver() || machine.now > until);
    faults.isCalm = true;
    machine.log('the storm is over');
    const calmSince = machine.now;
    await machine.run(() => list.every(({ isOver }) => isOver) || machine.now > until);
    // What is late still arrives, and what is left to write is written.
    const rest = machine.now + 120_000;
    await machine.run(() => machine.now > rest);
    await machine.run(() => chain.waiting.length === 0 || machine.now > rest + LANES_REST_MS);
    const verdicts = await judge({
      ...{ statements, desks, receiver, chain, server, calmSince },
      lives: all,
      trueTime: (clock) => (clock >= jump.at + jump.ms ? clock - jump.ms : clock),
    });
    const states: Record<string, number> = {};
    for (const { state } of list) states[state ?? 'none'] = (states[state ?? 'none'] ?? 0) + 1;
    return {
      seed: options.seed,
      digest: machine.digest(),
      steps: machine.steps,
      faults: faults.struck,
      counts: faults.counts(),
      states,
      seen: await readSeen(statements),
      verdicts,
      story: Object.fromEntries(
        verdicts.map(({ movement_id }) => [movement_id ?? '', machine.linesAbout(movement_id)]),
      ),
    };
  } finally {
    await server.close();
    await statements.close();
  }
}

async function readSeen(statements: Statements): Promise<Record<string, number>> {
  const rows = await statements.ask<{ what: string; count: number }>(
    `SELECT move AS what, count(*)::integer FROM simulated_moves GROUP BY 1 UNION ALL
     SELECT 'code ' || error_code, count(*)::integer FROM movement_nodes
       WHERE error_code IS NOT NULL GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ what, count }) => [what, count]));
}

/** Puts everyone who is paid on the allowlist. */
async function allow({ machine, statements }: ServiceWorld, setup: Process): Promise<void> {
  const db = await openDatabase({ statements });
  for (const [label, address] of Object.entries(PAYEES)) {
    let isDone = false;
    const done = inProcess.run(setup, () =>
      allowAddress(
        db,
        { chain_family: 'evm', address, chain_id: null, label },
        {
          by: 'simulation',
          reason: 'plans pay it',
          cooling_seconds: null,
          audit: (action, id) => ({
            action,
            entity_type: 'allowed_address',
            entity_key: id,
            outcome: 'success',
          }),
        },
      ).then(() => (isDone = true)),
    );
    await machine.run(() => isDone);
    await done;
  }
}
