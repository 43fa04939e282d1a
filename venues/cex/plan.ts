/** What the nodes of this provider are to do, read from their contexts. */
import type { z } from 'zod';
import {
  COMPLETION_ASSURANCES,
  type CompletionAssurance,
  type ExecutionContext,
} from '../../domain/executor.ts';
import { isPositive, readDecimal } from '../../domain/money.ts';
import { idTime, isId } from '../../platform/ids.ts';
import { issuesLine } from '../../platform/issues.ts';
import type { Period } from './dialect.ts';
import { refuse } from './errors.ts';

/** Throws the `rejected` fault `CONFIG_INVALID`, which names the places. */
export function readConfig<T>(schema: z.ZodType<T>, context: ExecutionContext): T {
  const parsed = schema.safeParse(context.config);
  if (parsed.success) return parsed.data;
  throw refuse('CONFIG_INVALID', issuesLine(parsed.error, { under: 'config' }));
}

/**
 * Whether an exchange may have an asset of this name. It is sent unencoded, so it must not be able
 * to begin another parameter.
 */
export function isAsset(name: string): boolean {
  return /^[A-Z0-9]{1,32}$/.test(name);
}

/** The asset as exchanges write it. Throws the `rejected` fault `CONFIG_INVALID`. */
export function readAsset({ asset }: ExecutionContext): string {
  if (!isAsset(asset))
    throw refuse('CONFIG_INVALID', 'the asset must be 1 to 32 capital letters and digits');
  return asset;
}

/**
 * Without trailing zeros. Throws the `rejected` fault `CONFIG_INVALID` unless the amount is a
 * decimal above zero.
 */
export function readAmount({ amount }: ExecutionContext): string {
  const read = readDecimal(amount);
  if (read === null || !isPositive(read))
    throw refuse('CONFIG_INVALID', 'the amount must be greater than zero');
  return read;
}

/**
 * Throws the `rejected` fault `COMPLETION_ASSURANCE_NOT_SUPPORTED` when the plan asks for more than
 * `strongest`. A node that is not the last to move funds may say that less is enough for it:
 * `config.completion_assurance`.
 */
export function checkAssurance(context: ExecutionContext, strongest: CompletionAssurance): void {
  const own = COMPLETION_ASSURANCES.find(
    (known) => known === context.config['completion_assurance'],
  );
  const asked = own ?? context.completion_assurance;
  if (COMPLETION_ASSURANCES.indexOf(asked) <= COMPLETION_ASSURANCES.indexOf(strongest)) return;
  throw refuse(
    'COMPLETION_ASSURANCE_NOT_SUPPORTED',
    `the exchange's word shows ${strongest} and not ${asked}; let a node behind this one look, and set its config.completion_assurance`,
  );
}

const DAY_MS = 86_400_000;

/** From before the movement was made, since nothing of it can be older, until after now. */
export function lifetimeOf({ movement_id }: ExecutionContext, now = Date.now()): Period {
  const isTimed = isId(movement_id) && movement_id[14] === '7';
  return periodSince(isTimed ? idTime(movement_id) : null, now);
}

/**
 * A history has the exchange's times, and what was made here another clock's: a day on either side.
 * `now` is within seconds of the exchange's time, which refuses a question that is signed at
 * another. `since` is null where no time is known, and proves nothing where it lies ahead of `now`:
 * then the search goes back as far as one reaches.
 */
export function periodSince(since: number | null, now = Date.now()): Period {
  const from = since === null || since > now ? now - 6 * DAY_MS : since;
  return { from: from - DAY_MS, to: now + DAY_MS };
}
