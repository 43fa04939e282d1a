/** The registry's descriptors of the executors that send. */
import type { CompletionAssurance, ExecutorDescriptor } from '../../domain/executor.ts';

/** An exchange's promises about a send under a client id. */
type Promises = Pick<ExecutorDescriptor, 'same_key_safe' | 'settle_seconds'>;

/**
 * The exchange can report only that a withdrawal left it; of a transfer it holds both accounts.
 */
const SHOWN: Readonly<Record<'withdrawal' | 'internal_transfer', readonly CompletionAssurance[]>> =
  {
    withdrawal: ['provider_completed'],
    internal_transfer: ['provider_completed', 'destination_observed', 'destination_credited'],
  };

/** `ccxt.<name>` for `cex_<name>`; it promises what the weakest bound exchange promises. */
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
