/** Checks the allowlist before a send: preflight to fail early, and the fence, which decides. */
import { questionOf } from '../../domain/allowlist/ask.ts';
import { tokensOf, withoutKnown } from '../../domain/allowlist/declared.ts';
import { destinationsOf } from '../../domain/allowlist/destinations.ts';
import type { Destination } from '../../domain/allowlist/destination.ts';
import { problemOf, type AllowlistCode, type PayeeAddress } from '../../domain/allowlist/match.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { paysDepositAddress } from '../../domain/perps/deposit-address.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { signerAddresses } from '../../platform/signer-addresses.ts';
import { readListed } from '../../store/allowlist.ts';
import { readPlanNodes, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

/** Dependencies that are needed to find the payees of a node. */
type AllowlistSources = Pick<PhaseDependencies, 'db' | 'executors' | 'signers' | 'chains'>;

/**
 * Returns the payee addresses that must be on the allowlist, or why the node may pay none now. The
 * fault is `unreachable` while a signer is silent whose own address may be the one that is not on
 * the list: then nothing is proven, and the node waits.
 */
export async function payeesOf(
  deps: AllowlistSources,
  row: PhaseRow,
): Promise<
  | { readonly ok: true; readonly addresses: readonly PayeeAddress[] }
  | { readonly ok: false; readonly fault: ExecutorFault }
> {
  const addresses: PayeeAddress[] = [];
  const maybeOwn: PayeeAddress[] = [];
  const { paid, silent } = await paidBy(deps, row);
  const misdirected = paysDepositAddress(row.node.action_type, paid, deps.chains);
  if (misdirected !== null)
    return { ok: false, fault: refusal(misdirected.code, misdirected.message) };
  for (const destination of paid) {
    const isMaybeOwn = destination.aside === true && silent.length > 0;
    const question = questionOf(destination, readEvmAddress);
    if ('problem' in question) {
      const refused = refusal('ADDRESS_NOT_ALLOWLISTED', question.problem);
      return { ok: false, fault: isMaybeOwn ? noAddressOf(silent) : refused };
    }
    addresses.push(question.payee);
    if (isMaybeOwn) maybeOwn.push(question.payee);
  }
  const unlisted = await problemNow(deps, maybeOwn);
  return unlisted === null ? { ok: true, addresses } : { ok: false, fault: noAddressOf(silent) };
}

/**
 * Returns the node's payees. Reads the rest of the plan only when an address may belong to the plan
 * itself (its tokens or signers). `silent`: signers of the plan that did not return their address.
 */
async function paidBy(
  deps: AllowlistSources,
  row: PhaseRow,
): Promise<{ readonly paid: readonly Destination[]; readonly silent: readonly string[] }> {
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
  if (!found.some(({ aside }) => aside === true)) return { paid: found, silent: [] };
  const nodes = await readPlanNodes(deps.db, row.movement_id);
  const { addresses, silent } = await signerAddresses(nodes, (key) => deps.signers.get(key));
  const known = [...tokensOf(nodes, input_params, deps.chains), ...addresses];
  return { paid: withoutKnown(found, known), silent };
}

/** Returns why the node may not pay now; null when it may. */
export async function notAllowed(
  deps: PhaseDependencies,
  row: PhaseRow,
): Promise<ExecutorFault | null> {
  const by = await payeesOf(deps, row);
  return by.ok ? problemNow(deps, by.addresses) : by.fault;
}

/** Returns why one of the payees may not be paid now; null when all may. None need no query. */
async function problemNow(
  { db }: Pick<AllowlistSources, 'db'>,
  payees: readonly PayeeAddress[],
): Promise<ExecutorFault | null> {
  if (payees.length === 0) return null;
  const { now, rows } = await readListed(db, payees);
  for (const payee of payees) {
    const code = problemOf(rows, payee, now);
    if (code !== null) return refusal(code, sentenceOf(code, payee.address));
  }
  return null;
}

function refusal(code: string, message: string): ExecutorFault {
  return new ExecutorFault('rejected', code, message);
}

function noAddressOf(silent: readonly string[]): ExecutorFault {
  const message = `an address that is not on the allowlist may be the own address of a signer of the plan that does not answer: ${silent.join(', ')}`;
  return new ExecutorFault('unreachable', 'SIGNER_UNREACHABLE', message);
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
