/** The omnichain token on two real chains, with the deliverer between them. */
import { parseEventLogs } from 'viem';
import { ENDPOINT, OMNI_TOKEN } from '../../dev/simulators/bridge/contracts/artifacts.ts';
import type { PacketView } from '../../dev/simulators/bridge/deliverer/deliveries.ts';
import { startDeliverer } from '../../dev/simulators/bridge/deliverer/start.ts';
import { PACKET_FEE_WEI } from '../../dev/simulators/bridge/lanes.ts';
import {
  PAYEE,
  SIGNER,
  STRANGER,
  balance,
  eventually,
  omni,
  omniSend,
  post,
  sendParam,
  startLanes,
  supply,
  type Call,
  type Hex,
} from './bridge-stack.ts';
import { started } from '../support/started.ts';

const lanes = started(() => startLanes());
const deliverer = started(() => startDeliverer({ port: 0, urls: lanes.urls }));

beforeEach(() => fetch(`${deliverer.url}/faults`, { method: 'DELETE' }));

const faults = (wish: object): Promise<Response> =>
  post(`${deliverer.url}/faults`, JSON.stringify(wish));
const received = (): Promise<bigint> => balance(lanes.far, lanes.far.contracts.omniToken, PAYEE);
const total = async (): Promise<bigint> =>
  (await supply(lanes.near, lanes.near.contracts.omniToken)) +
  (await supply(lanes.far, lanes.far.contracts.omniToken));

/** Sends from near to far; the id of the packet. */
async function send(amount: bigint, value = PACKET_FEE_WEI): Promise<Hex> {
  const receipt = await lanes.near.send(omniSend(lanes.near, lanes.far, amount, value));
  const [sent] = parseEventLogs({ ...OMNI_TOKEN, logs: receipt.logs, eventName: 'OFTSent' });
  if (sent === undefined) throw new Error('the send reverted');
  return sent.args.guid;
}

async function packet(guid: Hex): Promise<PacketView | null> {
  const answer = await fetch(`${deliverer.url}/packets`);
  const { packets } = (await answer.json()) as { packets: PacketView[] };
  return packets.find((each) => each.guid === guid) ?? null;
}

const reached = (guid: Hex, status: PacketView['status']): Promise<PacketView> =>
  eventually(async () => {
    const found = await packet(guid);
    return found?.status === status ? found : null;
  });

const deliver = ({ origin, receiver, guid, message }: PacketView): Call => ({
  to: lanes.far.contracts.endpoint,
  abi: ENDPOINT.abi,
  functionName: 'lzReceive',
  args: [{ ...origin, nonce: BigInt(origin.nonce) }, receiver, guid, message, '0x'],
});

const logsOf = (address: Hex) =>
  lanes.far.client.getLogs({ address, fromBlock: 0n, toBlock: 'latest' });

test('what is sent arrives once, and what is paid too much comes back', async () => {
  const { near, far } = lanes;
  const [before, had] = [await total(), await received()];
  const fee = await near.client.readContract({
    address: near.contracts.omniToken,
    abi: OMNI_TOKEN.abi,
    functionName: 'quoteSend',
    args: [sendParam(far, omni('3')) as never, false],
  });
  expect(fee).toEqual({ nativeFee: PACKET_FEE_WEI, lzTokenFee: 0n });
  const ether = await near.client.getBalance({ address: SIGNER.address });
  const receipt = await near.send(omniSend(near, far, omni('3'), PACKET_FEE_WEI * 2n));
  const gas = receipt.gasUsed * receipt.effectiveGasPrice;
  const left = await near.client.getBalance({ address: SIGNER.address });
  expect(ether - left - gas).toBe(PACKET_FEE_WEI);
  const [sent] = parseEventLogs({ ...OMNI_TOKEN, logs: receipt.logs, eventName: 'OFTSent' });
  expect(sent?.args).toMatchObject({ amountSentLD: omni('3'), amountReceivedLD: omni('3') });
  const arrived = await reached(sent?.args.guid ?? '0x', 'delivered');
  expect((await received()) - had).toBe(omni('3'));
  expect(await total()).toBe(before);
  expect(await far.refusal(deliver(arrived), STRANGER)).toContain('LZ_PayloadHashNotFound');
  expect((await far.send(deliver(arrived), STRANGER)).status).toBe('reverted');
  expect((await received()) - had).toBe(omni('3'));
});

test('too little is refused, and dust where none may be lost', async () => {
  const { near, far } = lanes;
  const short = omniSend(near, far, omni('1'), PACKET_FEE_WEI - 1n);
  expect(await near.refusal(short)).not.toBeNull();
  expect((await near.send(short)).status).toBe('reverted');
  const dusty = omniSend(near, far, omni('1') + 1n, PACKET_FEE_WEI);
  expect(await near.refusal(dusty)).toContain('SlippageExceeded');
});

test('a packet that is verified may be delivered by anybody', async () => {
  await faults({ deliver: false });
  const had = await received();
  const waiting = await reached(await send(omni('2')), 'verified');
  expect(await received()).toBe(had);
  expect((await lanes.far.send(deliver(waiting), STRANGER)).status).toBe('success');
  expect((await received()) - had).toBe(omni('2'));
  await reached(waiting.guid, 'delivered');
});

test('a packet that is not verified is not delivered', async () => {
  await faults({ verify: false });
  const waiting = await reached(await send(omni('1')), 'sent');
  expect(await lanes.far.refusal(deliver(waiting), STRANGER)).toContain('LZ_InvalidNonce');
  await faults({});
  await reached(waiting.guid, 'delivered');
});

test('deliveries fail with an alert, are repeated in vain, and come in another order', async () => {
  const { far } = lanes;
  const had = await received();
  await faults({ fail_times: 2, repeat: 1, hold_until: 2, order: 'reversed' });
  const first = await send(omni('1'));
  const second = await send(omni('2'));
  const repeated = (guid: Hex): Promise<PacketView> =>
    eventually(async () => {
      const found = await packet(guid);
      return found?.status === 'delivered' && found.repeats === 1 ? found : null;
    });
  expect((await repeated(second)).alerts).toBe(2);
  // The first waits until another one does.
  await faults({ repeat: 1 });
  expect((await repeated(first)).alerts).toBe(2);
  expect((await received()) - had).toBe(omni('3'));
  const logs = await logsOf(far.contracts.endpoint);
  const alerts = parseEventLogs({ ...ENDPOINT, logs, eventName: 'LzReceiveAlert' });
  expect(alerts.map(({ args }) => args.guid).sort()).toEqual([first, first, second, second].sort());
  const arrivals = parseEventLogs({
    ...OMNI_TOKEN,
    logs: await logsOf(far.contracts.omniToken),
    eventName: 'OFTReceived',
  });
  expect(arrivals.slice(-2).map(({ args }) => args.guid)).toEqual([second, first]);
});

test('lost answers and a delivery that is taken back change nothing in the end', async () => {
  const { far } = lanes;
  const [before, had] = [await total(), await received()];
  await far.faults({ drop_answer_rate: 0.5, drop_read_rate: 0.1 });
  const guid = await send(omni('4'));
  await reached(guid, 'delivered');
  await far.faults({ drop_answer_rate: 0, drop_read_rate: 0 });
  await far.rollback(1);
  await eventually(async () => ((await received()) - had === omni('4') ? true : null));
  expect(await total()).toBe(before);
});
