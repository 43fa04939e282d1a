/** The interface of a connection to an exchange, used by the rest of this folder. */
import type { CallOptions } from '../../domain/executor.ts';

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CexConnection {
  /**
   * Calls the endpoint that ccxt names `method`, once; returns the exchange's answer unchecked.
   *
   * @throws ExecutorFault, `rejected` only with proof that the exchange did nothing.
   */
  ask(method: string, parameters: Parameters, call: CallOptions): Promise<unknown>;
}
