/** Parses compiled plans, and keeps the most recently used ones. */
import { frozen } from '../domain/plan/kept.ts';
import type { CompiledPlan } from '../domain/plan/types.ts';

/** In characters: of all kept plans together, and of the longest plan that is kept. */
interface KeptPlans {
  readonly most: number;
  readonly longest: number;
}

/** About 300 plans of a few nodes. */
const KEPT: KeptPlans = { most: 1_000_000, longest: 64_000 };

/**
 * Returns a parser of plans in JSON. For equal texts it returns the same object while it keeps the
 * plan, so that what was computed from that object can be used again. A kept plan is frozen at
 * every depth.
 */
export function createPlanParser({ most, longest }: KeptPlans = KEPT): (
  text: string,
) => CompiledPlan {
  // The whole text is the key: plans of equal hashes must not be taken for each other.
  const plans = new Map<string, CompiledPlan>();
  let characters = 0;
  return (text) => {
    const known = plans.get(text);
    if (known !== undefined) {
      // Moves the plan to the end, so that the first one is the least recently used.
      plans.delete(text);
      plans.set(text, known);
      return known;
    }
    const plan = JSON.parse(text) as CompiledPlan;
    if (text.length > longest) return plan;
    plans.set(text, frozen(plan));
    characters += text.length;
    for (const oldest of plans.keys()) {
      if (characters <= most) break;
      plans.delete(oldest);
      characters -= oldest.length;
    }
    return plan;
  };
}
