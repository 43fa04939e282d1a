/**
 * How long a send usually takes until its end is seen. A node that takes longer is shown to a
 * person; nothing ends it.
 */
import { specOf } from '../actions/built-in.ts';

/**
 * Seconds after which a node that is still observed needs a person. The template's own
 * `timeout_policy.attention_seconds` wins; `declared` is the executor's registry entry.
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
