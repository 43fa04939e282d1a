/**
 * Reads and writes burn messages in the layout of the published contracts: fixed offsets, big
 * endian. Source: `MessageV2.sol` and `BurnMessageV2.sol` of
 * github.com/circlefin/evm-cctp-contracts.
 */
import type { Hex } from '../../kit/hex.ts';

/**
 * BODY: offset of the message body, in bytes. FIELDS: offset and length of each field, in bytes.
 */
const BODY = 148;
const FIELDS = {
  sourceDomain: [4, 4],
  destinationDomain: [8, 4],
  nonce: [12, 32],
  sender: [44, 32],
  recipient: [76, 32],
  destinationCaller: [108, 32],
  minFinalityThreshold: [140, 4],
  finalityThresholdExecuted: [144, 4],
  burnToken: [BODY + 4, 32],
  mintRecipient: [BODY + 36, 32],
  amount: [BODY + 68, 32],
  messageSender: [BODY + 100, 32],
  maxFee: [BODY + 132, 32],
  feeExecuted: [BODY + 164, 32],
  expirationBlock: [BODY + 196, 32],
} as const;
const LEAST_BYTES = BODY + 228;
type Field = keyof typeof FIELDS;

/** Returns whether the message is long enough for a burn. */
export const isBurn = (message: Hex): boolean => (message.length - 2) / 2 >= LEAST_BYTES;

export function field(message: Hex, name: Field): bigint {
  return BigInt(part(message, name));
}

/** Returns the message with new values in some fields. */
export function withFields(
  message: Hex,
  values: Readonly<Partial<Record<Field, bigint | Hex>>>,
): Hex {
  let text: string = message;
  for (const [name, value] of Object.entries(values)) {
    const [offset, length] = FIELDS[name as Field];
    const digits = BigInt(value)
      .toString(16)
      .padStart(2 * length, '0');
    text = text.slice(0, 2 + 2 * offset) + digits + text.slice(2 + 2 * (offset + length));
  }
  return text as Hex;
}

/** Returns the message's fields in the API's form. */
export function decoded(message: Hex): Record<string, unknown> {
  const word = (name: Field): string => part(message, name);
  const address = (name: Field): string => `0x${part(message, name).slice(26)}`;
  const number = (name: Field): string => field(message, name).toString();
  return {
    sourceDomain: number('sourceDomain'),
    destinationDomain: number('destinationDomain'),
    nonce: word('nonce'),
    sender: address('sender'),
    recipient: address('recipient'),
    destinationCaller: word('destinationCaller'),
    minFinalityThreshold: number('minFinalityThreshold'),
    finalityThresholdExecuted: number('finalityThresholdExecuted'),
    messageBody: `0x${message.slice(2 + 2 * BODY)}`,
    decodedMessageBody: {
      burnToken: address('burnToken'),
      mintRecipient: address('mintRecipient'),
      amount: number('amount'),
      messageSender: address('messageSender'),
      maxFee: number('maxFee'),
      feeExecuted: number('feeExecuted'),
      expirationBlock: number('expirationBlock'),
      hookData: `0x${message.slice(2 + 2 * LEAST_BYTES)}`,
    },
  };
}

function part(message: Hex, name: Field): Hex {
  const [offset, length] = FIELDS[name];
  return `0x${message.slice(2 + 2 * offset, 2 + 2 * (offset + length))}`;
}
