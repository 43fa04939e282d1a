/**
 * An executor whose answers a test decides, movement by movement, and that counts its calls.
 */
import { z } from 'zod';
import {
  accepted,
  completed,
  defineExecutor,
  notLanded,
  passed,
  prepared,
  type DefinedExecutor,
  type ExecutorDefinition,
} from '../../executor-kit/define.ts';

type Definition = ExecutorDefinition<Readonly<Record<string, string>>>;
/** What a movement's phases answer; a function may throw. What is left out works as it should. */
export type Script = {
  readonly [Phase in 'preflight' | 'submit' | 'observe' | 'recover' | 'cancel']?: () => Awaited<
    ReturnType<Definition[Phase]>
  >;
};
type Phase = keyof Script;

export interface ScriptedDesk {
  readonly executor: DefinedExecutor;
  /** From now on the movement's phases answer so. */
  say(movementId: string, script: Script): void;
  /** The idempotency keys that a phase was called with, in order. */
  calls(movementId: string, phase: Phase): readonly string[];
}

export function scriptedDesk(): ScriptedDesk {
  const scripts = new Map<string, Script>();
  const seen: { readonly movement_id: string; readonly phase: Phase; readonly key: string }[] = [];
  const sound = {
    preflight: () => passed(),
    submit: () => accepted('scripted'),
    observe: () => completed(),
    recover: () => notLanded(),
    cancel: () => accepted('scripted'),
  } as const satisfies Script;
  const answer = <P extends Phase>(
    phase: P,
    context: { movement_id: string; idempotency_key: string },
  ) => {
    seen.push({ movement_id: context.movement_id, phase, key: context.idempotency_key });
    return (scripts.get(context.movement_id)?.[phase] ?? sound[phase])();
  };
  const definition: Definition = {
    name: 'scripted',
    prepared: z.record(z.string(), z.string()),
    preflight: async (context) =>
      answer('preflight', context) as ReturnType<Script['preflight'] & {}>,
    // Whom the plan pays, where it names anyone.
    prepare: async ({ amount, config: { payee } }) =>
      prepared({ amount, ...(typeof payee === 'string' ? { payee } : {}) }),
    submit: async ({ context }) => answer('submit', context) as ReturnType<typeof sound.submit>,
    observe: async (context) => answer('observe', context) as ReturnType<typeof sound.observe>,
    recover: async (context) => answer('recover', context) as ReturnType<typeof sound.recover>,
    cancel: async (context) => answer('cancel', context) as ReturnType<typeof sound.cancel>,
  };
  return {
    executor: defineExecutor(definition),
    say: (movementId, script) => void scripts.set(movementId, script),
    calls: (movementId, phase) =>
      seen
        .filter((each) => each.movement_id === movementId && each.phase === phase)
        .map(({ key }) => key),
  };
}
