/**
 * `npm run chaos -- --bridges`: what is burnt on one chain is minted on the other, both ways, while
 * the service, the attester and both chains are killed, answers are lost and blocks taken back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ATTESTER, FAR_CHAIN, type StackBridges } from '../../dev/stack/bridges.ts';
import { amountOf } from '../support/bridge-books.ts';
import { standingAllowance } from '../support/bridge-plans.ts';
import type { MovementView, TimelineView } from '../support/evidence.ts';
import {
  approve,
  bridgeContradictions,
  create,
  cross,
  crossingTemplates,
  openBooks,
  planCrossings,
  type BridgeLife,
  type Books,
  type Told,
} from './bridge-lives.ts';
import { createCaller, type Caller } from './caller.ts';
import type { RunOptions } from './options.ts';
import { dice } from './random.ts';
import type { Run } from './run-stack.ts';
import { BRIDGE_WEIGHTS, planStrikes } from './schedule.ts';
import { createStorm, liveThrough, type Parts, type Storm } from './storm.ts';

/** The standing allowance of each chain: more than a run can burn. */
const ALLOWED = '500000';
const CHAIN_FAULTS = { drop_answer_rate: 0.2, reject_rate: 0.05, drop_read_rate: 0.02 };
const ATTESTER_FAULTS = {
  ...{ error_rate: 0.1, lose_answer_rate: 0.1, garbage_rate: 0.05 },
  // Else the five minutes for which it then wants to be left alone would be most of the run.
  limit_per_second: 10_000,
};
/** Between two blocks that are taken back, in kills. */
const TAKEN_BACK_EVERY = 4;
/** After the storm, how long movements may take to come to their end. */
const REST_MS = 300_000;

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
  for (const template of crossingTemplates(bridges, accounts.recipient))
    await register(caller, template);
  const before = await openBooks(bridges, accounts);
  const lives = planCrossings(dice(seed, 'crossings'), movements, seed);
  const faults = faultsOf(bridges);
  const reorganised = reorganiser(bridges, seed);
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
  await faults.end();
  say(`  the storm is over after ${stormSeconds} s`);
  const restless = await comesToItsEnd(run, signal);
  const told = await ask(run, lives);
  const after = await openBooks(bridges, accounts);
  const found = [
    ...(restless === '' ? [] : [`after ${REST_MS / 1_000} s there were still ${restless}`]),
    ...caller.complaints.map((each) => `answers: ${each}`),
    ...bridgeContradictions(lives, told, before, after),
  ];
  const lines: readonly (readonly [string, string])[] = [
    ['seed', String(seed)],
    ['movements', `${lives.length} (${tally([...told.values()].map(stateOf))})`],
    ['ways', tally(lives.map(({ way, finality }) => `${way} ${finality}`))],
    ...stormLines(storm, stormSeconds),
    ['taken back', `${reorganised.blocks} blocks`],
    ['events', events(told)],
    ['repeated calls', shown(caller.repeats) || 'none'],
    ['supply before', supply(before)],
    ['supply after', supply(after)],
    ['fees', amountOf(feesOf(after) - feesOf(before))],
    ['seconds', String(seconds(begun))],
  ];
  say(['', ...lines.map(([name, value]) => `${name.padEnd(16)}${value}`), ''].join('\n'));
  for (const each of found) say(`- ${each}`);
  process.stdout.write(`${found.length} contradictions\n`);
  return found.length;
}

/** One allowance on each chain, on which every burn draws. */
async function allowBoth(run: Run, { near, far }: StackBridges, caller: Caller): Promise<void> {
  for (const side of [near, far]) {
    const template = `bridge-run/allow-${side.chainId}`;
    await register(caller, standingAllowance(template, side));
    const { movement_id, hash } = await create(caller, {
      ...{ template, amount: ALLOWED, key: template },
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

async function register(caller: Caller, template: object): Promise<void> {
  const { status, body } = await caller.call('POST', '/plan-templates', { body: template });
  if (status !== 201 && status !== 409)
    throw new Error(`a template was refused: ${JSON.stringify(body)}`);
}

/** Faults live in the processes that play them, so that one which comes back is told anew. */
function faultsOf({ near, far, attesterUrl }: StackBridges) {
  const played = new Map<string, { readonly url: string; readonly faults: object }>([
    ['chain', { url: near.rpcUrl, faults: CHAIN_FAULTS }],
    [FAR_CHAIN, { url: far.rpcUrl, faults: CHAIN_FAULTS }],
    [ATTESTER, { url: attesterUrl, faults: ATTESTER_FAULTS }],
  ]);
  let stormy = false;
  const set = async (name: string): Promise<void> => {
    const of = played.get(name);
    if (of === undefined) return;
    const answer = await fetch(`${of.url}/faults`, {
      method: stormy ? 'POST' : 'DELETE',
      headers: { 'content-type': 'application/json' },
      ...(stormy ? { body: JSON.stringify(of.faults) } : {}),
    });
    if (!answer.ok) throw new Error(`${name} refused the faults: ${await answer.text()}`);
  };
  const all = async (on: boolean): Promise<void> => {
    stormy = on;
    for (const name of played.keys()) await set(name);
  };
  return {
    begin: () => all(true),
    end: () => all(false),
    around: (parts: Parts): Parts => ({
      kill: (name) => parts.kill(name),
      startChild: async (name) => {
        await parts.startChild(name);
        await set(name);
      },
    }),
  };
}

/** Takes the newest block of a chain back, and has an empty one made in its place. */
function reorganiser({ near, far }: StackBridges, seed: number) {
  const thrown = dice(seed, 'blocks');
  let blocks = 0;
  const rpc = async (url: string, method: string): Promise<void> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [1] }),
    });
    const { error } = (await answer.json()) as { error?: unknown };
    if (error !== undefined) throw new Error(JSON.stringify(error));
  };
  const takeBack = async (url: string): Promise<void> => {
    await rpc(url, 'anvil_rollback');
    blocks += 1;
    // The height stays, so that what is final is not taken back next time.
    await rpc(url, 'anvil_mine');
  };
  return {
    get blocks() {
      return blocks;
    },
    next: () => {
      const { rpcUrl } = thrown.pick([near, far]);
      // A chain that is dead just now keeps its blocks.
      takeBack(rpcUrl).catch(() => undefined);
    },
  };
}

/** Waits until every movement has ended and every nonce is final; answers what has not. */
async function comesToItsEnd({ query }: Run, signal: AbortSignal): Promise<string> {
  let last = '';
  for (const end = Date.now() + REST_MS; Date.now() < end;) {
    const [row] = await query<{ movements: number; nonces: number }>(
      `SELECT (SELECT count(*)::int FROM movements WHERE ended_at IS NULL) AS movements,
         (SELECT count(*)::int FROM evm_transactions
          WHERE replaces IS NULL AND released_at IS NULL AND final_at IS NULL) AS nonces`,
    );
    if (row?.movements === 0 && row.nonces === 0) return '';
    last = `${row?.movements ?? '?'} movements under way and ${row?.nonces ?? '?'} nonces not final`;
    await sleep(500, undefined, { signal });
  }
  return last;
}

async function ask(run: Run, lives: readonly BridgeLife[]): Promise<ReadonlyMap<string, Told>> {
  const told = new Map<string, Told>();
  for (const { movement_id: id } of lives)
    if (id !== null)
      told.set(id, {
        movement: await run.read<MovementView>(`/movements/${id}`),
        timeline: await run.read<readonly TimelineView[]>(`/movements/${id}/timeline`),
      });
  return told;
}

function stormLines(storm: Storm, stormSeconds: number): readonly (readonly [string, string])[] {
  const down = [...storm.downMs].map(([name, ms]) => `${name} ${Math.round(ms / 1_000)} s`);
  return [
    ['kills', `${storm.total} (${shown(storm.kills)})`],
    ['down', `of ${stormSeconds} s: ${down.join(', ')}`],
    ...(storm.failedStarts.length === 0
      ? []
      : [['failed starts', storm.failedStarts.join(' | ')] as const]),
  ];
}

const stateOf = ({ movement }: Told): string => movement.request_state;
const feesOf = ({ near, far }: Books): bigint => near.collected + far.collected;

function supply({ near, far }: Books): string {
  const [here, there] = [near.supply, far.supply];
  return `${amountOf(here + there)} (near ${amountOf(here)}, far ${amountOf(there)})`;
}

/** What tells of faults that were met. */
function events(told: ReadonlyMap<string, Told>): string {
  const met = ['node_recovered', 'node_unknown', 'node_failed', 'transaction_dropped'];
  const all = [...told.values()].flatMap(({ timeline }) => timeline.map((each) => each.event_type));
  return met.map((type) => `${all.filter((each) => each === type).length} ${type}`).join(', ');
}

function tally(items: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return shown(counts);
}

function shown(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}

function seconds(since: number): number {
  return Math.round((Date.now() - since) / 1_000);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
