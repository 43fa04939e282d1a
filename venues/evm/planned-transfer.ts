/**
 * Reads the transfer that a node of any executor may have signed, from the approved plan and the
 * registry's declarations, never from the executor.
 */
import { ownDestinations } from '../../domain/allowlist/declared.ts';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import { isBuiltIn } from '../../domain/actions/built-in.ts';
import type { SignedNode } from '../../domain/signing.ts';
import { readTransferPlan, type TransferPlan } from './plan.ts';

export type Planned =
  | { readonly ok: true; readonly plan: TransferPlan }
  | { readonly ok: false; readonly problem: string };

const no = (problem: string): Planned => ({ ok: false, problem });

/**
 * Reads built-in transfers from their own config. A node of a team's own action type is one payment
 * to the one address that its declared payees name, on `config.chain_id`, of `config.token_address`
 * or else of the chain's coin.
 */
export function plannedTransfer(signed: SignedNode): Planned {
  const { node, amount } = signed;
  if (isBuiltIn(node.action_type)) return read(node, amount);
  const { chain_id, token_address, venue } = node.config;
  if (typeof chain_id !== 'number') return no('the plan names no chain_id');
  if (token_address !== undefined && typeof token_address !== 'string')
    return no('token_address of the plan is not a text');
  // The funds would be reserved at that venue, but the payment leaves the signer's account.
  if (typeof venue === 'string' && venue !== '')
    return no('the plan names a venue to draw on, but a signed transaction pays from its signer');
  const payee = onlyPayee(signed, chain_id);
  if ('problem' in payee) return no(payee.problem);
  const config = {
    chain_id,
    ...(token_address === undefined ? {} : { token_address }),
    destination_address: payee.address,
  };
  const action_type = token_address === undefined ? 'evm_native_transfer' : 'evm_erc20_transfer';
  return read({ action_type, config }, amount);
}

function onlyPayee(
  { node, executor, intent, input_params }: SignedNode,
  chainId: number,
): { readonly address: string } | { readonly problem: string } {
  const declared = ownDestinations({ node, executor, intent, input_params }).filter(
    ({ aside }) => aside !== true,
  );
  const problem = declared.find((each) => each.problem !== undefined)?.problem;
  if (problem !== undefined) return { problem };
  if (declared.some(({ chain_family }) => chain_family !== 'evm'))
    return { problem: 'the plan names a payee that is not on an EVM chain' };
  if (declared.some(({ chain_id }) => chain_id !== chainId))
    return { problem: `the plan pays on another chain than chain_id ${chainId}` };
  const payees = new Set(declared.map(({ address }) => address.toLowerCase()));
  const [address] = payees;
  if (address === undefined || payees.size > 1)
    return { problem: `a transaction pays one address, and the plan names ${payees.size}` };
  return { address };
}

function read(
  { action_type, config }: Pick<ExecutionContext, 'action_type' | 'config'>,
  amount: string,
): Planned {
  try {
    return { ok: true, plan: readTransferPlan({ action_type, config, amount }) };
  } catch (error) {
    if (error instanceof ExecutorFault) return no(error.message);
    throw error;
  }
}
