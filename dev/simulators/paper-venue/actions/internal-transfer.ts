/**
 * `cex_internal_transfer`: moves funds from one account or pool of the venue to another,
 * immediately and without a fee.
 */
import { z } from 'zod';
import { isDecimal, normalize } from '../../../../domain/money.ts';
import { issuesLine } from '../../../../platform/issues.ts';
import { SPOT } from '../accounts.ts';
import { destinationPosting, sourcePosting } from '../book-transfers.ts';
import type { Terms, TransferTerms } from '../events.ts';
import type { ChainSettings } from '../settings.ts';
import { transferUnits } from '../transfer-terms.ts';
import { refuse, type VenueAction } from './action.ts';
import { field, units } from './fields.ts';

const configSchema = z.object({
  venue: z.string(),
  account_type: z.string().default(SPOT),
  destination_venue: z.string(),
  destination_account_type: z.string().default(SPOT),
  asset: z.string().optional(),
});

/** Creates the transfer action of a venue that lists the tokens of `chain`. */
export function createInternalTransfer(chain: ChainSettings): VenueAction {
  return {
    actionType: 'cex_internal_transfer',
    terms: (context) => {
      const parsed = configSchema.safeParse(context.config);
      if (!parsed.success)
        return refuse('CONFIG_INVALID', issuesLine(parsed.error, { under: 'config' }));
      const config = parsed.data;
      if (config.asset !== undefined && config.asset.toUpperCase() !== context.asset) {
        return refuse(
          'CONFIG_INVALID',
          `config.asset ${config.asset} is not the node's asset ${context.asset}`,
        );
      }
      const terms: TransferTerms = {
        from_account: config.venue,
        from_account_type: config.account_type.toUpperCase(),
        to_account: config.destination_venue,
        to_account_type: config.destination_account_type.toUpperCase(),
        asset: context.asset,
        amount: isDecimal(context.amount) ? normalize(context.amount) : context.amount,
      };
      const exact = transferUnits(terms, chain);
      return typeof exact === 'bigint' ? { account: terms.from_account, ...terms } : exact;
    },
    plan: (terms) => {
      const exact = BigInt(
        units(field(terms, 'amount'), chain.tokens[field(terms, 'asset')]?.decimals ?? 0),
      );
      const transfer = transferOf(terms);
      return {
        postings: [sourcePosting(transfer, -exact), destinationPosting(transfer, exact)],
        transfer: null,
      };
    },
    output: (terms) => ({
      requested_amount: field(terms, 'amount'),
      submitted_amount: field(terms, 'amount'),
      fee_amount: '0',
      fee_asset: field(terms, 'asset'),
      received_amount: field(terms, 'amount'),
    }),
  };
}

function transferOf(terms: Terms): TransferTerms {
  return {
    from_account: field(terms, 'from_account'),
    from_account_type: field(terms, 'from_account_type'),
    to_account: field(terms, 'to_account'),
    to_account_type: field(terms, 'to_account_type'),
    asset: field(terms, 'asset'),
    amount: field(terms, 'amount'),
  };
}
