/**
 * A transfer under way over a bridge reaches its end, through HTTP: after a cancel, after a failed
 * second leg, and when the outcome of either leg is unknown.
 */
import {
  concat,
  createPublicClient,
  createWalletClient,
  http,
  keccak256,
  parseAbi,
  parseUnits,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { DELIVERER } from '../../dev/simulators/bridge/lanes.ts';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import { amountOf, supplyOf, unitsOf } from '../support/bridge-books.ts';
import { burnAndMint, sendAndArrive } from '../support/bridge-plans.ts';
import { openPaths } from '../support/bridge-registry.ts';
import { omniSupply, readOmniBooks } from '../support/omni-books.ts';
import { eventually, ownStack, type Created } from '../support/own-stack.ts';

const LIMIT_MS = 240_000;
const MINT_PLAN = 'test/owed-mint';
const SEND_PLAN = 'test/owed-delivery';
const TRANSMITTER = parseAbi(['function setPaused(bool)']);
const ENDPOINT = parseAbi([
  'struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }',
  'function verify(Origin origin, address receiver, bytes32 payloadHash)',
]);
let bridges: StackBridges;
const own = ownStack({
  bridges: true,
  split: true,
  env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '2', SVC_UNPROVEN_ASK_SECONDS: '1' },
});
beforeAll(async () => {
  bridges = own.stack.bridges!;
  const { near: from, far: to } = bridges;
  const payee = own.stack.chain.accounts.treasury.address;
  const ways = { from, to, payee };
  const mint = burnAndMint({ ...ways, key: MINT_PLAN, finality: 'standard', gated: true });
  const send = sendAndArrive({ ...ways, key: SEND_PLAN });
  for (const plan of [mint, send]) await own.api.expect(201, 'POST', '/plan-templates', open(plan));
  await openPaths((...of) => own.api.expect(...of), bridges);
});
afterEach(async () => {
  for (const url of [bridges.near.rpcUrl, bridges.delivererUrl]) await faults(url, null);
});

/** The plan with an end for a cancel, and a gate behind a mint that fails. */
function open(plan: object): object {
  const { nodes, edges } = plan as { nodes: { node_key: string }[]; edges: object[] };
  const gated = nodes.some(({ node_key }) => node_key === 'mint');
  const first = gated ? 'burn' : 'send';
  const ask = { node_key: 'ask', node_kind: 'manual_gate', action_type: 'manual_gate' };
  const notice = { node_key: 'notice', node_kind: 'compensation', action_type: 'noop' };
  return {
    ...plan,
    nodes: [...nodes, notice, ...(gated ? [ask] : [])],
    edges: [
      ...edges,
      { from: first, to: 'notice', edge_type: 'on_cancel' },
      ...(gated ? [{ from: 'mint', to: 'ask', edge_type: 'on_failure' }] : []),
    ],
  };
}

async function faults(url: string, wanted: object | null): Promise<void> {
  const answer = await fetch(`${url}/faults`, {
    method: wanted === null ? 'DELETE' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(wanted === null ? {} : { body: JSON.stringify(wanted) }),
  });
  if (!answer.ok) throw new Error(`${url} refused the faults: ${await answer.text()}`);
}
const treasury = (): Hex => own.stack.chain.accounts.treasury.address;
const omniHeld = async (): Promise<bigint> => (await readOmniBooks(bridges.far)).held(treasury());
const nodeOf = async ({ movement_id }: Created, key: string) =>
  (await own.api.movement(movement_id)).nodes.find(({ node_key }) => node_key === key);

async function begin(template: string, asset: string, amount: string): Promise<Created> {
  const made = await own.api.create(template, { amount, intent: { asset } });
  await own.api.approve(made);
  return made;
}
/** Also in a movement that has ended, or goes on after its cancel. */
const reaches = (made: Created, key: string, state: string) =>
  eventually(
    async () => {
      const node = await nodeOf(made, key);
      return node?.state === state ? node : null;
    },
    { what: () => `${key} to be ${state}`, timeoutMs: 120_000 },
  );

/** Calls a contract of the bridges as somebody who may. */
async function as(
  side: BridgeSide,
  privateKey: Hex,
  call: {
    address: Hex;
    abi: typeof TRANSMITTER | typeof ENDPOINT;
    functionName: string;
    args: unknown[];
  },
): Promise<void> {
  const transport = http(side.rpcUrl);
  const wallet = createWalletClient({ account: privateKeyToAccount(privateKey), transport });
  const hash = await wallet.writeContract({ chain: null, ...call } as never);
  const { status } = await createPublicClient({ transport }).waitForTransactionReceipt({ hash });
  expect(status).toBe('success');
}
const pause = (to: boolean): Promise<void> =>
  as(bridges.far, bridges.far.deployer.privateKey, {
    address: bridges.far.contracts.messageTransmitter,
    abi: TRANSMITTER,
    functionName: 'setPaused',
    args: [to],
  });

test(
  'what is burnt is minted after a cancel, past the gate, which is not resumed',
  async () => {
    const before = await supplyOf(bridges);
    const made = await begin(MINT_PLAN, 'USDB', '11');
    await own.api.reaches(made.movement_id, 'WAITING_MANUAL_ACTION', 120_000);
    await own.api.act('cancel', made.movement_id);
    await reaches(made, 'mint', 'COMPLETED');
    const { request_state, nodes } = await own.api.movement(made.movement_id);
    expect(request_state).toBe('CANCELLED');
    expect(nodes.map(({ node_key, state }) => `${node_key} ${state}`)).toContain('wait CANCELLED');
    const after = await supplyOf(bridges);
    expect([amountOf(after.sum), after.far - before.far]).toEqual([
      amountOf(before.sum),
      unitsOf('11'),
    ]);
  },
  LIMIT_MS,
);

test(
  'what is sent is followed to its arrival after a cancel',
  async () => {
    const [before, held] = [await omniSupply(bridges), await omniHeld()];
    await faults(bridges.delivererUrl, { deliver: false });
    const made = await begin(SEND_PLAN, 'OMNI', '1.5');
    await reaches(made, 'arrive', 'OBSERVING');
    await own.api.act('cancel', made.movement_id);
    await faults(bridges.delivererUrl, null);
    const { output } = await reaches(made, 'arrive', 'COMPLETED');
    expect(output).toMatchObject({ received_amount: '1.5' });
    expect(await omniHeld()).toBe(held + parseUnits('1.5', 18));
    expect(await omniSupply(bridges)).toBe(before);
  },
  LIMIT_MS,
);

test(
  'a mint that fails is tried again, before and after somebody resumed what waited for it',
  async () => {
    const before = await supplyOf(bridges);
    const made = await begin(MINT_PLAN, 'USDB', '13');
    const { movement_id } = made;
    await own.api.reaches(movement_id, 'WAITING_MANUAL_ACTION', 120_000);
    await pause(true);
    try {
      await own.api.act('resume', movement_id);
      await reaches(made, 'ask', 'READY');
      await own.api.act('retry', movement_id);
      await reaches(made, 'ask', 'BLOCKED');
      await reaches(made, 'ask', 'READY');
      await own.api.act('resume', movement_id);
      // A person resumed the gate; that mints nothing, and the movement does not report success.
      const failed = await own.api.reaches(movement_id, 'FAILED', 60_000);
      expect(failed.nodes.find(({ node_key }) => node_key === 'mint')?.state).toBe('FAILED');
    } finally {
      await pause(false);
    }
    await own.api.act('retry', movement_id);
    await own.api.reaches(movement_id, 'COMPLETED', 120_000);
    const after = await supplyOf(bridges);
    expect([amountOf(after.sum), after.far - before.far]).toEqual([
      amountOf(before.sum),
      unitsOf('13'),
    ]);
  },
  LIMIT_MS,
);

test(
  'an unknown send is not resolved without its packet; a retry finds it',
  async () => {
    const [before, held] = [await omniSupply(bridges), await omniHeld()];
    const { rpcUrl } = bridges.near;
    await faults(rpcUrl, { mining: 'paused' });
    const made = await begin(SEND_PLAN, 'OMNI', '1.25');
    await reaches(made, 'send', 'OBSERVING');
    await faults(rpcUrl, { mining: 'paused', drop_read_rate: 1 });
    await reaches(made, 'send', 'UNKNOWN');
    const path = `/movements/${made.movement_id}/nodes/send/actions/resolve`;
    const said = { outcome: 'completed', reason: 'seen on the explorer', evidence: { by: 'me' } };
    const answer = await own.api.send('POST', path, said);
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: { error: 'claim_missing', missing: ['output.tx_hash'] } },
    });
    await faults(rpcUrl, null);
    await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
    expect(await omniHeld()).toBe(held + parseUnits('1.25', 18));
    expect(await omniSupply(bridges)).toBe(before);
  },
  LIMIT_MS,
);

test(
  'a delivery that somebody else stands in the way of asks a person, and goes on by itself',
  async () => {
    const held = await omniHeld();
    await faults(bridges.delivererUrl, { verify: false });
    const made = await begin(SEND_PLAN, 'OMNI', '1.75');
    await reaches(made, 'arrive', 'OBSERVING');
    const packet = (await nodeOf(made, 'send'))?.output?.['packet'] as {
      readonly [field in 'nonce' | 'sender' | 'receiver' | 'guid' | 'message']: Hex;
    };
    const origin = { srcEid: bridges.near.eid, sender: packet.sender, nonce: BigInt(packet.nonce) };
    const verify = (payloadHash: Hex): Promise<void> =>
      as(bridges.far, DELIVERER.privateKey, {
        address: bridges.far.contracts.endpoint,
        abi: ENDPOINT,
        functionName: 'verify',
        args: [origin, `0x${packet.receiver.slice(-40)}`, payloadHash],
      });
    await verify(`0x${'01'.repeat(32)}`);
    const { error_message } = await reaches(made, 'arrive', 'UNKNOWN');
    expect(error_message).toContain('another one has its nonce');
    const { request_state } = await own.api.movement(made.movement_id);
    expect(request_state).toBe('MANUAL_INTERVENTION');
    await faults(bridges.delivererUrl, null);
    // The operator of the bridge puts the message back; the service finds it by itself.
    await verify(keccak256(concat([packet.guid, packet.message])));
    await own.api.reaches(made.movement_id, 'COMPLETED', 120_000);
    expect(await omniHeld()).toBe(held + parseUnits('1.75', 18));
  },
  LIMIT_MS,
);
