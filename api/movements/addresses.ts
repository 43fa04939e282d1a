/** Lists the payees of a plan and checks them against the allowlist. */
import { questionOf } from '../../domain/allowlist/ask.ts';
import { tokensOf, withoutKnown } from '../../domain/allowlist/declared.ts';
import { destinationsOf, type Paying } from '../../domain/allowlist/destinations.ts';
import type { Destination } from '../../domain/allowlist/destination.ts';
import { problemOf, usableAfter, type AllowlistCode } from '../../domain/allowlist/match.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { kept } from '../../domain/plan/kept.ts';
import type { CompiledNode, CompiledPlan, Intent } from '../../domain/plan/types.ts';
import { inSlices } from '../../platform/slices.ts';
import { signerAddresses } from '../../platform/signer-addresses.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { readListed } from '../../store/allowlist.ts';
import type { ApiDependencies } from '../dependencies.ts';

export interface AddressCheck extends Pick<
  Destination,
  'node_key' | 'chain_family' | 'address' | 'chain_id'
> {
  /** Whether a row for every chain is not enough. */
  readonly strict: boolean;
  /** Whether an active allowlist row has the address; its cooling period is checked at payment. */
  readonly allowed: boolean;
  readonly usable_after: string | null;
  /** Code with which the fence would refuse the address now; null when the address may be paid. */
  readonly code: AllowlistCode | null;
  /** Why the address cannot be on any allowlist; null when it can. */
  readonly problem: string | null;
  /** Whether the plan itself names no payable address. */
  readonly hopeless: boolean;
}

/**
 * Maximum number of destinations; the largest allowed plan needs far less. Without this limit,
 * parameters with thousands of addresses would be checked for every node.
 */
export const MOST_DESTINATIONS = 5_000;

/**
 * Returns every destination of every node, each checked against the allowlist; null when the plan
 * names too many.
 */
export async function checkAddresses(
  plan: CompiledPlan,
  deps: Pick<ApiDependencies, 'db' | 'executors' | 'signers' | 'chains'>,
): Promise<readonly AddressCheck[] | null> {
  const paid = await paidBy(plan, deps);
  if (paid === null) return null;
  const found = paid.map((destination) => ({
    destination,
    question: questionOf(destination, readEvmAddress),
  }));
  const payees = found.flatMap(({ question }) => ('payee' in question ? [question.payee] : []));
  const { rows, now } =
    payees.length === 0 ? { rows: [], now: 0 } : await readListed(deps.db, payees);
  return found.map(
    ({
      destination: { node_key, chain_family, address, chain_id, strict, problem },
      question,
    }): AddressCheck => {
      const place = { node_key, chain_family, chain_id, strict, hopeless: problem !== undefined };
      if ('problem' in question)
        return {
          ...place,
          address,
          allowed: false,
          usable_after: null,
          problem: question.problem,
          code: 'ADDRESS_NOT_ALLOWLISTED',
        };
      const usable = usableAfter(rows, question.payee);
      const after = usable == null ? null : new Date(usable).toISOString();
      return {
        ...place,
        address: question.payee.address,
        allowed: usable !== undefined,
        usable_after: after,
        code: problemOf(rows, question.payee, now),
        problem: null,
      };
    },
  );
}

/** Returns every destination that the plan's nodes pay; null when the plan names too many. */
export async function paidBy(
  plan: CompiledPlan,
  deps: Pick<ApiDependencies, 'executors' | 'signers' | 'chains'>,
): Promise<readonly Destination[] | null> {
  const { intent, input_params, nodes } = plan;
  const executors = new Map(
    deps.executors.list().map((executor) => [executor.executor_key, executor]),
  );
  const found = await inSlices(
    destinationsInSteps(nodes, (node) => {
      const executor = executors.get(node.executor_binding.executor_key);
      return plannedDestinations(node, intent, input_params, executor);
    }),
  );
  if (found === null) return null;
  if (!found.some(({ aside }) => aside === true)) return found;
  // The address of a silent signer counts as a payee here; before a send the node waits for it.
  const { addresses } = await signerAddresses(nodes, (key) => deps.signers.get(key));
  return withoutKnown(found, [...tokensOf(nodes, input_params, deps.chains), ...addresses]);
}

const plannedDestinations = kept(
  (node: CompiledNode, intent: Intent, input_params: JsonObject, executor: Paying['executor']) =>
    destinationsOf({ node, executor, intent, input_params }),
);

/**
 * Collects destinations, one node in each step: a node searches all parameters, and other work may
 * run between steps.
 */
function* destinationsInSteps(
  nodes: readonly CompiledNode[],
  of: (node: CompiledNode) => readonly Destination[],
): Generator<undefined, readonly Destination[] | null> {
  const found: Destination[] = [];
  for (const node of nodes) {
    for (const each of of(node)) found.push(each);
    if (found.length > MOST_DESTINATIONS) return null;
    yield;
  }
  return found;
}

/**
 * Returns one refusal with every on-chain payee that is not allowed. An exchange's payee does not
 * prevent a create, except a field of a team's own executor with a value that can never be paid: no
 * allowlist can have that value.
 */
export function addressRefusals(checks: readonly AddressCheck[]): readonly ServiceError[] {
  const refused = checks
    .filter(
      ({ chain_family, allowed, hopeless }) => (chain_family === 'evm' || hopeless) && !allowed,
    )
    .map(({ node_key, address, chain_id, problem }) => ({
      node_key,
      address,
      chain_id,
      ...(problem === null ? {} : { problem }),
    }));
  const [first] = refused;
  return first === undefined
    ? []
    : [new ServiceError('address_not_allowlisted', { context: { ...first, addresses: refused } })];
}
