/** Reads nodes of exchanges, and makes results that their executors share. */
import {
  COMPLETION_ASSURANCES,
  ExecutorFault,
  type CompletionAssurance,
  type ExecutionContext,
  type ExecutionResult,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { idTime, isId } from '../../platform/ids.ts';
import { rejected } from '../node-plan.ts';
import type { Period, SendGuarantee } from './dialect.ts';
import { RecordFault } from './errors.ts';

/**
 * Returns whether an exchange may have an asset of this name. Names are sent unencoded, so a name
 * must not be able to start another parameter.
 */
export function isAsset(name: string): boolean {
  return /^[A-Z0-9]{1,32}$/.test(name);
}

/** Returns the asset as exchanges write it. Throws `rejected` `CONFIG_INVALID`. */
export function readAsset({ asset }: Pick<ExecutionContext, 'asset'>): string {
  if (!isAsset(asset))
    throw rejected('CONFIG_INVALID', 'the asset must be 1 to 32 capital letters and digits');
  return asset;
}

/**
 * Throws `rejected` `COMPLETION_ASSURANCE_NOT_SUPPORTED` when the node requires more than
 * `strongest`. A node may lower the plan's requirement with `config.completion_assurance`.
 */
export function checkAssurance(context: ExecutionContext, strongest: CompletionAssurance): void {
  const own = COMPLETION_ASSURANCES.find(
    (known) => known === context.config['completion_assurance'],
  );
  const required = own ?? context.completion_assurance;
  if (COMPLETION_ASSURANCES.indexOf(required) <= COMPLETION_ASSURANCES.indexOf(strongest)) return;
  throw rejected(
    'COMPLETION_ASSURANCE_NOT_SUPPORTED',
    `the exchange shows at most ${strongest}, but the plan requires ${required}; add an observe node after this node, and set config.completion_assurance of this node to ${strongest}`,
  );
}

const DAY_MS = 86_400_000;

/**
 * Returns the period from the movement's creation until now, with a margin of a day at both ends.
 */
export function lifetimeOf(
  { movement_id }: Pick<ExecutionContext, 'movement_id'>,
  now = Date.now(),
): Period {
  const isTimed = isId(movement_id) && movement_id[14] === '7';
  return periodSince(isTimed ? idTime(movement_id) : null, now);
}

/**
 * Checks that the record of a send can be searched for during the next day at least. The search
 * begins at the movement's creation, so it soon shows nothing for an old movement.
 *
 * @throws ExecutorFault `rejected` `HISTORY_TOO_OLD`.
 */
export function checkHistory(context: ExecutionContext, { keeps }: SendGuarantee): void {
  const { from, to } = lifetimeOf(context);
  if (to + DAY_MS - from <= keeps) return;
  throw rejected(
    'HISTORY_TOO_OLD',
    `nothing was sent, since the movement is too old to find out what became of it: the exchange keeps its history for ${String(keeps / DAY_MS)} days; create a new movement`,
  );
}

/**
 * Returns the period from `since` until `now`, both in milliseconds since 1970, widened by a day at
 * both ends, since a history has the exchange's times. `now` is within seconds of the exchange's
 * time, or the exchange would refuse the signed request. If `since` is null or after `now`, the
 * period is as long as one search allows.
 */
export function periodSince(since: number | null, now = Date.now()): Period {
  const from = since === null || since > now ? now - 6 * DAY_MS : since;
  return { from: from - DAY_MS, to: now + DAY_MS };
}

/**
 * Throws if the node has changed since it was prepared.
 *
 * @throws ExecutorFault `PREPARED_ACTION_MISMATCH`.
 */
export function requirePrepared(prepared: JsonObject, expected: JsonObject): void {
  const differs = Object.keys(expected).find((name) => prepared[name] !== expected[name]);
  if (differs === undefined) return;
  throw new ExecutorFault(
    'protocol',
    'PREPARED_ACTION_MISMATCH',
    `the prepared action differs from the node in ${differs}`,
  );
}

/**
 * Returns READY if `look` finds nothing; UNKNOWN if its fault needs the decision of an operator,
 * with the id of the record that the fault is about.
 */
export async function recoverBy(
  look: Promise<ExecutionResult | null>,
  forPerson: readonly string[],
): Promise<ExecutionResult> {
  try {
    return (await look) ?? { next_state: 'READY' };
  } catch (error) {
    if (!(error instanceof ExecutorFault) || !forPerson.includes(error.code)) throw error;
    return {
      next_state: 'UNKNOWN',
      error_code: error.code,
      error_message: error.message,
      ...(error instanceof RecordFault ? { external_ref: error.external_ref } : {}),
    };
  }
}

/** Returns OBSERVING: the exchange has no record of the send so far. */
export function stillObserving(
  { prior }: ExecutionContext,
  retry_after_seconds: number,
): ExecutionResult {
  const external_ref = prior?.external_ref;
  return {
    next_state: 'OBSERVING',
    ...(external_ref === undefined ? {} : { external_ref }),
    retry_after_seconds,
  };
}
