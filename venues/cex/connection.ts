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
  /**
   * As {@link ask}, for a search: returns null when the exchange answers with one of the error
   * codes `absent`, which must mean that it has no such record.
   */
  find(
    method: string,
    parameters: Parameters,
    of: { readonly absent: readonly string[]; readonly call: CallOptions },
  ): Promise<unknown>;
}
