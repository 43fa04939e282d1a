/**
 * Each way in which something leaves, on a running stack: how a movement is brought to the point
 * where only a stop keeps it, and what of it is outside.
 */
import {
  createWalletClient,
  http,
  keccak256,
  parseAbi,
  parseEther,
  parseGwei,
  parseUnits,
  toHex,
} from 'viem';
import type { Address, Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { PERP_TEMPLATES, starterTemplates } from '../../dev/stack/starter-templates.ts';
import { STOPS, type Stop } from '../../domain/send/stops.ts';
import { notLanded, Rejected, unknown, Unavailable } from '../../executor-kit/define.ts';
import { sendAndArrive } from './bridge-plans.ts';
import type { NodeView } from './evidence.ts';
import { eventually, type Created, type OwnStack } from './own-stack.ts';
import type { PerpBooks } from './perp-books.ts';
import { compensation, edge, gate, storeTemplate, type PlanNode } from './plans.ts';
import type { ScriptedDesk } from './scripted-desk.ts';

/** On its way out, with the node that sends, who signs for it and whom it pays. */
export interface Leaving extends Created {
  readonly node_key: string;
  readonly signer_key: string | null;
  /** As the allowlist has it. */
  readonly payee: string;
}

export interface WayOut {
  /** Brings a movement to where it would leave next. */
  begin(stop: Stop): Promise<Leaving>;
  /** What they go through together, once all of them are there. */
  together?(movements: readonly Leaving[]): Promise<unknown>;
  /** Tries to make it leave, beside the faults that are over by then. */
  tries?(movement: Leaving): Promise<unknown>;
  /** What of it is outside, or was handed to who sends it. */
  left(movement: Leaving): Promise<number>;
  /** What had left before the stop. */
  readonly before: number;
}

/** A signer for each case on the chain, so that none waits in the lane of another. */
const ON_CHAIN = [
  'evm_first',
  'evm_stored',
  'evm_resume',
  'evm_retry',
  'evm_replaced',
  'lane_replaced',
  'bridge_first',
  'bridge_stored',
  'bridge_replaced',
] as const;
const caseKey = (way: string, stop: Stop): string => `${way}-${stop}`.replaceAll('_', '-');
export const waySigners = (
  isTried: (way: (typeof ON_CHAIN)[number], stop: Stop) => boolean,
): Readonly<Record<string, Hex>> =>
  Object.fromEntries(
    ON_CHAIN.flatMap((way) =>
      STOPS.filter((stop) => isTried(way, stop)).map((stop) => [
        caseKey(way, stop),
        generatePrivateKey(),
      ]),
    ),
  );
/** Who is paid in each case, so that one may be stopped and no other. */
const payeeOf = (way: string, stop: Stop): Address =>
  `0x${keccak256(toHex(caseKey(way, stop))).slice(-40)}`;
const grocerOf = (way: string, stop: Stop): string => `grocer-${caseKey(way, stop)}`;

/** The strategy that is paused in the cases of that stop. */
export const PAUSED = 'paused';
/** For what many cases do at once. */
const LONG = 150_000;

interface World {
  readonly own: OwnStack;
  readonly desk: ScriptedDesk;
  readonly books: PerpBooks;
  readonly secrets: Readonly<Record<string, Hex>>;
}

export const nodeOf = async (
  own: OwnStack,
  { movement_id, node_key }: Leaving,
): Promise<NodeView> =>
  (await own.api.movement(movement_id)).nodes.find((node) => node.node_key === node_key)!;

export async function rpc<T>(own: OwnStack, method: string, params: unknown[] = []): Promise<T> {
  const answer = await fetch(own.stack.chain.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
  return result;
}

/** The payments that were signed for a movement, oldest first. */
export async function paymentsOf(own: OwnStack, { movement_id }: Created): Promise<readonly Hex[]> {
  const rows = await own.query<{ tx_hash: Hex }>(
    `SELECT tx_hash FROM evm_transactions WHERE movement_id = $1 AND kind = 'payment'
       AND raw_tx IS NOT NULL ORDER BY created_at, transaction_id`,
    [movement_id],
  );
  return rows.map(({ tx_hash }) => tx_hash);
}

/** Whether what moves nothing was signed in its nonce. */
export const hasCancelling = async (own: OwnStack, { movement_id }: Created): Promise<boolean> =>
  (
    await own.query(
      `SELECT FROM evm_transactions WHERE movement_id = $1 AND kind = 'cancel' LIMIT 1`,
      [movement_id],
    )
  ).length > 0;

/** How many of them the chain has in its pool or in a block. */
async function onChain(own: OwnStack, movement: Created): Promise<number> {
  const found = await Promise.all(
    (await paymentsOf(own, movement)).map((hash) => rpc(own, 'eth_getTransactionByHash', [hash])),
  );
  return found.filter((each) => each !== null).length;
}

/** How many were signed: a pool that takes a version lets the one before it go. */
const signedFor = async (own: OwnStack, movement: Created): Promise<number> =>
  (await paymentsOf(own, movement)).length;

/** How many of them are in a block. */
export async function mined(own: OwnStack, movement: Created): Promise<number> {
  const found = await Promise.all(
    (await paymentsOf(own, movement)).map((hash) => rpc(own, 'eth_getTransactionReceipt', [hash])),
  );
  return found.filter((each) => each !== null).length;
}

/** As if it had been signed ten minutes ago. */
/** Its transaction is old enough for a dearer version from now on. */
const age = (own: OwnStack, made: Created) => setAge(own, made, "- interval '10 minutes'");
/** It is never old enough by itself, however long the other cases take. */
const keepYoung = (own: OwnStack, made: Created) => setAge(own, made, "+ interval '1 hour'");
const setAge = (own: OwnStack, { movement_id }: Created, since: string) =>
  own.query(`UPDATE evm_transactions SET created_at = now() ${since} WHERE movement_id = $1`, [
    movement_id,
  ]);

const is = (own: OwnStack, movement: Leaving, state: (node: NodeView) => boolean, what: string) =>
  eventually(async () => (state(await nodeOf(own, movement)) ? true : null), {
    timeoutMs: LONG,
    what: () => `${movement.node_key} of ${movement.movement_id} ${what}`,
  });

/** Coins for every signer, and the omnichain token for those that send it. */
async function fund({ own, secrets }: World): Promise<void> {
  const { rpcUrl, chainId, accounts } = own.stack.chain;
  const chain = {
    id: chainId,
    name: 'local',
    rpcUrls: { default: { http: [rpcUrl] } },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  };
  const by = (of: { readonly privateKey: string }) =>
    createWalletClient({
      account: privateKeyToAccount(of.privateKey as Hex),
      transport: http(rpcUrl),
      chain,
    });
  const [deployer, holder] = [by(accounts.deployer), by(accounts.signer)];
  const fees = { maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: parseGwei('1') };
  const omni = own.stack.bridges!.near.contracts.omniToken;
  for (const [key, secret] of Object.entries(secrets)) {
    const to: Address = privateKeyToAccount(secret).address;
    await deployer.sendTransaction({ ...fees, to, value: parseEther('10'), gas: 21_000n });
    if (!key.startsWith('bridge')) continue;
    await holder.writeContract({
      address: omni,
      abi: parseAbi(['function transfer(address, uint256) returns (bool)']),
      functionName: 'transfer',
      args: [to, parseUnits('1000', 18)],
      gas: 200_000n,
      ...fees,
    });
  }
}

/** Whoever is paid in a case is listed as `of` is. */
const listLike = (own: OwnStack, of: string, payees: readonly string[]) =>
  own.query(
    `INSERT INTO allowed_addresses SELECT (jsonb_populate_record(a,
       jsonb_build_object('id', gen_random_uuid(), 'address', payee))).*
     FROM allowed_addresses a, unnest($2::text[]) AS payee WHERE a.address = $1`,
    [of, payees],
  );

type ChainWay = (typeof ON_CHAIN)[number];
const CHAIN_SENDS = {
  evm: { node_key: 'pay', asset: 'ETH' },
  bridge: { node_key: 'send', asset: 'OMNI' },
} as const;

/** Brings money to everybody. */
export async function waysOut(world: World) {
  const { own, desk, books } = world;
  const { api, stack } = own;
  const { chain, perp, bridges } = stack;
  await fund(world);
  const treasury = chain.accounts.treasury.address.toLowerCase();
  const addressed = [...ON_CHAIN, 'perp_first', 'perp_again'];
  await listLike(
    own,
    treasury,
    addressed.flatMap((way) => STOPS.map((stop) => payeeOf(way, stop))),
  );
  const desks = ['remote', 'team'].flatMap((by) =>
    ['first', 'again', 'retry'].map((way) => `${by}_${way}`),
  );
  await listLike(
    own,
    'grocer',
    desks.flatMap((way) => STOPS.map((stop) => grocerOf(way, stop))),
  );
  let serial = 0;

  /** `node`, behind a gate or not, with a way out by cancel. */
  const plan = (node: PlanNode, gated: boolean) =>
    storeTemplate(api, [...(gated ? [gate('ask')] : []), node, compensation('undo')], {
      assurance: 'provider_completed',
      edges: [
        ...(gated ? [edge('ask', node.node_key)] : []),
        edge(node.node_key, 'undo', 'on_cancel'),
      ],
    });
  /** Of many at once a busy machine may not fetch the balances in time: 409, to be repeated. */
  const approved = (made: Created): Promise<true> =>
    eventually(() => api.approve(made).then(() => true as const), {
      timeoutMs: LONG,
      what: () => `the approval of ${made.movement_id}`,
    });
  const create = async (
    node: PlanNode,
    asset: string,
    who: Pick<Leaving, 'signer_key' | 'payee'>,
    { gated, strategy = 'tests' }: { readonly gated: boolean; readonly strategy?: string },
  ): Promise<Leaving> => {
    const template = await plan(node, gated);
    serial += 1;
    const tail = `00${String(1_000 + serial).slice(1)}`;
    const amount = asset === 'USDC' ? `12.${tail}` : asset === 'OMNI' ? `1.${tail}` : `0.${tail}1`;
    const made = await api.create(template, { amount, strategy, intent: { asset } });
    await approved(made);
    if (gated) await api.reaches(made.movement_id, 'WAITING_MANUAL_ACTION', LONG);
    return { ...made, ...who, node_key: node.node_key };
  };
  /** What the API refuses while a stop is on leaves as little as what it takes. */
  const act = (action: string) => async (made: Leaving) => {
    const { status } = await api.send('POST', `/movements/${made.movement_id}/actions/${action}`);
    expect([200, 409]).toContain(status);
  };
  const isUnknown = (made: Leaving) =>
    is(own, made, ({ state }) => state === 'UNKNOWN', 'to be UNKNOWN');

  const chainNode = (way: ChainWay, stop: Stop, more: object): PlanNode => {
    const [payee, signer_key] = [payeeOf(way, stop), caseKey(way, stop)];
    const signer_selector = { chain_family: 'evm', profile: signer_key };
    if (!way.startsWith('bridge'))
      return {
        node_key: 'pay',
        node_kind: 'action',
        action_type: 'evm_native_transfer',
        signer_selector,
        has_side_effect: true,
        config: { asset: 'ETH', chain_id: chain.chainId, destination_address: payee },
        ...more,
      };
    const ends = { key: '', from: bridges!.near, to: bridges!.far, payee };
    const [send] = (sendAndArrive(ends) as { nodes: PlanNode[] }).nodes;
    return { ...send!, signer_selector, ...more };
  };
  /** Looks for a second and is UNKNOWN then, or as long as it takes. */
  const leaving = (
    way: ChainWay,
    stop: Stop,
    of: { gated?: boolean; impatient?: boolean } = {},
  ) => {
    const more = of.impatient === true ? { timeout_policy: { observe_seconds: 1 } } : {};
    const { asset } = CHAIN_SENDS[way.startsWith('bridge') ? 'bridge' : 'evm'];
    const who = { signer_key: caseKey(way, stop), payee: payeeOf(way, stop) };
    return create(chainNode(way, stop, more), asset, who, { gated: of.gated === true });
  };
  /** Signed, while the endpoint refuses each broadcast. */
  const signed = async (way: ChainWay, stop: Stop, impatient: boolean): Promise<Leaving> => {
    const made = await leaving(way, stop, { impatient });
    await eventually(async () => ((await paymentsOf(own, made)).length > 0 ? true : null), {
      timeoutMs: LONG,
      what: () => `${caseKey(way, stop)} to be signed`,
    });
    if (impatient) await isUnknown(made);
    else
      await is(own, made, ({ error_code }) => error_code === 'BROADCAST_REFUSED', 'to be refused');
    return made;
  };
  const left = (made: Leaving): Promise<number> => onChain(own, made);
  const first = (way: ChainWay): WayOut => ({
    left,
    before: 0,
    tries: act('resume'),
    begin: (stop) => leaving(way, stop, { gated: true }),
  });
  const stored = (way: ChainWay): WayOut => ({
    left,
    before: 0,
    begin: (stop) => signed(way, stop, stop === 'unknown'),
  });
  const fromUnknown = (way: ChainWay, action: string): WayOut => ({
    left,
    before: 0,
    tries: act(action),
    begin: (stop) => signed(way, stop, true),
  });
  /** In the pool, and no block is made. */
  const pooled = async (way: ChainWay, stop: Stop): Promise<Leaving> => {
    const made = await leaving(way, stop, { impatient: stop === 'unknown' });
    await eventually(async () => ((await onChain(own, made)) === 1 ? true : null), {
      timeoutMs: LONG,
      what: () => `${caseKey(way, stop)} to be in the pool`,
    });
    await keepYoung(own, made);
    if (stop === 'unknown') await isUnknown(made);
    return made;
  };
  const replaced = (way: ChainWay): WayOut => ({
    left: (made) => signedFor(own, made),
    before: 1,
    tries: (made) => age(own, made),
    begin: (stop) => pooled(way, stop),
  });

  function deskWays(by: 'remote' | 'team', action_type: string) {
    const atGate = (way: string, stop: Stop): Promise<Leaving> => {
      const payee = grocerOf(`${by}_${way}`, stop);
      const retry_policy = {
        max_attempts: 100,
        initial_interval_seconds: 0.5,
        max_interval_seconds: 1,
      };
      const node = {
        node_key: 'pay',
        node_kind: 'action',
        action_type,
        has_side_effect: true,
        executor_selector: { action_type },
        config: { payee },
        retry_policy,
      };
      return create(node, 'USDC', { signer_key: null, payee }, { gated: true });
    };
    const handed = async ({ movement_id }: Leaving) => desk.calls(movement_id, 'submit').length;
    const ways: Record<'first' | 'again' | 'retry', WayOut> = {
      first: {
        left: handed,
        before: 0,
        tries: act('resume'),
        begin: (stop) => atGate('first', stop),
      },
      // Its first send gave no answer; until the stop it is unknown whether it landed.
      again: {
        left: handed,
        before: 1,
        begin: async (stop) => {
          const made = await atGate('again', stop);
          const lost = () => {
            throw new Unavailable('not now');
          };
          desk.say(made.movement_id, {
            submit: lost,
            recover: stop === 'unknown' ? () => unknown('no record of it') as never : lost,
          });
          await act('resume')(made);
          const recovers = () => desk.calls(made.movement_id, 'recover').length;
          await eventually(async () => (recovers() > 0 ? true : null), { timeoutMs: LONG });
          if (stop === 'unknown') await isUnknown(made);
          return made;
        },
        tries: async ({ movement_id }) => desk.say(movement_id, { recover: () => notLanded() }),
      },
      retry: {
        left: handed,
        before: 0,
        begin: async (stop) => {
          const made = await atGate('retry', stop);
          const refuses = () => {
            throw new Rejected('NOT_TODAY', 'try later');
          };
          desk.say(made.movement_id, { preflight: refuses });
          await act('resume')(made);
          await is(own, made, ({ state }) => state === 'FAILED', 'to be FAILED');
          return made;
        },
        tries: async (made) => {
          desk.say(made.movement_id, {});
          await act('retry')(made);
        },
      },
    };
    return ways;
  }
  const remote = deskWays('remote', 'scripted_http');
  const team = deskWays('team', 'scripted_queue');

  const [withdraw] = starterTemplates(chain, null, perp).find(
    ({ template_key }) => template_key === PERP_TEMPLATES.withdrawal,
  )!.nodes as unknown as PlanNode[];
  const withdrawing = (way: string, stop: Stop, gated: boolean): Promise<Leaving> => {
    const payee = payeeOf(way, stop);
    const config = { ...(withdraw!['config'] as object), destination_address: payee };
    return create(
      { ...withdraw!, config },
      'USDC',
      { signer_key: 'dev-treasury', payee },
      { gated, strategy: stop === 'paused' ? PAUSED : 'tests' },
    );
  };
  const admitted = async ({ movement_id }: Leaving): Promise<number> => {
    const rows = await own.query<{ nonce: string }>(
      'SELECT nonce::text AS nonce FROM perp_actions WHERE movement_id = $1',
      [movement_id],
    );
    const nonces = rows.map(({ nonce }) => Number(nonce));
    const heard = await books.heard('withdraw3');
    return heard.filter((each) => each.admitted && nonces.includes(each.nonce ?? -1)).length;
  };

  return {
    evm_first: first('evm_first'),
    evm_stored: stored('evm_stored'),
    evm_replaced: replaced('evm_replaced'),
    evm_resume: fromUnknown('evm_resume', 'resume'),
    evm_retry: fromUnknown('evm_retry', 'retry'),
    /** Completed, and its block is gone: the loop that looks after lanes sends it again. */
    lane_replaced: {
      ...replaced('lane_replaced'),
      together: async (movements) => {
        await rpc(own, 'evm_mine');
        for (const made of movements)
          await is(own, made, ({ state }) => state === 'COMPLETED', 'to be COMPLETED');
        await rpc(own, 'anvil_rollback', [1]);
      },
    },
    bridge_first: first('bridge_first'),
    bridge_stored: stored('bridge_stored'),
    bridge_replaced: replaced('bridge_replaced'),
    remote_first: remote.first,
    remote_again: remote.again,
    remote_retry: remote.retry,
    team_first: team.first,
    team_again: team.again,
    team_retry: team.retry,
    perp_first: {
      left: admitted,
      before: 0,
      tries: act('resume'),
      begin: (stop) => withdrawing('perp_first', stop, true),
    },
    // The venue refuses everything so far.
    perp_again: {
      left: admitted,
      before: 0,
      begin: async (stop) => {
        const made = await withdrawing('perp_again', stop, false);
        const isSent = ({ state, error_code }: NodeView) =>
          state === 'SUBMITTING' && error_code !== null;
        await is(own, made, isSent, 'to have failed to send');
        if (stop === 'unknown') await isUnknown(made);
        return made;
      },
    },
  } satisfies Record<string, WayOut>;
}
