/** Reads the plans of the perps venue's nodes, from the node and the venue's entry. */
import type { Address } from 'viem';
import { z } from 'zod';
import type { PerpTerms } from '../../domain/actions/terms.ts';
import type { ExecutorFault } from '../../domain/executor.ts';
import { type ExecutionContext } from '../../domain/executor.ts';
import { compare, toBaseUnits } from '../../domain/money.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import type { EvmChains } from '../evm/client.ts';
import {
  addressSchema,
  chainIdSchema,
  erc20TransferConfigSchema,
  type EvmVenue,
} from '../evm/config.ts';
import type { TransferPlan } from '../evm/plan.ts';
import { rejected, readConfig, readAmount } from '../node-plan.ts';
import type { PerpClient } from './client.ts';
import { LEAST_DEPOSIT, PERP_DECIMALS, WITHDRAWAL_FEE, type PerpVenue } from './config.ts';

export interface PerpLane {
  readonly venue: PerpVenue;
  readonly client: PerpClient;
  readonly chains: EvmChains;
  readonly evmVenues: readonly EvmVenue[];
}

type Read = Pick<ExecutionContext, 'config' | 'asset' | 'amount'>;

/** Not strict: node configs also carry keys for other readers. */
const depositSchema = erc20TransferConfigSchema.and(z.object({ venue: z.string() }));
const withdrawSchema = z.object({
  venue: z.string(),
  chain_id: chainIdSchema,
  destination_address: addressSchema,
});
const topUpSchema = z.object({ venue: z.string(), sub_account_address: addressSchema });

/**
 * Returns the planned deposit.
 *
 * @throws ExecutorFault `rejected` `CONFIG_INVALID`.
 */
export function readDepositPlan(read: Read): TransferPlan {
  const { chain_id, token_address, destination_address } = readConfig(depositSchema, read);
  return {
    action_type: 'evm_erc20_transfer',
    chain_id,
    token_address,
    destination_address,
    amount: readAmount(read),
  };
}

/**
 * Returns why this plan may not deposit; null if it may. A deposit that is already sent is still
 * settled. Codes: `CONFIG_INVALID`, `TOKEN_ASSET_MISMATCH`, `DEPOSIT_BELOW_MINIMUM` or
 * `AMOUNT_TOO_PRECISE`.
 */
export function depositRefusal(
  plan: TransferPlan,
  { config, asset }: Pick<Read, 'config' | 'asset'>,
  { venue, evmVenues }: Pick<PerpLane, 'venue' | 'evmVenues'>,
): ExecutorFault | null {
  const other = venueProblem(config, asset, venue);
  if (other !== null) return other;
  if (plan.chain_id !== venue.chain_id)
    return rejected(
      'CONFIG_INVALID',
      `config.chain_id: deposits of ${venue.venue_key} come from chain ${String(venue.chain_id)}`,
    );
  const chain = evmVenues.find(({ chain_id }) => chain_id === venue.chain_id);
  const token = chain?.tokens.find((listed) => listed.asset === venue.asset)?.address;
  if (token === undefined || !sameEvmAddress(plan.token_address ?? '', token))
    return rejected(
      'TOKEN_ASSET_MISMATCH',
      `config.token_address: ${venue.asset} of chain ${String(venue.chain_id)} is ${token ?? 'not listed'}`,
    );
  if (!sameEvmAddress(plan.destination_address, venue.deposit_address))
    return rejected(
      'CONFIG_INVALID',
      `config.destination_address: deposits of ${venue.venue_key} go to ${venue.deposit_address}`,
    );
  if (compare(plan.amount, LEAST_DEPOSIT) < 0)
    return rejected(
      'DEPOSIT_BELOW_MINIMUM',
      `${plan.amount} is below the venue's minimum of ${LEAST_DEPOSIT}: the deposit would be lost`,
    );
  return tooPrecise(plan.amount);
}

export interface WithdrawPlan {
  readonly destination: Address;
  /** The amount that leaves the account, including the fee, in units of the asset. */
  readonly amount: string;
}

/**
 * Returns the planned withdrawal.
 *
 * @throws ExecutorFault `rejected` `CONFIG_INVALID`, `TOKEN_ASSET_MISMATCH`.
 */
export function readWithdrawPlan(read: Read, venue: PerpVenue): WithdrawPlan {
  const { chain_id, destination_address } = readConfig(withdrawSchema, read);
  const other = venueProblem(read.config, read.asset, venue);
  if (other !== null) throw other;
  if (chain_id !== venue.chain_id)
    throw rejected(
      'CONFIG_INVALID',
      `config.chain_id: ${venue.venue_key} pays on chain ${String(venue.chain_id)}`,
    );
  return { destination: destination_address, amount: readAmount(read) };
}

/**
 * Throws if only the fee would be withdrawn.
 *
 * @throws ExecutorFault `rejected` `WITHDRAWAL_BELOW_FEE`.
 */
export function requireAboveFee({ amount }: WithdrawPlan): void {
  if (compare(amount, WITHDRAWAL_FEE) > 0) return;
  throw rejected(
    'WITHDRAWAL_BELOW_FEE',
    `${amount} does not exceed the venue's fee of ${WITHDRAWAL_FEE}`,
  );
}

export interface TopUpPlan {
  readonly sub_account: Address;
  readonly amount: string;
}

/**
 * Returns the planned top-up.
 *
 * @throws ExecutorFault `rejected` `CONFIG_INVALID`, `TOKEN_ASSET_MISMATCH`.
 */
export function readTopUpPlan(read: Read, venue: PerpVenue): TopUpPlan {
  const { sub_account_address } = readConfig(topUpSchema, read);
  const other = venueProblem(read.config, read.asset, venue);
  if (other !== null) throw other;
  return { sub_account: sub_account_address, amount: readAmount(read) };
}

/**
 * Returns the venue's terms for the node, whose signer must be the master in the venue's entry.
 *
 * @throws ExecutorFault `rejected` `MASTER_ACCOUNT_MISSING`, or `code` for another signer.
 */
export function requireMaster(
  { perp, signer }: Pick<ExecutionContext, 'perp' | 'signer'>,
  { account }: PerpVenue,
  code: 'DEPOSITOR_NOT_MASTER' | 'MASTER_SIGNER_MISMATCH',
): PerpTerms {
  if (perp === undefined)
    throw rejected('MASTER_ACCOUNT_MISSING', 'the perps venue has no master account yet');
  const address = signer?.address ?? '';
  if (sameEvmAddress(address, account) && sameEvmAddress(address, perp.master_address)) return perp;
  throw rejected(
    code,
    `the signer is ${address || 'missing'}, and the master account is ${account}`,
  );
}

/**
 * Throws if the amount has too many decimals.
 *
 * @throws ExecutorFault `rejected` `AMOUNT_TOO_PRECISE`.
 */
export function requirePrecision(amount: string): void {
  const problem = tooPrecise(amount);
  if (problem !== null) throw problem;
}

function tooPrecise(amount: string): ExecutorFault | null {
  if (toBaseUnits(amount, PERP_DECIMALS) !== null) return null;
  return rejected(
    'AMOUNT_TOO_PRECISE',
    `${amount} has more than the ${String(PERP_DECIMALS)} decimals of the venue`,
  );
}

/**
 * Throws if the node names another venue or asset than those of the entry.
 *
 * @throws ExecutorFault `rejected` `CONFIG_INVALID`, `TOKEN_ASSET_MISMATCH`.
 */
export function requireVenue(
  { config, asset }: Pick<Read, 'config' | 'asset'>,
  venue: PerpVenue,
): void {
  const problem = venueProblem(config, asset, venue);
  if (problem !== null) throw problem;
}

function venueProblem(
  config: Read['config'],
  asset: string,
  venue: PerpVenue,
): ExecutorFault | null {
  if (config['venue'] !== venue.venue_key)
    return rejected('CONFIG_INVALID', `config.venue: the perps venue is ${venue.venue_key}`);
  return asset === venue.asset
    ? null
    : rejected('TOKEN_ASSET_MISMATCH', `${venue.venue_key} holds ${venue.asset}, not ${asset}`);
}
