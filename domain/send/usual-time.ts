/**
 * How long a send usually takes until its end is seen. A node that takes longer is shown to the
 * operator; nothing ends it.
 */
import { specOf } from '../actions/built-in.ts';

/**
 * Returns the seconds after which a node that is still observed needs the operator. The template's
 * own `timeout_policy.attention_seconds` takes precedence; `declared` comes from the executor's
 * registry entry.
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
