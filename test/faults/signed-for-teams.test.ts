/**
 * What is signed for a team's own executor: only the plan's payment, mined once or never, whatever
 * its executor says of it or does with the bytes.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  keccak256,
  parseSignature,
  parseTransaction,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { TOKEN_ABI } from '../../dev/simulators/chain/contracts/token-artifact.ts';
import {
  accepted,
  completed,
  defineExecutor,
  failed,
  notLanded,
  passed,
  prepared,
  type ExecutionContext,
  type JsonObject,
} from '../../executor-kit/define.ts';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import { runExecutorWorker, type RunningExecutorWorker } from '../../executor-kit/task-queue.ts';
import { LONGEST_AUTHORIZATION_SECONDS } from '../../domain/signing.ts';
import { parseResult } from '../../executors/protocol.ts';
import { byForm, examplesOf } from '../executor-kit/support/guide.ts';
import { transfersOnChain } from '../support/evidence.ts';
import { fundSigner } from '../support/funds.ts';
import { holdWrites, type HeldWrites } from '../support/held-writes.ts';
import { eventually, startOwnStack, type Created, type OwnStack } from '../support/own-stack.ts';
import { gate, storeTemplate, type PlanNode } from '../support/plans.ts';

const KINDS = ['http', 'queue'] as const;
type Kind = (typeof KINDS)[number];
const QUEUE = 'deposits';
const STRANGER = `0x${'b2'.repeat(20)}`;

interface SignRequest {
  readonly kind?: string;
  readonly payload: JsonObject;
}

/** What a movement's executor does otherwise than it should. */
interface Script {
  /** What it asks to have signed instead. */
  readonly asks?: (payload: JsonObject) => SignRequest | Promise<SignRequest>;
  /** Keeps the bytes to itself. */
  readonly sends?: false;
  /** Seconds for which an authorization is good. */
  readonly ttl?: number;
  readonly submit?: () => unknown;
  readonly observe?: () => unknown;
  readonly recover?: () => unknown;
}

const scripts = new Map<string, Script>();
/** What observe and recover were called with, by movement. */
const looks = new Map<string, ExecutionContext[]>();
const bytes = new Map<string, Hex>();
/** Inputs of prepare and of submit, by movement. */
const prepares = new Map<string, ExecutionContext>();
const results = new Map<string, JsonObject | undefined>();

let own: OwnStack;
let held: HeldWrites;
let served: ServedExecutor;
let team: RunningExecutorWorker;
let template: Record<Kind | 'authorized', string>;
let serial = 0;

/** The payment that a plan asks for. */
function paymentOf({ config, amount }: ExecutionContext): JsonObject {
  const [to] = [config['deposit_address']].flat() as [Hex];
  const units = BigInt(Math.round(Number(amount) * 1e6));
  return {
    chain_id: own.stack.chain.chainId,
    to: String(config['token_address']),
    value: '0',
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, units] }),
    gas: '90000',
    max_fee_per_gas: '20000000000',
    max_priority_fee_per_gas: '1000000000',
  };
}

const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];

/** The same payment as an authorization that another account brings to the token. */
async function authorizationOf(context: ExecutionContext): Promise<JsonObject> {
  const { config, amount, movement_id, signer } = context;
  const ttl = scripts.get(movement_id)?.ttl ?? 600;
  return {
    domain: {
      name: 'Development USD Coin',
      version: '1',
      chainId: own.stack.chain.chainId,
      verifyingContract: config['token_address'] ?? null,
    },
    types: { TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization',
    message: {
      from: signer?.address ?? '',
      to: config['deposit_address'] ?? null,
      value: String(Math.round(Number(amount) * 1e6)),
      validAfter: '0',
      validBefore: String((await timeOf('latest')) + ttl),
      nonce: `0x${randomBytes(32).toString('hex')}`,
    },
  };
}

/** Seconds since 1970 by the chain's clock, which runs ahead where blocks are made quickly. */
async function timeOf(block: 'latest' | 'finalized'): Promise<number> {
  return Number((await rpc<{ timestamp: Hex }>('eth_getBlockByNumber', [block, false])).timestamp);
}

type Message = Readonly<Record<string, Hex>>;
interface Authorized {
  readonly payload: JsonObject;
  readonly signature: Hex;
}
const authorized = new Map<string, Authorized>();
/** The hashes of what was relayed, by the nonce of the authorization. */
const relayed = new Map<string, Hex>();

/** Another account than the one whose money it is brings it to the token, and pays for that. */
async function relays(to: Hex, data: Hex): Promise<Hex> {
  const { deployer } = own.stack.chain.accounts;
  const wallet = createWalletClient({
    account: privateKeyToAccount(deployer.privateKey),
    transport: http(own.stack.chain.rpcUrl),
  });
  return wallet.sendTransaction({ to, data, chain: null, gas: 200_000n });
}

async function relay({ payload, signature }: Authorized): Promise<void> {
  const { message, domain } = payload as unknown as Record<'message' | 'domain', Message>;
  const { from = '0x', to = '0x', value = '', nonce = '0x' } = message!;
  const { validAfter = '', validBefore = '' } = message!;
  const { r, s, v } = parseSignature(signature);
  const data = encodeFunctionData({
    abi: TOKEN_ABI,
    functionName: 'transferWithAuthorization',
    args: [
      ...([from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce] as const),
      ...([Number(v), r, s] as const),
    ],
  });
  relayed.set(nonce, await relays(domain!['verifyingContract'] ?? '0x', data));
}

type Answer = ReturnType<typeof completed>;
const said = (scripted: unknown, otherwise: Answer): Answer => (scripted ?? otherwise) as Answer;

const depositor = defineExecutor<JsonObject>({
  name: 'deposits',
  prepared: z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>,
  preflight: async () => passed(),
  prepare: async (context) => {
    prepares.set(context.movement_id, context);
    const authorizes = context.config['authorizes'] === true;
    const payload = authorizes ? await authorizationOf(context) : paymentOf(context);
    const request = (await scripts.get(context.movement_id)?.asks?.(payload)) ?? { payload };
    return prepared(
      { deposit_address: context.config['deposit_address'] ?? null, asks: request.payload },
      { kind: authorizes ? 'evm_typed_data' : 'evm_transaction', ...request } as Parameters<
        typeof prepared
      >[1],
    );
  },
  submit: async ({ context, sign_result, prepared: { asks } }) => {
    const { movement_id, idempotency_key } = context;
    const script = scripts.get(movement_id);
    results.set(movement_id, sign_result);
    if (context.config['authorizes'] === true) {
      const message = { payload: asks as JsonObject, signature: sign_result?.['signature'] as Hex };
      authorized.set(movement_id, message);
      if (script?.sends !== false) await relay(message);
      return (script?.submit?.() ?? accepted(`deposit ${idempotency_key}`)) as Answer;
    }
    const raw = String(sign_result?.['raw_tx']) as Hex;
    bytes.set(movement_id, raw);
    if (script?.sends !== false) await rpc('eth_sendRawTransaction', [raw]);
    return (script?.submit?.() ?? accepted(`deposit ${idempotency_key}`)) as Answer;
  },
  observe: async (context) => {
    looks.set(context.movement_id, [...(looks.get(context.movement_id) ?? []), context]);
    return said(
      scripts.get(context.movement_id)?.observe?.(),
      completed({ output: { credited: 'yes', tx_hash: '0xboast', received_amount: '0.5' } }),
    );
  },
  recover: async (context) => {
    looks.set(context.movement_id, [...(looks.get(context.movement_id) ?? []), context]);
    return (scripts.get(context.movement_id)?.recover?.() ?? notLanded()) as Answer;
  },
  cancel: async () => completed(),
});

beforeAll(async () => {
  served = await serveExecutor(depositor, { port: 0, log: () => undefined });
  const facts = {
    payees: [{ field: 'deposit_address', family: 'evm', chain_id_field: 'chain_id' }],
  };
  own = await startOwnStack({
    split: true,
    // Whoever may be paid by another plan may not be by this one.
    allow: [STRANGER],
    env: {
      SVC_LANE_INTERVAL_SECONDS: '1',
      SVC_UNPROVEN_ASK_SECONDS: '1',
      SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1',
    },
    executors: () => [
      {
        executor_key: 'acme.http',
        kind: 'remote',
        url: served.url,
        action_types: ['acme_http'],
        ...facts,
      },
      {
        executor_key: 'acme.queue',
        kind: 'task_queue',
        task_queue: QUEUE,
        action_types: ['acme_queue'],
        ...facts,
      },
    ],
  });
  installRuntime('ERROR');
  team = await runExecutorWorker(depositor, {
    address: own.stack.temporalAddress,
    namespace: 'default',
    taskQueue: QUEUE,
  });
  held = await holdWrites(own.stack.databaseUrl);
  await fundSigner(own, '1000');
  template = {
    http: await stored(deposit('http')),
    queue: await stored(deposit('queue')),
    authorized: await stored(deposit('http', { authorizes: true })),
  };
}, 180_000);
afterAll(async () => {
  await team?.stop();
  await held?.close();
  await own?.close();
  await served?.stop();
});
afterEach(async () => {
  await own.chainFaults({ mining: 'automatic', reject_rate: 0 });
});

function deposit(kind: Kind, config: object = {}): PlanNode {
  const { chain } = own.stack;
  return {
    node_key: 'pay',
    node_kind: 'action',
    action_type: `acme_${kind}`,
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
    has_side_effect: true,
    config: {
      asset: 'USDC',
      chain_id: chain.chainId,
      token_address: chain.tokens.USDC.address,
      deposit_address: chain.accounts.treasury.address,
      ...config,
    },
  };
}

const stored = (node: PlanNode): Promise<string> =>
  storeTemplate(own.api, [node], { assurance: 'provider_completed' });

interface Sent extends Created {
  readonly amount: string;
}

async function startMovement(kind: Kind, script: Script = {}, key = template[kind]): Promise<Sent> {
  serial += 1;
  const amount = `2.${String(serial).padStart(3, '0')}1`;
  const movement = { ...(await own.api.create(key, { amount })), amount };
  scripts.set(movement.movement_id, script);
  await own.api.approve(movement);
  return movement;
}

/** How often exactly this amount left for the treasury, by the chain's own logs. */
const paid = async ({ amount }: Sent): Promise<number> =>
  (await transfersOnChain(own.stack.chain)).filter((each) => each.amount === amount).length;
const signed = ({ movement_id }: Created) =>
  own.query<{ kind: string; tx_hash: string | null }>(
    'SELECT kind, tx_hash FROM evm_transactions WHERE movement_id = $1 ORDER BY created_at',
    [movement_id],
  );
const node = async ({ movement_id }: Created) => (await own.api.movement(movement_id)).nodes[0]!;
const eventsOf = async ({ movement_id }: Created): Promise<string[]> =>
  (await own.api.timeline(movement_id)).map(({ event_type }) => event_type);

async function rpc<T>(method: string, params: readonly unknown[] = []): Promise<T> {
  const answer = await fetch(own.stack.chain.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
  return result;
}

/** Another transaction of its signer takes the nonce of these bytes, in a block that is final. */
async function usesNonceOf(raw: Hex): Promise<void> {
  const { chain } = own.stack;
  const { nonce } = parseTransaction(raw);
  const account = privateKeyToAccount(chain.accounts.signer.privateKey);
  await rpc('eth_sendRawTransaction', [
    await account.signTransaction({
      type: 'eip1559',
      chainId: chain.chainId,
      to: account.address,
      gas: 30_000n,
      nonce,
      maxFeePerGas: 40_000_000_000n,
      maxPriorityFeePerGas: 2_000_000_000n,
    }),
  ]);
  await rpc('anvil_mine', ['0x8']);
}

describe.each(KINDS)('over %s', (kind) => {
  test('the plan is paid once, and its executor says what came of it', async () => {
    const movement = await startMovement(kind);
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
    const [{ tx_hash } = { tx_hash: null }] = await signed(movement);
    const { output, external_ref } = await node(movement);
    expect(external_ref).toMatch(/^deposit /);
    // Of the payment what the chain says, of the rest what its executor does.
    expect(output).toMatchObject({
      tx_hash,
      credited: 'yes',
      received_amount: '0.5',
      requested_amount: movement.amount,
      submitted_amount: movement.amount,
    });
    // Called once the payment is mined, with its facts.
    for (const { prior } of looks.get(movement.movement_id) ?? [])
      expect(prior?.output).toMatchObject({ tx_hash, submitted_amount: movement.amount });
    expect(looks.get(movement.movement_id)?.length).toBeGreaterThan(0);
    expect(await eventsOf(movement)).toContain('transaction_mined');
  });

  test('one that says it is done, and has sent nothing, is believed once it is paid', async () => {
    await own.chainFaults({ mining: 'paused' });
    const movement = await startMovement(kind, {
      sends: false,
      submit: () => completed({ external_ref: 'a boast' }),
    });
    await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
    expect(looks.get(movement.movement_id)).toBeUndefined();
    await own.chainFaults({ mining: 'automatic' });
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
  });

  test('one that refuses after the signature is paid never, and the lane goes on', async () => {
    await own.chainFaults({ mining: 'paused' });
    const movement = await startMovement(kind, {
      sends: false,
      submit: () => failed('DEPOSITS_CLOSED', 'come back tomorrow'),
    });
    await eventually(async () => ((await signed(movement)).length === 2 ? true : null), {
      what: () => 'a transaction that moves nothing',
    });
    await own.chainFaults({ mining: 'automatic' });
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect((await node(movement)).error_code).toBe('TRANSACTION_CANCELLED');
    // Whoever still has the bytes can send them, but no endpoint takes them now.
    await expect(
      rpc('eth_sendRawTransaction', [bytes.get(movement.movement_id)]),
    ).rejects.toThrow();
    expect(await paid(movement)).toBe(0);
    const entries = (await own.api.timeline(movement.movement_id)) as readonly {
      readonly event_type: string;
      readonly data?: unknown;
    }[];
    expect(
      entries.find(({ event_type }) => event_type === 'transaction_cancel_requested')?.data,
    ).toEqual({ error_code: 'DEPOSITS_CLOSED', error_message: 'come back tomorrow' });
    const next = await startMovement(kind);
    await own.api.reaches(next.movement_id, 'COMPLETED');
    expect(await paid(next)).toBe(1);
  });

  test('one that refuses, and has sent it all the same, does not get it paid again', async () => {
    const movement = await startMovement(kind, {
      submit: () => failed('DEPOSITS_CLOSED', 'it says'),
    });
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
  });

  test('one that takes a key only once is not called with it again', async () => {
    let submits = 0;
    const movement = await startMovement(kind, {
      sends: false,
      submit: async () => {
        submits += 1;
        await usesNonceOf(bytes.get(movement.movement_id)!);
        throw new Error('the answer is lost');
      },
    });
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect((await node(movement)).error_code).toBe('NONCE_USED_ELSEWHERE');
    expect(submits).toBe(1);
    expect(await paid(movement)).toBe(0);
    // A retry is another attempt, with a key of its own.
    scripts.set(movement.movement_id, {});
    await own.api.act('retry', movement.movement_id);
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
  });

  test('nor where the worker ended that had dropped its nonce', async () => {
    let submits = 0;
    const movement = await startMovement(kind, {
      sends: false,
      submit: async () => {
        submits += 1;
        await usesNonceOf(bytes.get(movement.movement_id)!);
        await own.query('UPDATE evm_transactions SET released_at = now() WHERE movement_id = $1', [
          movement.movement_id,
        ]);
        throw new Error('the answer is lost');
      },
    });
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect((await node(movement)).error_code).toBe('NONCE_USED_ELSEWHERE');
    expect(submits).toBe(1);
  });

  test('one that denies what is mined ends nothing: a person decides', async () => {
    let answer: () => unknown = () => failed('NEVER_CAME', 'no deposit');
    const movement = await startMovement(kind, {
      observe: () => answer(),
      recover: () => answer(),
    });
    await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
    const unknown = await node(movement);
    expect([unknown.state, unknown.error_message]).toEqual([
      'UNKNOWN',
      'what was signed is mined, and the executor says FAILED: no deposit',
    ]);
    answer = () => notLanded();
    await own.api.act('retry', movement.movement_id);
    await own.api.nodeReaches(movement.movement_id, 'pay', ['UNKNOWN']);
    answer = () => completed();
    await own.api.act('retry', movement.movement_id);
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
    expect(await signed(movement)).toHaveLength(1);
  });

  test('what it says of the payment counts for nothing, however well it guesses the hash', async () => {
    const movement: Sent = await startMovement(kind, {
      submit: () =>
        accepted('mine', {
          output: {
            tx_hash: keccak256([...bytes.values()].at(-1)!),
            submitted_amount: '0',
            requested_amount: '0',
            fee_amount: '777',
            received_amount: '999',
            destination_address: STRANGER,
            block_number: '1',
          },
        }),
      observe: () => completed({ output: { received_amount: '999' } }),
    });
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    const { output } = await node(movement);
    const { amount } = movement;
    expect(output).toMatchObject({
      submitted_amount: amount,
      requested_amount: amount,
      received_amount: amount,
      destination_address: treasury(),
    });
    expect(output?.['fee_amount']).not.toBe('777');
    expect(await eventsOf(movement)).toContain('transaction_mined');
  });

  test('a transaction that reverts fails its node, whatever its executor hopes', async () => {
    const movement = await startMovement(kind, {
      asks: (payload) => ({ payload: { ...payload, gas: '30000' } }),
    });
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect((await node(movement)).error_code).toBe('TRANSACTION_REVERTED');
    expect([await paid(movement), looks.get(movement.movement_id)]).toEqual([0, undefined]);
  });

  test('a worker that dies with the bytes leaves one payment', async () => {
    const amount = kind === 'http' ? '3.77' : '3.78';
    const movement = await own.api.create(template[kind], { amount });
    await held.hold('signature', movement.movement_id);
    await own.api.approve(movement);
    await held.waiting(1);
    await own.stack.kill('worker');
    await held.release();
    await own.stack.startChild('worker');
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid({ ...movement, amount })).toBe(1);
  });
});

const call = (name: 'transfer' | 'approve', to: string, units: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: name, args: [to as Hex, units] });
const treasury = (): string => own.stack.chain.accounts.treasury.address;

/** Requests that are not the plan's payment, each in one thing. */
const WRONG: Readonly<Record<string, (payload: JsonObject, units: bigint) => object>> = {
  'another payee': (payload, units) => ({
    payload: { ...payload, data: call('transfer', STRANGER, units) },
  }),
  'a base unit more': (payload, units) => ({
    payload: { ...payload, data: call('transfer', treasury(), units + 1n) },
  }),
  'a base unit less': (payload, units) => ({
    payload: { ...payload, data: call('transfer', treasury(), units - 1n) },
  }),
  'an allowance': (payload, units) => ({
    payload: { ...payload, data: call('approve', treasury(), units) },
  }),
  'more behind the call': (payload) => ({
    payload: { ...payload, data: `${String(payload['data'])}00` },
  }),
  'another token': (payload) => ({ payload: { ...payload, to: STRANGER } }),
  'another chain': (payload) => ({ payload: { ...payload, chain_id: 1 } }),
  'the coin beside the token': (payload) => ({ payload: { ...payload, value: '1' } }),
  'gas that no block takes': (payload) => ({
    payload: {
      ...payload,
      gas: '1',
      max_fee_per_gas: '50000000000000000',
      max_priority_fee_per_gas: '50000000000000000',
    },
  }),
  'more gas than a block has': (payload) => ({
    payload: { ...payload, gas: '16777217', max_fee_per_gas: '2', max_priority_fee_per_gas: '1' },
  }),
  'an unknown field': (payload) => ({ payload: { ...payload, access_list: [] } }),
  'typed data': () => ({
    kind: 'evm_typed_data',
    payload: {
      domain: { name: 'USDC', chainId: own.stack.chain.chainId },
      types: { Permit: [{ name: 'spender', type: 'address' }] },
      primaryType: 'Permit',
      message: { spender: treasury() },
    },
  }),
};

test.each(Object.keys(WRONG))('%s is not signed', async (name) => {
  const movement = await startMovement('http', {
    asks: (payload) =>
      WRONG[name]!(payload, BigInt(`0x${String(payload['data']).slice(-64)}`)) as ReturnType<
        NonNullable<Script['asks']>
      >,
  });
  await own.api.reaches(movement.movement_id, 'FAILED');
  expect((await node(movement)).error_code).toBe('SIGN_REQUEST_MISMATCH');
  expect([await signed(movement), bytes.get(movement.movement_id)]).toEqual([[], undefined]);
});

/** Plans of which one payment of the signer cannot be all that they say, and why. */
const UNREADABLE: Readonly<Record<string, readonly [() => object, RegExp]>> = {
  'two payees': [
    () => ({ deposit_address: [treasury(), own.stack.chain.accounts.signer.address] }),
    /pays one address, and the plan names 2/,
  ],
  'another chain beside': [() => ({ destination_chain_id: 10 }), /pays on another chain/],
  'a venue to draw on': [() => ({ venue: 'paper-main' }), /names a venue to draw on/],
  'a token of another asset': [
    () => ({ token_address: own.stack.chain.tokens.USDT.address }),
    /the plan moves USDC, and its token is USDT/,
  ],
};

test.each(Object.keys(UNREADABLE))('nothing is signed for a plan with %s', async (name) => {
  const [config, why] = UNREADABLE[name]!;
  const key = await stored(deposit('http', config()));
  const movement = await startMovement('http', {}, key);
  await own.api.reaches(movement.movement_id, 'FAILED');
  const { error_code, error_message } = await node(movement);
  expect([error_code, error_message]).toEqual([
    'SIGN_REQUEST_MISMATCH',
    expect.stringMatching(why),
  ]);
  expect([await signed(movement), bytes.get(movement.movement_id)]).toEqual([[], undefined]);
});

/** As the guide shows them, but for what passes: an authorization's time, and its nonce. */
test.each([0, 1])('answer %i of the guide is signed as it stands', async (which) => {
  const { request, answer } = examplesOf('Having something signed')[which]!;
  const { sign_request, prepared_action } = parseResult('prepare', answer);
  const { kind, payload } = sign_request!;
  const authorizes = kind === 'evm_typed_data';
  const fresh = async () => ({
    ...(payload['message'] as JsonObject),
    validBefore: String((await timeOf('latest')) + 600),
    nonce: `0x${randomBytes(32).toString('hex')}`,
  });
  const before = await transfersOnChain(own.stack.chain);
  const movement = await own.api.create(authorizes ? template.authorized : template.http, {
    amount: '25',
  });
  scripts.set(movement.movement_id, {
    asks: async () => ({
      payload: { ...payload, ...(authorizes ? { message: await fresh() } : {}) },
    }),
  });
  await own.api.approve(movement);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  const left = (await transfersOnChain(own.stack.chain)).slice(before.length);
  expect(left.map(({ amount }) => amount)).toEqual(['25']);
  const { config, ...context } = prepares.get(movement.movement_id)!;
  const { authorizes: _own, ...shown } = config;
  expect(byForm({ ...context, config: shown })).toEqual(byForm(request));
  expect(prepared_action).toEqual({ deposit_address: treasury() });
  expect(results.get(movement.movement_id)).toEqual(
    authorizes
      ? { signature: expect.stringMatching(/^0x[0-9a-f]{130}$/) }
      : { raw_tx: expect.any(String), tx_hash: expect.any(String) },
  );
});

describe('an authorization', () => {
  const startAuthorized = (script: Script = {}) =>
    startMovement('http', script, template.authorized);
  const messageOf = ({ movement_id }: Created) =>
    authorized.get(movement_id)!.payload as unknown as Record<'message' | 'domain', Message>;
  /** The chain makes blocks only for transactions, and none is sent here. */
  const blocks = () => rpc('anvil_mine', ['0x3']);

  test('is used once, and its relayer pays for it', async () => {
    const movement = await startAuthorized();
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect((await node(movement)).output).toMatchObject({
      tx_hash: relayed.get(messageOf(movement).message['nonce'] ?? ''),
      fee_amount: '0',
      submitted_amount: movement.amount,
      credited: 'yes',
    });
    expect([await paid(movement), await signed(movement)]).toEqual([1, []]);
  });

  test('that is refused, and used all the same, is not paid again', async () => {
    const movement = await startAuthorized({ submit: () => failed('DEPOSITS_CLOSED', 'it says') });
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await paid(movement)).toBe(1);
  });

  test('whose nonce belongs to another node is not signed again', async () => {
    const nonce = `0x${randomBytes(32).toString('hex')}`;
    const asks = (payload: JsonObject) => ({
      payload: { ...payload, message: { ...(payload['message'] as JsonObject), nonce } },
    });
    const one = await startAuthorized({ asks, sends: false });
    await own.api.nodeReaches(one.movement_id, 'pay', ['OBSERVING']);
    const two = await startAuthorized({ asks });
    await own.api.reaches(two.movement_id, 'FAILED');
    expect((await node(two)).error_code).toBe('SIGN_REQUEST_MISMATCH');
    await relay(authorized.get(one.movement_id)!);
    await own.api.reaches(one.movement_id, 'COMPLETED');
    expect([await paid(one), await paid(two)]).toEqual([1, 0]);
  });

  test('that is used cannot be called failed by a person either', async () => {
    const denied = { observe: () => failed('NEVER_CAME', 'no'), recover: () => notLanded() };
    const movement = await startAuthorized(denied);
    await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
    const { message } = messageOf(movement);
    // Nothing is over before a final block shows whether it was used: half an hour behind its end.
    const over = Number(message['validBefore']) + 1_800;
    const [send] = await own.query<{ until: number }>(
      `SELECT extract(epoch FROM send_not_after)::float8 AS until FROM movement_nodes
        WHERE movement_id = $1`,
      [movement.movement_id],
    );
    expect(send?.until).toBeGreaterThanOrEqual(over);
    expect(send?.until).toBeLessThan(over + 60);
    const resolve = () =>
      own.api.send('POST', `/movements/${movement.movement_id}/nodes/pay/actions/resolve`, {
        outcome: 'failed',
        reason: 'it says so',
        evidence: {},
      });
    expect((await resolve()).body['detail']).toMatchObject({ error: 'send_not_over' });
    await own.query(
      "UPDATE movement_nodes SET send_not_after = svc_now() - interval '1 hour' WHERE movement_id = $1",
      [movement.movement_id],
    );
    expect((await resolve()).body['detail']).toMatchObject({
      error: 'payment_mined',
      chain: own.stack.chain.chainId,
      tx_hash: relayed.get(message['nonce'] ?? ''),
    });
    expect(await paid(movement)).toBe(1);
  });

  test('that is refused fails its node once it can no longer be used, and not before', async () => {
    const movement = await startAuthorized({
      sends: false,
      ttl: 12,
      submit: () => failed('DEPOSITS_CLOSED', 'come back tomorrow'),
    });
    await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
    await own.chainFaults({ mining: 'paused' });
    const until = Number(messageOf(movement).message['validBefore']);
    while ((await timeOf('latest')) < until) {
      expect((await node(movement)).state).toBe('OBSERVING');
      await rpc('anvil_mine', ['0x1']);
    }
    // Its time has passed in a block that may still go.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await timeOf('finalized')).toBeLessThan(until);
    expect((await node(movement)).state).toBe('OBSERVING');
    await blocks();
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect((await node(movement)).error_code).toBe('AUTHORIZATION_EXPIRED');
    await relay(authorized.get(movement.movement_id)!);
    await blocks();
    expect(await paid(movement)).toBe(0);
  });

  test('that its holder calls off elsewhere moves nothing', async () => {
    const movement = await startAuthorized({ sends: false });
    await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
    const { message, domain } = messageOf(movement);
    const { nonce = '0x', from = '0x' } = message;
    const { r, s, v } = parseSignature(
      await privateKeyToAccount(own.stack.chain.accounts.signer.privateKey).signTypedData({
        domain: { ...domain, chainId: own.stack.chain.chainId },
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer: from, nonce },
      }),
    );
    const data = encodeFunctionData({
      abi: TOKEN_ABI,
      functionName: 'cancelAuthorization',
      args: [from, nonce, Number(v), r, s],
    });
    await relays(domain['verifyingContract'] ?? '0x', data);
    await blocks();
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect((await node(movement)).error_code).toBe('AUTHORIZATION_CANCELLED');
    expect(await paid(movement)).toBe(0);
  });

  type Payload = Readonly<Record<'domain' | 'types' | 'message', JsonObject>>;
  const soon = async (seconds: number) => String((await timeOf('latest')) + seconds);
  const MISUSED: Readonly<Record<string, (payload: Payload) => object | Promise<object>>> = {
    'of another payee': (its) => ({ message: { ...its.message, to: STRANGER } }),
    'of a base unit more': ({ message }) => ({
      message: { ...message, value: String(BigInt(String(message['value'])) + 1n) },
    }),
    'of another token': ({ domain }) => ({ domain: { ...domain, verifyingContract: STRANGER } }),
    'of another chain': ({ domain }) => ({ domain: { ...domain, chainId: 1 } }),
    'for every chain': ({ domain: { chainId: _chain, ...domain } }) => ({ domain }),
    'for every contract': ({ types }) => ({ types: { ...types, EIP712Domain: [] } }),
    'of another account': (its) => ({ message: { ...its.message, from: STRANGER } }),
    'without an end': async (its) => ({
      message: { ...its.message, validBefore: await soon(4_000) },
    }),
    'that is over': async (its) => ({
      message: { ...its.message, validBefore: await soon(-60) },
    }),
    'that begins later': async (its) => ({
      message: { ...its.message, validAfter: await soon(60) },
    }),
    'with a field more': (its) => ({ message: { ...its.message, memo: 'x' } }),
    'of another kind': (its) => ({
      types: { CancelAuthorization: AUTHORIZATION },
      primaryType: 'CancelAuthorization',
      message: its.message,
    }),
  };
  test.each(Object.keys(MISUSED))('no authorization %s is signed', async (name) => {
    const movement = await startAuthorized({
      asks: async (payload) => ({
        payload: {
          ...payload,
          ...(await MISUSED[name]!(payload as unknown as Payload)),
        } as JsonObject,
      }),
    });
    await own.api.reaches(movement.movement_id, 'FAILED');
    expect((await node(movement)).error_code).toBe('SIGN_REQUEST_MISMATCH');
    expect(authorized.get(movement.movement_id)).toBeUndefined();
  });
});

test('one that is stuck is signed again for more, and paid once', async () => {
  await own.chainFaults({ mining: 'paused' });
  const movement = await startMovement('queue');
  await own.api.nodeReaches(movement.movement_id, 'pay', ['OBSERVING']);
  await own.query(
    "UPDATE evm_transactions SET created_at = created_at - interval '10 minutes' WHERE movement_id = $1",
    [movement.movement_id],
  );
  await eventually(async () => ((await signed(movement)).length > 1 ? true : null), {
    what: () => 'another version',
  });
  await own.chainFaults({ mining: 'automatic' });
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  expect(await paid(movement)).toBe(1);
});

test('what a restored database may have forgotten is not signed again: a person decides', async () => {
  const key = await storeTemplate(own.api, [gate('check'), deposit('http')], {
    assurance: 'provider_completed',
  });
  const movement = await startMovement('http', {}, key);
  await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  await own.query('SELECT after_restore($1::jsonb)', [
    JSON.stringify({
      incident: randomUUID(),
      audit: [],
      send_seconds: 1,
      signature_seconds: LONGEST_AUTHORIZATION_SECONDS,
      drain: { mode: 'drain' },
    }),
  ]);
  await own.api.act('resume', movement.movement_id);
  await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
  const pay = (await own.api.movement(movement.movement_id)).nodes.find(
    ({ node_key }) => node_key === 'pay',
  );
  expect([pay?.state, pay?.error_message]).toEqual([
    'UNKNOWN',
    expect.stringMatching(/may have lost a signature/),
  ]);
  const early = await own.api.send(
    'POST',
    `/movements/${movement.movement_id}/nodes/pay/actions/resolve`,
    { outcome: 'failed', reason: 'nothing on the chain', evidence: {} },
  );
  const { error, retry_after_seconds: left } = early.body['detail'] as Record<string, unknown>;
  expect([early.status, error, Number(left) > 3_000]).toEqual([409, 'send_not_over', true]);
  expect([await signed(movement), looks.get(movement.movement_id)]).toEqual([[], undefined]);
});
