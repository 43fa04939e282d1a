/** Reads at its source what a person names as the claim of a node that they complete. */
import { specOf } from '../../domain/actions/built-in.ts';
import {
  differingFields,
  unprovenClaim,
  type NamedClaim,
  type ReadClaim,
} from '../../domain/claim-reader.ts';
import { claimPlaces, claimsOf, namesPayments } from '../../domain/claims.ts';
import { amountOf, isResolvable, type Outcome } from '../../domain/commands/resolve.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { CompiledNode } from '../../domain/plan/types.ts';
import type { MovementSnapshot, NodeSnapshot } from '../../domain/snapshot.ts';
import { readTransactions } from '../../store/evm-transactions.ts';
import { readPhase } from '../../store/phases.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { findNode } from './named-mint.ts';

type ReadNamed = (named: NamedClaim) => Promise<ReadClaim>;

interface Word {
  readonly snapshot: MovementSnapshot;
  readonly node_key: string;
  readonly outcome: Outcome;
  readonly output: JsonObject | undefined;
  readonly read: ReadNamed;
}

/** Milliseconds for all reads of a request, however often its decision is made again. */
const ANSWER_WITHIN_MS = 20_000;

/** Returns a function that reads the claims of one request, each only once. */
export function claimsReadFor({ claims: readers = [] }: ApiDependencies): ReadNamed {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const reads = new Map<string, Promise<ReadClaim>>();
  return (named) => {
    const reader = readers.find(({ action_types }) => action_types.includes(named.action_type));
    if (reader === undefined) return Promise.reject(unreadable('its venue is not bound here'));
    const key = JSON.stringify(named);
    const read =
      reads.get(key) ??
      reader.read(named, signal).catch((error: unknown) => Promise.reject(refusalOf(error)));
    reads.set(key, read);
    return read;
  };
}

/**
 * Returns the output of a node that a person completes. Of a type that claims, it holds what the
 * source shows of the claim; of any other type it is what the person states. Returns the same where
 * a person cannot complete the node: the caller then refuses.
 *
 * @throws ServiceError `claim_missing`, `claim_not_proven`, `venue_unavailable`.
 */
export async function outputByClaim(
  { snapshot, node_key, outcome, output, read }: Word,
  deps: Pick<ApiDependencies, 'db' | 'signers'>,
): Promise<JsonObject | undefined> {
  const found = findNode(snapshot, node_key);
  if (outcome !== 'completed' || found === undefined) return output;
  const { planned, node } = found;
  if (!isResolvable(node, outcome) || specOf(planned.action_type).claim === null) return output;
  if (output === undefined || !namesClaim(planned, output)) throw missing(snapshot, planned);
  const named = await namedBy(snapshot, { planned, node, output }, deps);
  const shown = namesTwice(named)
    ? unprovenClaim('differs', 'output.payments names a payment twice')
    : await read(named);
  if (!shown.ok) throw unproven(node_key, shown);
  const other = differingFields(output, shown.output);
  const [field] = Object.keys(other);
  if (field !== undefined)
    throw unproven(
      node_key,
      unprovenClaim('differs', `the source shows another output.${field}`, other),
    );
  return { ...output, ...shown.output };
}

function namesClaim({ action_type }: CompiledNode, output: JsonObject): boolean {
  const stated = specOf(action_type).claim?.stated ?? [];
  if (stated.length === 0) return false;
  if (namesPayments(action_type))
    return claimsOf({ action_type, output, matched: null }).length > 0;
  return stated.every((field) => typeof output[field] === 'string' && output[field] !== '');
}

/** Returns whether the output lists a payment twice, so that its amount would count twice. */
function namesTwice({ action_type, output }: NamedClaim): boolean {
  if (!namesPayments(action_type)) return false;
  const names = claimsOf({ action_type, output, matched: null }).map(({ source, reference }) =>
    JSON.stringify([source, reference]),
  );
  return new Set(names).size < names.length;
}

async function namedBy(
  snapshot: MovementSnapshot,
  of: { readonly planned: CompiledNode; readonly node: NodeSnapshot; readonly output: JsonObject },
  deps: Pick<ApiDependencies, 'db' | 'signers'>,
): Promise<NamedClaim> {
  const { planned, node, output } = of;
  const { movement_id } = snapshot;
  const { action_type, config, asset, node_key } = planned;
  const row = await readPhase(deps.db, movement_id, node_key);
  return {
    movement_id,
    action_type,
    config,
    asset,
    amount: amountOf(snapshot, node) ?? '0',
    output,
    external_ref: row?.external_ref ?? null,
    prepared_action: row?.prepared_action ?? {},
    recorded: row?.output ?? {},
    matched:
      row?.matched == null
        ? null
        : { external_ref: row.matched.external_ref, output: row.matched.output },
    // A stranger may make an equal send over a bridge: only the sender differs.
    from: specOf(action_type).crossing?.leg === 1 ? await senderOf(movement_id, node, deps) : null,
  };
}

/** Returns the address that sends for the node; null if no signer is bound. */
async function senderOf(
  movement_id: string,
  { node_key, attempt, signer_key }: NodeSnapshot,
  { db, signers }: Pick<ApiDependencies, 'db' | 'signers'>,
): Promise<string | null> {
  const [sent] = await readTransactions(db, { movement_id, node_key, attempt });
  if (sent !== undefined) return sent.from;
  if (signer_key === null) return null;
  const address = await signers
    .get(signer_key)
    ?.recentIdentity()
    .catch(() => null);
  if (typeof address === 'string') return address;
  throw unreadable(`signer ${signer_key} does not return its address`);
}

/** Returns the refusal that says what has to be named. */
function missing({ movement_id }: MovementSnapshot, planned: CompiledNode): ServiceError {
  const { node_key, action_type } = planned;
  const places = claimPlaces(action_type);
  const how = namesPayments(action_type)
    ? ': a list of {source, reference, amount, total}, each as its source shows it'
    : '';
  return new ServiceError('claim_missing', {
    message: `Name what completed ${node_key} in ${places.join(', or in ')}${how}; it is read at its source. ${WAY_ON}`,
    context: { movement_id, node_key, missing: places },
  });
}

function unproven(
  node_key: string,
  { reason, problem, found }: Extract<ReadClaim, { readonly ok: false }>,
): ServiceError {
  return new ServiceError('claim_not_proven', {
    message: `What completed names does not complete ${node_key}: ${problem}. Nothing was written. ${WAY_ON}`,
    context: { node_key, reason, ...(found === undefined ? {} : { found }) },
  });
}

function refusalOf(error: unknown): unknown {
  return error instanceof ExecutorFault ? unreadable(error.message, error.code) : error;
}

function unreadable(why: string, code?: string): ServiceError {
  return new ServiceError('venue_unavailable', {
    message: `What completed names could not be read at its source: ${why}. Nothing was written. ${WAY_ON}`,
    context: code === undefined ? {} : { reason: code },
  });
}

const WAY_ON = 'If it can never be shown, resolve the node as abandoned.';
