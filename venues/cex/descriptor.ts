/** What the registry says of the executors that send. */
import type { CompletionAssurance, ExecutorDescriptor } from '../../domain/executor.ts';

/** The promises of an exchange about what is sent under a client id. */
type Promised = Pick<ExecutorDescriptor, 'same_key_safe' | 'settle_seconds'>;

/**
 * A withdrawal leaves the exchange, whose word says no more; both ends of a transfer are its own
 * books.
 */
const SHOWN: Readonly<Record<'withdrawal' | 'internal_transfer', readonly CompletionAssurance[]>> =
  {
    withdrawal: ['provider_completed'],
    internal_transfer: ['provider_completed', 'destination_observed', 'destination_credited'],
  };

/** `ccxt.<name>` for `cex_<name>`, which promises what the weakest of the bound exchanges does. */
export function sendingDescriptor(
  name: 'withdrawal' | 'internal_transfer',
  promises: readonly Promised[],
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
