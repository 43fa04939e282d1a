/** Calls an exchange and parses its answer, for dialects. */
import type { CallOptions } from '../../domain/executor.ts';
import type { CexConnection, Parameters } from './connection.ts';
import { toFault } from './errors.ts';

export interface Schema<T> {
  parse(value: unknown): T;
}

/**
 * Calls the endpoint once and returns its parsed answer.
 *
 * @throws ExecutorFault as {@link CexConnection.ask}; `protocol` for an answer of another shape.
 */
export async function ask<T>(
  connection: CexConnection,
  method: string,
  parameters: Parameters,
  call: CallOptions,
  schema: Schema<T>,
): Promise<T> {
  return read(schema, await connection.ask(method, parameters, call));
}

/** As {@link ask}; null if the exchange answers with a code of `absent`: it has no such record. */
export async function find<T>(
  connection: CexConnection,
  method: string,
  parameters: Parameters,
  {
    absent,
    call,
    schema,
  }: {
    readonly absent: readonly string[];
    readonly call: CallOptions;
    readonly schema: Schema<T>;
  },
): Promise<T | null> {
  const answer = await connection.find(method, parameters, { absent, call });
  return answer === null ? null : read(schema, answer);
}

/** Parses an answer, or a part of one. Throws an ExecutorFault `protocol`. */
export function read<T>(schema: Schema<T>, answer: unknown): T {
  try {
    return schema.parse(answer);
  } catch (error) {
    throw toFault(error);
  }
}
