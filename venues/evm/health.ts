/** Reports whether every configured chain answers with its own id. */
import type { CallOptions, ExecutorHealth } from '../../domain/executor.ts';
import type { EvmChains } from './client.ts';
import { toFault } from './errors.ts';

/**
 * Returns `unknown` without chains. Returns `down`, with the faulty chains, if a chain does not
 * answer or reports another chain id.
 */
export async function checkChains(chains: EvmChains, call: CallOptions): Promise<ExecutorHealth> {
  const ids = chains.chainIds();
  if (ids.length === 0) return { state: 'unknown', detail: 'no evm venue is configured' };
  const opened = await Promise.allSettled(ids.map((id) => chains.open(id, call)));
  const faults = opened.flatMap((result, index) =>
    result.status === 'rejected'
      ? [`chain ${ids[index]}: ${toFault(result.reason, call).message}`]
      : [],
  );
  return faults.length === 0 ? { state: 'up' } : { state: 'down', detail: faults.join('; ') };
}
