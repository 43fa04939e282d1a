/** Whom a plan pays, and whether the allowlist lets it. */
import { questionOf } from '../../domain/allowlist/ask.ts';
import { tokensOf, withoutKnown } from '../../domain/allowlist/declared.ts';
import { destinationsOf } from '../../domain/allowlist/destinations.ts';
import type { Destination } from '../../domain/allowlist/destination.ts';
import { problemOf, usableAfter, type AllowlistCode } from '../../domain/allowlist/match.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';
import { inSlices } from '../../platform/slices.ts';
import { signerAddresses } from '../../platform/signer-addresses.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { readListed } from '../../store/allowlist.ts';
import type { ApiDependencies } from '../dependencies.ts';

export interface AddressCheck extends Pick<
  Destination,
  'node_key' | 'chain_family' | 'address' | 'chain_id'
> {
  /** An active row is about it; whether it cools is checked when it is paid. */
  readonly allowed: boolean;
  readonly usable_after: string | null;
  /** With what the fence would refuse it now; null where it may be paid. */
  readonly code: AllowlistCode | null;
  /** Why the address cannot be on any list. */
  readonly problem: string | null;
  /** The plan itself names no payable address. */
  readonly hopeless: boolean;
}

/**
 * Upper bound; the largest allowed plan needs far less. Parameters that name thousands would be
 * checked for every node.
 */
export const MOST_DESTINATIONS = 5_000;

/**
 * Every destination of every node, each compared with the list; null where the plan names too many.
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
      destination: { node_key, chain_family, address, chain_id, problem },
      question,
    }): AddressCheck => {
      const place = { node_key, chain_family, chain_id, hopeless: problem !== undefined };
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

/** Everything that the plan's nodes pay; null where it names too many. */
export async function paidBy(
  plan: CompiledPlan,
  deps: Pick<ApiDependencies, 'executors' | 'signers' | 'chains'>,
): Promise<readonly Destination[] | null> {
  const { intent, input_params, nodes } = plan;
  const executors = new Map(
    deps.executors.list().map((executor) => [executor.executor_key, executor]),
  );
  const found = await inSlices(
    destinationsInSteps(nodes, (node) =>
      destinationsOf({
        node,
        executor: executors.get(node.executor_binding.executor_key),
        intent,
        input_params,
      }),
    ),
  );
  if (found === null) return null;
  if (!found.some(({ aside }) => aside === true)) return found;
  const signers = await signerAddresses(nodes, (key) => deps.signers.get(key));
  return withoutKnown(found, [...tokensOf(nodes, input_params, deps.chains), ...signers]);
}

/** A node at a time: each looks through all of the parameters. */
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
 * One refusal with every on-chain payee that is not allowed. A payee of an exchange does not hinder
 * a create, unless it is a field of a team's own executor with a value that could never be paid: no
 * list will ever have that.
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
