/** POST /movements/{movement_id}/nodes/{node_key}/actions/resolve */
import { missingRecord, resolve as resolution } from '../../domain/commands/resolve.ts';
import { ServiceError } from '../../domain/errors.ts';
import { LONGEST_SETTLE_SECONDS } from '../../domain/executor.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import type { NodeState } from '../../domain/states/node.ts';
import type { NodeRef } from '../../domain/transition.ts';
import { databaseAheadMs } from '../../store/clock.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { refuseOther, verb } from './act.ts';
import { claimsReadFor, outputByClaim } from './named-claim.ts';
import { mintsOf, outputByMint } from './named-mint.ts';
import type { ResolveBody } from './schema.ts';

/** Settles, by a person's decision, a node that is UNKNOWN or observed for longer than usual. */
export const resolve = verb<ResolveBody, NodeRef>(
  'resolve',
  ({ params: { node_key }, body, requester }, deps) => {
    const { mint_tx_hashes: hashes, attempt, ...said } = body;
    const byMint = hashes === undefined ? null : { hashes, read: mintsOf(deps) };
    const read = claimsReadFor(deps);
    return async (snapshot) => {
      // Whoever names no attempt knows of no other than the first.
      refuseOther(
        { attempt: attempt ?? 1 },
        snapshot.nodes.find((each) => each.node_key === node_key),
      );
      const output =
        byMint === null
          ? await outputByClaim({ snapshot, node_key, ...said, output: said.output, read }, deps)
          : await outputByMint({ snapshot, node_key, ...byMint }, deps);
      // The database judges by its own clock, and the send has to be over by this process's, too.
      const ahead_ms = await databaseAheadMs(deps.db);
      const over = {
        settle_seconds: settleSeconds(snapshot, node_key, deps),
        ahead_seconds: ahead_ms / 1_000,
      };
      const word = { node_key, ...said, output, mint_tx_hashes: hashes };
      const transition = resolution(snapshot, { ...word, ...over }, requester);
      if (transition === null)
        return wrongNode(snapshot, {
          node_key,
          action: 'resolve',
          allowed: ['UNKNOWN'],
          besides:
            ', or that is observed for longer than usual (for completed, an hour longer than that, also in UNKNOWN with SEND_UNDER_WAY)',
        });
      const missing = missingRecord(snapshot, word);
      if (missing !== null) throw withoutRecord(snapshot, node_key, missing);
      return transition;
    };
  },
);

/**
 * Returns the seconds after which an effect is visible at the node's executor; the longest time for
 * an executor that is no longer registered.
 */
function settleSeconds(
  { plan }: MovementSnapshot,
  node_key: string,
  { executors }: ApiDependencies,
): number {
  const bound = plan.nodes.find((node) => node.node_key === node_key)?.executor_binding
    .executor_key;
  return (
    executors.list().find(({ executor_key }) => executor_key === bound)?.settle_seconds ??
    LONGEST_SETTLE_SECONDS
  );
}

/**
 * Returns a refusal that suggests a retry: the retry reads the record from the chain, which a
 * person would have to copy.
 */
function withoutRecord(
  { movement_id }: MovementSnapshot,
  node_key: string,
  field: string,
): ServiceError {
  return new ServiceError('resolution_incomplete', {
    message: `The next leg of the bridge needs output.${field} of ${node_key}, which is not recorded. Retry ${node_key}, which reads it from the chain, or send it in output.`,
    context: { movement_id, node_key, missing: `output.${field}` },
  });
}

/** Throws `node_not_found`, or `invalid_state` when the node's state does not allow the command. */
export function wrongNode(
  { movement_id, nodes }: MovementSnapshot,
  named: {
    readonly node_key: string;
    readonly action: string;
    readonly allowed: readonly NodeState[];
    /** Text with further allowed cases. */
    readonly besides?: string;
  },
): never {
  const { node_key, action, allowed, besides = '' } = named;
  const node = nodes.find((each) => each.node_key === node_key);
  if (node === undefined)
    throw new ServiceError('node_not_found', { context: { movement_id, node_key } });
  throw new ServiceError('invalid_state', {
    message: `${action} is for a node in ${allowed.join(' or ')}${besides}; ${node_key} is ${node.state}.`,
    context: { node_key, current_state: node.state, allowed_states: allowed },
  });
}
