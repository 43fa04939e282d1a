/**
 * Decides the outcome of a submitted act. Observe and recover read the same facts from the chain;
 * their results differ only when nothing has landed and nothing can land.
 */
import type { Address, TransactionReceipt } from 'viem';
import {
  ExecutorFault,
  hasBytes,
  type CallOptions,
  type CompletionAssurance,
  type ExecutionResult,
  type NextVersion,
  type StoredTransaction,
  type SubmitJournal,
} from '../../domain/executor.ts';
import { LANE_STUCK } from '../../domain/attention-reasons.ts';
import type { Held } from '../../domain/send/stops.ts';
import type { ActOn, ChainAct } from './act.ts';
import { broadcast, NO_STOPS, type AskStops } from './broadcast.ts';
import { isHeld, readReceipt, type EvmChains, type EvmConnection } from './client.ts';
import { heldBack } from './held.ts';
import {
  judgeCancelled,
  judgeLanded,
  observing,
  undecided,
  withCost,
  type LookPhase,
} from './landed.ts';
import { agreedFate } from './nonce-proof.ts';
import { readVersion, type SignedTransaction } from './signed-bytes.ts';
import { dearer, FEE_ABOVE_CAP, selfTransfer } from './versions.ts';

export interface Settlement {
  readonly chain_id: number;
  readonly act: ActOn;
  /** The signer's account. */
  readonly from: Address;
  readonly assurance: CompletionAssurance;
  readonly call: CallOptions;
  readonly journal: SubmitJournal;
  readonly phase: LookPhase;
}

interface Chased extends Settlement {
  /** Decodes a stored transaction's bytes and checks that they make exactly the planned call. */
  readonly read: (transaction: StoredTransaction) => ReturnType<typeof readVersion>;
  readonly instead: ChainAct['instead'];
}

interface Sent {
  readonly stored: StoredTransaction;
  readonly signed: SignedTransaction;
}

/**
 * Returns the outcome:
 * - Landed: as {@link judgeLanded}; a zero-value version as {@link judgeCancelled}.
 * - Not landed, and no final block has used the nonce: OBSERVING; the same bytes are broadcast
 *   again, or, when due, a version with higher fees or zero value.
 * - Another transaction used the nonce in a finalized block: the nonce is released; recover returns
 *   READY, observe FAILED, both `NONCE_USED_ELSEWHERE`.
 * - No bytes stored: recover returns READY. Bytes are stored before they are sent, so nothing was
 *   sent.
 * - After a restore of the database, which may have lost bytes: UNKNOWN if a nonce shows that bytes
 *   were lost.
 * - Stored bytes are not the plan's, or the endpoint no longer keeps the state that would prove who
 *   used the nonce: UNKNOWN (recover) or a fault (observe).
 */
export async function settleAct(
  chains: EvmChains,
  settlement: Settlement,
): Promise<ExecutionResult> {
  const { chain_id, assurance, call, journal, phase } = settlement;
  const stored = (await journal.transactions()).filter(hasBytes);
  if (stored.length === 0) {
    if (phase === 'recover') return neverSigned(chains, settlement);
    throw new ExecutorFault(
      'protocol',
      'NOTHING_SUBMITTED',
      'no signed transaction of this node is stored',
    );
  }
  const connection = await chains.open(chain_id, call);
  const act = await settlement.act(connection);
  const read: Chased['read'] = (transaction) => readVersion(transaction, act);
  const { sent, problem } = await readAll(stored, read);
  const landed = await findLanded(connection, sent);
  if (landed !== null && landed.stored.accepted !== true)
    await journal.accepted(landed.signed.tx_hash);
  if (landed?.stored.kind === 'cancel') return cancelledOr(connection, landed, act);
  if (landed !== null) return judgeLanded(connection, { act, ...landed }, assurance, phase);
  if (problem !== null)
    return undecided(
      phase,
      'SIGNED_BYTES_MISMATCH',
      `stored bytes are not what was planned: ${problem}`,
    );
  return chase(connection, sent, { ...settlement, read, instead: act.instead });
}

/**
 * Returns READY if nothing was sent. Bytes are stored before they are sent, so without bytes
 * nothing was sent, unless the database was restored to an earlier state. The account shows such a
 * loss: a mined or pending transaction uses a nonce that no stored transaction has.
 */
async function neverSigned(
  chains: EvmChains,
  { chain_id, from: address, call, journal }: Settlement,
): Promise<ExecutionResult> {
  // The worker that released the nonce may have crashed before it recorded the result.
  if (await journal.displaced()) return usedElsewhere('READY');
  if (journal.unknownNonces === undefined) return { next_state: 'READY' };
  const connection = await chains.open(chain_id, call);
  const counts = await Promise.all(
    (['latest', 'pending'] as const).map((blockTag) =>
      connection.ask((client) => client.getTransactionCount({ address, blockTag })),
    ),
  );
  const [unknown] = await journal.unknownNonces({ chain_id, from: address }, Math.max(...counts));
  if (unknown === undefined) return { next_state: 'READY' };
  const { nonce, open } = unknown;
  if (open) {
    throw new ExecutorFault(
      'server_error',
      'NONCE_UNSETTLED',
      `the database was restored, and nonce ${nonce} of ${address} may be used by a transaction that the database does not know`,
    );
  }
  return {
    next_state: 'UNKNOWN',
    error_code: 'TRANSACTION_FORGOTTEN',
    error_message: `the database was restored, and ${address} has used nonce ${nonce} for a transaction that the database does not know; that may be this payment`,
  };
}

async function readAll(
  stored: readonly StoredTransaction[],
  read: (transaction: StoredTransaction) => ReturnType<typeof readVersion>,
): Promise<{ readonly sent: readonly Sent[]; readonly problem: string | null }> {
  const sent: Sent[] = [];
  let problem: string | null = null;
  for (const transaction of stored) {
    const reading = await read(transaction);
    if (reading.ok) sent.push({ stored: transaction, signed: reading.signed });
    else problem ??= reading.problem;
  }
  return { sent, problem };
}

/** Returns as {@link judgeCancelled}, unless another account has done the cancelled act instead. */
async function cancelledOr(
  connection: EvmConnection,
  landed: Parameters<typeof judgeCancelled>[1],
  act: ChainAct,
): Promise<ExecutionResult> {
  const cancelled = await judgeCancelled(connection, landed);
  if (cancelled.next_state !== 'FAILED') return cancelled;
  const instead = (await act.instead?.(connection)) ?? null;
  return instead === null ? cancelled : withCost(instead, cancelled.output);
}

async function findLanded(
  connection: EvmConnection,
  sent: readonly Sent[],
): Promise<(Sent & { readonly receipt: TransactionReceipt }) | null> {
  for (const each of sent) {
    const receipt = await readReceipt(connection, each.signed.tx_hash);
    if (receipt !== null) return { ...each, receipt };
  }
  return null;
}

/**
 * Handles an act without a mined transaction: sends a transaction again that may still be mined, or
 * proves for every nonce that none can be mined.
 */
async function chase(
  connection: EvmConnection,
  sent: readonly Sent[],
  chased: Chased,
): Promise<ExecutionResult> {
  const { journal, phase } = chased;
  // Endpoints accept only the newest version of a nonce, which pays the most.
  const newest = [...new Map(sent.map((each) => [each.signed.nonce, each])).values()];
  for (const each of newest) {
    const fate = await agreedFate(connection, each.signed.from, each.signed.nonce);
    if (fate.kind === 'open') return push(connection, each, sent, chased);
    if (fate.kind === 'unprovable') {
      return undecided(
        phase,
        'NONCE_PROOF_UNAVAILABLE',
        `nonce ${each.signed.nonce} is used, but the endpoint no longer keeps the state that shows by which transaction`,
      );
    }
    if (sent.some(({ signed }) => signed.tx_hash === fate.by)) {
      throw new ExecutorFault(
        'server_error',
        'RECEIPT_MISSING',
        'the transaction is in a finalized block, but the endpoint does not have its receipt yet',
      );
    }
  }
  if (journal.unknownNonces !== undefined) {
    const nonces = newest.map(({ signed }) => String(signed.nonce)).join(', ');
    return undecided(
      phase,
      'TRANSACTION_FORGOTTEN',
      `the database was restored, and nonce ${nonces} is used by a transaction that the database does not know`,
    );
  }
  const instead = (await chased.instead?.(connection)) ?? null;
  if (instead !== null) return instead;
  for (const { stored } of newest)
    if (!(await journal.releaseNonce(stored)))
      throw new ExecutorFault(
        'server_error',
        'NONCE_CHANGED',
        `another transaction was signed for nonce ${stored.nonce} during this check`,
      );
  return usedElsewhere(phase === 'recover' ? 'READY' : 'FAILED');
}

function usedElsewhere(next_state: 'READY' | 'FAILED'): ExecutionResult {
  return {
    next_state,
    error_code: 'NONCE_USED_ELSEWHERE',
    error_message:
      'another transaction used the nonce in a finalized block, so this transaction can no longer happen; something else signs with this key',
  };
}

/**
 * Gets an open nonce mined. Sends a zero-value version if a stop (a cancel, a revoked payee) ends
 * the payment, a version with higher fees if the newest is overdue, else the newest version. While
 * a stop holds back the newest version, only looks it up; an accepted earlier one may be repeated.
 */
async function push(
  connection: EvmConnection,
  newest: Sent,
  sent: readonly Sent[],
  { journal, phase, read }: Chased,
): Promise<ExecutionResult> {
  const { stored, signed } = newest;
  const accepted = stored.kind === 'payment' && (await isAccepted(connection, newest, journal));
  const held =
    stored.kind === 'payment' ? await journal.held({ address: signed.from, accepted }) : null;
  const cancels = held?.ends === true;
  const go = async (): Promise<ExecutionResult> =>
    held === null
      ? sendAgain(connection, newest, { phase, journal, accepted })
      : repeatAccepted(connection, sent, newest, { phase, journal, held });
  if (held !== null && !cancels) return go();
  if (journal.nextVersion === undefined || !(cancels || (await isOverdue(connection, newest))))
    return go();
  const isCancel = cancels || stored.kind === 'cancel';
  let next: NextVersion;
  try {
    const { chain_id, from } = stored;
    // An operator's raised fee caps do not apply to a payment that no endpoint has accepted.
    const isOut = isCancel || accepted;
    const raise = isOut ? ((await journal.laneRaise?.({ chain_id, from })) ?? null) : null;
    next = await (cancels ? selfTransfer : dearer)(connection, { ...stored, accepted }, raise);
  } catch (error) {
    // If no replacement can be made, the newest version may still be mined.
    await go();
    throw isCancel ? asStuck(error) : error;
  }
  const version = await journal.nextVersion(next);
  if (!version.ok) {
    await go();
    throw new ExecutorFault(
      'server_error',
      isCancel ? LANE_STUCK : 'NOT_REPLACED',
      `nonce ${stored.nonce} is not mined, and no replacement was signed: ${version.why}`,
    );
  }
  // Decoded and checked like all stored bytes: only approved bytes are sent.
  const reading = await read(version.stored);
  if (!reading.ok) return undecided(phase, 'SIGNED_BYTES_MISMATCH', reading.problem);
  return sendAgain(
    connection,
    { ...reading, stored: version.stored },
    { phase, journal, accepted, replaces: true },
  );
}

/** Renames the fault to `LANE_STUCK` if a cancelling transaction exceeds the fee caps. */
function asStuck(error: unknown): unknown {
  return error instanceof ExecutorFault && error.code === FEE_ABOVE_CAP
    ? new ExecutorFault('server_error', LANE_STUCK, error.message)
    : error;
}

/**
 * Returns whether an endpoint has these bytes. If the answer to the send was lost, asks the chain.
 */
async function isAccepted(
  connection: EvmConnection,
  { stored, signed }: Sent,
  journal: SubmitJournal,
): Promise<boolean> {
  if (stored.accepted === true) return true;
  if (!(await isHeld(connection, signed.tx_hash))) return false;
  await journal.accepted(signed.tx_hash);
  return true;
}

/**
 * Handles a stop (a freeze, a pause) that forbids to send the newest version. Observes a version of
 * the nonce that the chain has; else repeats the newest accepted version that no stop forbids.
 */
async function repeatAccepted(
  connection: EvmConnection,
  sent: readonly Sent[],
  newest: Sent,
  {
    phase,
    journal,
    held,
  }: {
    readonly phase: Settlement['phase'];
    readonly journal: SubmitJournal;
    readonly held: Held;
  },
): Promise<ExecutionResult> {
  const versions = sent.filter(({ signed }) => signed.nonce === newest.signed.nonce).reverse();
  for (const { signed } of versions)
    if (await isHeld(connection, signed.tx_hash)) return observing(connection, signed);
  const earlier = versions.find(({ stored }) => stored.accepted === true);
  if (earlier !== undefined) {
    const { from: address } = earlier.signed;
    if ((await journal.held({ address, accepted: true })) === null)
      return sendAgain(connection, earlier, { phase, journal, accepted: true });
  }
  return heldBack('SEND_HELD', held);
}

/** Returns whether the version has waited long enough and no earlier nonce delays it. */
async function isOverdue(connection: EvmConnection, { stored, signed }: Sent): Promise<boolean> {
  if (stored.age_seconds < connection.venue.replace_after_seconds) return false;
  const mined = await connection.ask((client) =>
    client.getTransactionCount({ address: signed.from as Address, blockTag: 'latest' }),
  );
  return mined === signed.nonce;
}

async function sendAgain(
  connection: EvmConnection,
  { stored, signed }: Sent,
  {
    phase,
    journal,
    accepted,
    replaces = false,
  }: {
    readonly phase: Settlement['phase'];
    readonly journal: SubmitJournal;
    readonly accepted: boolean;
    /** True if the bytes are new; `accepted` then refers to the earlier bytes. */
    readonly replaces?: boolean;
  },
): Promise<ExecutionResult> {
  if (phase === 'observe' && (await isHeld(connection, signed.tx_hash)))
    return observing(connection, signed);
  // Reads the stops again, since a freeze or pause may be new.
  const stops: AskStops =
    stored.kind === 'cancel'
      ? NO_STOPS
      : () => journal.held({ address: signed.from, accepted, replaces });
  const outcome = await broadcast(connection, signed, stops);
  if (outcome.kind === 'held') return heldBack('SEND_HELD', outcome.held);
  if (outcome.kind === 'accepted') {
    await journal.accepted(signed.tx_hash);
    return observing(connection, signed);
  }
  // A refusal is not final: a nonce gap, a full pool or an empty account may pass, and the bytes
  // stay valid.
  return {
    ...observing(connection, signed),
    error_code: stored.kind === 'cancel' ? LANE_STUCK : 'BROADCAST_REFUSED',
    error_message: outcome.message,
  };
}
