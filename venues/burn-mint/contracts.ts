/**
 * The part of the published contracts that the service uses. Source: `TokenMessengerV2.sol`,
 * `BaseTokenMessenger.sol`, `MessageTransmitterV2.sol`, `Attestable.sol`, `Pausable.sol` of
 * github.com/circlefin/evm-cctp-contracts (4061786).
 */
import { parseAbi } from 'viem';

export const TOKEN_MESSENGER = parseAbi([
  'function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)',
  'function getMinFeeAmount(uint256 amount) view returns (uint256)',
  'function localMinter() view returns (address)',
  'function localMessageTransmitter() view returns (address)',
  'function remoteTokenMessengers(uint32 domain) view returns (bytes32)',
  'event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected)',
]);

export const MESSAGE_TRANSMITTER = parseAbi([
  'function receiveMessage(bytes message, bytes attestation) returns (bool)',
  'function usedNonces(bytes32 nonce) view returns (uint256)',
  'function localDomain() view returns (uint32)',
  'function signatureThreshold() view returns (uint256)',
  'function isEnabledAttester(address attester) view returns (bool)',
  'event MessageSent(bytes message)',
  'event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)',
]);

/** The minter's call of the token. Source: `IMintBurnToken.sol` of the same repository. */
export const MINTED_TOKEN = parseAbi(['function mint(address to, uint256 amount) returns (bool)']);

/** The minter's list of local tokens. Source: `TokenMinter.sol` of the same repository. */
export const TOKEN_MINTER = parseAbi([
  'function getLocalToken(uint32 remoteDomain, bytes32 remoteToken) view returns (address)',
]);
