/** Checks the allowlist before a send: preflight to fail early, and the fence, which decides. */
import { questionOf } from '../../domain/allowlist/ask.ts';
import { tokensOf, withoutKnown } from '../../domain/allowlist/declared.ts';
import { destinationsOf } from '../../domain/allowlist/destinations.ts';
import type { Destination } from '../../domain/allowlist/destination.ts';
import { problemOf, type AllowlistCode, type PayeeAddress } from '../../domain/allowlist/match.ts';
import { paysDepositAddress, type USE_PERP_DEPOSIT } from '../../domain/perps/deposit-address.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { signerAddresses } from '../../platform/signer-addresses.ts';
import { readListed } from '../../store/allowlist.ts';
import { readPlanNodes, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

export interface NotAllowed {
  readonly code: AllowlistCode | typeof USE_PERP_DEPOSIT;
  readonly message: string;
}

/** Dependencies that are needed to find the payees of a node. */
type AllowlistSources = Pick<PhaseDependencies, 'db' | 'executors' | 'signers' | 'chains'>;

/** Returns the payee addresses that must be on the allowlist, or why the node may pay none. */
export async function payeesOf(
  deps: AllowlistSources,
  row: PhaseRow,
): Promise<
  | { readonly ok: true; readonly addresses: readonly PayeeAddress[] }
  | ({ readonly ok: false } & NotAllowed)
> {
  const addresses: PayeeAddress[] = [];
  const paid = await paidBy(deps, row);
  const misdirected = paysDepositAddress(row.node.action_type, paid, deps.chains);
  if (misdirected !== null) return { ok: false, ...misdirected };
  for (const destination of paid) {
    const question = questionOf(destination, readEvmAddress);
    if ('problem' in question)
      return { ok: false, code: 'ADDRESS_NOT_ALLOWLISTED', message: question.problem };
    addresses.push(question.payee);
  }
  return { ok: true, addresses: addresses };
}

/**
 * Returns the node's payees. Reads the rest of the plan only when an address may belong to the plan
 * itself (its tokens or signers).
 */
async function paidBy(deps: AllowlistSources, row: PhaseRow): Promise<readonly Destination[]> {
  const { node, plan, prepared_action, output, sign_request } = row;
  const { intent, input_params } = plan;
  const executor = deps.executors.describe(node.executor_binding.executor_key);
  const found = destinationsOf({
    node,
    executor,
    intent,
    input_params,
    prepared_action,
    output,
    sign_request,
  });
  if (!found.some(({ aside }) => aside === true)) return found;
  const nodes = await readPlanNodes(deps.db, row.movement_id);
  const signers = await signerAddresses(nodes, (key) => deps.signers.get(key));
  return withoutKnown(found, [...tokensOf(nodes, input_params, deps.chains), ...signers]);
}

/** Returns why the node may not pay now; null when it may. A node without payees needs no query. */
export async function notAllowed(
  deps: PhaseDependencies,
  row: PhaseRow,
): Promise<NotAllowed | null> {
  const by = await payeesOf(deps, row);
  if (!by.ok) return by;
  if (by.addresses.length === 0) return null;
  const { now, rows } = await readListed(deps.db, by.addresses);
  for (const payee of by.addresses) {
    const code = problemOf(rows, payee, now);
    if (code !== null) return { code, message: sentenceOf(code, payee.address) };
  }
  return null;
}

const SENTENCES: Readonly<Record<AllowlistCode, string>> = {
  ADDRESS_NOT_ALLOWLISTED:
    'is not on the allowlist for the chain or exchange on which it would be paid',
  ADDRESS_CHAIN_ID_REQUIRED:
    'is on the allowlist only without a chain; add an entry that names the chain of this node',
  ADDRESS_IN_COOLING_PERIOD: 'is on the allowlist but still in its cooling period',
};

export function sentenceOf(code: AllowlistCode, address: string): string {
  return `${address} ${SENTENCES[code]}`;
}

/** Returns the code of the fence's reason; a general code for an unknown reason. */
export function codeOf(reason: string): AllowlistCode {
  return reason in SENTENCES ? (reason as AllowlistCode) : 'ADDRESS_NOT_ALLOWLISTED';
}
