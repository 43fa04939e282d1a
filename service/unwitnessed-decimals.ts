/** Warns at the start about tokens whose decimals are known from a single endpoint only. */
import type { Logger } from 'pino';
import type { EvmVenue } from '../venues/evm/config.ts';
import { urlsOf } from '../venues/evm/endpoints.ts';
import { isDevelopers } from '../venues/evm/index.ts';

/**
 * Logs each chain with such tokens. Limits count in units of the asset, so an endpoint that reports
 * too many decimals would have more signed than was approved.
 */
export function warnOfUnwitnessedDecimals(
  venues: readonly EvmVenue[],
  log: Pick<Logger, 'warn'>,
): void {
  for (const venue of venues) {
    if (urlsOf(venue).length > 1 || isDevelopers(venue)) continue;
    const { venue_key, chain_id, tokens } = venue;
    const assets = tokens.flatMap(({ asset, decimals }) => (decimals === undefined ? [asset] : []));
    if (assets.length === 0) continue;
    log.warn(
      { venue_key, chain_id, assets },
      'the decimals of these tokens are believed from one endpoint; list them as tokens[].decimals, or bind a second endpoint in more_rpc_urls',
    );
  }
}
