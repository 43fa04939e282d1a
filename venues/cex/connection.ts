/** A connection to an exchange, as the rest of this folder sees it. */
import type { CallOptions } from '../../domain/executor.ts';

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CexConnection {
  /**
   * Calls the endpoint that ccxt names `method`, once; returns the exchange's answer unchecked.
   *
   * @throws ExecutorFault, `rejected` only with proof that nothing was done.
   */
  ask(method: string, parameters: Parameters, call: CallOptions): Promise<unknown>;
}
