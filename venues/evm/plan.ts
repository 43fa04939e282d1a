/** Reads the plan of a transfer from its node, and builds its one call. */
import { encodeFunctionData, erc20Abi, type Address } from 'viem';
import type { z } from 'zod';
import type { ExecutionContext } from '../../domain/executor.ts';
import { rejected, readConfig, readAmount } from '../node-plan.ts';
import type { EvmCall } from './call.ts';
import { erc20TransferConfigSchema, nativeTransferConfigSchema } from './config.ts';
import { exactUnits, type TokenDecimals } from './decimals.ts';

export const TRANSFER_ACTIONS = ['evm_native_transfer', 'evm_erc20_transfer'] as const;
export type TransferAction = (typeof TRANSFER_ACTIONS)[number];

/** A planned transfer. Addresses are checksummed; `amount` is a decimal string in asset units. */
export interface TransferPlan {
  readonly action_type: TransferAction;
  readonly chain_id: number;
  /** The token's contract; null for the chain's own coin. */
  readonly token_address: Address | null;
  readonly destination_address: Address;
  readonly amount: string;
}

/** Throws `rejected` `CONFIG_INVALID`, with the wrong field, when the node is not a transfer. */
export function readTransferPlan(
  context: Pick<ExecutionContext, 'action_type' | 'config' | 'amount'>,
): TransferPlan {
  const action = TRANSFER_ACTIONS.find((known) => known === context.action_type);
  if (action === undefined)
    throw rejected('CONFIG_INVALID', `this executor does not serve ${context.action_type}`);
  const schema =
    action === 'evm_native_transfer' ? nativeTransferConfigSchema : erc20TransferConfigSchema;
  const { chain_id, destination_address, token_address } = readConfig<
    z.output<typeof nativeTransferConfigSchema | typeof erc20TransferConfigSchema>
  >(schema, context);
  readAmount(context);
  return {
    action_type: action,
    chain_id,
    token_address: token_address ?? null,
    destination_address,
    amount: context.amount,
  };
}

/** Returns the signer's address. Throws `rejected` `SIGNER_MISSING` when no EVM signer is bound. */
export function readSigner(context: ExecutionContext): Address {
  const { signer } = context;
  if (signer === undefined || signer.chain_family !== 'evm') {
    throw rejected('SIGNER_MISSING', 'an EVM transfer needs a bound EVM signer');
  }
  return signer.address as Address;
}

/**
 * Returns the amount in base units. Throws `rejected` `AMOUNT_PRECISION` when the token has fewer
 * decimals.
 */
export function baseUnits(plan: Pick<TransferPlan, 'amount'>, decimals: TokenDecimals): bigint {
  const units = exactUnits(plan.amount, decimals);
  if (units !== null) return units;
  throw rejected(
    'AMOUNT_PRECISION',
    `${plan.amount} has more digits than the token's ${decimals} decimals`,
  );
}

/**
 * Returns the call that moves `units`: a plain payment, or the token's `transfer(address,uint256)`.
 */
export function transferCall(
  plan: Pick<TransferPlan, 'token_address' | 'destination_address'>,
  units: bigint,
): EvmCall {
  if (plan.token_address === null)
    return { to: plan.destination_address, value: units, data: '0x' };
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [plan.destination_address, units],
  });
  return { to: plan.token_address, value: 0n, data };
}
