/**
 * `npm run chaos -- --bridges`: movements cross both lanes between two chains, both ways, while the
 * service, the attester, the deliverer and both chains are killed, answers are lost and blocks
 * taken back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StackBridges } from '../../dev/stack/bridges.ts';
import { amountOf } from '../support/bridge-books.ts';
import { standingAllowance } from '../support/bridge-plans.ts';
import { openPaths } from '../support/bridge-registry.ts';
import type { MovementView } from '../support/evidence.ts';
import { failedDeliveries } from '../support/omni-books.ts';
import { approve, create, cross, expecting } from './bridge-lives.ts';
import { faultsOf, reorganiser } from './bridge-weather.ts';
import { createCaller, type Caller } from './caller.ts';
import { omniContradictions, omniOf, readOmni, type Accounts } from './omni-sums.ts';
import { runLane } from './one-lane.ts';
import type { RunOptions } from './options.ts';
import { dice } from './random.ts';
import type { Run } from './run-stack.ts';
import { BRIDGE_WEIGHTS } from './schedule.ts';
import { register, tally } from './report.ts';
import { readUsdb, usdbContradictions } from './usdb-sums.ts';
import { crossingTemplates, isOmni, isUsdb, planCrossings } from './ways.ts';

/** The standing allowance of each chain: more than a run can burn. */
const ALLOWED = '500000';

/** The whole run on a stack that is up; answers the number of contradictions. */
export async function bridgeWeather(
  run: Run,
  options: RunOptions,
  signal: AbortSignal,
): Promise<number> {
  const { stack } = run;
  const { bridges } = stack;
  if (bridges === null) throw new Error('the stack has no bridges');
  const accounts = {
    payee: stack.chain.accounts.treasury.address,
    signer: stack.chain.accounts.signer.address,
  };
  const caller = createCaller(run.apiUrl, stack.keys.admin, signal);
  await allowBoth(run, bridges, caller);
  await openPaths(expecting(caller), bridges);
  for (const template of crossingTemplates(bridges, accounts.payee))
    await register(caller, template);
  const lives = planCrossings(dice(options.seed, 'crossings'), options.movements, options.seed);
  const faults = faultsOf(bridges);
  return runLane(run, options, signal, {
    caller,
    lives,
    live: (life) => cross(life, { caller, signal }),
    weights: BRIDGE_WEIGHTS,
    faults,
    reorganised: reorganiser([bridges.near, bridges.far], {
      seed: options.seed,
      allowed: faults.patient,
    }),
    books: () => readBoth(bridges, accounts),
    judge: (views, before, after) => ({
      found: [
        ...usdbContradictions(lives.filter(isUsdb), before.usdb, after.usdb),
        ...omniContradictions(
          { lives: lives.filter(isOmni), views, accounts },
          before.omni,
          after.omni,
        ),
      ],
      lines: [
        ['burn-mint', tally(lives.filter(isUsdb).map(({ way, finality }) => `${way} ${finality}`))],
        ['bridge_c', tally(lives.filter(isOmni).map(({ way }) => way))],
        ['deliveries', `${after.failedTries} tries failed`],
        ['USDB before', supply(before.usdb, amountOf)],
        ['USDB after', supply(after.usdb, amountOf)],
        ['fees', amountOf(feesOf(after) - feesOf(before))],
        ['OMNI before', supply(before.omni, omniOf)],
        ['OMNI after', supply(after.omni, omniOf)],
      ],
    }),
  });
}

/** One allowance on each chain, on which every burn draws; sends need none. */
async function allowBoth(run: Run, { near, far }: StackBridges, caller: Caller): Promise<void> {
  for (const side of [near, far]) {
    const template = `bridge-run/allow-${side.chainId}`;
    await register(caller, standingAllowance(template, side));
    const { movement_id, hash } = await create(caller, {
      template,
      asset: 'USDB',
      amount: ALLOWED,
      key: template,
    });
    const complaint = await approve(caller, movement_id, hash);
    if (complaint !== null) throw new Error(complaint);
    for (const end = Date.now() + 60_000; ; await sleep(200)) {
      const { request_state } = await run.read<MovementView>(`/movements/${movement_id}`);
      if (request_state === 'COMPLETED') break;
      if (Date.now() > end) throw new Error(`the allowance is ${request_state}`);
    }
  }
}

/** The books of both lanes at one time. */
async function readBoth(bridges: StackBridges, accounts: Accounts) {
  const [usdb, omni, failedTries] = await Promise.all([
    readUsdb(bridges, accounts),
    readOmni(bridges, accounts),
    failedDeliveries(bridges),
  ]);
  return { usdb, omni, failedTries };
}
type Books = Awaited<ReturnType<typeof readBoth>>;

const feesOf = ({ usdb: { near, far } }: Books): bigint => near.collected + far.collected;

interface Supplied {
  readonly supply: bigint;
}
function supply(
  { near, far }: { readonly near: Supplied; readonly far: Supplied },
  read: (units: bigint) => string,
): string {
  const [here, there] = [near.supply, far.supply];
  return `${read(here + there)} (near ${read(here)}, far ${read(there)})`;
}
