/**
 * Limits how many requests a key may make in a minute: a fixed window for each key, in this
 * process's memory, or in the database for all processes together.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller, CallerRole } from '../../domain/roles.ts';
import type { RateWindow } from '../../store/request-nonces.ts';

/** Returns null, or after how many whole seconds the window of an exhausted key ends. */
export type RateLimit = (caller: Caller) => Promise<number | null>;

/** The tier depends on the role, not on the method: agents read, operators and admins write. */
const TIERS: Readonly<Record<CallerRole, 'read' | 'write'>> = {
  allowlist: 'read',
  agent: 'read',
  operator: 'write',
  admin: 'write',
};
const WINDOW_SECONDS = 60;

export interface RateLimits {
  readonly readRpm: number;
  readonly writeRpm: number;
}

/** A limiter over windows that the database counts together with the requests' nonces. */
export interface SharedRateLimit {
  /** Notes the position of the caller's request in the window of its key. */
  readonly note: (caller: Caller, window: RateWindow) => void;
  readonly limit: RateLimit;
}

export function createSharedRateLimit({ readRpm, writeRpm }: RateLimits): SharedRateLimit {
  const windows = new WeakMap<Caller, RateWindow>();
  const most = { read: readRpm, write: writeRpm };
  return {
    note: (caller, window) => void windows.set(caller, window),
    limit: (caller) => {
      const window = windows.get(caller);
      const passes = window === undefined || window.place <= most[TIERS[caller.role]];
      return Promise.resolve(
        passes ? null : Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(window.ends_in_seconds))),
      );
    },
  };
}

/** Returns a limiter of requests per minute for each key, by the tier of its role. */
export function createRateLimit(limits: RateLimits): RateLimit {
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
