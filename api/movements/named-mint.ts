/** What a mint that a person names completes: the chain says it, not the person. */
import type { NamedMint, UnprovenMint } from '../../domain/bridges/named-mint.ts';
import { claimsOf } from '../../domain/claims.ts';
import { isResolvable } from '../../domain/commands/resolve.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { firstLegOf } from '../../domain/plan/legs.ts';
import type { CompiledNode } from '../../domain/plan/types.ts';
import type { MovementSnapshot, NodeSnapshot } from '../../domain/snapshot.ts';
import { readClaimed, readOpenBurns } from '../../store/claims.ts';
import type { ApiDependencies } from '../dependencies.ts';

interface Named {
  readonly snapshot: MovementSnapshot;
  readonly node_key: string;
  readonly hashes: readonly string[];
}

/** A burn with what its node has recorded. */
interface Burn {
  readonly planned: CompiledNode;
  readonly node: NodeSnapshot;
  readonly amount: string;
  readonly output: JsonObject;
}

/**
 * The output of the burn, or of the mint, that these transactions complete; undefined where a
 * person's word does not count for the node, which the caller refuses.
 *
 * @throws ServiceError `mint_not_proven`, `venue_unavailable`, `invalid_request`.
 */
export async function outputByMint(
  { snapshot, node_key, hashes }: Named,
  deps: ApiDependencies,
): Promise<JsonObject | undefined> {
  const found = findNode(snapshot, node_key);
  if (found === undefined || !isResolvable(found.node)) return undefined;
  const { action_type } = found.planned;
  const first = action_type === 'cctp_burn' ? node_key : firstLegOf(found.planned);
  const burn = burnOf(snapshot, action_type === 'cctp_mint' || first === node_key ? first : null);
  if (burn === null)
    throw new ServiceError('invalid_request', {
      message: `mint_tx_hashes is for a cctp_burn or a cctp_mint; ${node_key} is ${action_type}.`,
      context: { node_key },
    });
  const mints = await readMints(burn, hashes, deps);
  if (action_type === 'cctp_mint') {
    // The burn has been completed, so its nonce is known.
    const own = mints.find((each) => nonceOf(each.burn) === nonceOf(burn.output));
    if (own !== undefined) return own.mint;
    throw unproven(hashes[0], {
      reason: 'another_message',
      problem: `it brought another message than the one that ${burn.node.node_key} was completed with`,
    });
  }
  return { ...burn.output, ...(await chosen(snapshot.movement_id, burn, mints, deps)) };
}

function findNode({ plan, nodes }: MovementSnapshot, node_key: string | null) {
  const planned = plan.nodes.find((each) => each.node_key === node_key);
  const node = nodes.find((each) => each.node_key === node_key);
  return planned === undefined || node === undefined ? undefined : { planned, node };
}

/** Null where there is no such burn. */
function burnOf(snapshot: MovementSnapshot, node_key: string | null): Burn | null {
  const found = findNode(snapshot, node_key);
  if (found === undefined || found.planned.action_type !== 'cctp_burn') return null;
  const { output, amount } = found.node;
  return { ...found, output: output ?? {}, amount: amount ?? '0' };
}

/** The mints in all of the transactions, each once. */
async function readMints(
  { planned, amount, output }: Burn,
  hashes: readonly string[],
  { mints: reader }: ApiDependencies,
): Promise<readonly NamedMint[]> {
  const { config, asset } = planned;
  const byNonce = new Map<string, NamedMint>();
  for (const hash of new Set(hashes)) {
    const told = await reader?.read({ config, asset, amount, output }, hash).catch(unreadable);
    if (told === undefined) throw unreadable(null);
    if (!told.ok) throw unproven(hash, told);
    for (const mint of told.mints) byNonce.set(nonceOf(mint.burn), mint);
  }
  return [...byNonce.values()];
}

/**
 * Of the mints that completed no other burn the first, where it is sure that this burn is minted:
 * every open burn that it may as well be of has one of its own among them, and then it does not
 * matter which is whose. The open burns are read behind the chain: one that is sent later has no
 * mint in what was read.
 */
async function chosen(
  movement_id: string,
  { node, planned, amount, output }: Burn,
  mints: readonly NamedMint[],
  { db }: ApiDependencies,
): Promise<JsonObject> {
  const owner = { movement_id, node_key: node.node_key };
  const [first] = mints;
  const [claim] = claimsOf({
    action_type: 'cctp_burn',
    output: first?.burn ?? null,
    matched: null,
  });
  if (first === undefined || claim === undefined)
    throw new Error('a mint was read that claims nothing');
  const { source } = claim;
  const claimed = await readClaimed(
    db,
    { source, references: mints.map(({ burn }) => nonceOf(burn)) },
    owner,
  );
  const taken = new Set(claimed.filter(({ own }) => !own).map(({ reference }) => reference));
  const free = mints.filter(({ burn }) => !taken.has(nonceOf(burn)));
  // The write says who has it.
  const [own] = free;
  if (own === undefined) return first.burn;
  const others = await readOpenBurns(
    db,
    {
      message: String(output['message']),
      amount,
      mint_recipient: String(planned.config['mint_recipient']),
    },
    owner,
  );
  if (free.length > others.length) return own.burn;
  throw unproven(null, {
    reason: 'ambiguous',
    problem: `${String(others.length)} other burns of the same terms are open, and a mint may be of any of them. Name as many mints as there are burns, or wait until the others are completed`,
    nodes: others,
  });
}

/** What is claimed of a message, beside its source domain, which all of a burn's share. */
function nonceOf(burn: JsonObject): string {
  const [claim] = claimsOf({ action_type: 'cctp_burn', output: burn, matched: null });
  return claim?.reference ?? '';
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

function unreadable(error: unknown): never {
  if (error !== null && !(error instanceof ExecutorFault)) throw error;
  throw new ServiceError('venue_unavailable', {
    message: `The chain that is minted on gave no answer that can be read: ${error === null ? 'no chain is bound here' : error.message}. Nothing was written.`,
    context: error === null ? {} : { reason: error.code },
  });
}
