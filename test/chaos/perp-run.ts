/**
 * `npm run chaos -- --perps`: movements into the perps venue, out of it and to a strategy's
 * sub-account, while the service, the venue and the chain are killed, answers are lost and blocks
 * taken back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  http,
  parseUnits,
  type Address,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { PERP_VENUE, type StackPerp } from '../../dev/stack/perp.ts';
import { PERP_TEMPLATES, starterTemplates } from '../../dev/stack/starter-templates.ts';
import { unitsOf } from '../support/bridge-books.ts';
import { perpBooks } from '../support/perp-books.ts';
import { approve, create, expecting } from './bridge-lives.ts';
import type { FinalView } from './bridge-story.ts';
import { CHAIN_FAULTS, playFaults, reorganiser, type Played } from './bridge-weather.ts';
import { createCaller, type Caller } from './caller.ts';
import { runLane } from './one-lane.ts';
import type { RunOptions } from './options.ts';
import {
  KINDS,
  perpContradictions,
  type PerpRequest,
  type PerpBooksAt,
  type PerpCall,
  type PerpRow,
} from './perp-sums.ts';
import { dice, type Dice } from './random.ts';
import { register, tally } from './report.ts';
import { AGENT, type Run } from './run-stack.ts';
import { PERP_WEIGHTS } from './schedule.ts';

const STRATEGY = 'storm';
const SIGNER = 'dev-treasury';
const PATH = `/perp-venue/strategy-bindings/${STRATEGY}/agent-wallets`;
const FUNDED = '100000';
/** In the venue's hands before the storm, so that withdrawals can be paid. */
const FIRST_DEPOSIT = '50000';
const VENUE_FAULTS = {
  lose_answer_rate: 0.2,
  garbage_rate: 0.05,
  refuse_rate: 0.05,
  latency_ms: 50,
  ledger_delay_ms: 1_000,
  confirmations: 3,
};

interface PerpLife extends PerpRequest {
  readonly approve_ms: number;
  movement_id: string | null;
  readonly complaints: string[];
}

/** The whole run on a stack that is up; answers the number of contradictions. */
export async function perpWeather(
  run: Run,
  options: RunOptions,
  signal: AbortSignal,
): Promise<number> {
  const { perp, chain } = run.stack;
  if (perp === null) throw new Error('the stack has no perps venue');
  const caller = createCaller(run.apiUrl, run.stack.keys.admin, signal);
  const sub = await prepare(run, perp, caller);
  const lives = planLives(dice(options.seed, 'perps'), options.movements, options.seed);
  const faults = playFaults(
    new Map<string, Played>([
      ['chain', { url: chain.rpcUrl, faults: CHAIN_FAULTS }],
      [PERP_VENUE, { url: perp.url, faults: VENUE_FAULTS }],
    ]),
  );
  return runLane(run, options, signal, {
    caller,
    lives,
    live: (life) => live(life, caller, signal),
    weights: PERP_WEIGHTS,
    faults,
    // The venue counts what two more blocks stand upon, also when it was started again.
    reorganised: reorganiser([chain], { seed: options.seed, allowed: () => true }),
    books: () => readBooks(run, perp, sub),
    judge: (views, before, after) => {
      const outputs = new Map(
        lives.map((life) => [life.key, onlyOutput(views.get(life.movement_id ?? ''))]),
      );
      return {
        found: perpContradictions(lives, outputs, before, after),
        lines: [
          ['kinds', tally(lives.map(({ kind }) => kind))],
          ['venue', `${after.calls.length - before.calls.length} calls for actions`],
        ],
      };
    },
  });
}

/** Each of these plans has one node. */
const onlyOutput = (view: FinalView | undefined) => view?.movement.nodes[0]?.output ?? null;

/** What the run requests, drawn before it starts: kinds in turns, no amount twice. */
function planLives(thrown: Dice, count: number, seed: number): readonly PerpLife[] {
  return Array.from({ length: count }, (_, serial) => ({
    key: `perp-run-${seed}-${serial}`,
    kind: KINDS[serial % KINDS.length] ?? 'deposit',
    amount: `${thrown.between(10, 99)}.${String(serial).padStart(5, '0')}1`,
    approve_ms: thrown.between(0, 1_000),
    movement_id: null,
    complaints: [],
  }));
}

/** Creates and approves one; what becomes of it is seen at the end. */
async function live(life: PerpLife, caller: Caller, signal: AbortSignal): Promise<void> {
  const { movement_id, hash } = await made(life, caller);
  life.movement_id = movement_id;
  await sleep(life.approve_ms, undefined, { signal });
  const complaint = await approve(caller, movement_id, hash);
  if (complaint !== null) life.complaints.push(complaint);
}

async function made({ key, kind, amount }: PerpLife, caller: Caller) {
  if (kind !== 'top_up')
    return create(caller, { template: PERP_TEMPLATES[kind], asset: 'USDC', amount, key });
  const { status, body } = await caller.call('POST', `${PATH}/${AGENT}/top-up`, {
    body: {
      asset: 'USDC',
      amount,
      reason: 'the storm',
      idempotency_key: key,
    },
  });
  if (status !== 200) throw new Error(`top-up ${key} answered ${status}: ${JSON.stringify(body)}`);
  const { movement_id, compiled_plan_hash } = body;
  return { movement_id: String(movement_id), hash: String(compiled_plan_hash) };
}

/** A funded wallet, a master, a strategy with a sub-account and its agent, and the templates. */
async function prepare(run: Run, perp: StackPerp, caller: Caller): Promise<Address> {
  const { chain } = run.stack;
  const books = perpBooks(perp);
  const expect = expecting(caller);
  await fundWallet(chain.rpcUrl, chain.accounts.venueHotWallet.privateKey as Hex, perp);
  for (const template of starterTemplates(chain, null, perp)) await register(caller, template);
  await expect(200, 'POST', '/perp-venue/master-account', {
    master_address: perp.account,
    signer_key: SIGNER,
    network: 'testnet',
  });
  const sub = await books.subAccount(STRATEGY);
  for (const [strategy_id, sub_account_address] of [
    [STRATEGY, sub],
    // The strategy in `create` of the runs over one lane.
    ['bridge-run', null],
  ])
    await expect(200, 'POST', '/perp-venue/strategy-bindings', {
      strategy_id,
      sub_account_address,
      max_agent_balance: null,
    });
  await expect(200, 'POST', PATH, { agent_name: AGENT, signer_key: AGENT });
  await until('the agent is active', async () => {
    const wallets = await run.read<readonly { state: string }[]>(PATH);
    return wallets[0]?.state === 'active';
  });
  await refreshed(run, `local-chain:${SIGNER}`);
  const first = await create(caller, {
    template: PERP_TEMPLATES.deposit,
    asset: 'USDC',
    amount: FIRST_DEPOSIT,
    key: 'first',
  });
  const complaint = await approve(caller, first.movement_id, first.hash);
  if (complaint !== null) throw new Error(complaint);
  await until('the first deposit is credited', async () => {
    const { request_state } = await run.read<{ request_state: string }>(
      `/movements/${first.movement_id}`,
    );
    return request_state === 'COMPLETED';
  });
  await refreshed(run, perp.venueKey);
  return sub as Address;
}

/** Requests fresh balances: holds are checked against them. */
async function refreshed(run: Run, venue: string): Promise<void> {
  const requestedAt = Date.now();
  await until(`the balances of ${venue} are new`, async () => {
    const { balances } = await run.read<{ balances: readonly { fetched_at: string }[] }>(
      `/balances?venue_key=${venue}&asset=USDC&fresh=true`,
    );
    return balances.some(({ fetched_at }) => Date.parse(fetched_at) > requestedAt);
  });
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await sleep(200))
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
}

/** From the account that has all of the token at first. */
async function fundWallet(url: string, key: Hex, perp: StackPerp): Promise<void> {
  const transport = http(url);
  const wallet = createWalletClient({ account: privateKeyToAccount(key), transport });
  const hash = await wallet.writeContract({
    chain: null,
    abi: erc20Abi,
    address: perp.tokenAddress as Address,
    functionName: 'transfer',
    args: [perp.account as Address, parseUnits(FUNDED, 6)],
  });
  await createPublicClient({ transport }).waitForTransactionReceipt({ hash });
}

/** The books of venue and chain, read by another client than the service's. */
async function readBooks(run: Run, perp: StackPerp, sub: Address): Promise<PerpBooksAt> {
  const { chain } = run.stack;
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const held = (owner: string) =>
    client.readContract({
      abi: erc20Abi,
      address: perp.tokenAddress as Address,
      functionName: 'balanceOf',
      args: [owner as Address],
    });
  const books = perpBooks(perp);
  const at = async (user: string) => unitsOf(await books.withdrawable(user));
  const { entries } = (await (await fetch(`${perp.url}/journal`)).json()) as {
    entries: readonly Omit<PerpCall, 'nonce'>[];
  };
  return {
    rows: await ledger(perp),
    // Approvals of agents move nothing.
    calls: entries
      .filter(({ body }) => !body.includes('"approveAgent"'))
      // Its own count has none for a call that it turned away unread.
      .map((call) => ({ ...call, nonce: (JSON.parse(call.body) as { nonce: number }).nonce })),
    master: await at(perp.account),
    sub: await at(sub),
    wallet: await held(perp.account),
    treasury: await held(chain.accounts.treasury.address),
  };
}

/** All rows of the master, page by page. */
async function ledger({ url, account }: StackPerp): Promise<readonly PerpRow[]> {
  const rows = new Map<string, PerpRow>();
  for (let startTime = 0, known = -1; known < rows.size;) {
    known = rows.size;
    const answer = await fetch(`${url}/info`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        type: 'userNonFundingLedgerUpdates',
        user: account.toLowerCase(),
        startTime,
      }),
    });
    const page = (await answer.json()) as readonly (PerpRow & { readonly time: number })[];
    for (const row of page) rows.set(JSON.stringify(row), row);
    startTime = page.at(-1)?.time ?? startTime;
  }
  return [...rows.values()];
}
