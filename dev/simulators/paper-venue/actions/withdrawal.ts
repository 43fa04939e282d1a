/** `cex_withdrawal`: the account is debited and the hot wallet pays the token out on the chain. */
import { getAddress, isAddress, zeroAddress } from 'viem';
import { z } from 'zod';
import type { ExecutionContext } from '../../../../domain/executor.ts';
import {
  compare,
  fromBaseUnits,
  isDecimal,
  isPositive,
  subtract,
  toBaseUnits,
} from '../../../../domain/money.ts';
import { issuesLine } from '../../../../platform/issues.ts';
import { isVenueAccount, SPOT } from '../accounts.ts';
import { checkAddressBook } from '../address-book.ts';
import type { Terms } from '../events.ts';
import { isNetwork } from '../networks.ts';
import type { ChainSettings } from '../settings.ts';
import { isRefusal, refuse, type Refusal, type VenueAction } from './action.ts';
import { field, units } from './fields.ts';

const configSchema = z.object({
  venue: z.string(),
  asset: z.string().optional(),
  network: z.string(),
  destination_address: z.string(),
  account_type: z.string().default(SPOT),
  chain_id: z.int().optional(),
});
type WithdrawalConfig = z.infer<typeof configSchema>;

/** Creates the withdrawal action of a venue that pays out on `chain`. */
export function createWithdrawal(chain: ChainSettings): VenueAction {
  const tokenOf = (asset: string) =>
    Object.hasOwn(chain.tokens, asset) ? chain.tokens[asset] : undefined;
  const feeOf = (asset: string) =>
    (Object.hasOwn(chain.withdrawalFees, asset) ? chain.withdrawalFees[asset] : undefined) ?? '0';

  return {
    actionType: 'cex_withdrawal',
    terms: (context) => {
      const parsed = configSchema.safeParse(context.config);
      if (!parsed.success)
        return refuse('CONFIG_INVALID', issuesLine(parsed.error, { under: 'config' }));
      const config = parsed.data;
      const place = checkPlace(config, context, chain);
      if (place !== null) return place;
      const token = tokenOf(context.asset);
      if (token === undefined)
        return refuse('ASSET_NOT_SUPPORTED', `the venue does not list ${context.asset}`);
      const amounts = amountTerms(context.amount, token.decimals, feeOf(context.asset));
      if (isRefusal(amounts)) return amounts;
      return {
        account: config.venue,
        account_type: config.account_type,
        asset: context.asset,
        network: config.network.toLowerCase(),
        destination_address: getAddress(config.destination_address),
        ...amounts,
      };
    },
    plan: (terms) => {
      const asset = field(terms, 'asset');
      const decimals = tokenOf(asset)?.decimals ?? 0;
      const debit = {
        account: field(terms, 'account'),
        account_type: field(terms, 'account_type'),
        asset,
      };
      return {
        postings: [{ ...debit, delta: `-${units(field(terms, 'amount'), decimals)}` }],
        transfer: {
          asset,
          to: getAddress(field(terms, 'destination_address')),
          units: units(field(terms, 'received_amount'), decimals),
        },
      };
    },
    bar: (terms, book) =>
      checkAddressBook(
        book.addresses(),
        field(terms, 'asset'),
        field(terms, 'destination_address'),
      ),
    output: (terms, txHash) => ({
      tx_hash: txHash,
      requested_amount: field(terms, 'amount'),
      submitted_amount: field(terms, 'amount'),
      fee_amount: field(terms, 'fee_amount'),
      fee_asset: field(terms, 'asset'),
      received_amount: field(terms, 'received_amount'),
      destination_address: field(terms, 'destination_address'),
    }),
  };
}

function checkPlace(
  config: WithdrawalConfig,
  context: ExecutionContext,
  chain: ChainSettings,
): Refusal | null {
  if (!isVenueAccount(config.venue))
    return refuse('ACCOUNT_UNKNOWN', `the venue has no account ${config.venue}`);
  if (config.account_type !== SPOT) {
    return refuse(
      'ACCOUNT_TYPE_NOT_SUPPORTED',
      `withdrawals leave from ${SPOT}, not from ${config.account_type}`,
    );
  }
  if (config.asset !== undefined && config.asset.toUpperCase() !== context.asset) {
    return refuse(
      'CONFIG_INVALID',
      `config.asset ${config.asset} is not the node's asset ${context.asset}`,
    );
  }
  if (!isNetwork(config.network, chain)) {
    return refuse('NETWORK_NOT_SUPPORTED', `the venue has no network ${config.network}`);
  }
  if (config.chain_id !== undefined && config.chain_id !== chain.chainId) {
    return refuse(
      'NETWORK_NOT_SUPPORTED',
      `the venue pays out on chain ${chain.chainId}, not ${config.chain_id}`,
    );
  }
  return checkDestination(config.destination_address, chain.accounts.venueHotWallet.address);
}

function checkDestination(address: string, hotWallet: string): Refusal | null {
  // isAddress also refuses a mixed-case address with a wrong checksum, which is a typing mistake.
  if (!isAddress(address))
    return refuse('ADDRESS_INVALID', 'destination_address is not an EVM address');
  if (address === zeroAddress || getAddress(address) === getAddress(hotWallet)) {
    return refuse(
      'ADDRESS_INVALID',
      'destination_address must not be the zero address or the venue itself',
    );
  }
  return null;
}

function amountTerms(amount: string, decimals: number, fee: string): Terms | Refusal {
  if (!isDecimal(amount) || !isPositive(amount))
    return refuse('AMOUNT_INVALID', 'the amount is not a decimal above zero');
  const exact = toBaseUnits(amount, decimals);
  if (exact === null)
    return refuse('AMOUNT_PRECISION', `the asset has ${decimals} decimals, the amount has more`);
  if (compare(amount, fee) <= 0)
    return refuse('AMOUNT_BELOW_FEE', `the amount does not exceed the fee of ${fee}`);
  return {
    amount: fromBaseUnits(exact, decimals),
    fee_amount: fee,
    received_amount: subtract(amount, fee),
  };
}
