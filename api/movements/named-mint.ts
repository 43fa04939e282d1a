/** Determines what a named mint transaction completes: the chain decides, not the person. */
import type {
  NamedMint,
  NamedMints,
  RecordedBurn,
  UnprovenMint,
} from '../../domain/bridges/named-mint.ts';
import { claimsOf, type Claim } from '../../domain/claims.ts';
import { isResolvable } from '../../domain/commands/resolve.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { firstLegOf, legOn } from '../../domain/plan/legs.ts';
import type { CompiledNode } from '../../domain/plan/types.ts';
import type { MovementSnapshot, NodeSnapshot } from '../../domain/snapshot.ts';
import { readClaimed, readOpenBurns } from '../../store/claims.ts';
import type { Database } from '../../prisma/client.ts';
import type { ApiDependencies } from '../dependencies.ts';

interface Named {
  readonly snapshot: MovementSnapshot;
  readonly node_key: string;
  readonly hashes: readonly string[];
  readonly read: ReadMints;
}

/** Milliseconds for all chain reads of a request, however often its decision is made again. */
const ANSWER_WITHIN_MS = 20_000;
type ReadMints = (burn: RecordedBurn, hash: string) => Promise<NamedMints>;

/** Returns a function that reads the mint transactions of one request, each only once. */
export function mintsOf({ mints: reader }: ApiDependencies): ReadMints {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const reads = new Map<string, Promise<NamedMints>>();
  return (burn, hash) => {
    if (reader === undefined) return Promise.reject(unreadable(null));
    const key = `${hash} ${JSON.stringify(burn)}`;
    const read =
      reads.get(key) ??
      reader.read(burn, hash, signal).catch((error) => Promise.reject(unreadable(error)));
    reads.set(key, read);
    return read;
  };
}

/** A burn node, with what the node has recorded. */
interface Burn {
  readonly planned: CompiledNode;
  readonly node: NodeSnapshot;
  readonly amount: string;
  readonly output: JsonObject;
}

/**
 * Returns the output of the burn or mint node that these transactions complete. Returns undefined
 * when a person cannot resolve the node; the caller then refuses.
 *
 * @throws ServiceError `mint_not_proven`, `venue_unavailable`, `invalid_request`.
 */
export async function outputByMint(
  { snapshot, node_key, hashes, read }: Named,
  { db }: Pick<ApiDependencies, 'db'>,
): Promise<JsonObject | undefined> {
  const found = findNode(snapshot, node_key);
  if (found === undefined || !isResolvable(found.node, 'completed')) return undefined;
  const { action_type } = found.planned;
  const leg = legOn('attested', action_type);
  const burn =
    leg === null ? null : burnOf(snapshot, leg === 1 ? node_key : firstLegOf(found.planned));
  if (burn === null)
    throw new ServiceError('invalid_request', {
      message: `mint_tx_hashes is only for a burn that an attester signs, or for its mint; ${node_key} is ${action_type}.`,
      context: { node_key },
    });
  const mints = await readMints(burn, hashes, read);
  if (leg === 2) {
    // The burn node is completed, so the burn's nonce is known.
    const { reference } = claimed(burn.planned.action_type, burn.output);
    const own = mints.find(
      (each) => claimed(burn.planned.action_type, each.burn).reference === reference,
    );
    if (own !== undefined) return own.mint;
    throw unproven(hashes[0], {
      reason: 'another_message',
      problem: `its message is not the message of the burn ${burn.node.node_key}`,
    });
  }
  return { ...burn.output, ...(await chosen(snapshot.movement_id, burn, mints, db)) };
}

/** Returns a node with its part of the plan; undefined if there is none of this key. */
export function findNode({ plan, nodes }: MovementSnapshot, node_key: string | null) {
  const planned = plan.nodes.find((each) => each.node_key === node_key);
  const node = nodes.find((each) => each.node_key === node_key);
  return planned === undefined || node === undefined ? undefined : { planned, node };
}

/** Returns the burn of a node; null when the node is not a burn. */
function burnOf(snapshot: MovementSnapshot, node_key: string | null): Burn | null {
  const found = findNode(snapshot, node_key);
  if (found === undefined || legOn('attested', found.planned.action_type) !== 1) return null;
  const { output, amount } = found.node;
  return { ...found, output: output ?? {}, amount: amount ?? '0' };
}

/** Returns the mints in all of the transactions, each once. */
async function readMints(
  { planned, amount, output }: Burn,
  hashes: readonly string[],
  read: ReadMints,
): Promise<readonly NamedMint[]> {
  const { config, asset } = planned;
  const byNonce = new Map<string, NamedMint>();
  const all = await Promise.all(
    [...new Set(hashes)].map(
      async (hash) => [hash, await read({ config, asset, amount, output }, hash)] as const,
    ),
  );
  for (const [hash, shown] of all) {
    if (!shown.ok) throw unproven(hash, shown);
    for (const mint of shown.mints)
      byNonce.set(claimed(planned.action_type, mint.burn).reference, mint);
  }
  return [...byNonce.values()];
}

/**
 * Returns the output of the first mint that completed no other burn, if it is certain that this
 * burn is minted: there is a mint for every open burn with the same terms, so it does not matter
 * which mint belongs to which burn. Open burns are read after the chain: a burn that is sent later
 * has no mint among those read.
 */
async function chosen(
  movement_id: string,
  { node, planned, amount, output }: Burn,
  mints: readonly NamedMint[],
  db: Database,
): Promise<JsonObject> {
  const owner = { movement_id, node_key: node.node_key };
  const { action_type } = planned;
  const referenceOf = (mint: NamedMint): string => claimed(action_type, mint.burn).reference;
  const [first] = mints;
  if (first === undefined) throw new Error('no mint was read, and no error was reported');
  const { source } = claimed(action_type, first.burn);
  const others = await readOpenBurns(
    db,
    {
      message: String(output['message']),
      amount,
      mint_recipient: String(planned.config['mint_recipient']),
    },
    owner,
  );
  // Read after the open burns: a burn completed meanwhile still counts as open, and its mint as
  // taken.
  const held = await readClaimed(db, { source, references: mints.map(referenceOf) }, owner);
  const taken = new Set(held.filter(({ own }) => !own).map(({ reference }) => reference));
  const free = mints.filter((mint) => !taken.has(referenceOf(mint)));
  // Every mint is taken: the write fails and its error names the node that holds the mint.
  const [own] = free;
  if (own === undefined) return first.burn;
  if (free.length > others.length) return own.burn;
  throw unproven(null, {
    reason: 'ambiguous',
    problem: `${String(others.length)} other burns with the same terms are open, and the mint may belong to any of them. Name one mint for each burn, or wait until the other burns are completed`,
    nodes: others,
  });
}

/** Returns the claim of a burn with this output: its message, by source domain and nonce. */
function claimed(action_type: string, output: JsonObject): Pick<Claim, 'source' | 'reference'> {
  const [claim] = claimsOf({ action_type, output, matched: null });
  return claim ?? { source: '', reference: '' };
}

function unproven(
  tx_hash: string | null | undefined,
  {
    reason,
    problem,
    nodes,
  }: {
    readonly reason: UnprovenMint | 'ambiguous';
    readonly problem: string;
    readonly nodes?: readonly object[];
  },
): ServiceError {
  const named = tx_hash == null ? {} : { tx_hash };
  return new ServiceError('mint_not_proven', {
    message: `${tx_hash == null ? 'The mint' : tx_hash} does not complete the node: ${problem}.`,
    context: { reason, ...named, ...(nodes === undefined ? {} : { nodes }) },
  });
}

function unreadable(error: unknown): unknown {
  if (error !== null && !(error instanceof ExecutorFault)) return error;
  return new ServiceError('venue_unavailable', {
    message: `The mint could not be read from its chain: ${error === null ? 'no chain is bound here' : error.message}. Nothing was written.`,
    context: error === null ? {} : { reason: error.code },
  });
}
