/** Kinds of settings with a number for each strategy: `name=number,…`. */
import { z } from 'zod';
import { OTHERS, PRIORITIES, WEIGHTS, type ByStrategy } from '../../domain/turns.ts';
import type { KindWithNone } from './setting.ts';

/** Longest name of a strategy, as the API takes it. */
const LONGEST_NAME = 128;

export const STRATEGY_SHARES = byStrategy(
  `list of \`<strategy>=<weight>\`, ${String(WEIGHTS.least)} to ${String(WEIGHTS.most)}`,
  `a weight from ${String(WEIGHTS.least)} to ${String(WEIGHTS.most)}`,
  (text) =>
    /^\d{1,4}(\.\d{1,3})?$/.test(text) && isWithin(Number(text), WEIGHTS.least, WEIGHTS.most),
);

export const STRATEGY_PRIORITIES = byStrategy(
  `list of \`<strategy>=<priority>\`, ${String(PRIORITIES.first)} to ${String(PRIORITIES.last)}`,
  `a priority from ${String(PRIORITIES.first)} (first) to ${String(PRIORITIES.last)} (last)`,
  (text) => /^\d$/.test(text) && isWithin(Number(text), PRIORITIES.first, PRIORITIES.last),
);

function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

/** `number`: what stands behind the `=`, for the message of an entry that cannot be used. */
function byStrategy(
  type: string,
  number: string,
  isNumber: (text: string) => boolean,
): KindWithNone<ByStrategy> {
  return {
    type,
    none: new Map(),
    schema: z.string().transform((csv, context): ByStrategy => {
      const numbers = new Map<string, number>();
      for (const entry of csv.split(',').map((text) => text.trim())) {
        if (entry === '') continue;
        // A strategy's own name may contain `=`.
        const at = entry.lastIndexOf('=');
        const name = entry.slice(0, Math.max(0, at)).trim();
        const text = entry.slice(at + 1).trim();
        const [isTwice, isUsable] = [numbers.has(name), isNumber(text)];
        const fault = faultOf({ name, isTwice, isUsable, number });
        if (fault === null) numbers.set(name, Number(text));
        else context.addIssue({ code: 'custom', message: `"${entry}": ${fault}` });
      }
      return numbers;
    }),
  };
}

/** Returns what to mend in an entry; null: nothing. `number`: what a usable number is. */
function faultOf(entry: {
  readonly name: string;
  readonly isTwice: boolean;
  readonly isUsable: boolean;
  readonly number: string;
}): string | null {
  const { name, isTwice, isUsable, number } = entry;
  if (name === '' || !isUsable)
    return `write <strategy>=<number>, with ${number}; ${OTHERS} stands for every other strategy`;
  if (name.length > LONGEST_NAME)
    return `no strategy has a name of more than ${String(LONGEST_NAME)} characters`;
  return isTwice ? 'this strategy has an entry already; keep one of them' : null;
}
