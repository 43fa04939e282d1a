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
import { storyOf } from './bridge-story.ts';
import { faultsOf, reorganiser } from './bridge-weather.ts';
import { createCaller, type Caller } from './caller.ts';
import { omniContradictions, omniOf, readOmni, type Accounts } from './omni-sums.ts';
import type { RunOptions } from './options.ts';
import { dice } from './random.ts';
import type { Run } from './run-stack.ts';
import { BRIDGE_WEIGHTS, planStrikes } from './schedule.ts';
import {
  ask,
  comesToItsEnd,
  events,
  register,
  say,
  seconds,
  shown,
  stateOf,
  stormLines,
  tally,
} from './report.ts';
import { createStorm, liveThrough } from './storm.ts';
import { readUsdb, usdbContradictions } from './usdb-sums.ts';
import { crossingTemplates, isOmni, isUsdb, planCrossings } from './ways.ts';

/** The standing allowance of each chain: more than a run can burn. */
const ALLOWED = '500000';
/** Between two blocks that are taken back, in kills. */
const TAKEN_BACK_EVERY = 4;

/** The whole run on a stack that is up; answers the number of contradictions. */
export async function bridgeWeather(
  run: Run,
  { movements, kills, seed }: RunOptions,
  signal: AbortSignal,
): Promise<number> {
  const begun = Date.now();
  const { stack } = run;
  const { bridges } = stack;
  if (bridges === null) throw new Error('the stack has no bridges');
  const accounts = {
    recipient: stack.chain.accounts.treasury.address,
    signer: stack.chain.accounts.signer.address,
  };
  const caller = createCaller(run.apiUrl, stack.keys.admin, signal);
  await allowBoth(run, bridges, caller);
  await openPaths(expecting(caller), bridges);
  for (const template of crossingTemplates(bridges, accounts.recipient))
    await register(caller, template);
  const before = await readBoth(bridges, accounts);
  const lives = planCrossings(dice(seed, 'crossings'), movements, seed);
  const faults = faultsOf(bridges);
  const reorganised = reorganiser([bridges.near, bridges.far], { seed, allowed: faults.patient });
  const storm = createStorm({
    stack: faults.around(run.parts),
    strikes: planStrikes(dice(seed, 'strikes'), kills, BRIDGE_WEIGHTS),
    signal,
    onKill: (total) => {
      if (total % TAKEN_BACK_EVERY === 0) reorganised.next();
      if (total % 10 === 0)
        say(
          `  ${total} kills, ${lives.filter((life) => life.movement_id !== null).length} movements after ${seconds(begun)} s`,
        );
    },
  });
  await faults.begin();
  const lived = liveThrough(lives, { storm, kills, signal }, (life) =>
    cross(life, { caller, signal }),
  );
  await Promise.all([storm.run(), lived]);
  const stormSeconds = seconds(begun);
  // First, since a deliverer without faults brings what is not final.
  await reorganised.end();
  await faults.end();
  say(`  the storm is over after ${stormSeconds} s`);
  const restless = await comesToItsEnd(run, signal);
  const told = await ask(run, lives);
  const after = await readBoth(bridges, accounts);
  const sent = { lives: lives.filter(isOmni), told, accounts };
  const found = [
    ...restless,
    ...caller.complaints.map((each) => `answers: ${each}`),
    ...lives.flatMap((life) => [
      ...life.complaints.map((each) => `${life.key}: ${each}`),
      ...storyOf(life, told),
    ]),
    ...usdbContradictions(lives.filter(isUsdb), before.usdb, after.usdb),
    ...omniContradictions(sent, before.omni, after.omni),
  ];
  const lines: readonly (readonly [string, string])[] = [
    ['seed', String(seed)],
    ['movements', `${lives.length} (${tally([...told.values()].map(stateOf))})`],
    ['burn_and_mint', tally(lives.filter(isUsdb).map(({ way, finality }) => `${way} ${finality}`))],
    ['bridge_c', tally(lives.filter(isOmni).map(({ way }) => way))],
    ...stormLines(storm, stormSeconds),
    ['taken back', `${reorganised.blocks} blocks`],
    ['deliveries', `${await failedDeliveries(bridges)} tries failed`],
    ['events', events(told)],
    ['repeated calls', shown(caller.repeats) || 'none'],
    ['USDB before', supply(before.usdb, amountOf)],
    ['USDB after', supply(after.usdb, amountOf)],
    ['fees', amountOf(feesOf(after) - feesOf(before))],
    ['OMNI before', supply(before.omni, omniOf)],
    ['OMNI after', supply(after.omni, omniOf)],
    ['seconds', String(seconds(begun))],
  ];
  say(['', ...lines.map(([name, value]) => `${name.padEnd(16)}${value}`), ''].join('\n'));
  for (const each of found) say(`- ${each}`);
  process.stdout.write(`${found.length} contradictions\n`);
  return found.length;
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
  const [usdb, omni] = await Promise.all([
    readUsdb(bridges, accounts),
    readOmni(bridges, accounts),
  ]);
  return { usdb, omni };
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
