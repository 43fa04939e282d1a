/**
 * Decodes the message of a burn, as the published contracts encode it: fixed offsets, big endian,
 * with the burn in its body. Source: `MessageV2.sol` and `BurnMessageV2.sol` of
 * github.com/circlefin/evm-cctp-contracts (4061786).
 */
import type { Hex } from 'viem';

/** The supported version of messages and of their bodies. */
const VERSION = 1;
/** Offset of the message's body, which is the burn, in bytes. */
const BODY = 148;
const LEAST_BYTES = BODY + 228;
const HEX = /^0x(?:[0-9a-f]{2})*$/;

/** The fields that the burn sets, and the four that the attester fills in. */
export interface BurnMessage {
  readonly source_domain: number;
  readonly destination_domain: number;
  /** 32 bytes; zero until the message is attested. */
  readonly nonce: Hex;
  /** The token messenger of the source chain, in 32 bytes; the next field is the destination's. */
  readonly sender: Hex;
  readonly destination_messenger: Hex;
  /** The only account that may mint the burn, in 32 bytes; zero: anyone. */
  readonly destination_caller: Hex;
  readonly min_finality: number;
  readonly finality_executed: number;
  /** Address in 32 bytes, like every address below. */
  readonly burn_token: Hex;
  readonly mint_recipient: Hex;
  /** The burnt amount in base units, like the fees below. */
  readonly amount: bigint;
  readonly message_sender: Hex;
  readonly max_fee: bigint;
  readonly fee_executed: bigint;
  /** Block number of the destination chain from which on the message is refused; 0: never. */
  readonly expiration_block: bigint;
}

export type MessageReading =
  | { readonly ok: true; readonly message: BurnMessage }
  | { readonly ok: false; readonly problem: string };

const no = (problem: string): MessageReading => ({ ok: false, problem });

/**
 * Decodes a burn message of this version without a hook; `problem` says why the bytes are none.
 */
export function readMessage(bytes: string): MessageReading {
  const text = bytes.toLowerCase();
  if (!HEX.test(text)) return no('the message is not hex text of whole bytes');
  const size = (text.length - 2) / 2;
  if (size < LEAST_BYTES) return no(`the message has ${size} bytes, and a burn has ${LEAST_BYTES}`);
  if (size > LEAST_BYTES) return no('the message carries a hook');
  const at = (offset: number, length: number): Hex =>
    `0x${text.slice(2 + 2 * offset, 2 + 2 * (offset + length))}`;
  const number = (offset: number): number => Number(at(offset, 4));
  const word = (offset: number): bigint => BigInt(at(offset, 32));
  if (number(0) !== VERSION) return no(`the message is of version ${number(0)}`);
  if (number(BODY) !== VERSION) return no(`the burn in the message is of version ${number(BODY)}`);
  return {
    ok: true,
    message: {
      source_domain: number(4),
      destination_domain: number(8),
      nonce: at(12, 32),
      sender: at(44, 32),
      destination_messenger: at(76, 32),
      destination_caller: at(108, 32),
      min_finality: number(140),
      finality_executed: number(144),
      burn_token: at(BODY + 4, 32),
      mint_recipient: at(BODY + 36, 32),
      amount: word(BODY + 68),
      message_sender: at(BODY + 100, 32),
      max_fee: word(BODY + 132),
      fee_executed: word(BODY + 164),
      expiration_block: word(BODY + 196),
    },
  };
}

/** The fields that the attester fills in; the burn sets all others. */
export const ATTESTED_FIELDS = [
  'nonce',
  'finality_executed',
  'fee_executed',
  'expiration_block',
] as const satisfies readonly (keyof BurnMessage)[];

const EMITTED_FIELDS = [
  'source_domain',
  'destination_domain',
  'sender',
  'destination_messenger',
  'destination_caller',
  'min_finality',
  'burn_token',
  'mint_recipient',
  'amount',
  'message_sender',
  'max_fee',
] as const satisfies readonly Exclude<keyof BurnMessage, (typeof ATTESTED_FIELDS)[number]>[];

/**
 * Returns how an attested message differs from the burn's emitted message. Null if every field but
 * the attester's four is the same, the message has a nonce, and its fee is within what the burn
 * allows.
 */
export function differs(attested: BurnMessage, emitted: BurnMessage): string | null {
  const field = EMITTED_FIELDS.find((name) => attested[name] !== emitted[name]);
  if (field !== undefined)
    return `${field} is ${attested[field]}, and the burn says ${emitted[field]}`;
  if (BigInt(attested.nonce) === 0n) return 'the message has no nonce';
  if (attested.fee_executed > emitted.max_fee)
    return `the fee of ${attested.fee_executed} base units is more than the ${emitted.max_fee} that the burn allows`;
  if (attested.fee_executed >= attested.amount && attested.fee_executed > 0n)
    return 'the fee takes the whole burnt amount';
  return null;
}

/**
 * Returns the message that a mint must have carried: the emitted header with the nonce and finality
 * of the mint's log, and the body of that log.
 */
export function broughtMessage(
  emitted: string,
  brought: { readonly nonce: Hex; readonly finality: number; readonly body: Hex },
): Hex {
  const at = (offset: number, end: number): string => emitted.slice(2 + 2 * offset, 2 + 2 * end);
  const finality = brought.finality.toString(16).padStart(8, '0');
  const parts = [at(0, 12), brought.nonce.slice(2), at(44, 144), finality, brought.body.slice(2)];
  return `0x${parts.join('').toLowerCase()}`;
}

/** Destination caller that lets any account mint. */
export const ANYBODY: Hex = `0x${'0'.repeat(64)}`;
