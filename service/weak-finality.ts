/**
 * Warns at the start about chains whose blocks count as final earlier than the finality table
 * requires.
 */
import type { Logger } from 'pino';
import type { ChainAssets } from '../domain/plan/tokens.ts';

/**
 * Logs each chain with a finality_override at every start: the override was decided once in a file,
 * and readers of the log should know about it.
 */
export function warnOfWeakFinality(chains: ChainAssets, log: Pick<Logger, 'warn'>): void {
  for (const { venue_key, chain_id, finality } of chains) {
    if (finality.override_reason === null) continue;
    log.warn(
      { venue_key, chain_id, finality },
      'blocks of this chain count as final earlier than the finality table requires; finality_override says why',
    );
  }
}
