/** The lane's executors on two real chains: what is refused before a send, what a look tells. */
import {
  concat,
  encodeFunctionResult,
  keccak256,
  maxUint256,
  pad,
  parseEventLogs,
  toFunctionSelector,
  type Abi,
  type AbiFunction,
  type Hex,
} from 'viem';
import { ENDPOINT, OMNI_TOKEN } from '../../../dev/simulators/bridge/contracts/artifacts.ts';
import { inWord } from '../../../dev/simulators/chain/bridges.ts';
import { DELIVERER, PACKET_FEE_WEI } from '../../../dev/simulators/bridge/lanes.ts';
import type { CallOptions, ExecutionContext } from '../../../domain/executor.ts';
import type { NamedClaim } from '../../../domain/claim-reader.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { createBridgeCExecutors } from '../../../venues/bridge-c/lane.ts';
import { createDeliveryReader, createSendReader } from '../../../venues/bridge-c/named-packet.ts';
import { packetRecord, readPacket, type Packet } from '../../../venues/bridge-c/packet.ts';
import { createEvmChains } from '../../../venues/evm/client.ts';
import { evmVenueSchema } from '../chain-schema.ts';
import {
  omni,
  omniSend,
  PAYEE,
  SIGNER,
  startLanes,
  STRANGER,
  type Call,
  type TestChain,
} from '../../dev/bridge-stack.ts';
import { startAnswering } from '../answering.ts';
import { started } from '../../support/started.ts';

const lanes = started(() => startLanes());

interface Side {
  readonly rpc_url?: string;
  readonly endpoint?: Hex;
  readonly eid?: number;
  readonly oft?: Hex;
  readonly token?: Hex;
}

const PATH = {
  fee_native_budget: '0.002',
  expected_latency_seconds: 5,
  detection_latency_budget_seconds: 60,
  late: false,
};

/** The venue entries; they differ from the right ones as said. */
function bridgeOf(wrong: { readonly near?: Side; readonly far?: Side } = {}) {
  const venue = (chain: TestChain, side: Side = {}) =>
    evmVenueSchema.parse({
      venue_key: `chain-${String(chain.chainId)}`,
      provider: 'evm',
      chain_id: chain.chainId,
      finality: 'finalized_tag',
      rpc_url: side.rpc_url ?? chain.rpcUrl,
      tokens: [
        { asset: 'OMNI', address: side.token ?? chain.contracts.omniToken },
        { asset: 'USDB', address: chain.contracts.burnToken },
      ],
      bridge_c: {
        eid: side.eid ?? chain.eid,
        endpoint: side.endpoint ?? chain.contracts.endpoint,
        tokens: [{ asset: 'OMNI', oft: side.oft ?? chain.contracts.omniToken }],
      },
    });
  const venues = [venue(lanes.near, wrong.near), venue(lanes.far, wrong.far)];
  return { venues, chains: createEvmChains(venues) };
}

/** The executors of such entries. */
function executors(wrong?: Parameters<typeof bridgeOf>[0]) {
  const { chains, venues } = bridgeOf(wrong);
  const [send, observe] = createBridgeCExecutors(chains, venues);
  if (send === undefined || observe === undefined) throw new Error('there are no executors');
  return { send, observe };
}

const call = (): CallOptions => ({ signal: AbortSignal.timeout(20_000), requestId: 'test' });
const context = (more: Partial<ExecutionContext> = {}): ExecutionContext => ({
  movement_id: 'm',
  node_key: 'send',
  attempt: 1,
  idempotency_key: 'm:send:1',
  action_type: 'bridge_c_send',
  asset: 'OMNI',
  amount: '20.5',
  input_params: {},
  intent: {},
  completion_assurance: 'provider_completed',
  config: {
    source_chain_id: lanes.near.chainId,
    destination_chain_id: lanes.far.chainId,
    destination_address: PAYEE,
  },
  signer: { signer_key: 's', chain_family: 'evm', address: SIGNER.address },
  bridge_path: PATH,
  ...more,
});

describe('before a send', () => {
  const refused = async (
    wrong: Parameters<typeof executors>[0],
    more: Partial<ExecutionContext> = {},
  ): Promise<string> => {
    const answer = await executors(wrong).send.preflight(context(more), call());
    return `${String(answer?.error_code)} ${String(answer?.error_message)}`;
  };
  const stranger: Hex = '0x00000000000000000000000000000000000000EE';

  it('nothing is refused where both ends are what their entries say', async () => {
    expect(await executors().send.preflight(context(), call())).toBeNull();
  });

  it.each<[string, 'near' | 'far', () => Side, string]>([
    ['another id here', 'near', () => ({ eid: 1 }), 'BRIDGE_ROUTE_MISSING'],
    ['another id there', 'far', () => ({ eid: 1 }), 'BRIDGE_ROUTE_MISSING'],
    ['no endpoint here', 'near', () => ({ endpoint: stranger }), 'BRIDGE_ROUTE_MISSING'],
    ['no endpoint there', 'far', () => ({ endpoint: stranger }), 'BRIDGE_ROUTE_MISSING'],
    [
      'what is no endpoint',
      'far',
      () => ({ endpoint: lanes.far.contracts.burnToken }),
      'BRIDGE_ROUTE_MISSING',
    ],
    ['no contract that sends', 'near', () => ({ oft: stranger }), 'BRIDGE_ROUTE_MISSING'],
    [
      'what is no such contract',
      'far',
      () => ({ oft: lanes.far.contracts.burnToken }),
      'BRIDGE_ROUTE_MISSING',
    ],
    [
      'another token here',
      'near',
      () => ({ token: lanes.near.contracts.tokenMessenger }),
      'TOKEN_MISSING',
    ],
    [
      'another token there',
      'far',
      () => ({ token: lanes.far.contracts.tokenMessenger }),
      'DESTINATION_TOKEN_MISSING',
    ],
  ])('it is refused with %s', async (_what, side, wrong, code) => {
    expect(await refused({ [side]: wrong() })).toContain(code);
  });

  /** What is said of a send while this function of the token on one side answers otherwise. */
  async function refusedWith(
    side: 'near' | 'far',
    functionName: 'sharedDecimals' | 'endpoint' | 'quoteOFT',
    result: unknown,
  ): Promise<string | null> {
    const { abi } = OMNI_TOKEN;
    const item = abi.find((each) => each.type === 'function' && each.name === functionName);
    const selector = toFunctionSelector(item as AbiFunction);
    const says = encodeFunctionResult({ abi: abi as Abi, functionName, result });
    const { url, close } = await startAnswering(lanes[side].rpcUrl, ({ data }) =>
      data.startsWith(selector) ? { result: says } : null,
    );
    try {
      const { send } = executors({ [side]: { rpc_url: url } });
      const answer = await send.preflight(context(), call());
      return answer?.error_code ?? null;
    } finally {
      await close();
    }
  }

  it.each(['near', 'far'] as const)(
    'both ends are alike, and know each other (%s)',
    async (side) => {
      for (const digits of [5, 7])
        expect(await refusedWith(side, 'sharedDecimals', digits)).toBe('BRIDGE_ROUTE_MISSING');
      expect(await refusedWith(side, 'sharedDecimals', 6)).toBeNull();
      expect(await refusedWith(side, 'endpoint', stranger.toLowerCase())).toBe(
        'BRIDGE_ROUTE_MISSING',
      );
    },
  );

  it('all of it travels and arrives, or nothing is sent', async () => {
    const all = omni('20.5');
    const quote = (least: bigint, most: bigint, goes: bigint, comes: bigint) =>
      refusedWith('near', 'quoteOFT', [
        { minAmountLD: least, maxAmountLD: most },
        [],
        { amountSentLD: goes, amountReceivedLD: comes },
      ]);
    expect(await quote(all, all, all, all)).toBeNull();
    expect(await quote(all + 1n, all + 1n, all, all)).toBe('BRIDGE_AMOUNT_REFUSED');
    expect(await quote(0n, all - 1n, all, all)).toBe('BRIDGE_AMOUNT_REFUSED');
    expect(await quote(0n, all, all - 1n, all)).toBe('BRIDGE_AMOUNT_REFUSED');
    expect(await quote(0n, all, all, all - 1n)).toBe('BRIDGE_AMOUNT_REFUSED');
  });

  it('a peer that is not ours is refused, whichever end has it', async () => {
    for (const [here, there] of [
      [lanes.near, lanes.far],
      [lanes.far, lanes.near],
    ] as const) {
      const peer = (of: Hex): Call => ({
        to: here.contracts.omniToken,
        abi: OMNI_TOKEN.abi,
        functionName: 'setPeer',
        args: [there.eid, inWord(of)],
      });
      await here.send(peer(stranger), here.deployer);
      expect(await refused({})).toContain('BRIDGE_ROUTE_MISSING');
      await here.send(peer(there.contracts.omniToken), here.deployer);
    }
  });

  it.each([
    ['more than its signer has', { amount: '1000000.000001' }, 'INSUFFICIENT_FUNDS'],
    ['a part that would not travel', { amount: '1.0000001' }, 'AMOUNT_PRECISION'],
    ['another asset', { asset: 'USDB' }, 'TOKEN_ASSET_MISMATCH'],
  ])('it is refused with %s', async (_what, more, code) => {
    expect(await refused({}, more)).toContain(code);
  });

  it('the fee is within the budget, and what it carries never above it', async () => {
    const dear = { ...PATH, fee_native_budget: '0.000499999999999999' };
    expect(await refused({}, { bridge_path: dear })).toContain('BRIDGE_FEE_OVER_BUDGET');
    const { bridge_path: _none, ...unknown } = context();
    expect(await executors().send.preflight(unknown, call())).toMatchObject({
      error_code: 'BRIDGE_PATH_NOT_READY',
    });
    const values: unknown[] = [];
    for (const fee_native_budget of ['0.0005', '0.00052', '0.002']) {
      const bridge_path = { ...PATH, fee_native_budget };
      const prepared = await executors().send.prepare(context({ bridge_path }), call());
      values.push(prepared.sign_request?.payload['value']);
    }
    expect(values).toEqual(['500000000000000', '520000000000000', '550000000000000']);
  });
});

/** Sends by itself, as the deliverer verifies and delivers by hand. */
const allSent: Packet[] = [];
const sent = async (amount = omni('3')): Promise<Packet> => (await sentIn(amount)).packet;
async function sentIn(amount = omni('3')): Promise<{ readonly packet: Packet; hash: Hex }> {
  const { near, far } = lanes;
  const receipt = await near.send(omniSend(near, far, amount, PACKET_FEE_WEI));
  const [log] = parseEventLogs({ ...ENDPOINT, logs: receipt.logs, eventName: 'PacketSent' });
  const packet = log === undefined ? null : readPacket(log.args.encodedPayload);
  if (packet === null) throw new Error('the send reverted');
  allSent.push(packet);
  return { packet, hash: receipt.transactionHash };
}
const origin = ({ source_eid, sender, nonce }: Packet) => ({ srcEid: source_eid, sender, nonce });
const endpointCall = (functionName: string, args: readonly unknown[]): Call => ({
  to: lanes.far.contracts.endpoint,
  abi: ENDPOINT.abi,
  functionName,
  args,
});
const verify = (packet: Packet, hash = keccak256(concat([packet.guid, packet.message]))) =>
  lanes.far.send(
    endpointCall('verify', [origin(packet), lanes.far.contracts.omniToken, hash]),
    DELIVERER,
  );
const deliver = (packet: Packet) =>
  lanes.far.send(
    endpointCall('lzReceive', [
      origin(packet),
      lanes.far.contracts.omniToken,
      packet.guid,
      packet.message,
      '0x',
    ]),
    STRANGER,
  );

const contextOf = (packet: Packet, more: Partial<ExecutionContext> = {}, output: JsonObject = {}) =>
  context({
    action_type: 'bridge_c_observe',
    matched: {
      node_key: 'send',
      output: {
        destination_chain_id: lanes.far.chainId,
        destination_address: PAYEE,
        destination_block: '0',
        packet: packetRecord(packet),
        ...output,
      },
    },
    ...more,
  });
const NO_JOURNAL = {
  transactions: () => Promise.resolve([]),
  releaseNonce: () => Promise.resolve(false),
  displaced: () => Promise.resolve(false),
  held: () => Promise.resolve(null),
  accepted: () => Promise.resolve(),
};
const looked = (...of: Parameters<typeof contextOf>) =>
  executors().observe.observe(contextOf(...of), call(), NO_JOURNAL);
const stateOf = async (packet: Packet): Promise<unknown> =>
  ((await looked(packet)).output as { delivery?: { state: string } }).delivery?.state;

describe('a look at the other end', () => {
  it('tells where the message is, from the send to its receipt', async () => {
    const packet = await sent();
    expect(await stateOf(packet)).toBe('sent');
    await verify(packet);
    const waiting = await looked(packet);
    expect(waiting.output).toMatchObject({
      delivery: {
        state: 'verified',
        chain_id: lanes.far.chainId,
        endpoint: lanes.far.contracts.endpoint,
        guid: packet.guid,
        message: packet.message,
      },
    });
    expect(waiting.error_code).toBeUndefined();
    const late = await looked(packet, { bridge_path: { ...PATH, late: true } });
    expect(late).toMatchObject({ next_state: 'OBSERVING', error_code: 'BRIDGE_DELIVERY_LATE' });
    const receipt = await deliver(packet);
    expect(await looked(packet)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: receipt.transactionHash,
      output: { received_amount: '3', destination_address: PAYEE },
    });
  });

  it('is completed only once the block is as deep as required', async () => {
    const packet = await sent();
    await verify(packet);
    await deliver(packet);
    const finally_ = { completion_assurance: 'destination_finalized' } as const;
    expect(await looked(packet, finally_)).toMatchObject({
      next_state: 'OBSERVING',
      output: { delivery: { state: 'received' } },
    });
    await lanes.far.mine(100);
    expect(await looked(packet, finally_)).toMatchObject({
      next_state: 'COMPLETED',
      assurance: 'protocol_finalized',
    });
  });

  it('finds it in a recovery whatever earlier looks have searched', async () => {
    const packet = await sent();
    await verify(packet);
    const { transactionHash } = await deliver(packet);
    const prior = { output: { searched: { from: '0', to: '999999' } } };
    const context = contextOf(packet, { prior });
    await expect(executors().observe.observe(context, call(), NO_JOURNAL)).rejects.toMatchObject({
      code: 'DELIVERY_UNSEEN',
    });
    expect(await executors().observe.recover(context, call(), NO_JOURNAL)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: transactionHash,
    });
  });

  it('takes nothing else in its place for a message that may be delivered', async () => {
    const packet = await sent();
    await verify(packet, pad('0x01', { size: 32 }));
    await expect(looked(packet)).rejects.toMatchObject({ code: 'DELIVERY_BLOCKED' });
    await verify(packet);
    await deliver(packet);
  });

  it('says of what was cleared, and of what others received, that it was not received', async () => {
    const packet = await sent();
    await verify(packet);
    const { far } = lanes;
    await far.send(
      endpointCall('clear', [far.contracts.omniToken, origin(packet), packet.guid, packet.message]),
      far.deployer,
    );
    await expect(looked(packet)).rejects.toMatchObject({ code: 'DELIVERY_UNSEEN' });
    const other = await sent();
    await verify(other);
    await deliver(other);
    await expect(
      looked(other, {}, { destination_address: STRANGER.address }),
    ).rejects.toMatchObject({ code: 'DELIVERY_DIVERTED' });
    // Of a block that no receipt of it can be in.
    await expect(looked(other, {}, { destination_block: '999999' })).rejects.toMatchObject({
      code: 'DELIVERY_UNSEEN',
    });
  });

  test.each([
    ['nothing', {}],
    ['an id that is none', { packet: { guid: 'job-7' } }],
    ['no chain', { destination_chain_id: '31338' }],
    ['no payee', { destination_address: null }],
  ])('asks again where its send has recorded %s', async (_what, output) => {
    const packet = await sent();
    const recorded = Object.keys(output).length === 0 ? { packet: null } : output;
    await expect(looked(packet, {}, recorded as JsonObject)).rejects.toMatchObject({
      code: 'SEND_UNKNOWN',
      kind: 'server_error',
    });
  });
});

describe('what a person names', () => {
  const named = (
    { action_type, asset, config, matched }: ExecutionContext,
    output: JsonObject,
    more: Partial<NamedClaim> = {},
  ): NamedClaim => ({
    ...{ movement_id: 'm', action_type, asset, config, amount: '3', output },
    ...{ external_ref: null, prepared_action: { destination_block: '4' }, recorded: {} },
    matched: matched === undefined ? null : { external_ref: null, output: matched.output ?? null },
    from: SIGNER.address,
    ...more,
  });
  const signal = () => AbortSignal.timeout(20_000);
  const readSend = (tx_hash: string, more: Partial<NamedClaim> = {}) =>
    createSendReader(bridgeOf()).read(named(context(), { tx_hash }, more), signal());
  const readDelivery = (packet: Packet, tx_hash: string, output: JsonObject = {}) =>
    createDeliveryReader(bridgeOf()).read(
      named(contextOf(packet, {}, output), { tx_hash }),
      signal(),
    );
  const refused = (reason: string) => expect.objectContaining({ ok: false, reason }) as object;
  const NOWHERE = `0x${'ab'.repeat(32)}`;

  test('a delivery is the receipt of its own packet, for its payee', async () => {
    const [packet, other] = [await sent(), await sent()];
    // A packet is received only where each packet before it is verified, too.
    for (const each of allSent) await verify(each);
    const { transactionHash: hash } = await deliver(packet);
    expect(await readDelivery(packet, hash)).toEqual(refused('not_final'));
    await lanes.far.mine(100);
    expect(await readDelivery(packet, hash)).toMatchObject({
      ok: true,
      output: { guid: packet.guid, tx_hash: hash, received_amount: '3' },
    });
    expect(await readDelivery(other, hash)).toEqual(refused('differs'));
    expect(await readDelivery(packet, hash, { destination_address: STRANGER.address })).toEqual(
      refused('differs'),
    );
    expect(await readDelivery(packet, NOWHERE)).toEqual(refused('not_found'));
    await deliver(other);
  });

  test('a send is its packet as the source chain shows it, once its block is final', async () => {
    const { packet, hash } = await sentIn();
    expect(await readSend(hash)).toEqual(refused('not_final'));
    await lanes.near.mine(100);
    expect(await readSend(hash)).toMatchObject({
      ok: true,
      output: {
        tx_hash: hash,
        packet: packetRecord(packet),
        submitted_amount: '3',
        destination_chain_id: lanes.far.chainId,
        destination_address: PAYEE,
        destination_block: '4',
      },
    });
  });

  test('a send of another amount or account, or none at all, proves nothing', async () => {
    const { hash } = await sentIn();
    const other = await sentIn(omni('4'));
    await lanes.near.mine(100);
    expect(await readSend(other.hash)).toEqual(refused('differs'));
    expect(await readSend(hash, { from: STRANGER.address })).toEqual(refused('differs'));
    expect(await readSend(hash, { from: null })).toMatchObject({ ok: true });
    expect(await readSend(NOWHERE)).toEqual(refused('not_found'));
    expect(await readSend('on the explorer')).toEqual(refused('not_found'));
  });
});

// The last test of the file: afterwards nothing can be received there.
test('a send under way is not judged by other venue entries than it was sent under', async () => {
  const { prepared_action = {} } = await executors().send.prepare(context(), call());
  const changed = executors({ near: { oft: lanes.near.contracts.burnToken } });
  const sent = context({ prior: { prepared_action } });
  const journal = {
    transactions: () => Promise.resolve([]),
    releaseNonce: () => Promise.resolve(false),
    displaced: () => Promise.resolve(false),
    held: () => Promise.resolve(null),
    accepted: () => Promise.resolve(),
  };
  for (const phase of ['observe', 'recover'] as const)
    await expect(changed.send[phase](sent, call(), journal)).rejects.toMatchObject({
      kind: 'not_yet',
      code: 'VENUE_ENTRY_CHANGED',
    });
  expect(await executors().send.recover(sent, call(), journal)).toEqual({ next_state: 'READY' });
});

test('what the other end would not receive is not sent', async () => {
  const { contracts, client, deployer } = lanes.far;
  const token = { address: contracts.omniToken, abi: OMNI_TOKEN.abi } as const;
  expect(await executors().send.preflight(context(), call())).toBeNull();
  // A supply to which nothing can be added.
  const there = await client.readContract({ ...token, functionName: 'totalSupply' });
  await lanes.far.send(
    {
      to: contracts.omniToken,
      abi: OMNI_TOKEN.abi,
      functionName: 'mint',
      args: [STRANGER.address, maxUint256 - (there as bigint)],
    },
    deployer,
  );
  expect(await executors().send.preflight(context(), call())).toMatchObject({
    next_state: 'FAILED',
    error_code: 'RECEIPT_WOULD_FAIL',
    error_message: expect.stringContaining(PAYEE),
  });
});
