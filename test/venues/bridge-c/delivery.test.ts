/** What a receipt says of one packet where its transaction has delivered several. */
import { encodeAbiParameters, encodeEventTopics, pad, type Hex } from 'viem';
import { OMNI_TOKEN } from '../../../dev/simulators/bridge/contracts/artifacts.ts';
import { receivedBy } from '../../../venues/bridge-c/delivery.ts';
import type { Packet } from '../../../venues/bridge-c/packet.ts';

const address = (n: number): Hex => pad(`0x${String(n)}`, { size: 20 });
const guid = (n: number): Hex => pad(`0x${String(n)}`, { size: 32 });
const OFT = address(1);
const packet = { guid: guid(7), source_eid: 30_101 } as Packet;

/** The event of a receipt, by this contract, of this packet and from this endpoint. */
function event(by: Hex, id: Hex, srcEid: number, to: Hex, units: bigint) {
  const topics = encodeEventTopics({
    abi: OMNI_TOKEN.abi,
    eventName: 'OFTReceived',
    args: { guid: id, toAddress: to },
  });
  const data = encodeAbiParameters([{ type: 'uint32' }, { type: 'uint256' }], [srcEid, units]);
  return { address: by, topics, data };
}
const receivedFrom = (...logs: readonly object[]) =>
  receivedBy({ oft: OFT, endpoint: address(2), decimals: 18 }, packet, { logs: logs as never });

it('is shown by the event of its own id, of its token and from its source', () => {
  const own = event(OFT, guid(7), 30_101, address(8), 5n);
  const others = [
    event(OFT, guid(6), 30_101, address(8), 900n),
    event(address(3), guid(7), 30_101, address(8), 900n),
    event(OFT, guid(7), 30_102, address(8), 900n),
  ];
  expect(receivedFrom(...others, own)).toEqual({ to: address(8), units: 5n });
  for (const other of others) expect(receivedFrom(other)).toBeNull();
});
