/** Replies that are read after a request was accepted. */
import { ServiceError } from '../../domain/errors.ts';

/**
 * Reads the reply to an accepted request. When the database cannot be read at that moment, the
 * error must not report that nothing was accepted: the outcome is stored, and a repeat with the
 * same key returns the stored outcome.
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
