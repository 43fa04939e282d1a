/** Whom a plan pays, and whether the allowlist lets it. */
import { questionOf } from '../../domain/allowlist/ask.ts';
import { destinationsOf, type Destination } from '../../domain/allowlist/destinations.ts';
import { usableAfter } from '../../domain/allowlist/match.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import { readEvmAddress } from '../../signers/evm-address.ts';
import { readListed } from '../../store/allowlist.ts';
import type { ApiDependencies } from '../dependencies.ts';

export interface AddressCheck extends Pick<Destination, 'node_key' | 'chain_family' | 'address' | 'chain_id'> {
  /** An active row is about it; whether it cools is asked when it is paid. */
  readonly allowed: boolean;
  readonly usable_after: string | null;
  /** Why the address cannot be on any list. */
  readonly problem: string | null;
}

/** Every destination of every node, each held against the list. */
export async function checkAddresses(plan: CompiledPlan, deps: Pick<ApiDependencies, 'db'>): Promise<readonly AddressCheck[]> {
  const { intent, input_params } = plan;
  const found = plan.nodes
    .flatMap((node) => destinationsOf({ node, intent, input_params }))
    .map((destination) => ({ destination, question: questionOf(destination, readEvmAddress) }));
  const asked = found.flatMap(({ question }) => ('asked' in question ? [question.asked] : []));
  const { rows } = asked.length === 0 ? { rows: [] } : await readListed(deps.db, asked);
  return found.map(({ destination: { node_key, chain_family, address, chain_id }, question }) => {
    const place = { node_key, chain_family, chain_id };
    if ('problem' in question) return { ...place, address, allowed: false, usable_after: null, problem: question.problem };
    const usable = usableAfter(rows, question.asked);
    const after = usable == null ? null : new Date(usable).toISOString();
    return { ...place, address: question.asked.address, allowed: usable !== undefined, usable_after: after, problem: null };
  });
}

/** One refusal with every on-chain address that is not allowed; what exchanges are asked to pay does not hinder a create. */
export function addressRefusals(checks: readonly AddressCheck[]): readonly ServiceError[] {
  const refused = checks
    .filter(({ chain_family, allowed }) => chain_family === 'evm' && !allowed)
    .map(({ node_key, address, chain_id, problem }) => ({ node_key, address, chain_id, ...(problem === null ? {} : { problem }) }));
  const [first] = refused;
  return first === undefined ? [] : [new ServiceError('address_not_allowlisted', { context: { ...first, addresses: refused } })];
}
