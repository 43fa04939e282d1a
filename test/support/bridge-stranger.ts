/** Somebody with a key of their own, who uses the omnichain token and its bridge as anybody may. */
import { createPublicClient, createWalletClient, http, pad, parseAbi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { PACKET_FEE_WEI } from '../../dev/simulators/bridge/lanes.ts';
import type { BridgeSide } from '../../dev/stack/bridges.ts';

const TOKEN = parseAbi([
  'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
  'struct Fee { uint256 nativeFee; uint256 lzTokenFee; }',
  'function mint(address to, uint256 value)',
  'function send(SendParam param, Fee fee, address refundAddress) payable',
]);
const ENDPOINT = parseAbi([
  'struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }',
  'function lzReceive(Origin origin, address receiver, bytes32 guid, bytes message, bytes extraData)',
]);

/** What the node of a waiting delivery shows; all but the first two once it is verified. */
export interface Delivery {
  readonly state: string;
  readonly chain_id: number;
  readonly endpoint: Hex;
  readonly origin: { readonly srcEid: number; readonly sender: Hex; readonly nonce: string };
  readonly receiver: Hex;
  readonly guid: Hex;
  readonly message: Hex;
}

const walletOf = (side: BridgeSide, key: Hex) =>
  createWalletClient({ account: privateKeyToAccount(key), transport: http(side.rpcUrl) });

/** What a stranger with this key can do; each answers the hash of its transaction. */
export const stranger = (key: Hex) => ({
  /** Brings what is verified to its receiver, and pays for it. */
  deliver: (side: BridgeSide, { endpoint, origin, receiver, guid, message }: Delivery) =>
    walletOf(side, key).writeContract({
      chain: null,
      address: endpoint,
      abi: ENDPOINT,
      functionName: 'lzReceive',
      args: [{ ...origin, nonce: BigInt(origin.nonce) }, receiver, guid, message, '0x'],
    }),

  /** Sends so much of the token over the bridge, which {@link fund} has brought. */
  send: (from: BridgeSide, to: BridgeSide, payee: Hex, units: bigint): Promise<Hex> => {
    const wallet = walletOf(from, key);
    const param = {
      dstEid: to.eid,
      to: pad(payee),
      amountLD: units,
      minAmountLD: units,
      ...({ extraOptions: '0x', composeMsg: '0x', oftCmd: '0x' } as const),
    };
    return wallet.writeContract({
      chain: null,
      address: from.contracts.omniToken,
      abi: TOKEN,
      functionName: 'send',
      args: [param, { nativeFee: PACKET_FEE_WEI, lzTokenFee: 0n }, wallet.account.address],
      value: PACKET_FEE_WEI,
      // Enough as well for the first send of a chain, which a block taken back may make it.
      gas: 1_000_000n,
    });
  },

  /** The token's owner makes some for the stranger; it is there afterwards. */
  fund: async (side: BridgeSide, units: bigint): Promise<void> => {
    const owner = walletOf(side, side.deployer.privateKey);
    const hash = await owner.writeContract({
      chain: null,
      address: side.contracts.omniToken,
      abi: TOKEN,
      functionName: 'mint',
      args: [privateKeyToAccount(key).address, units],
    });
    await createPublicClient({ transport: http(side.rpcUrl) }).waitForTransactionReceipt({ hash });
  },
});
