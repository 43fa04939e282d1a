/** What will be done with each movement, drawn before the run begins. */
import { planOf, type PlanModel } from '../support/movement-model.ts';
import type { Dice } from './random.ts';
import type { MixedTemplate } from './templates.ts';

/** The pool of on-chain nodes on the embedded stack: its chain and its only signer. */
const CHAIN_POOL = 'local-chain:dev-treasury';

export interface Script {
  readonly serial: number;
  readonly template: string;
  /** An amount that no other movement has: it identifies the transfers on the chain. */
  readonly amount: string;
  /** The caller's config of the nodes; no other movement has its amount either. */
  readonly node_config: Readonly<Record<string, string>> | null;
  /** The requested plan, as the model reads it. */
  readonly plan: PlanModel;
  readonly route: 'sweep' | 'keep';
  /** `policy`: its strategy has a policy, which approves it in place of a person. */
  readonly decision: 'approve' | 'policy' | 'reject' | 'expire';
  /** Pause between creation and decision. */
  readonly decide_ms: number;
  /** The create is sent once more, as a caller does that did not get its answer. */
  readonly repeats_create: boolean;
  /** Pause at the gate before it is released; null leaves it waiting. */
  readonly resume_ms: number | null;
  /** Pause between the approval, or what is waited for, and a cancel; null for none. */
  readonly cancel_ms: number | null;
  /** What a cancel waits for: nothing, a gate, or a send whose outcome is not known. */
  readonly cancel_at: 'once' | 'gate' | 'send';
  /** A failure is retried as soon as it is seen. */
  readonly retries: boolean;
}

/** A script for each of `count` movements, with the serials from `first` on. */
export function writeScripts(
  dice: Dice,
  count: number,
  mix: readonly MixedTemplate[],
  first = 0,
): readonly Script[] {
  return Array.from({ length: count }, (_, index) => {
    const serial = first + index;
    const template = dice.pick(mix, ({ weight }) => weight);
    const weights = { approve: 62, policy: 30, reject: 4, expire: 4 };
    const decision = dice.pick(
      ['approve', 'policy', 'reject', 'expire'] as const,
      (each) => weights[each],
    );
    const payee = dice.chance(template.payee) ? { payee: 'grocer' } : {};
    const config = {
      ...(template.configured ? { amount: amountOf(serial, 20) } : {}),
      ...payee,
    };
    const node_config = Object.keys(config).length === 0 ? null : config;
    const amount = amountOf(serial, 10);
    const intent = { asset: 'USDC', amount };
    const cancel_at = template.gated
      ? dice.pick(['once', 'gate', 'send'] as const)
      : dice.pick(['once', 'send'] as const);
    return {
      serial,
      template: template.key,
      amount,
      node_config,
      plan: planOf(
        template.body,
        node_config === null ? { intent } : { intent, input_params: { node_config } },
        CHAIN_POOL,
      ),
      route: dice.pick(['sweep', 'keep'] as const),
      decision,
      decide_ms: dice.between(0, 1_500),
      repeats_create: dice.chance(0.2),
      resume_ms: template.gated && dice.chance(0.8) ? dice.between(0, 3_000) : null,
      cancel_ms:
        template.cancellable && dice.chance(0.5)
          ? dice.between(0, cancel_at === 'once' ? 4_000 : 500)
          : null,
      cancel_at,
      retries: dice.chance(0.5),
    };
  });
}

/**
 * Ten numbers from `from` on and six digits of which the last is never 0, so that no two movements
 * share an amount.
 */
function amountOf(serial: number, from: number): string {
  return `${from + (serial % 10)}.${String(serial).padStart(5, '0')}1`;
}
