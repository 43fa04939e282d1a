/** Options and arguments that several command groups share. */
import { required, text } from '../command-line/options.ts';

export const REASON = { reason: required(text('text', 'kept in the audit')) };
export const IDEMPOTENCY = {
  idempotencyKey: text('key', 'makes a repeat safe; left out, one is made'),
};
export const MOVEMENT = { movementId: 'id of the movement' };
