/**
 * The interface by which all processes share the requests of an exchange's API key: its budget, its
 * stops and, where the exchange needs them, its turns.
 */

/**
 * How fast a key's budget grows, and how much of it may be used at once, in units of cost. In any
 * window, requests of at most `capacity` plus the window's growth are sent. A request that costs
 * more than `capacity` waits for the whole budget and is then sent alone.
 */
export interface RequestBudget {
  readonly capacity: number;
  readonly units_per_second: number;
}

/** The right to send with a key alone, until it is released or its time is over. */
export interface Turn {
  /**
   * A whole number as text, larger than every nonce that was returned for the key before:
   * milliseconds since 1970, or the last nonce plus one.
   */
  readonly nonce: string;
  release(): Promise<void>;
}

/** `key` is the SHA-256 of an API key as hex digits, never the key itself. */
export interface RequestDesk {
  /**
   * Reserves `cost` units of the key's budget. Returns for how many milliseconds the request has to
   * wait, a stop included. Returns null and reserves nothing if that is more than `withinMs`: a
   * caller that gives up never uses its reservation, and many such reservations would leave no
   * budget to others.
   */
  take(key: string, cost: number, budget: RequestBudget, withinMs: number): Promise<number | null>;
  /** Returns for how many milliseconds nothing may be sent with the key; 0: it may be sent now. */
  stoppedFor(key: string): Promise<number>;
  /** Stops the key for all processes. A longer stop stays. */
  stop(key: string, milliseconds: number): Promise<void>;
  /** Takes the key's turn for at most so many milliseconds; null: another process has it. */
  takeTurn(key: string, milliseconds: number): Promise<Turn | null>;
}
