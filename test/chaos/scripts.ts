/** What will be done with each movement, drawn before the run begins. */
import type { Dice } from './random.ts';
import type { MixedTemplate } from './templates.ts';

export interface Script {
  readonly serial: number;
  readonly template: string;
  /** An amount that no other movement has: by it the transfers on the chain are told apart. */
  readonly amount: string;
  readonly route: 'sweep' | 'keep';
  readonly decision: 'approve' | 'reject' | 'expire';
  /** Pause between creation and decision. */
  readonly decide_ms: number;
  /** The create is sent once more, as a caller does that did not get its answer. */
  readonly repeats_create: boolean;
  /** Pause at the gate before it is released; null leaves it waiting. */
  readonly resume_ms: number | null;
  /** Pause between the approval and a cancel; null for none. */
  readonly cancel_ms: number | null;
}

/** A script for each of `count` movements. */
export function writeScripts(dice: Dice, count: number, mix: readonly MixedTemplate[]): readonly Script[] {
  return Array.from({ length: count }, (_, serial) => {
    const template = dice.pick(mix, ({ weight }) => weight);
    const decision = dice.pick(['approve', 'reject', 'expire'] as const, (each) => ({ approve: 92, reject: 4, expire: 4 })[each]);
    return {
      serial,
      template: template.key,
      amount: amountOf(serial),
      route: dice.pick(['sweep', 'keep'] as const),
      decision,
      decide_ms: dice.between(0, 1_500),
      repeats_create: dice.chance(0.2),
      resume_ms: template.gated && dice.chance(0.8) ? dice.between(0, 3_000) : null,
      cancel_ms: template.cancellable && dice.chance(0.6) ? dice.between(0, 4_000) : null,
    };
  });
}

/** 10 to 19 and six digits of which the last is never 0, so that no two movements share an amount. */
function amountOf(serial: number): string {
  return `${10 + (serial % 10)}.${String(serial).padStart(5, '0')}1`;
}
