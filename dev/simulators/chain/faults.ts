/** Faults that the proxy applies to raw sends and to reads. */
export interface ChainFaults {
  /** Delay before each call, in milliseconds. */
  latency_ms: number;
  /** Share of sends that are executed but get no response. */
  drop_answer_rate: number;
  /** Share of sends that are refused without reaching the chain. */
  reject_rate: number;
  /** Share of reads whose response is lost. */
  drop_read_rate: number;
  /** Share of reads with a wrong result: no receipt, or a count that is off by one. */
  wrong_read_rate: number;
  /** The base fee that every block shows, in gwei; 0: the true one. */
  base_fee_gwei: number;
  /** `paused`: no block is made, and transactions wait in the pool. */
  mining: 'automatic' | 'paused';
}

/** No faults. */
export const NO_FAULTS: ChainFaults = {
  latency_ms: 0,
  drop_answer_rate: 0,
  reject_rate: 0,
  drop_read_rate: 0,
  wrong_read_rate: 0,
  base_fee_gwei: 0,
  mining: 'automatic',
};

/** The requested faults are invalid. */
export class FaultsError extends Error {
  override name = 'FaultsError';
}

/**
 * Returns the faults after a change that names only some fields. Throws FaultsError for an invalid
 * change.
 */
export function mergeFaults(current: ChainFaults, wish: unknown): ChainFaults {
  if (typeof wish !== 'object' || wish === null || Array.isArray(wish))
    throw new FaultsError('Send a JSON object.');
  const next: Record<string, unknown> = { ...current };
  for (const [name, value] of Object.entries(wish)) {
    const rule = RULES[name];
    if (rule === undefined)
      throw new FaultsError(`Unknown field ${name}; known are ${Object.keys(RULES).join(', ')}.`);
    if (!rule.ok(value)) throw new FaultsError(`${name} must be ${rule.be}.`);
    next[name] = value;
  }
  return next as unknown as ChainFaults;
}

const rate = {
  ok: (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1,
  be: 'a number from 0 to 1',
};
const RULES: Record<string, { ok: (value: unknown) => boolean; be: string } | undefined> = {
  latency_ms: {
    ok: (value) => typeof value === 'number' && value >= 0 && value <= 600_000,
    be: 'milliseconds from 0 to 600000',
  },
  drop_answer_rate: rate,
  reject_rate: rate,
  drop_read_rate: rate,
  wrong_read_rate: rate,
  base_fee_gwei: {
    ok: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1_000_000,
    be: 'gwei from 0 to 1000000',
  },
  mining: {
    ok: (value) => value === 'automatic' || value === 'paused',
    be: '"automatic" or "paused"',
  },
};
