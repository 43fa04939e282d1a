/** What may be signed for a send over the bridge, and what a receipt must show of it. */
import {
  concat,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  pad,
  parseAbi,
  parseUnits,
  toHex,
  type Address,
  type Hex,
} from 'viem';
import type { EvmUnsignedTransaction } from '../../../domain/executor.ts';
import type { EvmVenue } from '../../../venues/evm/config.ts';
import { evmVenueSchema } from '../chain-schema.ts';
import { packetOfRecord, packetRecord, readPacket } from '../../../venues/bridge-c/packet.ts';
import { readSendPlan } from '../../../venues/bridge-c/plan.ts';
import { inUnits, sendAct, sendEffect } from '../../../venues/bridge-c/send-act.ts';
import { chainAct } from '../../../venues/evm/act.ts';
import type { TokenDecimals } from '../../../venues/evm/decimals.ts';

const address = (digit: string): Address => `0x${digit.repeat(40)}`;
const [OFT, FAR_OFT, TOKEN, SIGNER, TO, ENDPOINT] = ['1', '2', '3', '4', '5', '6'].map(address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const venue = (chain_id: number, eid: number, oft: Address): EvmVenue =>
  evmVenueSchema.parse({
    ...{ venue_key: `chain-${String(chain_id)}`, provider: 'evm', chain_id },
    ...{ rpc_url: 'http://127.0.0.1:1', finality: 'finalized_tag' },
    tokens: [{ asset: 'OMNI', address: TOKEN }],
    bridge_c: { eid, endpoint: ENDPOINT, tokens: [{ asset: 'OMNI', oft }] },
  });
const VENUES = [venue(31_337, 40_001, OFT), venue(31_338, 40_002, FAR_OFT)];
const PLAN = readSendPlan(
  {
    asset: 'OMNI',
    amount: '2.5',
    config: { source_chain_id: 31_337, destination_chain_id: 31_338, destination_address: TO },
  },
  VENUES,
);
const UNITS = parseUnits('2.5', 18);
const EIGHTEEN = 18 as TokenDecimals;
const SENT = inUnits(PLAN, EIGHTEEN, 6);
const act = chainAct(sendAct(VENUES), PLAN, UNITS, sendEffect(PLAN, SIGNER, SENT));

/** The published signatures, written out once more. */
const ABI = parseAbi([
  'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
  'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
  'function send(SendParam param, MessagingFee fee, address refundAddress) payable',
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)',
]);
const FEE = 500_000_000_000_000n;
const PARAM = {
  dstEid: 40_002,
  to: pad(TO),
  amountLD: UNITS,
  minAmountLD: UNITS,
  extraOptions: '0x' as Hex,
  composeMsg: '0x' as Hex,
  oftCmd: '0x' as Hex,
};

function transaction({
  param = {},
  fee = {},
  refund = SIGNER,
  ...more
}: {
  readonly param?: Partial<typeof PARAM>;
  readonly fee?: { readonly nativeFee?: bigint; readonly lzTokenFee?: bigint };
  readonly refund?: Address;
  readonly chain_id?: number;
  readonly to?: Address;
  readonly value?: bigint;
}): EvmUnsignedTransaction {
  const { chain_id = 31_337, to = OFT, value = FEE } = more;
  return {
    ...{ chain_id, to, value: value.toString(), gas: '200000' },
    ...{ max_fee_per_gas: '1', max_priority_fee_per_gas: '1' },
    data: encodeFunctionData({
      abi: ABI,
      functionName: 'send',
      args: [{ ...PARAM, ...param }, { nativeFee: value, lzTokenFee: 0n, ...fee }, refund],
    }),
  };
}

describe('what is signed for a send', () => {
  it('is the planned one, for whatever the bridge asks', () => {
    for (const value of [1n, FEE, 2_000_000_000_000_000n])
      expect(act.verify(transaction({ value }))).toEqual({ ok: true });
  });

  it.each([
    ['another chain', { chain_id: 31_338 }],
    ['another contract', { to: TOKEN }],
    ['a value that is not the fee', { fee: { nativeFee: FEE + 1n } }],
    ['a fee in another token', { fee: { lzTokenFee: 1n } }],
    ['a refund to somebody else', { refund: TO }],
    ['another endpoint', { param: { dstEid: 40_001 } }],
    ['another payee', { param: { to: pad(SIGNER) } }],
    ['more', { param: { amountLD: UNITS + 10n ** 12n } }],
    ['less at the other end', { param: { minAmountLD: UNITS - 1n } }],
    ['options', { param: { extraOptions: '0x0003' as Hex } }],
    ['a composed message', { param: { composeMsg: '0x00' as Hex } }],
    ['a command', { param: { oftCmd: '0x00' as Hex } }],
  ])('is not one with %s', (_what, change) => {
    expect(act.verify(transaction(change))).toMatchObject({ ok: false });
  });

  it('is no call that merely begins as one', () => {
    const unsigned = transaction({});
    expect(act.verify({ ...unsigned, data: `${unsigned.data}00` })).toMatchObject({ ok: false });
  });
});

const GUID = pad('0xab');
interface LogFields {
  readonly oft?: Address;
  readonly endpoint?: Address;
  readonly from?: Address;
  readonly sent?: bigint;
  readonly received?: bigint;
  readonly guid?: Hex;
  readonly to?: Address;
  readonly shared?: bigint;
  readonly receiver?: Address;
  readonly dstEid?: number;
  readonly srcEid?: number;
  readonly sender?: Address;
}

/** The two logs of a send, as the contracts write them. */
function receipt(fields: LogFields = {}): never {
  const { oft = OFT, endpoint = ENDPOINT, from = SIGNER, sent = UNITS, received = UNITS } = fields;
  const { guid = GUID, to = TO, shared = 2_500_000n, receiver = FAR_OFT, dstEid = 40_002 } = fields;
  const { srcEid = 40_001, sender = OFT } = fields;
  const packet = concat([
    ...(['0x01', toHex(7n, { size: 8 }), toHex(srcEid, { size: 4 }), pad(sender)] as const),
    ...[toHex(dstEid, { size: 4 }), pad(receiver), guid, pad(to), toHex(shared, { size: 8 })],
  ]);
  const log = (of: Address, topics: readonly unknown[], data: Hex) => ({
    ...{ address: of, topics, data, blockNumber: 1n, logIndex: 0, transactionIndex: 0 },
    ...{ blockHash: GUID, transactionHash: GUID, removed: false },
  });
  return {
    logs: [
      log(
        endpoint,
        encodeEventTopics({ abi: ABI, eventName: 'PacketSent' }),
        encodeAbiParameters(
          [{ type: 'bytes' }, { type: 'bytes' }, { type: 'address' }],
          [packet, '0x', ENDPOINT],
        ),
      ),
      log(
        oft,
        encodeEventTopics({
          abi: ABI,
          eventName: 'OFTSent',
          args: { guid: GUID, fromAddress: from },
        }),
        encodeAbiParameters(
          [{ type: 'uint32' }, { type: 'uint256' }, { type: 'uint256' }],
          [40_002, sent, received],
        ),
      ),
    ],
  } as never;
}

describe('what a receipt shows of a send', () => {
  it('is its packet, with what was sent and its id', () => {
    expect(act.did(SIGNER, receipt())).toMatchObject({
      ok: true,
      output: {
        ...{ submitted_amount: '2.5', guid: GUID, destination_chain_id: 31_338 },
        from_address: SIGNER,
        packet: {
          ...{ nonce: '7', source_eid: 40_001, sender: pad(OFT), destination_eid: 40_002 },
          ...{
            receiver: pad(FAR_OFT),
            guid: GUID,
            message: concat([pad(TO), toHex(2_500_000n, { size: 8 })]),
          },
        },
      },
    });
  });

  it.each<[string, LogFields]>([
    ['another token', { oft: FAR_OFT }],
    ['another endpoint', { endpoint: TOKEN }],
    ['somebody else', { from: TO }],
    ['another amount', { sent: UNITS - 1n }],
    ['less at the other end', { received: UNITS - 1n }],
    ['another message', { guid: pad('0xac') }],
    ['another payee', { to: SIGNER }],
    ['an amount that was cut off', { shared: 1n }],
    ['another receiver', { receiver: OFT }],
    ['another destination', { dstEid: 40_001 }],
    ['another source', { srcEid: 40_002 }],
    ['another sender', { sender: FAR_OFT }],
  ])('is not decided by logs of %s', (_what, fields) => {
    expect(act.did(SIGNER, receipt(fields))).toMatchObject({
      ok: false,
      error_code: 'SEND_NOT_SEEN',
    });
  });
});

describe('an amount', () => {
  it('is counted in the decimals that both ends share', () => {
    expect(inUnits({ amount: '2.5' }, EIGHTEEN, 6)).toEqual({
      ...{ units: UNITS, decimals: 18, shared: 2_500_000n },
    });
  });

  it.each([
    ['a part that would not travel', '1.0000001', 18, 6],
    ['more than one message can hold', '18446744073709.551616', 18, 6],
    ['a token with fewer decimals than are shared', '1', 5, 6],
  ])('is refused with %s', (_what, amount, decimals, digits) => {
    expect(() => inUnits({ amount }, decimals as TokenDecimals, digits)).toThrow(
      expect.objectContaining({ code: 'AMOUNT_PRECISION' }),
    );
  });

  it('may be the most that a message can hold', () => {
    expect(inUnits({ amount: '18446744073709.551615' }, EIGHTEEN, 6).shared).toBe(2n ** 64n - 1n);
  });
});

it('keeps a packet in a way that it reads again, and reads nothing else', () => {
  const packet = {
    ...{ nonce: 2n ** 63n, source_eid: 1, destination_eid: 2, sender: pad(OFT) },
    ...{ receiver: pad(FAR_OFT), guid: GUID, message: '0x1234' as Hex },
  };
  expect(packetOfRecord(packetRecord(packet))).toEqual(packet);
  for (const broken of [
    undefined,
    null,
    [],
    { ...packetRecord(packet), nonce: 7 },
    { ...packetRecord(packet), source_eid: '1' },
    { ...packetRecord(packet), guid: 'job-7' },
  ])
    expect(packetOfRecord(broken)).toBeNull();
});

it('reads no packet of another version, nor one that is cut off', () => {
  expect(readPacket(`0x02${'00'.repeat(160)}`)).toBeNull();
  expect(readPacket(`0x01${'00'.repeat(111)}`)).toBeNull();
});
