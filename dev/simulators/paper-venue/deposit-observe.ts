/**
 * `cex_deposit_observe`: waits until a payment of another plan node to the account's deposit
 * address is credited. Sends nothing.
 */
import { z } from 'zod';
import type { ExecutionContext, ExecutionResult } from '../../../domain/executor.ts';
import { fromBaseUnits } from '../../../domain/money.ts';
import { issuesLine } from '../../../platform/issues.ts';
import { isVenueAccount, SPOT } from './accounts.ts';
import { refuse, type Refusal } from './actions/action.ts';
import type { VenueChain } from './chain.ts';
import type { DepositWatcher } from './deposits.ts';
import type { Ledger } from './ledger.ts';
import { NEEDS_FINALITY } from './report.ts';
import type { ChainSettings } from './settings.ts';

export const DEPOSIT_OBSERVE = 'cex_deposit_observe';
const RETRY_SECONDS = 0.5;

const configSchema = z.object({
  venue: z.string(),
  asset: z.string().optional(),
  match_from: z.string(),
});
type DepositConfig = z.infer<typeof configSchema>;

export interface DepositObserver {
  preflight(context: ExecutionContext): ExecutionResult | null;
  /**
   * Returns COMPLETED, OBSERVING, or FAILED when it is proven that the deposit can never arrive.
   * Rejects when the chain is unreachable.
   */
  look(context: ExecutionContext): Promise<ExecutionResult>;
}

export function createDepositObserver(parts: {
  readonly ledger: Ledger;
  readonly chain: VenueChain;
  readonly deposits: DepositWatcher;
  readonly settings: ChainSettings;
}): DepositObserver {
  const { ledger, chain, deposits, settings } = parts;

  const completed = (
    context: ExecutionContext,
    config: DepositConfig,
    txHash: string,
  ): ExecutionResult => {
    const final = NEEDS_FINALITY.includes(context.completion_assurance);
    const found = ledger.book.deposits.of(config.venue, context.asset, txHash);
    const units = found.reduce((sum, each) => sum + BigInt(each.units), 0n);
    const received = fromBaseUnits(units, settings.tokens[context.asset]?.decimals ?? 0);
    return {
      next_state: 'COMPLETED',
      external_ref: found[0]?.deposit_id ?? txHash,
      output: {
        tx_hash: txHash,
        requested_amount: context.amount,
        submitted_amount: received,
        fee_amount: '0',
        fee_asset: context.asset,
        received_amount: received,
        destination_address: deposits.addressOf(config.venue),
        account: config.venue,
        account_type: SPOT,
      },
      assurance: final ? 'destination_finalized' : 'destination_credited',
    };
  };

  return {
    preflight: (context) => {
      const config = readConfig(context, settings);
      return 'error_code' in config ? failed(config) : null;
    },
    look: async (context) => {
      const config = readConfig(context, settings);
      if ('error_code' in config) return failed(config);
      const { matched } = context;
      if (matched?.output === undefined && matched?.external_ref === undefined) return waiting();
      const txHash = transactionOf(matched);
      if (txHash === null)
        return failed(
          refuse(
            'MATCH_WITHOUT_TRANSACTION',
            `${matched.node_key} has recorded no transaction to look for`,
          ),
        );
      await deposits.scan();
      const receipt = await chain.receipt(txHash);
      const credited = ledger.book.deposits.of(config.venue, context.asset, txHash).length > 0;
      if (credited && receipt !== null && !NEEDS_FINALITY.includes(context.completion_assurance))
        return completed(context, config, txHash);
      if (receipt === null || receipt.block > (await chain.finalizedBlock())) return waiting();
      if (credited) return completed(context, config, txHash);
      // The block is final. Once it is scanned too, a deposit that is not credited will never
      // arrive.
      if (receipt.block > deposits.scannedTo()) return waiting();
      return failed(
        refuse(
          'DEPOSIT_NOT_IN_TRANSACTION',
          `${txHash} brings no ${context.asset} to ${deposits.addressOf(config.venue)}`,
        ),
      );
    },
  };
}

function readConfig(context: ExecutionContext, settings: ChainSettings): DepositConfig | Refusal {
  const parsed = configSchema.safeParse(context.config);
  if (!parsed.success)
    return refuse('CONFIG_INVALID', issuesLine(parsed.error, { under: 'config' }));
  const { venue, asset, match_from } = parsed.data;
  if (!isVenueAccount(venue)) return refuse('ACCOUNT_UNKNOWN', `the venue has no account ${venue}`);
  if (asset !== undefined && asset.toUpperCase() !== context.asset) {
    return refuse(
      'CONFIG_INVALID',
      `config.asset ${asset} is not the node's asset ${context.asset}`,
    );
  }
  if (!Object.hasOwn(settings.tokens, context.asset))
    return refuse('ASSET_NOT_SUPPORTED', `the venue does not list ${context.asset}`);
  if (context.matched?.node_key !== match_from)
    return refuse('MATCH_UNKNOWN', `nothing is known of a node ${match_from}`);
  return parsed.data;
}

/**
 * Returns the hash of the transaction that the other plan node sent: from its output, else its
 * reference if that is a hash; null without one.
 */
function transactionOf(matched: NonNullable<ExecutionContext['matched']>): `0x${string}` | null {
  const named = [matched.output?.['tx_hash'], matched.external_ref].find(isTransactionHash);
  return named === undefined ? null : (named.toLowerCase() as `0x${string}`);
}

function isTransactionHash(value: unknown): value is `0x${string}` {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value);
}

function waiting(): ExecutionResult {
  return { next_state: 'OBSERVING', retry_after_seconds: RETRY_SECONDS };
}

function failed({ error_code, error_message }: Refusal): ExecutionResult {
  return { next_state: 'FAILED', error_code, error_message };
}
