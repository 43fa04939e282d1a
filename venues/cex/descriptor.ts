/** Describes, for the registry, the executors that send at exchanges. */
import type { CompletionAssurance, ExecutorDescriptor } from '../../domain/executor.ts';

/** What an exchange guarantees about a send under a client id. */
type Promises = Pick<ExecutorDescriptor, 'same_key_safe' | 'settle_seconds'>;

/**
 * Assurances that the exchange can show. The exchange sees that a withdrawal left, but not that it
 * arrived; of a transfer the exchange holds both accounts.
 */
const SHOWN: Readonly<Record<'withdrawal' | 'internal_transfer', readonly CompletionAssurance[]>> =
  {
    withdrawal: ['provider_completed'],
    internal_transfer: ['provider_completed', 'destination_observed', 'destination_credited'],
  };

/**
 * Returns the descriptor of `ccxt.<name>` for `cex_<name>`, with the guarantees of the weakest
 * bound exchange.
 */
export function sendingDescriptor(
  name: 'withdrawal' | 'internal_transfer',
  promises: readonly Promises[],
): ExecutorDescriptor {
  return {
    executor_key: `ccxt.${name}`,
    kind: 'local',
    action_types: [`cex_${name}`],
    provider: 'ccxt',
    same_key_safe: promises.every(({ same_key_safe }) => same_key_safe),
    settle_seconds: Math.max(0, ...promises.map(({ settle_seconds }) => settle_seconds)),
    timeout_seconds: 60,
    in_process: false,
    sends: true,
    not_payees: [],
    completion_assurances: SHOWN[name],
  };
}
