/**
 * The part of the published contracts that the service uses. Source: `IOFT.sol`, `OFTCore.sol`,
 * `OAppCore.sol` and `ILayerZeroEndpointV2.sol` with the interfaces that it extends, of
 * github.com/LayerZero-Labs/LayerZero-v2 (9c741e7).
 */
import { parseAbi } from 'viem';

const SEND_PARAM =
  'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }';
const FEE = 'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }';

export const OFT = parseAbi([
  SEND_PARAM,
  FEE,
  'struct MessagingReceipt { bytes32 guid; uint64 nonce; MessagingFee fee; }',
  'struct OFTLimit { uint256 minAmountLD; uint256 maxAmountLD; }',
  'struct OFTFeeDetail { int256 feeAmountLD; string description; }',
  'struct OFTReceipt { uint256 amountSentLD; uint256 amountReceivedLD; }',
  'function token() view returns (address)',
  'function approvalRequired() view returns (bool)',
  'function sharedDecimals() view returns (uint8)',
  'function endpoint() view returns (address)',
  'function peers(uint32 eid) view returns (bytes32)',
  'struct Origin { uint32 srcEid; bytes32 sender; uint64 nonce; }',
  'function nextNonce(uint32 srcEid, bytes32 sender) view returns (uint64)',
  'function lzReceive(Origin origin, bytes32 guid, bytes message, address executor, bytes extraData) payable',
  'function quoteOFT(SendParam param) view returns (OFTLimit limit, OFTFeeDetail[] details, OFTReceipt receipt)',
  'function quoteSend(SendParam param, bool payInLzToken) view returns (MessagingFee)',
  'function send(SendParam param, MessagingFee fee, address refundAddress) payable returns (MessagingReceipt, OFTReceipt)',
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)',
]);

export const ENDPOINT = parseAbi([
  'function eid() view returns (uint32)',
  'function inboundPayloadHash(address receiver, uint32 srcEid, bytes32 sender, uint64 nonce) view returns (bytes32)',
  'function lazyInboundNonce(address receiver, uint32 srcEid, bytes32 sender) view returns (uint64)',
  'event PacketSent(bytes encodedPayload, bytes options, address sendLibrary)',
]);
