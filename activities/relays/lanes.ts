/**
 * Handles nonce lanes (the queue of transaction nonces of one account on one chain) outside of
 * runs: notes which transactions are final, resends a payment whose block is gone, and uses up
 * nonces that were left open, so that later nonces do not wait forever.
 */
import type { Logger } from 'pino';
import {
  ExecutorFault,
  type JournaledTransaction,
  type NextVersion,
  type StoredTransaction,
  type TransactionKind,
} from '../../domain/executor.ts';
import { landedLate } from '../../domain/commands/landed-late.ts';
import type { RaisedCaps } from '../../domain/lanes/caps.ts';
import { contradictionOf } from '../../domain/lanes/contradiction.ts';
import { dutiesOf, type Duty, type OpenClaim } from '../../domain/lanes/duties.ts';
import { SYSTEM_ACTOR } from '../../domain/roles.ts';
import { SignerFault, type Signer } from '../../domain/signer.ts';
import {
  NOW,
  type NodeChange,
  type TimelineEntry,
  type Transition,
} from '../../domain/transition.ts';
import { newId } from '../../platform/ids.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { verifiedTransaction } from '../../signers/verify.ts';
import {
  fillNonce,
  noteLane,
  readLaneRaise,
  takeLanes,
  type OpenLane,
  type StuckNonce,
} from '../../store/lanes.ts';
import { noteAccepted } from '../../store/stops.ts';
import { applyTransition } from '../../store/transition.ts';
import type { EvmChains, EvmConnection } from '../../venues/evm/client.ts';
import {
  countLane,
  fillingOf,
  minedVersion,
  sendVersion,
  usedElsewhereBy,
} from '../../venues/evm/lane.ts';
import { dearer, FEE_ABOVE_CAP, selfTransfer } from '../../venues/evm/versions.ts';
import type { MayReplace } from '../phases/replacement.ts';

/** Most nonce claims of a lane that one turn handles, the lowest nonces first. */
const MOST_CLAIMS = 200;
const SIGNER_MISSING = 'SIGNER_MISSING';
const BROADCAST_REFUSED = 'BROADCAST_REFUSED';
const STUCK_CODES: readonly string[] = [SIGNER_MISSING, BROADCAST_REFUSED, FEE_ABOVE_CAP];
/** Time limit of one turn of a nonce lane. */
const TURN_MS = 60_000;

export interface LaneTenderOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly chains: EvmChains;
  readonly signers: { get(key: string): Signer | undefined };
  /** Returns whether a claim's payment may be signed again now, and what its write requires. */
  readonly mayReplace: (
    claim: OpenClaim,
    lost: { readonly address: string; readonly value: string },
  ) => Promise<MayReplace>;
  readonly pauseMs: number;
}

interface Turn extends LaneTenderOptions {
  /**
   * By claim id: when a payment that had been mined was first found in no block; milliseconds of
   * the monotonic clock.
   */
  readonly missing: Map<string, number>;
  readonly lane: OpenLane;
  readonly connection: EvmConnection;
  /** Aborts when the worker stops. */
  readonly ending: AbortSignal;
}

/**
 * Starts the loop. One process at a time handles a nonce lane; a lane that fails is handled again
 * in the next turn.
 */
export function startLaneTender(options: LaneTenderOptions): Loop {
  const { db, log, pauseMs } = options;
  const missing = new Map<string, number>();
  const ending = new AbortController();
  const loop = startLoop({
    name: 'lane tender',
    pauseMs,
    log,
    work: async () => {
      for (const lane of await takeLanes(db, pauseMs / 1_000, MOST_CLAIMS)) {
        const { chain_id, address } = lane;
        if (ending.signal.aborted) return;
        await tend({ ...options, missing, ending: ending.signal }, lane).catch((error: unknown) =>
          log.warn({ err: error, chain_id, address }, 'a nonce lane could not be tended'),
        );
      }
    },
  });
  return {
    ...loop,
    stop: () => {
      // All bytes are stored before they are sent, so the next process can send them.
      ending.abort();
      return loop.stop();
    },
  };
}

async function tend(options: Omit<Turn, 'lane' | 'connection'>, lane: OpenLane): Promise<void> {
  const { chain_id, address, claims } = lane;
  const signal = AbortSignal.any([options.ending, AbortSignal.timeout(TURN_MS)]);
  const call = { signal, requestId: 'lane-tender' };
  const connection = await options.chains.open(chain_id, call);
  const counted = await countLane(connection, address);
  const turn = { ...options, lane, connection };
  const settled: { transaction_id: string; mined_hash: string | null }[] = [];
  const failed: unknown[] = [];
  // A mined nonce is no longer stuck, even if its node failed to send before.
  const stuck: StuckNonce[] = claims.flatMap(({ nonce, stuck: why }) =>
    why === null || nonce < counted.latest ? [] : [{ nonce, why }],
  );
  for (const duty of dutiesOf(claims, counted)) {
    try {
      if (duty.kind !== 'settle') await act(turn, duty);
      else {
        const mined_hash = await settledBy(turn, duty.claim, counted.last);
        if (mined_hash !== undefined)
          settled.push({ transaction_id: duty.claim.transaction_id, mined_hash });
      }
    } catch (error) {
      // A fault of one nonce does not stop the others; the first fault is thrown at the end.
      failed.push(error);
      const why = duty.kind === 'close' || duty.kind === 'fill' ? whyStuck(error) : null;
      if (why !== null) stuck.push({ nonce: nonceOf(duty), why });
    }
  }
  // An interrupted turn proves nothing about the nonce lane, so nothing is recorded.
  if (turn.ending.aborted) return;
  const { latest: mined, final } = counted;
  const [lowest = null] = stuck.sort((a, b) => a.nonce - b.nonce);
  await noteLane(options.db, { chain_id, address, mined, final, settled, stuck: lowest });
  if (failed.length > 0) throw failed[0];
}

/** Returns the fee caps that a person has raised for this nonce lane; null when none are raised. */
function raiseOf({ db, lane }: Turn): Promise<RaisedCaps | null> {
  return readLaneRaise(db, lane);
}

function nonceOf(duty: Duty): number {
  return duty.kind === 'fill' ? duty.nonce : duty.claim.nonce;
}

/**
 * Returns why a zero-value transaction cannot be signed or paid for; null when the error is
 * temporary.
 */
function whyStuck(error: unknown): string | null {
  const isSo =
    error instanceof SignerFault ||
    (error instanceof ExecutorFault && STUCK_CODES.includes(error.code));
  return isSo ? error.message : null;
}

function act(turn: Turn, duty: Exclude<Duty, { kind: 'settle' }>): Promise<void> {
  switch (duty.kind) {
    case 'send_again':
      return sendAgain(turn, duty.claim, duty.newest);
    case 'close':
      return close(turn, duty.claim, duty.newest);
    case 'fill':
      return duty.claim === null ? fill(turn, duty.nonce) : closeUnsigned(turn, duty.claim);
  }
}

/**
 * Returns the hash of the claim's final transaction; null when another transaction used the nonce;
 * undefined when neither is known yet, when the claim's own run reports it, or when what
 * contradicts its node could not be noted in this turn.
 */
async function settledBy(
  turn: Turn,
  claim: OpenClaim,
  last: bigint,
): Promise<string | null | undefined> {
  const { connection, lane } = turn;
  const mined = await minedVersion(connection, claim.versions);
  // A chain endpoint may report too high a nonce count, so the block itself must be final.
  if (mined !== null && mined.block > last) return undefined;
  const elsewhere =
    mined === null && claim.ended ? await usedElsewhereBy(connection, lane.address, claim) : null;
  const user =
    elsewhere === null ? mined : ({ hash: elsewhere, kind: null, succeeded: true } as const);
  if (user === null) return undefined;
  const mined_hash = mined?.hash ?? null;
  const found = contradictionOf(claim, user);
  if (found !== null && !(await noteContradiction(turn, claim, found, mined_hash)))
    return undefined;
  if (claim.abandoned && mined?.kind === 'payment' && mined.succeeded)
    await noteLanded(turn, claim, mined.hash);
  return mined_hash;
}

/**
 * Brings the movement into attention, as a late landing does, and settles the claim in the same
 * write, so that this is noted once. Returns false when the node has moved or another process was
 * faster.
 */
async function noteContradiction(
  turn: Turn,
  claim: OpenClaim,
  found: NonNullable<ReturnType<typeof contradictionOf>>,
  mined_hash: string | null,
): Promise<boolean> {
  const { transaction_id, movement_id, node_key, nonce } = claim;
  const noted = await note(turn, claim, found, {
    settles: { transaction_id, mined_hash },
    set: { landed_late_at: NOW, landing_seen_at: null },
  });
  const { event_type } = found;
  if (noted)
    turn.log.error(
      { movement_id, node_key, nonce, event_type },
      'the chain contradicts how a node has ended',
    );
  return noted;
}

async function noteLanded(turn: Turn, claim: OpenClaim, tx_hash: string): Promise<void> {
  const { movement_id, node_key, attempt, nonce } = claim;
  if (movement_id === null || node_key === null || attempt === null) return;
  turn.log.error({ movement_id, node_key, nonce }, 'the payment of an abandoned node was mined');
  await applyTransition(
    turn.db,
    landedLate({ movement_id, node_key, attempt }, { external_ref: tx_hash }),
  );
}

/**
 * Handles a payment whose block is gone: sends the same bytes until they are mined again, and after
 * a while the same payment with higher fees. The timeline notes this only after two turns, since a
 * chain endpoint may lag behind.
 */
async function sendAgain(turn: Turn, claim: OpenClaim, newest: StoredTransaction): Promise<void> {
  const { connection, missing } = turn;
  const { transaction_id, movement_id, node_key, nonce, reorged } = claim;
  const mined = await minedVersion(connection, claim.versions);
  if (mined !== null) {
    missing.delete(transaction_id);
    return noteTaken(turn, claim, mined.hash);
  }
  const since = missing.get(transaction_id) ?? performance.now();
  missing.set(transaction_id, since);
  if (!reorged && performance.now() - since >= 2 * turn.pauseMs) {
    turn.log.warn(
      { movement_id, node_key, nonce },
      'the block of a completed payment is gone; it is sent again',
    );
    await note(
      turn,
      claim,
      {
        event_type: 'transaction_dropped',
        message: 'The block of the payment is gone; the same payment is sent again',
      },
      { reorged: transaction_id },
    );
  }
  await sendPayment(turn, claim, newest);
  const last = claim.versions.at(-1) ?? newest;
  const isOutbid = last.kind === 'cancel';
  if (!reorged || !(isOutbid || last.age_seconds >= connection.venue.replace_after_seconds)) return;
  const { value } = newest.unsigned;
  const may = await turn.mayReplace(claim, { address: turn.lane.address, value });
  if ('require' in may)
    await store(
      turn,
      claim,
      await dearer(connection, newest, await raiseOf(turn), last.unsigned),
      may,
    );
}

/**
 * Sends the newest version of the payment. If that fails, sends the newest version that was
 * accepted before; no stop applies to that one, since this nonce has already paid once.
 */
async function sendPayment(turn: Turn, claim: OpenClaim, newest: StoredTransaction): Promise<void> {
  const others = claim.versions.filter(
    ({ kind, tx_hash }) => kind === 'payment' && tx_hash !== newest.tx_hash,
  );
  // If there is only one version, it is the one that was in the block.
  const isTaken = newest.accepted === true || others.length === 0;
  const refusal = isTaken
    ? await sendVersion(turn.connection, newest)
    : await sendUntaken(turn, claim, newest);
  const earlier = others.filter(({ accepted }) => accepted === true).at(-1);
  if (refusal !== null && !isTaken && earlier !== undefined)
    await sendVersion(turn.connection, earlier);
}

/** Sends a version that no endpoint has accepted; checks the stops before each endpoint. */
async function sendUntaken(
  turn: Turn,
  claim: OpenClaim,
  version: StoredTransaction,
): Promise<string | null> {
  const about = { address: turn.lane.address, value: version.unsigned.value };
  const refusal = await sendVersion(turn.connection, version, async () => {
    const may = await turn.mayReplace(claim, about);
    return 'why' in may ? { ends: false, needs_retry: false, why: may.why } : null;
  });
  if (refusal === null) await noteTaken(turn, claim, version.tx_hash);
  return refusal;
}

async function noteTaken({ db }: Turn, claim: OpenClaim, tx_hash: string): Promise<void> {
  const { movement_id, node_key, attempt, versions } = claim;
  if (movement_id === null || node_key === null || attempt === null) return;
  if (versions.some((each) => each.tx_hash === tx_hash && each.accepted === true)) return;
  await noteAccepted(db, { movement_id, node_key, attempt }, tx_hash);
}

/**
 * Replaces an abandoned transaction by a zero-value one, with rising fees, and sends it until it is
 * mined.
 */
async function close(turn: Turn, claim: OpenClaim, newest: StoredTransaction): Promise<void> {
  const { connection } = turn;
  if ((await minedVersion(connection, claim.versions)) !== null) return;
  const isOld = newest.age_seconds >= connection.venue.replace_after_seconds;
  if (newest.kind === 'cancel' && !isOld) return mustSend(connection, newest);
  const next = await (newest.kind === 'cancel' ? dearer : selfTransfer)(
    connection,
    newest,
    await raiseOf(turn),
  ).catch(async (error: unknown) => {
    if (newest.kind === 'cancel') await sendVersion(connection, newest);
    throw error;
  });
  await store(turn, claim, next);
}

async function closeUnsigned(turn: Turn, claim: OpenClaim): Promise<void> {
  const unsigned = await fillingOf(turn.connection, {
    address: turn.lane.address,
    nonce: claim.nonce,
    raise: await raiseOf(turn),
  });
  const [over] = claim.versions;
  if (over !== undefined) await store(turn, claim, { over, kind: 'cancel', unsigned });
}

async function fill(turn: Turn, nonce: number): Promise<void> {
  const { db, lane, connection } = turn;
  const unsigned = await fillingOf(connection, {
    address: lane.address,
    nonce,
    raise: await raiseOf(turn),
  });
  const signer_key = lane.claims[0]?.signer_key;
  if (signer_key === undefined) return;
  const signed = await sign(turn, { signer_key, nonce, unsigned });
  const { chain_id, address } = lane;
  const filled = { chain_id, address, nonce, signer_key, unsigned, ...signed };
  if (!(await fillNonce(db, filled))) return;
  turn.log.warn({ chain_id, address, nonce }, 'a nonce without a claim is used up');
  await mustSend(connection, { ...asVersion(filled), ...signed });
}

function asVersion(filled: {
  readonly chain_id: number;
  readonly address: string;
  readonly nonce: number;
  readonly unsigned: JournaledTransaction['unsigned'];
}): JournaledTransaction {
  const { address, ...rest } = filled;
  return {
    ...rest,
    transaction_id: '',
    claim: '',
    kind: 'cancel',
    from: address,
    age_seconds: 0,
  };
}

/** Stores a version if its requirements hold, and only then sends it. */
async function store(
  turn: Turn,
  claim: OpenClaim,
  next: Pick<NextVersion, 'kind' | 'unsigned'> & { readonly over: JournaledTransaction },
  required: Pick<Transition, 'require'> = {},
): Promise<void> {
  const { db, lane, connection } = turn;
  const { nonce, signer_key, transaction_id } = claim;
  const { over, kind, unsigned } = next;
  const signed = await sign(turn, { signer_key, nonce, unsigned });
  const replaces = { claim: transaction_id, over: claim.versions.at(-1)?.transaction_id ?? '' };
  const { chain_id, address } = lane;
  const version = { transaction_id: newId(), kind, unsigned, ...replaces, ...signed };
  const stored =
    claim.movement_id === null
      ? await fillNonce(db, { chain_id, address, nonce, signer_key, unsigned, ...signed, replaces })
      : await note(
          turn,
          claim,
          { ...saidOf(kind, nonce), data: { nonce, tx_hash: signed.tx_hash } },
          { version },
          required,
        );
  if (!stored) return;
  const sent = { ...over, ...version, accepted: false };
  if (kind === 'cancel') await mustSend(connection, sent);
  else await sendUntaken(turn, claim, sent);
}

/** Sends a zero-value transaction. Throws when it is refused; the nonce lane then stays stuck. */
async function mustSend(connection: EvmConnection, version: JournaledTransaction): Promise<void> {
  const refusal = await sendVersion(connection, version);
  if (refusal !== null) throw new ExecutorFault('server_error', BROADCAST_REFUSED, refusal);
}

function saidOf(
  kind: TransactionKind,
  nonce: number,
): Pick<TimelineEntry, 'event_type' | 'message'> {
  return kind === 'cancel'
    ? {
        event_type: 'transaction_cancelling',
        message: `Nonce ${nonce} was left open: a zero-value transaction uses it up`,
      }
    : {
        event_type: 'transaction_replaced',
        message: 'Not mined again so far: signed again with the same nonce and higher fees',
      };
}

/** Signs with the nonce lane's account and verifies the signed bytes. */
async function sign(
  { signers, lane }: Turn,
  what: {
    readonly signer_key: string;
    readonly nonce: number;
    readonly unsigned: JournaledTransaction['unsigned'];
  },
): Promise<{ readonly raw_tx: string; readonly tx_hash: string }> {
  const signer = signers.get(what.signer_key);
  if (signer === undefined)
    throw new ExecutorFault(
      'unreachable',
      SIGNER_MISSING,
      `signer ${what.signer_key} is not registered in this worker`,
    );
  const expected = { unsigned: what.unsigned, nonce: what.nonce, address: lane.address };
  const answer = await signer.signEvmTransaction(
    expected.unsigned,
    expected.nonce,
    expected.address,
  );
  return verifiedTransaction(expected, answer.raw_tx);
}

/**
 * Writes a timeline entry for the claim's node, with the change. Returns false when the node has
 * moved or a requirement does not hold.
 */
async function note(
  { db }: Turn,
  claim: OpenClaim,
  event: Omit<TimelineEntry, 'actor' | 'node_key' | 'attempt'>,
  change: Pick<NodeChange, 'version' | 'reorged' | 'settles' | 'set'> = {},
  required: Pick<Transition, 'require'> = {},
): Promise<boolean> {
  const { movement_id, node_key, attempt, node_state } = claim;
  if (movement_id === null || node_key === null || node_state === null) return false;
  const outcome = await applyTransition(db, {
    movement_id,
    ...required,
    nodes: [{ node_key, from: node_state, moves: [], ...change }],
    timeline: [
      { ...event, actor: SYSTEM_ACTOR, node_key, ...(attempt === null ? {} : { attempt }) },
    ],
  });
  return outcome.ok;
}
