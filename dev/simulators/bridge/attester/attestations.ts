/**
 * Signs attestations of burns: reads the messages of a transaction from its receipt, waits until
 * its block is as deep as the message requires, fills in the four fields that the attester decides,
 * and signs.
 */
import { concat, keccak256, parseEventLogs, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { MESSAGE_TRANSMITTER } from '../contracts/artifacts.ts';
import { receiptOf } from '../../kit/chain.ts';
import type { Hex } from '../../kit/hex.ts';
import { createTurns } from '../../kit/turns.ts';
import { ATTESTERS, SIGNATURE_THRESHOLD } from '../lanes.ts';
import type { Side } from '../sides.ts';
import type { AttesterFaults } from './faults.ts';
import type { AttesterJournal } from './journal.ts';
import { decoded, field, isBurn, withFields } from './message.ts';

const CONFIRMED = 1_000n;
const FINALIZED = 2_000n;
/** Validity of a fast attestation, in blocks of the destination chain. */
const GOOD_FOR_BLOCKS = 10_000n;

/** One message in the form of the API. */
export type MessageView = Readonly<Record<string, unknown>>;

export interface Attestations {
  /** Returns the messages that a transaction on a domain sent; null for an unknown transaction. */
  messagesOf(domain: number, transaction: Hex): Promise<readonly MessageView[] | null>;
  /**
   * Schedules another attestation of the message with this nonce; returns false when there is none.
   */
  attestAnew(nonce: string): boolean;
}

interface Emitted {
  readonly key: string;
  readonly message: Hex;
  readonly block: bigint;
}

export function createAttestations(
  sides: readonly Side[],
  journal: AttesterJournal,
  faults: () => AttesterFaults,
): Attestations {
  /** Simultaneous calls run one after the other, so that they return the same attestation. */
  const inTurn = createTurns();

  const look = async (side: Side, transaction: Hex): Promise<readonly MessageView[] | null> => {
    const emitted = await emittedBy(side, transaction);
    // A signed message stays available, also when its burn is no longer on the chain.
    const signed = journal
      .all()
      .filter(([key, known]) => key.startsWith(keyOf(side, transaction)) && known.attested);
    if (emitted.length === 0 && signed.length === 0) return null;
    for (const one of emitted) await attestIfDue(side, one);
    const keys = new Set([...signed.map(([key]) => key), ...emitted.map(({ key }) => key)]);
    return Promise.all([...keys].sort().map((key) => view(key)));
  };

  const attestIfDue = async (side: Side, { key, message, block }: Emitted): Promise<void> => {
    if (journal.known(key) === undefined) journal.append({ kind: 'seen', key, at: Date.now() });
    const known = journal.known(key);
    if (known === undefined || (known.attested !== null && known.askedAt === null)) return;
    const { attestation, delay_ms, expires_in_blocks, fast_fee_bps } = faults();
    if (attestation === 'never' || Date.now() < (known.askedAt ?? known.seenAt) + delay_ms) return;
    const final = await side.client.getBlock({ blockTag: 'finalized' });
    const isFinal = block <= final.number;
    const fee = fastFee(message, fast_fee_bps);
    const fast = field(message, 'minFinalityThreshold') <= CONFIRMED && fee !== null;
    // A second attestation of a burn that has become final is not a fast one.
    const again = known.attested !== null;
    const asFast = fast && !(again && isFinal);
    if (!isFinal && !asFast) return;
    const there = sides.find((one) => BigInt(one.domain) === field(message, 'destinationDomain'));
    const head = there === undefined ? 0n : await there.client.getBlockNumber();
    const good =
      expires_in_blocks !== null ? BigInt(expires_in_blocks) : asFast ? GOOD_FOR_BLOCKS : null;
    const nonce = known.attested?.nonce ?? keccak256(toHex(key));
    journal.append({
      kind: 'attested',
      key,
      nonce,
      at: Date.now(),
      message: withFields(message, {
        nonce,
        finalityThresholdExecuted: asFast ? CONFIRMED : FINALIZED,
        feeExecuted: asFast ? (fee ?? 0n) : 0n,
        expirationBlock: good === null ? 0n : head + good,
      }),
    });
  };

  const view = async (key: string): Promise<MessageView> => {
    const attested = journal.known(key)?.attested ?? null;
    if (attested === null || faults().attestation === 'never')
      return {
        message: '0x',
        eventNonce: attested?.nonce ?? null,
        attestation: 'PENDING',
        decodedMessage: null,
        cctpVersion: 2,
        status: 'pending_confirmations',
        delayReason: null,
      };
    const message =
      faults().tells === 'equal_burn'
        ? firstEqual(journal, attested.message)
        : falsified(attested.message, faults());
    return {
      message,
      eventNonce: attested.nonce,
      attestation: await signed(message, faults()),
      decodedMessage: decoded(message),
      cctpVersion: 2,
      status: 'complete',
      delayReason: null,
    };
  };

  return {
    messagesOf: async (domain, transaction) => {
      const side = sides.find((one) => one.domain === domain);
      if (side === undefined || faults().attestation === 'unknown') return null;
      return inTurn(() => look(side, transaction));
    },
    attestAnew: (nonce) => {
      const key = journal.keyOf(nonce);
      if (key === undefined) return false;
      journal.append({ kind: 'asked_anew', key, at: Date.now() });
      return true;
    },
  };
}

/** Returns the messages that a mined transaction sent, in their order. */
async function emittedBy(side: Side, transaction: Hex): Promise<readonly Emitted[]> {
  const receipt = await receiptOf(side.client, transaction);
  if (receipt === null) return [];
  const transmitter = side.contracts.messageTransmitter.toLowerCase();
  const logs = receipt.logs.filter(({ address }) => address.toLowerCase() === transmitter);
  return parseEventLogs({ abi: MESSAGE_TRANSMITTER.abi, logs, eventName: 'MessageSent' }).flatMap(
    ({ args: { message } }, index) =>
      isBurn(message)
        ? [
            {
              key: `${keyOf(side, transaction)}${String(index)}`,
              message,
              block: receipt.blockNumber,
            },
          ]
        : [],
  );
}

const keyOf = (side: Side, transaction: Hex): string =>
  `${String(side.domain)}:${transaction.toLowerCase()}:`;

/** Returns the fee of a fast attestation, rounded up; null when the burn allows less. */
function fastFee(message: Hex, bps: number): bigint | null {
  const fee = (field(message, 'amount') * BigInt(bps) + 9_999n) / 10_000n;
  return fee <= field(message, 'maxFee') ? fee : null;
}

/** Returns the first attested message of a burn with the same terms. */
function firstEqual(journal: AttesterJournal, message: Hex): Hex {
  const terms = (of: Hex): Hex =>
    withFields(of, {
      nonce: 0n,
      finalityThresholdExecuted: 0n,
      feeExecuted: 0n,
      expirationBlock: 0n,
    });
  const signed = journal.all().flatMap(([, { attested }]) => attested?.message ?? []);
  return signed.find((other) => terms(other) === terms(message)) ?? message;
}

/** Returns the message with one field falsified; the fault `tells` selects the field. */
function falsified(message: Hex, { tells }: AttesterFaults): Hex {
  switch (tells) {
    case 'truth':
    case 'equal_burn':
      return message;
    case 'above_max_fee':
      return withFields(message, { feeExecuted: field(message, 'maxFee') + 1n });
    case 'other_amount':
      return withFields(message, { amount: field(message, 'amount') + 1n });
    case 'other_recipient':
      return withFields(message, { mintRecipient: field(message, 'mintRecipient') ^ 1n });
    case 'other_caller':
      return withFields(message, { destinationCaller: field(message, 'destinationCaller') ^ 1n });
  }
}

/** Returns as many signatures as the contract requires, ordered by increasing signer address. */
async function signed(message: Hex, { signatures }: AttesterFaults): Promise<Hex> {
  const keys = ATTESTERS.slice(0, SIGNATURE_THRESHOLD).map(({ privateKey }) =>
    signatures === 'forged' ? keccak256(privateKey) : privateKey,
  );
  const accounts = keys
    .map((key) => privateKeyToAccount(key))
    .sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
  if (signatures === 'disordered') accounts.reverse();
  const hash = keccak256(message);
  return concat(await Promise.all(accounts.map((account) => account.sign({ hash }))));
}
