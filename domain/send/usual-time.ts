/**
 * How long a send usually takes until its end is seen. Whoever waits longer is shown to a person;
 * it ends nothing.
 */
import { specOf } from '../actions/built-in.ts';

/**
 * Seconds after which a node that is still observed needs a person. The template's own
 * `timeout_policy.attention_seconds` wins; `declared` is what the registry says of the executor.
 */
export function usualSeconds(
  action_type: string,
  {
    attention_seconds,
    declared,
  }: {
    readonly attention_seconds?: number | undefined;
    readonly declared?: number | undefined;
  } = {},
): number {
  if (attention_seconds !== undefined) return attention_seconds;
  return specOf(action_type, { usual_seconds: declared }).usualSeconds;
}
