/**
 * How many requests a key may make in a minute: a fixed window for each key, in this process's
 * memory.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller, Role } from '../../domain/roles.ts';

/** Answers null, or after how many whole seconds the window of an exhausted key ends. */
export type RateLimit = (caller: Caller) => Promise<number | null>;

/** The tier is the role's, not the method's: agents read, operators and admins write. */
const TIERS: Readonly<Record<Role, 'read' | 'write'>> = {
  agent: 'read',
  operator: 'write',
  admin: 'write',
};
const WINDOW_SECONDS = 60;

/** A limiter of requests a minute for each key by the tier of its role. */
export function createRateLimit(limits: {
  readonly readRpm: number;
  readonly writeRpm: number;
}): RateLimit {
  const limiter = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
  const tiers = { read: limiter(limits.readRpm), write: limiter(limits.writeRpm) };
  return async ({ key_id, role }) => {
    if (key_id === null) return null;
    try {
      await tiers[TIERS[role]].consume(key_id);
      return null;
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    }
  };
}
