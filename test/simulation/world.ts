/** One world: a database, a Temporal server, processes that die, callers, and what is outside. */
import { asyncLocalStorage as activity } from '@temporalio/activity';
import { parseUnits } from 'viem';
import type { ChainFamily } from '../../domain/allowlist/address.ts';
import { movementOfWorkflow } from '../../domain/messages.ts';
import { allowAddress } from '../../store/allowlist.ts';
import {
  Statements,
  type Statement,
  type StatementFault,
  type Suffered,
} from './machine/database.ts';
import { inProcess, Machine, type Process } from './machine/machine.ts';
import { serve, use } from './machine/seams.ts';
import { Faults, type Strike, type Weights } from './faults.ts';
import { judge } from './judges.ts';
import type { Lives } from './life.ts';
import { live } from './lives.ts';
import { PAYEES } from './payees.ts';
import type { WorldReport } from './report.ts';
import { createClient, type CallFault } from './runtime/client.ts';
import { Server } from './runtime/server.ts';
import type { Sandbox } from './runtime/sandbox.ts';
import { openDatabase, startApi, startWorker, type Api, type ServiceWorld } from './service.ts';
import { openExchange, type AtExchange } from './worlds/at-exchange.ts';
import { bindChain, CHAIN_ID, HOSTS, readyLibrary, signersOf, TOKEN } from './worlds/binding.ts';
import { Chain, transferOf, type Began, type ChainFault } from './worlds/chain.ts';
import { Desk, type NetworkFault } from './worlds/desk.ts';
import type { ExchangeFault } from './worlds/exchange.ts';
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
  /** Every movement withdraws from this exchange; absent: movements pay desks and on the chain. */
  readonly exchange?: string;
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
  'freezes before': 0.0005,
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
const NETWORK: Readonly<Record<NetworkFault | 'away', number>> = {
  'lost request': 0.03,
  'lost answer': 0.04,
  late: 0.03,
  broken: 0.03,
  away: 0.002,
};
/**
 * For how long a desk that is away answers nothing, in milliseconds: longer than the service waits
 * before a person decides. Half of what it is sent arrives.
 */
const AWAY_MS = 120_000;
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
  'transaction dropped': 0.03,
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
/** At each request to an exchange; what it does with a withdrawal matters most. */
const EXCHANGE_READ: Readonly<Record<ExchangeFault, number>> = {
  'lost request': 0.004,
  'lost answer': 0.002,
  'late request': 0.001,
  error_500: 0.004,
  hangup: 0.003,
  malformed: 0.003,
  rate_limited: 0.003,
  restart: 0.002,
  clock_off: 0.002,
  late: 0.001,
  suspended_between: 0.001,
  address_removed: 0.001,
  done_then_500: 0.001,
  done_then_hangup: 0.001,
  done_then_malformed: 0.001,
  done_then_restart: 0.001,
};
const EXCHANGE_SEND: Readonly<Record<ExchangeFault, number>> = {
  'lost request': 0.03,
  'lost answer': 0.05,
  'late request': 0.04,
  error_500: 0.03,
  hangup: 0.03,
  malformed: 0.02,
  rate_limited: 0.03,
  restart: 0.02,
  clock_off: 0.03,
  late: 0.05,
  suspended_between: 0.02,
  address_removed: 0.02,
  done_then_500: 0.05,
  done_then_hangup: 0.05,
  done_then_malformed: 0.03,
  done_then_restart: 0.03,
};
/** How much likelier each fault is behind a fence, and how much elsewhere. */
const STATEMENT_WEIGHTS: Weights = { between: 3.5, elsewhere: 0.3 };
const CALL_WEIGHTS: Weights = { between: 1, elsewhere: 0.7 };
const NETWORK_WEIGHTS: Weights = { between: 1.4, elsewhere: 0.6 };
const CHAIN_NETWORK_WEIGHTS: Weights = { between: 1.4, elsewhere: 0.4 };
const CALLBACK_WEIGHTS: Weights = { between: 1, elsewhere: 0.7 };
/** How often a desk refuses an order for good. */
const REFUSES = 0.08;
const DECIMALS = 6;
/** How often the clock of a process is wrong, and by how many milliseconds at most. */
const SKEWED = 0.2;
const SKEW_MS = 2 * 3_600_000;
/** How often each disaster strikes a world, when, and how far a clock jumps, in milliseconds. */
const DISASTER = 0.3;
const ONCE_MS = [30_000, 200_000] as const;
const JUMP_MS = [60_000, 3_600_000] as const;
/**
 * As SKEW_MS and JUMP_MS, at an exchange: it refuses what comes from a clock that is further off,
 * and the service sends nothing while its database's clock is.
 */
const SKEW_AT_EXCHANGE_MS = 2_000;
const JUMP_AT_EXCHANGE_MS = [10_000, 60_000] as const;
/** After how many events Temporal suggests a new run. */
const NEW_RUN_AFTER = [30, 60, 120, 10_000] as const;
/** Milliseconds between the start of a worker and its freeze, and how long that lasts. */
const FREEZE_MS = [20_000, 120_000] as const;
const FROZEN_MS = [5_000, 40_000] as const;
const RESTART_MS = [500, 8_000] as const;
/** The longest that a nonce lane may wait after that, in milliseconds: fees rise step by step. */
const LANES_REST_MS = 600_000;
/** As {@link longestOf}, without an exchange. */
const LONGEST_MS = 40 * 60_000;

export async function runWorld(options: WorldOptions): Promise<WorldReport> {
  await readyLibrary();
  const machine = new Machine(options.seed, options.tell, { movement: movementOfActivity });
  use(machine, options.seed ^ 0x5bd1e995);
  const faults = new Faults(machine, options.onlyFaults ?? null);
  const isStormy = options.isStormy !== false;
  let lives: Lives | null = null;
  const exchange =
    options.exchange === undefined
      ? null
      : openExchange(options.exchange, options.seed, {
          machine,
          refuses: REFUSES,
          fault: (isSend) =>
            counted(faults.strike('exchange', isSend ? EXCHANGE_SEND : EXCHANGE_READ)),
        });
  const statements = new Statements({
    machine,
    url: options.databaseUrl,
    fault: (statement) =>
      strikeStatement(faults, statement, (lives?.deciding ?? 0) > 0 ? BESIDE_A_STOP : STATEMENT),
    died: (process) => died(process),
    froze: (process) => freeze(process),
    moved: (moved) => faults.fences.moved(moved),
  });
  const server = new Server({
    machine,
    sandbox: options.sandbox,
    suggestsNewRunAfter: machine.dice.pick(NEW_RUN_AFTER),
  });
  const temporal = createClient({
    machine,
    server,
    fault: () => faults.strike('temporal', CALL, CALL_WEIGHTS),
  });
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
        fault: networkOf(machine, faults),
      }),
  );
  const signers = signersOf();
  const chain = new Chain({
    machine,
    chain_id: CHAIN_ID,
    hosts: HOSTS,
    token: TOKEN,
    decimals: DECIMALS,
    accounts: await Promise.all(signers.map(async (signer) => String(await signer.identity()))),
    network: () => counted(faults.strike('chain network', CHAIN_NETWORK, CHAIN_NETWORK_WEIGHTS)),
    strikes: (fault): Began | null => {
      const strike = faults.strike('chain', { [fault]: CHAIN[fault] });
      if (strike === null) return null;
      return (calls) =>
        strike.counts([
          ...calls.flatMap((call) => movementOf(call, lives)),
          ...faults.movementsOfStep(),
        ]);
    },
  });
  for (const host of HOSTS) serve(host, (request) => chain.answer(request));
  const receiver = new Receiver({
    machine,
    fault: () => counted(faults.strike('callback', CALLBACK, CALLBACK_WEIGHTS)),
  });
  const world: ServiceWorld = {
    ...(exchange === null ? { venues: [bindChain()], signers } : {}),
    machine,
    statements,
    server,
    temporal,
    executors: exchange === null ? desks.map((desk) => desk.executor()) : [],
    receiver,
  };
  const apis: Api[] = [];
  let started = 0;
  const start = async (kind: 'api' | 'worker'): Promise<void> => {
    started += 1;
    // Drawn in any case, so that a run without the fault goes on with the same chances.
    const most = exchange === null ? SKEW_MS : SKEW_AT_EXCHANGE_MS;
    const offMs = machine.dice.between(-most, most);
    const isOff = faults.strike('clock', { 'of a process': SKEWED }) !== null;
    const skewMs = isOff ? offMs : 0;
    const process: Process = { name: `${kind}-${String(started)}`, state: 'up', skewMs };
    machine.log(`${process.name} starts`);
    const db = await openDatabase(world);
    const executors = [...world.executors, ...((await exchange?.executors(db)) ?? [])];
    if (kind === 'api') apis.push(startApi({ ...world, executors }, db, process));
    else {
      startWorker({ ...world, executors }, db, process);
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
  const freeze = (process: Process): void => {
    if (process.state !== 'up') return;
    machine.freeze(process);
    machine.log(`${process.name} is frozen`);
    later(FROZEN_MS, () => {
      if (process.state !== 'frozen') return;
      machine.thaw(process);
      machine.log(`${process.name} goes on`);
    });
  };
  const freezeLater = (process: Process): void =>
    later(FREEZE_MS, () => {
      if (process.state === 'dead') return;
      const frozen = process.state === 'up' ? faults.strike('process', { frozen: 1 }) : null;
      if (frozen !== null) {
        const movements = faults.movementsOf(process);
        if (movements.length > 0) frozen.counts(movements);
        freeze(process);
      }
      freezeLater(process);
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
    await allow(world, setup, exchange === null ? 'evm' : 'cex');
    faults.isCalm = !isStormy;
    const jump = { at: Infinity, ms: 0 };
    for (const [kind, go] of Object.entries({
      'Temporal forgets all': ({ counts }: Strike<string>) => {
        const movements = runningOf(server);
        if (movements.length > 0) counts(movements);
        server.forgetAll();
      },
      'the database jumps ahead': ({ counts }: Strike<string>) => {
        counts(runningOf(server));
        const range: readonly [number, number] = exchange === null ? JUMP_MS : JUMP_AT_EXCHANGE_MS;
        Object.assign(jump, { at: machine.now, ms: machine.dice.between(...range) });
        statements.skewMs += jump.ms;
      },
    }))
      later(ONCE_MS, () => {
        const strike = faults.strike('disaster', { [kind]: DISASTER });
        if (strike !== null) go(strike);
      });
    const callers: Process = { name: 'callers', state: 'up', skewMs: 0 };
    const all = inProcess.run(callers, () =>
      live({
        machine,
        movements: options.movements,
        desks,
        chain,
        exchange,
        api: () => {
          const up = apis.filter(({ process }) => process.state === 'up');
          return up.length === 0 ? null : machine.dice.pick(up);
        },
        isCalm: () => faults.isCalm,
      }),
    );
    lives = all;
    const { list } = all;
    const until = machine.now + longestOf(exchange, options.movements);
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
      exchange: exchange?.exchange ?? null,
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
      endedBeforeFence: list.filter(
        ({ movement_id }) => movement_id === null || !faults.fences.hasPassed(movement_id),
      ).length,
      seen: await readSeen(statements),
      verdicts,
      story: Object.fromEntries(
        verdicts.map(({ movement_id }) => [movement_id ?? '', machine.linesAbout(movement_id)]),
      ),
    };
  } finally {
    await server.close();
    await statements.close();
    exchange?.close();
  }
}

/** The longest that a world may take until it has come to rest, in milliseconds of its own time. */
function longestOf(exchange: AtExchange | null, movements: number): number {
  return exchange === null ? LONGEST_MS : 3 * LONGEST_MS + exchange.everyMs * movements;
}

/** The movement of the activity whose code calls this; null: it is no activity. */
function movementOfActivity(): string | null {
  const id = activity.getStore()?.info.workflowExecution?.workflowId;
  return id === undefined ? null : movementOfWorkflow(id);
}

function runningOf(server: Server): readonly string[] {
  return server.running().map(movementOfWorkflow);
}

/** The movement whose transfer it is: amounts tell movements apart. */
function movementOf({ data }: { readonly data: string }, lives: Lives | null): string[] {
  const units = transferOf(data)?.units;
  const life = lives?.list.find(({ amount }) => parseUnits(amount, DECIMALS) === units);
  return life?.movement_id == null ? [] : [life.movement_id];
}

/** What befalls the requests to one desk. */
function networkOf(machine: Machine, faults: Faults): () => NetworkFault | null {
  let away: { readonly until: number; readonly counts: Strike<string>['counts'] } | null = null;
  return () => {
    if (faults.isCalm) return null;
    if (away === null || machine.now >= away.until) {
      const strike = faults.strike('network', NETWORK, NETWORK_WEIGHTS);
      if (strike === null) return null;
      const fault = counted(strike);
      if (fault !== 'away') return fault;
      away = { until: machine.now + AWAY_MS, counts: strike.counts };
    }
    away.counts(faults.movementsOfStep());
    return machine.dice.chance(0.5) ? 'lost request' : 'lost answer';
  };
}

/** A request whose caller hears of the fault in any case. */
function counted<F extends string>(strike: Strike<F> | null): F | null {
  strike?.counts();
  return strike?.fault ?? null;
}

const STRIKES_PROCESS: ReadonlySet<StatementFault> = new Set([
  ...(['dies before', 'dies after', 'held, then dies', 'freezes before'] as const),
]);
const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** What befalls a statement, and whether it changes the run. */
function strikeStatement(
  faults: Faults,
  { process, values }: Statement,
  probabilities: Readonly<Record<StatementFault, number>>,
): Suffered | null {
  const ofStep = faults.movementsOfStep();
  const movements =
    ofStep.length > 0
      ? ofStep
      : values.flatMap((value) => (typeof value === 'string' ? (value.match(IDS) ?? []) : []));
  const strike = faults.strike('statement', probabilities, STATEMENT_WEIGHTS, movements);
  if (strike === null) return null;
  const { fault, counts } = strike;
  // A loop that finds nothing to do comes again whether or not it hears so.
  const isHeard = movements.length > 0 || process?.name.startsWith('api') === true;
  const strikes = (hasWritten: boolean): void => {
    if (STRIKES_PROCESS.has(fault)) {
      const work = process === null ? [] : faults.movementsOf(process);
      if (work.length > 0) counts(work);
    } else if (hasWritten || (isHeard && fault !== 'held')) counts();
  };
  return { fault, strikes };
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
async function allow(
  { machine, statements }: ServiceWorld,
  setup: Process,
  chain_family: ChainFamily,
): Promise<void> {
  const db = await openDatabase({ statements });
  for (const [label, address] of Object.entries(PAYEES)) {
    let isDone = false;
    const done = inProcess.run(setup, () =>
      allowAddress(
        db,
        { chain_family, address, chain_id: null, label },
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
