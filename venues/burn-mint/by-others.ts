/** Whoever has brought the message of a burn: the mint that used its nonce, found and shown. */
import { toEventSelector, type Hash } from 'viem';
import { depthFor, shownAt } from '../../domain/chains/assurance-table.ts';
import {
  ExecutorFault,
  type CompletionAssurance,
  type ExecutionResult,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readReceipt, type EvmConnection } from '../evm/client.ts';
import { isCanonical, observing, settledNumber, TRANSFER_ASSURANCES } from '../evm/landed.ts';
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
  const used = await connection.ask((client) =>
    client.readContract({
      address: destination.cctp.message_transmitter,
      abi: MESSAGE_TRANSMITTER,
      functionName: 'usedNonces',
      args: [nonce],
    }),
  );
  return used > 0n;
}

/** What earlier looks have come to. */
export interface Looking {
  readonly assurance: CompletionAssurance;
  /** What the node has put out so far; its `searched` says which blocks need no search. */
  readonly progress: JsonObject;
  readonly search: SearchLimits | undefined;
}

/**
 * Null where as many endpoints as an absence takes show that the nonce is not used; the mint that
 * used it otherwise.
 */
export async function byAnybody(
  connection: EvmConnection,
  plan: MintPlan,
  looking: Looking,
): Promise<ExecutionResult | null> {
  const used = await connection.witnesses((one) => isNonceUsed(one, plan));
  return used.some(Boolean) ? byOthers(connection, plan, looking, null) : null;
}

/**
 * COMPLETED with the mint that used the nonce, once its block is deep enough; OBSERVING before, and
 * `MINT_SEARCH_UNFINISHED` while it is looked for. `known` is where it was seen before.
 */
export async function byOthers(
  connection: EvmConnection,
  plan: MintPlan,
  { assurance, progress, search }: Looking,
  known: Hash | null,
): Promise<ExecutionResult> {
  const before = known === null ? null : await readReceipt(connection, known);
  const seen =
    before !== null && (await isCanonical(connection, before))
      ? ({ kind: 'found', hash: before.transactionHash } as const)
      : await mintOfNonce(connection, plan, readSearched(progress['searched']), search);
  if (seen.kind === 'unfinished')
    return {
      next_state: 'OBSERVING',
      output: { ...progress, searched: searchedRecord(seen.searched) },
      error_code: 'MINT_SEARCH_UNFINISHED',
      error_message: 'somebody has minted it, and by what is still looked for in older blocks',
      retry_after_seconds: GOES_ON_SECONDS,
    };
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

/** Whether the transaction is in the chain and took the nonce with this burn's message. */
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
/** Between two looks of a search that goes on. */
const GOES_ON_SECONDS = 1;

/**
 * The transaction that brought the message, looked for in the blocks in which that was possible, on
 * from those that were searched.
 *
 * @throws ExecutorFault `server_error` `MINT_UNSEEN` where the nonce is used and nothing shows by
 *   what: asked again.
 */
export async function mintOfNonce(
  connection: EvmConnection,
  { destination, since, nonce }: MintPlan,
  searched: Searched | null,
  search?: SearchLimits,
): Promise<Exclude<Found, { kind: 'nowhere' }>> {
  const address = destination.cctp.message_transmitter;
  const wanted = { address, topics: [RECEIVED, null, nonce], since };
  const seen = await searchLogs(connection, wanted, searched, search);
  if (seen.kind !== 'nowhere') return seen;
  throw unseen();
}

function unseen(): ExecutorFault {
  return new ExecutorFault(
    'server_error',
    'MINT_UNSEEN',
    'the message was brought by somebody, and the endpoint does not show by what',
    { retryAfterSeconds: ASK_EVERY_SECONDS },
  );
}
