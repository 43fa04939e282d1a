/** A correct executor that remembers in memory only, and the ways in which tests break it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
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
} from '../../../executor-kit/define.ts';

export type Action = { readonly amount: string; readonly id?: string };
type Definition = ExecutorDefinition<Action>;

/** The other side: each payment is a line, and nothing is merged. */
export class Payments {
  readonly #lines: { readonly key: string; readonly ref: string }[] = [];
  async pay(key: string): Promise<string> {
    await sleep(5);
    const ref = randomUUID();
    this.#lines.push({ key, ref });
    await sleep(5);
    return ref;
  }
  ref(key: string): string | undefined {
    return this.#lines.find((line) => line.key === key)?.ref;
  }
  count(key: string): number {
    return this.#lines.filter((line) => line.key === key).length;
  }
}

/** A definition without faults; `changes` puts some in. */
export function memoryExecutor(
  changes: (payments: Payments, sound: Definition) => Partial<Definition> = () => ({}),
): DefinedExecutor {
  const payments = new Payments();
  const known = new Map<string, Promise<string>>();
  const standing = async (key: string) => {
    const ref = await known.get(key);
    return ref === undefined ? null : completed({ external_ref: ref });
  };
  const sound: Definition = {
    name: 'in memory',
    prepared: z.object({ amount: z.string(), id: z.string().exactOptional() }),
    preflight: async () => passed(),
    prepare: async ({ amount }) => prepared({ amount }),
    submit: async ({ context: { idempotency_key: key } }) => {
      const sent = known.get(key) ?? payments.pay(key);
      known.set(key, sent);
      return accepted(await sent);
    },
    observe: async ({ idempotency_key }) => (await standing(idempotency_key)) ?? completed(),
    recover: async ({ idempotency_key }) => (await standing(idempotency_key)) ?? notLanded(),
    cancel: async ({ idempotency_key }) => (await standing(idempotency_key)) ?? completed(),
    effects: async (key) => payments.count(key),
  };
  return defineExecutor({ ...sound, ...changes(payments, sound) });
}
