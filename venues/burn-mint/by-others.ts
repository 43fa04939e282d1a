/** Finds the mint that used a burn's nonce, no matter which account sent it. */
import { toEventSelector, type Hash } from 'viem';
import { depthFor, shownAt } from '../../domain/chains/assurance-table.ts';
import {
  ExecutorFault,
  type CompletionAssurance,
  type ExecutionResult,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readReceipt, type EvmConnection } from '../evm/client.ts';
import {
  isCanonical,
  observing,
  settledNumber,
  TRANSFER_ASSURANCES,
  type LookPhase,
} from '../evm/landed.ts';
import {
  readSearched,
  searchedRecord,
  searchLogs,
  type Found,
  type Searched,
  type SearchLimits,
} from '../evm/search-logs.ts';
import { ASK_EVERY_SECONDS } from './attester.ts';
import { MESSAGE_TRANSMITTER } from './contracts.ts';
import { minted, receivedIn, type MintPlan } from './mint-act.ts';

export async function isNonceUsed(
  connection: EvmConnection,
  { destination, nonce }: MintPlan,
): Promise<boolean> {
  const used = await connection.read({
    address: destination.cctp.message_transmitter,
    abi: MESSAGE_TRANSMITTER,
    functionName: 'usedNonces',
    args: [nonce],
  });
  return used > 0n;
}

/** The search for a mint, as earlier calls left it. */
export interface Looking {
  readonly assurance: CompletionAssurance;
  readonly phase: LookPhase;
  /** The node's output so far; its `searched` names the blocks that need no further search. */
  readonly progress: JsonObject;
  readonly search: SearchLimits | undefined;
}

/**
 * Returns the mint that used the nonce; null if as many endpoints as an absence requires show the
 * nonce unused.
 */
export async function byAnybody(
  connection: EvmConnection,
  plan: MintPlan,
  looking: Looking,
): Promise<ExecutionResult | null> {
  return (await mayBeUsed(connection, plan)) ? byOthers(connection, plan, looking, null) : null;
}

/** Returns false only if as many endpoints as an absence requires show the nonce unused. */
async function mayBeUsed(connection: EvmConnection, plan: MintPlan): Promise<boolean> {
  const used = await connection.witnesses((one) => isNonceUsed(one, plan));
  return used.some(Boolean);
}

/**
 * Returns COMPLETED with the mint that used the nonce, once the mint's block is deep enough;
 * OBSERVING before, with `MINT_SEARCH_UNFINISHED` while the search for the mint goes on. `known`:
 * the transaction that an earlier call found. Null if no block shows the mint and the nonce is
 * unused, as {@link byAnybody} reads it: the block of the mint was reorganised away.
 *
 * @throws ExecutorFault retryable `server_error` `MINT_UNSEEN` if no block shows the mint, and an
 *   endpoint shows the nonce used.
 */
export async function byOthers(
  connection: EvmConnection,
  plan: MintPlan,
  { assurance, phase, progress, search }: Looking,
  known: Hash | null,
): Promise<ExecutionResult | null> {
  const { searched, ...others } = progress;
  const before = known === null ? null : await readReceipt(connection, known);
  const seen =
    before !== null && (await isCanonical(connection, before))
      ? ({ kind: 'found', hash: before.transactionHash } as const)
      : await mintOfNonce(connection, plan, readSearched(searched), search);
  if (seen.kind === 'unfinished')
    return {
      next_state: 'OBSERVING',
      output: { ...others, searched: { ...searchedRecord(seen.searched), by: phase } },
      error_code: 'MINT_SEARCH_UNFINISHED',
      error_message: 'the burn is minted; the search for the mint goes on in older blocks',
      retry_after_seconds: SEARCH_AGAIN_SECONDS,
    };
  if (seen.kind === 'nowhere') {
    if (!(await mayBeUsed(connection, plan))) return null;
    if (phase === 'observe' || searched === undefined) throw unseen();
    // A lagging endpoint may have hidden the mint, so the next recovery searches all blocks again.
    const { code, message } = unseen();
    return {
      next_state: 'OBSERVING',
      output: others,
      error_code: code,
      error_message: message,
      retry_after_seconds: ASK_EVERY_SECONDS,
    };
  }
  const { hash } = seen;
  const receipt = before?.transactionHash === hash ? before : await readReceipt(connection, hash);
  if (receipt === null) throw unseen();
  const depth = depthFor(assurance);
  if (
    receipt.blockNumber > (await settledNumber(connection, depth)) ||
    !(await isCanonical(connection, receipt))
  )
    return observing(connection, { tx_hash: hash });
  const did = minted(plan, await connection.decimals(plan.minted), receipt);
  if (!did.ok)
    throw new ExecutorFault('protocol', did.error_code, `${did.error_message} (${hash})`);
  return {
    next_state: 'COMPLETED',
    external_ref: hash,
    output: { tx_hash: hash, block_number: receipt.blockNumber.toString(), ...did.output },
    assurance: shownAt(depth, TRANSFER_ASSURANCES),
  };
}

/** Returns whether the transaction is mined and used the nonce with this burn's message. */
export async function takes(
  connection: EvmConnection,
  plan: MintPlan,
  transaction: Hash,
): Promise<boolean> {
  const receipt = await readReceipt(connection, transaction);
  return (
    receipt !== null &&
    (await isCanonical(connection, receipt)) &&
    receivedIn(plan, receipt).some(({ args }) => args.nonce === plan.nonce)
  );
}

const RECEIVED = toEventSelector('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)');
/** Seconds between two steps of an unfinished search. */
const SEARCH_AGAIN_SECONDS = 1;

/** Searches for the transaction that used the nonce, outside the `searched` blocks. */
export function mintOfNonce(
  connection: EvmConnection,
  { destination, since, nonce }: MintPlan,
  searched: Searched | null,
  search?: SearchLimits,
): Promise<Found> {
  const address = destination.cctp.message_transmitter;
  const wanted = { address, topics: [RECEIVED, null, nonce], since };
  return searchLogs(connection, wanted, searched, search);
}

/** The nonce is used and no log shows by which transaction; the search is tried again. */
function unseen(): ExecutorFault {
  return new ExecutorFault(
    'server_error',
    'MINT_UNSEEN',
    'the nonce of the burn is used, and the endpoint shows no transaction that used it',
    { retryAfterSeconds: ASK_EVERY_SECONDS },
  );
}
