/** Answers that are read after a request was accepted. */
import { ServiceError } from '../../domain/errors.ts';

/**
 * Reads what an accepted request is answered with. When the database cannot be read just then,
 * nobody may be told that nothing was accepted: the outcome is there, and a repeat with the same
 * key tells it.
 */
export async function afterAccepting<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const unread =
      error instanceof ServiceError &&
      (error.code === 'dependency_unavailable' || error.code === 'overloaded');
    throw unread ? new ServiceError('outcome_unknown', { cause: error }) : error;
  }
}
