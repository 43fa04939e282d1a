/** What a start says of chains whose blocks count as final sooner than is known of them. */
import type { Logger } from 'pino';
import type { ChainAssets } from '../domain/plan/tokens.ts';

/** Somebody decided it once, in a file; whoever reads the log should know that it holds. */
export function warnOfWeakFinality(chains: ChainAssets, log: Pick<Logger, 'warn'>): void {
  for (const { venue_key, chain_id, finality } of chains) {
    if (finality.override_reason === null) continue;
    log.warn(
      { venue_key, chain_id, finality },
      'blocks of this chain count as final sooner than is known of it; finality_override says why',
    );
  }
}
