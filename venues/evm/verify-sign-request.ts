/**
 * The last check before signing: decodes what a sign request really does and compares this with the
 * plan. It is pure, so that the fence can call it inside its database transaction.
 */
import type { SignRequest } from '../../domain/executor.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import type { Verdict } from './act.ts';
import { exactUnits, type TokenDecimals } from './decimals.ts';

/**
 * The planned transfer. `amount` is a decimal string in asset units; `decimals` is 18 for native.
 */
export interface EvmTransferExpectation {
  readonly action_type: string;
  readonly chain_id: number;
  readonly token_address?: string | null;
  readonly destination_address: string;
  readonly amount: string;
  readonly decimals: TokenDecimals;
  /**
   * Most that the transaction may cost, in wei; absent for bytes that were checked before signing.
   */
  readonly max_gas_cost_wei?: string;
  /** The rollup's layer-1 charge in wei, which is part of the cost. */
  readonly layer1_fee_wei?: bigint;
}

const TRANSFER_SELECTOR = 'a9059cbb';
const WORD = 64;

const problem = (text: string): Verdict => ({ ok: false, problem: text });

/**
 * Checks that the request is exactly the planned transfer: an EIP-1559 transaction on the plan's
 * chain that either pays the destination with empty data, or calls the plan's token with canonical
 * `transfer(address,uint256)` calldata and no value. Anything else is refused. `problem` is a
 * sentence for the timeline.
 */
export function verifyEvmTransfer(request: SignRequest, plan: EvmTransferExpectation): Verdict {
  if (request.kind !== 'evm_transaction')
    return problem(`a transfer is signed as a transaction, but the request is for ${request.kind}`);
  const reading = readUnsignedTransaction(request.payload);
  if (!reading.ok) return problem(`the transaction is malformed: ${reading.problem}`);
  const { unsigned } = reading;
  if (unsigned.chain_id !== plan.chain_id)
    return problem(
      `the transaction is for chain ${unsigned.chain_id}, the plan for ${plan.chain_id}`,
    );
  const units = exactUnits(plan.amount, plan.decimals);
  if (units === null || units <= 0n)
    return problem(
      `the planned amount ${plan.amount} cannot be sent with ${plan.decimals} decimals`,
    );
  const fees = verifyFees(unsigned, plan);
  if (!fees.ok) return fees;
  const move = {
    to: unsigned.to,
    value: BigInt(unsigned.value),
    data: unsigned.data.slice(2).toLowerCase(),
  };
  if (plan.action_type === 'evm_native_transfer') return verifyNative(move, plan, units);
  if (plan.action_type === 'evm_erc20_transfer') return verifyErc20(move, plan, units);
  return problem(`${plan.action_type} is not a transfer`);
}

interface Move {
  readonly to: string;
  readonly value: bigint;
  /** Calldata as lower-case hex without prefix. */
  readonly data: string;
}

function verifyNative(move: Move, plan: EvmTransferExpectation, units: bigint): Verdict {
  if (plan.token_address !== undefined && plan.token_address !== null)
    return problem('the plan names a token, which a native transfer does not have');
  if (!sameEvmAddress(move.to, plan.destination_address))
    return problem(`the transaction pays ${move.to}, the plan ${plan.destination_address}`);
  if (move.data !== '') return problem('a native transfer carries no data');
  if (move.value !== units)
    return problem(`the transaction sends ${move.value} base units, the plan ${units}`);
  return { ok: true };
}

function verifyErc20(move: Move, plan: EvmTransferExpectation, units: bigint): Verdict {
  const token = plan.token_address ?? '';
  if (!sameEvmAddress(move.to, token))
    return problem(`the transaction calls ${move.to}, the plan's token is ${token || 'missing'}`);
  if (move.value !== 0n) return problem('a token transfer carries no value');
  if (!move.data.startsWith(TRANSFER_SELECTOR))
    return problem('the calldata is not transfer(address,uint256)');
  if (move.data.length !== TRANSFER_SELECTOR.length + 2 * WORD)
    return problem('the calldata is not exactly one payee and one amount');
  const payee = move.data.slice(TRANSFER_SELECTOR.length, TRANSFER_SELECTOR.length + WORD);
  const amount = BigInt(`0x${move.data.slice(TRANSFER_SELECTOR.length + WORD)}`);
  if (!payee.startsWith('0'.repeat(24))) return problem('the payee is not canonically encoded');
  const to = `0x${payee.slice(24)}`;
  if (!sameEvmAddress(to, plan.destination_address))
    return problem(`the transfer goes to ${to}, the plan to ${plan.destination_address}`);
  if (amount !== units)
    return problem(`the transfer moves ${amount} base units, the plan ${units}`);
  return { ok: true };
}

/** Checks that the fees are consistent and the cost is within the venue's cap. */
export function verifyFees(
  fees: {
    readonly gas: string;
    readonly max_fee_per_gas: string;
    readonly max_priority_fee_per_gas: string;
  },
  {
    max_gas_cost_wei: limit,
    layer1_fee_wei = 0n,
  }: Pick<EvmTransferExpectation, 'max_gas_cost_wei' | 'layer1_fee_wei'>,
): Verdict {
  const perGas = BigInt(fees.max_fee_per_gas);
  if (BigInt(fees.max_priority_fee_per_gas) > perGas)
    return problem('the priority fee is larger than the whole fee');
  const cost = BigInt(fees.gas) * perGas + layer1_fee_wei;
  return limit !== undefined && cost > BigInt(limit)
    ? problem(`gas may cost ${cost} wei, more than the ${limit} allowed`)
    : { ok: true };
}
