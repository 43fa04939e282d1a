/** What the rest of this folder sees of a connection to an exchange. */
import type { CallOptions } from '../../domain/executor.ts';

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Asks one account's exchange with that account's key. */
export interface CexConnection {
  /**
   * Calls the endpoint that ccxt names `method`, once; the answer as the exchange gave it, not yet
   * checked.
   *
   * @throws ExecutorFault, `rejected` where it is proven that nothing was done.
   */
  ask(method: string, parameters: Parameters, call: CallOptions): Promise<unknown>;
}
