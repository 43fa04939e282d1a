/**
 * A mint as an act: any call that carries exactly the burn's own message. The attester's signatures
 * and fee may have changed since the mint was prepared; amount and payee may not.
 */
import {
  decodeFunctionData,
  encodeFunctionData,
  isAddressEqual,
  isHex,
  parseEventLogs,
  type Address,
  type Hex,
  type TransactionReceipt,
} from 'viem';
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import type { Did } from '../evm/act.ts';
import type { EvmCall } from '../evm/call.ts';
import { exactUnits, type TokenDecimals } from '../evm/decimals.ts';
import { padded, unpaddedWord } from '../evm/words.ts';
import { MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from './contracts.ts';
import { ANYBODY, differs, readMessage, type BurnMessage } from './message.ts';
import type { LaneVenue } from './plan.ts';

/** The facts about a burn that its mint needs. */
export interface MintPlan {
  readonly destination: LaneVenue;
  /** The token that is minted, on the destination chain. */
  readonly minted: Address;
  /** The message as the source chain's transmitter emitted it. */
  readonly emitted: BurnMessage;
  /** The burnt amount, in units of the asset. */
  readonly amount: string;
  /** The nonce of the burn's message, as the attester set it. */
  readonly nonce: Hex;
  /** Block of the destination chain; no older block can contain the mint. */
  readonly since: bigint;
}

export function mintCall(plan: MintPlan, message: Hex, attestation: Hex): EvmCall {
  return {
    to: plan.destination.cctp.message_transmitter,
    value: 0n,
    data: encodeFunctionData({
      abi: MESSAGE_TRANSMITTER,
      functionName: 'receiveMessage',
      args: [message, attestation],
    }),
  };
}

/** Returns why a transaction is not a mint of this burn by `from`, or null. */
export function mintProblem(
  plan: MintPlan,
  from: Address,
  decimals: TokenDecimals,
  unsigned: EvmUnsignedTransaction,
): string | null {
  const { destination, emitted } = plan;
  const { message_transmitter: transmitter } = destination.cctp;
  if (!sameEvmAddress(unsigned.to, transmitter))
    return `the transaction calls ${unsigned.to}, the mint ${transmitter}`;
  if (unsigned.value !== '0') return 'a mint carries no value';
  const brought = broughtBy(unsigned.data);
  if (brought === null) return 'the calldata is not one burn message with its attestation';
  const why = differs(brought.message, emitted);
  if (why !== null) return `the message is not the burn's own: ${why}`;
  if (brought.message.nonce !== plan.nonce)
    return `the message has nonce ${brought.message.nonce}, and the burn has ${plan.nonce}`;
  if (exactUnits(plan.amount, decimals) !== emitted.amount)
    return `the message mints ${emitted.amount} base units, and the plan ${plan.amount}`;
  return emitted.destination_caller === ANYBODY || emitted.destination_caller === padded(from)
    ? null
    : `only 0x${emitted.destination_caller.slice(26)} may mint this burn, and the signer is ${from}`;
}

/**
 * Returns the message in the calldata, which must be encoded exactly as the transmitter's ABI
 * encodes it; else null.
 */
function broughtBy(data: string): { readonly message: BurnMessage } | null {
  if (!isHex(data)) return null;
  try {
    const { functionName, args } = decodeFunctionData({ abi: MESSAGE_TRANSMITTER, data });
    if (functionName !== 'receiveMessage') return null;
    const again = encodeFunctionData({ abi: MESSAGE_TRANSMITTER, functionName, args });
    const reading = readMessage(args[0]);
    return reading.ok && again === data.toLowerCase() ? { message: reading.message } : null;
  } catch {
    return null;
  }
}

/**
 * Returns what the mined mint did; `MINT_NOT_SEEN` if the messenger logged no mint to the payee.
 */
export function minted(plan: MintPlan, decimals: number, receipt: TransactionReceipt): Did {
  const payee = unpaddedWord(plan.emitted.mint_recipient);
  // Read from the message, since the venues file may have changed.
  const messenger = unpaddedWord(plan.emitted.destination_messenger);
  const received = receivedIn(plan, receipt).find((log) => log.args.nonce === plan.nonce);
  // A message's mint is logged before the message's own event and after the previous message's
  // event.
  const mints = parseEventLogs({
    abi: TOKEN_MESSENGER,
    eventName: 'MintAndWithdraw',
    logs: receipt.logs,
  }).filter(
    (log) =>
      messenger !== null &&
      isAddressEqual(log.address, messenger) &&
      isAddressEqual(log.args.mintToken, plan.minted) &&
      payee !== null &&
      isAddressEqual(log.args.mintRecipient, payee) &&
      log.args.amount + log.args.feeCollected === plan.emitted.amount,
  );
  const mint = mints
    .filter((log) => received !== undefined && log.logIndex < received.logIndex)
    .at(-1);
  if (received === undefined || mint === undefined)
    return {
      ok: false,
      error_code: 'MINT_NOT_SEEN',
      error_message:
        "the transaction succeeded, but the messenger minted nothing of this burn; look at the transaction's logs",
    };
  return {
    ok: true,
    output: {
      requested_amount: plan.amount,
      submitted_amount: plan.amount,
      received_amount: fromBaseUnits(mint.args.amount, decimals),
      bridge_fee_amount: fromBaseUnits(mint.args.feeCollected, decimals),
      message_nonce: received.args.nonce,
      finality_executed: received.args.finalityThresholdExecuted,
      mint_recipient: mint.args.mintRecipient,
    } satisfies JsonObject,
  };
}

/**
 * Returns the transmitter's events of messages that may be this burn's own; events do not show the
 * rest of the message's header.
 */
export function receivedIn(
  { destination, emitted }: Pick<MintPlan, 'destination' | 'emitted'>,
  { logs }: TransactionReceipt,
) {
  return parseEventLogs({ abi: MESSAGE_TRANSMITTER, eventName: 'MessageReceived', logs }).filter(
    (log) =>
      isAddressEqual(log.address, destination.cctp.message_transmitter) &&
      log.args.sourceDomain === emitted.source_domain &&
      log.args.sender.toLowerCase() === emitted.sender &&
      isBodyOf(log.args.messageBody, emitted),
  );
}

/** Compares the body with the burn's, but not fee and expiration: the attester also sets these. */
function isBodyOf(body: Hex, emitted: BurnMessage): boolean {
  const header = `0x${'0'.repeat(2 * 148)}`;
  const reading = readMessage(`${header.slice(0, 2)}00000001${header.slice(10)}${body.slice(2)}`);
  if (!reading.ok) return false;
  const { message } = reading;
  return (
    message.burn_token === emitted.burn_token &&
    message.mint_recipient === emitted.mint_recipient &&
    message.amount === emitted.amount &&
    message.message_sender === emitted.message_sender &&
    message.max_fee === emitted.max_fee
  );
}
